package gzrecover

import (
	"bytes"
	"io"

	"github.com/gopz/compress/internal/codec/inflate"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/index"
)

// input returns bytes of the file from an offset on, at least one unless the file ends there. They
// are valid until the next call. Reads are short at first, and grow as long as one follows the
// other: decoding may begin at many places and end soon.
func (r *recovery) input(off int64) []byte {
	end := r.haveAt + int64(len(r.have))
	if off >= r.haveAt && off < end {
		return r.have[off-r.haveAt:]
	}
	size := firstRead
	if off == end {
		size = min(2*len(r.have)+firstRead, inputSize)
	}
	r.have, r.haveAt = r.file.Peek(r.in[:size], off), off
	return r.have
}

// A walk decodes blocks from a bit on, one step after the other.
type walk struct {
	r    *recovery
	off  int64 // of the next input
	base int64 // bit of the file where positions of the Decoder count from

	block   int64 // bit where the block begins that comes next or is being decoded
	begun   bool  // something of it has been decoded, so its header is valid
	trusted int64 // bit where the last trusted block begins, −1 if there is none
	behind  int64 // bit where the block behind that begins, −1 if it has not been reached
	total   int64 // content, in bytes
}

// startWalk begins at a bit. unknown means that there is content before it, which is lost.
func (r *recovery) startWalk(bit int64, unknown bool) *walk {
	w := &walk{r: r, off: bit >> 3, base: bit &^ 7, block: bit, trusted: -1, behind: -1}
	r.a.Reset()
	r.b.Reset()
	if skip := uint(bit & 7); skip > 0 {
		if in := r.input(w.off); len(in) > 0 {
			r.a.ResetAt(in[0], skip)
			r.b.ResetAt(in[0], skip)
			w.off++
		}
	}
	r.unknown, r.at, r.sent = unknown, 0, 0
	if unknown {
		r.at, r.sent = windowSize, windowSize
		for i := range windowSize {
			r.roomA[i], r.roomB[i] = 0, 0xff
		}
	}
	return w
}

// step decodes a piece of content, at most up to the end of a block. There must be room. more is
// false at the end of the stream, of the input, or at damage, which err says.
func (w *walk) step() (more bool, err error) {
	r := w.r
	in := r.input(w.off)
	n, used, err := r.a.Decode(r.roomA[:], r.at, in)
	if r.unknown {
		r.b.Decode(r.roomB[:], r.at, in)
	}
	r.at += n
	w.off += int64(used)
	w.total += int64(n)
	if ended := err == inflate.ErrBlock || err == io.EOF; !w.begun && (n > 0 || ended) {
		w.begun = true
		if r.isTrusted(w.block) {
			w.trusted, w.behind = w.block, -1
		}
	}
	switch {
	case err == inflate.ErrBlock:
		if w.trusted == w.block {
			w.behind = w.base + r.a.Position()
		}
		w.block, w.begun = w.base+r.a.Position(), false
		return true, nil
	case err != nil:
		return false, err
	}
	return len(in) > 0 || n > 0, nil
}

// isTrusted reports whether the block at a bit is dynamic or stored. The header of such a block is
// valid by chance once in 100,000 times or less.
func (r *recovery) isTrusted(bit int64) bool {
	var p [2]byte
	if i := bit>>3 - r.haveAt; i >= 0 && i < int64(len(r.have))-1 {
		copy(p[:], r.have[i:])
	} else {
		r.file.Peek(p[:], bit>>3)
	}
	kind := (uint(p[0]) | uint(p[1])<<8) >> (bit & 7) >> 1 & 3
	return kind == 0 || kind == 2
}

// blocks decodes blocks of the member and sends their content. ended means that the last one has
// been decoded; then the trailer is at s.bit.
func (r *recovery) blocks(bit int64, unknown bool) (s stop, ended bool) {
	w := r.startWalk(bit, unknown)
	more, err := true, error(nil)
	for more && r.going() {
		if r.at == len(r.roomA) {
			r.send()
			r.slide()
		}
		more, err = w.step()
	}
	r.send()
	s = stop{bit: 8 * w.off, from: bit, skip: bit} // another member may begin there
	if w.trusted >= 0 {
		s.from, s.skip = w.trusted+1, w.behind
	}
	if err == io.EOF {
		return s, true
	}
	if err == nil {
		s.err = r.damage(errs.Truncated, r.file.Size, "")
		return s, false
	}
	at := w.base >> 3
	if n, ok := r.a.Corrupt(err); ok {
		at += n
	}
	s.err = r.damage(errs.Corrupt, at, "the Deflate stream is damaged")
	return s, false
}

// slide makes room behind the window.
func (r *recovery) slide() {
	copy(r.roomA[:], r.roomA[r.at-windowSize:r.at])
	if r.unknown {
		copy(r.roomB[:], r.roomB[r.at-windowSize:r.at])
	}
	r.at, r.sent = windowSize, windowSize
}

// send sends content to the sink.
func (r *recovery) send() {
	p, q := r.roomA[r.sent:r.at], r.roomB[r.sent:r.at]
	r.sent = r.at
	r.content += int64(len(p))
	if !r.unknown {
		if r.intact {
			r.sum = gzfile.Checksum(r.sum, p)
		}
		r.known(p)
		return
	}
	first, last, unknown := differences(p, q)
	r.known(p[:first])
	if unknown > 0 && r.err == nil {
		r.err = r.sink.Mixed(p[first:last], q[first:last], index.Gap{
			Kind: index.DamageWindow, Stream: r.member, Span: int64(last - first), Content: unknown,
		})
	}
	r.known(p[last:])
	r.unknown = r.at < windowSize ||
		!bytes.Equal(r.roomA[r.at-windowSize:r.at], r.roomB[r.at-windowSize:r.at])
}

func (r *recovery) known(p []byte) {
	if len(p) > 0 && r.err == nil {
		r.err = r.sink.Known(p)
	}
}

// differences returns the range of the bytes in which p and q differ, and their number.
func differences(p, q []byte) (first, last int, n int64) {
	for i := range p {
		if p[i] != q[i] {
			if n == 0 {
				first = i
			}
			last = i + 1
			n++
		}
	}
	return first, last, n
}

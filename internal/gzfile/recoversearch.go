package gzfile

import (
	"bytes"
	"errors"

	"github.com/gopz/compress/internal/codec/inflate"
	"github.com/gopz/compress/internal/errs"
)

const (
	firstRead = 4 << 10   // input read at first, in bytes
	inputMost = 128 << 10 // most input read at a time, in bytes
	viewMost  = 256 << 10 // most input searched at a time, in bytes

	// lookBehind is how many bytes before a place decide whether it is one: an empty stored block.
	lookBehind = 4
	// lookAhead is more than the header of a block, and the fixed part of a member's header, in
	// bytes.
	lookAhead = 1 << 10

	// maxWaste bounds the input that is decoded again or in vain, as a multiple of the file's size.
	maxWaste = 4
	// minWaste may always be wasted, in bytes.
	minWaste = 1 << 20
)

// A view is a part of the file in memory.
type view struct {
	buf []byte
	p   []byte
	at  int64 // offset in the file
}

// look returns bytes of the file from an offset on, at least so many unless the file ends. They are
// valid until the next call with v. Reads are short at first, and grow as long as one follows the
// other: decoding may begin at many places and end soon.
func (r *recovery) look(v *view, off int64, least int) []byte {
	if off >= r.file.Size {
		return nil
	}
	end, size := v.at+int64(len(v.p)), firstRead
	if off >= v.at && off <= end {
		if p := v.p[off-v.at:]; len(p) >= least || end >= r.file.Size {
			return p
		}
		size = min(2*len(v.p)+firstRead, len(v.buf))
	}
	v.p, v.at = r.file.Peek(v.buf[:size], off), off
	return v.p
}

// looksLikeHeader reports whether p begins with the fixed part of a member's header.
func looksLikeHeader(p []byte) bool {
	if len(p) < MinHeaderSize {
		return false
	}
	_, _, err := ParseHeader(p[:MinHeaderSize])
	return err == nil || err == ErrShort
}

// isEnd reports whether a member may end at an offset: another one begins there, or nothing but
// zeros follows.
func (r *recovery) isEnd(off int64) bool {
	if looksLikeHeader(r.look(&r.in, off, MinHeaderSize)) {
		return true
	}
	for from := off; off < r.file.Size; {
		in := r.look(&r.in, off, 1)
		if len(bytes.TrimLeft(in, "\x00")) > 0 {
			r.waste += off - from
			return false
		}
		if len(in) == 0 {
			break
		}
		off += int64(len(in))
	}
	return true
}

// search looks for the next place where decoding can begin.
func (r *recovery) search() (next place, ok bool) {
	from := max(r.from, r.searched)
	if again := r.walker.at - from>>3; again > 0 {
		if r.wasteful() {
			from = 8 * r.walker.at
		}
		r.waste += again
	}
	for r.going() && from < 8*r.file.Size {
		start := max(from>>3-lookBehind, 0)
		p := r.look(&r.seen, start, 2*lookAhead)
		end := int64(len(p))
		if start+end < r.file.Size {
			end -= lookAhead
		}
		to := min(from+searchStep<<3, 8*(start+end))
		if to <= from {
			break
		}
		next = findPlace(p, from-8*start, to-8*start)
		if next == noPlace {
			from, r.searched = to, to
			continue
		}
		next.bit += 8 * start
		from, r.searched = next.bit+1, next.bit+1
		if r.probe(next) {
			return next, r.going()
		}
		tried := r.walker.at
		if r.wasteful() {
			from = max(from, 8*tried)
		}
		r.waste += tried - next.bit>>3
	}
	return next, false
}

// wasteful reports whether too much has been decoded again or in vain.
func (r *recovery) wasteful() bool { return r.waste > minWaste+maxWaste*r.file.Size }

// findPlace returns the first place in bits from … to−1 of p, or noPlace.
func findPlace(p []byte, from, to int64) place {
	found := noPlace
	for at, end := int((from+7)>>3), int((to+7)>>3); at < end; at++ {
		i := bytes.Index(p[at:min(end+1, len(p))], []byte(Magic))
		if i < 0 {
			break
		}
		at += i
		if at < end && looksLikeHeader(p[at:]) {
			found = place{8 * int64(at), true}
			to = found.bit
			break
		}
	}
	if bit := inflate.FindBlock(p, from, to); bit >= 0 {
		found = place{bit, false}
	}
	return found
}

// probe decodes from a place, without output, until it can be believed.
func (r *recovery) probe(p place) bool {
	r.begin(p)
	w, o := &r.walker, &r.output
	start, sum, content := p.bit, uint32(0), int64(0)
	for r.going() {
		if o.size() >= pieceSize {
			r.slide()
		}
		before := o.to
		err := r.step()
		content += int64(o.to - before)
		if p.member {
			start = 8 * w.body
			sum = Checksum(sum, o.buf[before:o.to])
		}
		switch {
		case err != nil:
			r.file.ReadErr = nil
			return errors.Is(err, errs.Truncated) && content > 0
		case w.state == inBody && r.from > start+1:
			return true
		case w.state == inTrailer:
			end := w.at + TrailerSize
			return end <= r.file.Size && (r.isEnd(end) || p.member && r.isTrailer(w.at, sum, content))
		}
	}
	return false
}

// isTrailer reports whether the trailer of a member with such content is at an offset.
func (r *recovery) isTrailer(off int64, sum uint32, content int64) bool {
	p := r.look(&r.in, off, TrailerSize)
	if len(p) < TrailerSize {
		return false
	}
	s, size := ParseTrailer(p)
	return s == sum && size == uint32(content)
}

// Package gzrecover decodes what is left of a damaged .gz file (RFC 1952).
//
// # Design
//
// Recover decodes members from the front. Where a member is damaged, it looks for the next place
// where decoding can begin: the header of a member, or a block that inflate.FindBlock finds. It
// decodes from there without the window, the 32 KiB of content in front, which is lost. Two
// Decoders decode the same blocks. One has a window of zeros, the other a window of ones. Literals
// and lengths do not depend on the window. So both decode the same bytes, except for those that
// matches have copied from the lost window, directly or not. Where both windows are equal again,
// one Decoder is enough.
//
// # What is believed
//
// A place that the search finds may be wrong, and a complete code decodes any bits. So a first pass
// decodes from there without any output. It believes the place if the first block ends, and behind
// it comes a dynamic block with a valid header, a stored block whose length has the right
// complement, or a trailer with another member or the end of the file behind it. Static blocks in
// between are decoded, but count for nothing. A place is also believed if its blocks go on to the
// end of a file that was cut, or if it is the header of a member whose checksum is right.
//
// A decoder may pass over the beginning of a block before it notices damage. So the search begins
// inside the last block whose header is hard to make up by chance: behind the first bit of a
// dynamic or stored block.
//
// # Bounds
//
// Memory does not depend on the file. The search never goes back. Input that is decoded more than
// once, in vain or again, is at most maxWaste times the size of the file. Then the search goes on
// behind what was decoded.
package gzrecover

import (
	"fmt"
	"io"

	"github.com/gopz/compress/internal/codec/inflate"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/index"
)

// A Sink takes what Recover finds, in the order of the file. It keeps no reference. An error that
// it returns ends Recover.
type Sink struct {
	// Known takes content.
	Known func(p []byte) error
	// Mixed takes content of which g.Content bytes are unknown: those where q, which is as long as
	// p, has another byte. They are zero in p. The kind of g is index.DamageWindow.
	Mixed func(p, q []byte, g index.Gap) error
	// Damage takes a piece of damage. With index.DamageUnknown an unknown amount of content is
	// lost, where the output has come to. With index.DamageCheck nothing confirms the last g.Span
	// bytes of content. Streams are members.
	Damage func(g index.Gap) error
}

// Memory is more than what Recover takes, in bytes.
const Memory = 2 << 20

const (
	windowSize = inflate.WindowSize
	roomSize   = 256 << 10 // content decoded at a time, in bytes
	firstRead  = 2 << 10   // input read at first, in bytes
	inputSize  = 128 << 10 // most input read at a time, in bytes
	searchSize = 256 << 10 // most input searched at a time, in bytes

	// maxWaste bounds the input that is decoded again or in vain, as a multiple of the file's size.
	maxWaste = 4
	// minWaste may always be wasted, in bytes.
	minWaste = 1 << 20
)

// Recover decodes what is left of the file of size bytes in src. It ends at the end of the file, or
// behind a member where a file of another format begins. found means that there was something to
// decode; without it sink has not been called, unless the file begins with a header. The error is
// that of sink, or of the context in limits. Bytes that cannot be read count as damage.
func Recover(
	src io.ReaderAt, size int64, limits *container.Limits, sink Sink,
) (end int64, found bool, err error) {
	r := &recovery{sink: sink, limits: limits, file: index.Salvage{Src: src, Size: size, Limits: limits}}
	r.a.StopAtBlock, r.b.StopAtBlock = true, true
	r.run()
	if r.err == nil {
		r.err = r.file.Err
	}
	return r.file.Size, r.found, r.err
}

// recovery is a call of Recover.
type recovery struct {
	sink   Sink
	limits *container.Limits
	file   index.Salvage // reads
	err    error         // of sink
	found  bool

	// The member.
	member  int
	intact  bool // all of it has been decoded
	between bool // it has not begun
	content int64
	sum     uint32

	// Blocks that are decoded.
	a, b    inflate.Decoder // b has another window in the beginning
	unknown bool            // b is in use: the windows differ
	at      int             // end of the content in roomA and roomB
	sent    int             // content before it has gone to sink
	roomA   [windowSize + roomSize]byte
	roomB   [windowSize + roomSize]byte

	in     [inputSize]byte
	have   []byte // part of in that is valid
	haveAt int64  // its offset in the file

	searched int64 // the search has seen all bits before this one
	waste    int64 // bytes decoded again or in vain
	view     [searchSize]byte
	seen     part // of view
}

// A part is the bytes of the file in memory.
type part struct {
	p  []byte
	at int64 // offset in the file
}

// A place is where decoding can begin.
type place struct {
	bit    int64 // of the file
	member bool  // the header of a member begins there, not a block
}

// A stop is why and where decoding has ended.
type stop struct {
	bit  int64 // of the file
	from int64 // the next block may begin at this bit or behind it
	skip int64 // but not at this one, where a block has been decoded
	err  error // nil at the end of the file
}

// run decodes from one place to the next.
func (r *recovery) run() {
	next := place{member: true}
	for r.going() {
		s := r.decode(next)
		if s.err == nil || !r.going() {
			break
		}
		g := index.Gap{Kind: index.DamageUnknown, Stream: r.member, Content: -1, Err: s.err}
		if r.found {
			r.tell(g)
		}
		ok := false
		next, ok = r.search(s)
		if !ok {
			break
		}
		if !r.found {
			r.found = true
			r.tell(g)
		}
		if next.member && !r.between {
			r.endMember(nil)
			r.member++
		}
		r.between = false
	}
	r.endMember(nil)
}

// going reports whether nothing has ended the recovery.
func (r *recovery) going() bool {
	if r.err == nil {
		r.err = r.file.Err
	}
	if r.err == nil {
		r.err = r.limits.Canceled()
	}
	return r.err == nil
}

// tell reports damage.
func (r *recovery) tell(g index.Gap) {
	r.intact = false
	if r.err == nil {
		r.err = r.sink.Damage(g)
	}
}

// endMember reports that nothing confirms the content of a member, unless something does. err says
// why, nil if there was damage in it. Damage has been reported if nothing of a member is left.
func (r *recovery) endMember(err error) {
	if (r.content > 0 && !r.intact || err != nil) && r.err == nil {
		if err == nil {
			err = r.damage(errs.Corrupt, r.haveAt, "a part of the member is lost")
		}
		r.err = r.sink.Damage(index.Gap{
			Kind: index.DamageCheck, Stream: r.member, Span: r.content, Err: err,
		})
	}
	r.content, r.intact, r.sum = 0, false, 0
}

// damage returns an error about a place of the file.
func (r *recovery) damage(kind error, off int64, detail string) error {
	e := &errs.Error{
		Kind: kind, Part: errs.PartBlock, Stream: r.member, Block: -1, Offset: off, Detail: detail,
		Err: r.file.ReadErr,
	}
	r.file.ReadErr = nil
	return e
}

// decode decodes from a place on, member after member.
func (r *recovery) decode(p place) stop {
	for {
		body := p.bit
		if p.member {
			end, err := r.header(p.bit >> 3)
			if err != nil {
				return stop{bit: p.bit, from: p.bit + 1, skip: -1, err: err}
			}
			body, r.intact, r.found = 8*end, true, true
			r.content, r.sum = 0, 0
		}
		s, ended := r.blocks(body, !p.member)
		if !ended {
			return s
		}
		end, err := r.trailer(s.bit >> 3)
		next := end
		switch {
		case !r.going():
			return stop{}
		case r.padding(next):
			r.endMember(err)
			return stop{}
		case r.searched == 0 && r.file.EndAtOther(next, container.Gzip):
			r.endMember(err)
			return stop{}
		case r.isHeader(next):
			r.endMember(err)
			r.member++
			p = place{8 * next, true}
			continue
		case r.intact && err == nil:
			// The file goes on with something else.
			r.endMember(nil)
			r.member++
			r.between = true
			return stop{bit: 8 * next, from: 8 * next, skip: -1,
				err: r.damage(errs.Trailing, next, "")}
		}
		// The end of the stream is none.
		s.err = r.damage(errs.Corrupt, next, "the member ends where no other one begins")
		return s
	}
}

// header returns where the header of a member ends that begins at an offset.
func (r *recovery) header(off int64) (end int64, err error) {
	var h gzfile.Skipper
	for end = off; ; {
		in := r.input(end)
		n, done, herr := h.Skip(in)
		end += int64(n)
		switch {
		case done:
			return end, nil
		case herr != nil:
			return end, r.damage(errs.Corrupt, off, herr.Error())
		case len(in) == 0:
			return end, r.damage(errs.Truncated, r.file.Size, "")
		}
	}
}

// isHeader reports whether the fixed part of a member's header is at an offset.
func (r *recovery) isHeader(off int64) bool {
	var p [gzfile.MinHeaderSize]byte
	return looksLikeHeader(r.file.Peek(p[:], off))
}

// padding reports whether the file ends at an offset or has zeros only from there on.
func (r *recovery) padding(off int64) bool {
	from := off
	for off < r.file.Size {
		in := r.input(off)
		for _, c := range in {
			if c != 0 {
				r.waste += off - from
				return false
			}
		}
		if len(in) == 0 {
			break
		}
		off += int64(len(in))
	}
	return true
}

// trailer compares the content of the member with the trailer at an offset. It returns where the
// trailer ends.
func (r *recovery) trailer(off int64) (end int64, err error) {
	var p [gzfile.TrailerSize]byte
	end = min(off+gzfile.TrailerSize, r.file.Size)
	if len(r.file.Peek(p[:], off)) < len(p) {
		return end, r.damage(errs.Truncated, r.file.Size, "")
	}
	sum, size := gzfile.ParseTrailer(p[:])
	switch {
	case !r.intact:
		return end, nil
	case r.limits.Checks && sum != r.sum:
		return end, r.damage(errs.Checksum, off, "")
	case size != uint32(r.content):
		return end, r.damage(errs.Corrupt, off, fmt.Sprintf("the content has %d bytes", r.content))
	}
	return end, nil
}

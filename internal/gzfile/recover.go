package gzfile

import (
	"errors"
	"io"

	"github.com/gopz/compress/internal/codec/inflate"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/index"
)

// # Recovery
//
// Recover decodes members from the front. Where a member is damaged, it looks for the next place
// where decoding can begin: the header of a member, or a block that inflate.FindBlock finds. There
// the window, the 32 KiB of content in front, is lost. So it decodes into symbols until no match
// can refer to the window any more.
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
// dynamic or stored block. Before there is such a block it begins at the first one of the member,
// which may be intact, and repeat content that was deleted in front of it.
//
// Memory does not depend on the file. The search never goes back. Input that is decoded more than
// once, in vain or again, is at most maxWaste times the size of the file. Then the search goes on
// behind what was decoded.

// A Sink takes what Recover finds, in the order of the file. It keeps no reference. An error that
// it returns ends Recover.
type Sink struct {
	// Known takes content.
	Known func(p []byte) error
	// Mixed takes content of which g.Content bytes are unknown: those where lost, which is as long
	// as p, is true. They are zero in p. The kind of g is index.DamageWindow.
	Mixed func(p []byte, lost []bool, g index.Gap) error
	// Damage takes a piece of damage. With index.DamageUnknown an unknown amount of content is
	// lost, where the output has come to. With index.DamageCheck nothing confirms the last g.Span
	// bytes of content. Streams are members.
	Damage func(g index.Gap) error
}

// RecoverMemory is more than what Recover takes, in bytes.
const RecoverMemory = 2 << 20

// Recover decodes what is left of the file of size bytes in src. It ends at the end of the file, or
// behind a member where a file of another format begins. certain means that it is a .gz file, and
// found that there was something to decode. Without both sink has not been called. The error is
// that of sink, or of the context in limits. Bytes that cannot be read count as damage.
func Recover(
	src io.ReaderAt, size int64, limits *container.Limits, certain bool, sink Sink,
) (end int64, found bool, err error) {
	r := &recovery{
		sink: sink, found: certain, file: index.Salvage{Src: src, Size: size, Limits: limits},
	}
	r.walker.inflater = &inflate.Decoder{StopAtBlock: true}
	r.in.buf, r.seen.buf = make([]byte, inputMost), make([]byte, viewMost)
	r.run()
	return r.file.Size, r.found, r.file.Err
}

// recovery is a call of Recover.
type recovery struct {
	sink  Sink
	file  index.Salvage // reads; Err ends the recovery
	found bool

	walker walker
	output output
	sent   int             // end in the output of what has gone to sink
	lost   [pieceSize]bool // bytes of the output that are unknown

	// The member.
	member  int
	begun   bool // something of it has been found
	whole   bool // all of it has been decoded so far
	content int64
	sum     uint32

	block int64 // bit where the block begins that is being decoded
	from  int64 // bit from where on the next block may begin, if there is damage

	in       view  // decoded
	seen     view  // searched
	searched int64 // the search has seen all bits before this one
	waste    int64 // bytes decoded again or in vain
}

// run decodes from one place to the next.
func (r *recovery) run() {
	for next := (place{member: true}); ; {
		err := r.decode(next)
		if err == nil || !r.going() {
			break
		}
		g := index.Gap{Kind: index.DamageUnknown, Stream: r.member, Content: -1, Err: r.damage(err)}
		if r.found {
			r.tell(g)
		}
		ok := false
		next, ok = r.search()
		if !ok {
			break
		}
		if !r.found {
			r.found = true
			r.tell(g)
		}
		if next.member {
			r.endMember(nil)
		}
	}
	r.endMember(nil)
}

// going reports whether nothing has ended the recovery.
func (r *recovery) going() bool {
	r.do(r.file.Limits.Canceled)
	return r.file.Err == nil
}

// do calls f unless the recovery has ended. An error of f ends it.
func (r *recovery) do(f func() error) {
	if r.file.Err == nil {
		r.file.Err = f()
	}
}

// tell reports damage.
func (r *recovery) tell(g index.Gap) {
	r.whole = false
	r.do(func() error { return r.sink.Damage(g) })
}

// damage returns an error of the walker, of a member of the file.
func (r *recovery) damage(err error) error {
	var e *errs.Error
	if errors.As(err, &e) {
		e.Stream, e.Part, e.Err = r.member, errs.PartBlock, r.file.ReadErr
		r.file.ReadErr = nil
	}
	return err
}

// endMember ends a member. It reports that nothing confirms the content, unless something does. err
// says why, nil if there was damage in it.
func (r *recovery) endMember(err error) {
	if !r.begun {
		return
	}
	if r.content > 0 && !r.whole && err == nil {
		err = r.walker.fail(errs.Corrupt, errs.PartBlock, r.walker.at, "a part of the member is lost")
	}
	if err != nil {
		r.tell(index.Gap{
			Kind: index.DamageCheck, Stream: r.member, Span: r.content, Err: r.damage(err),
		})
	}
	r.member++
	r.begun, r.whole, r.content, r.sum = false, false, 0, 0
}

// decode decodes from a place on, member after member. Its error is about damage. At the end of the
// file it returns nil.
func (r *recovery) decode(p place) error {
	r.begin(p)
	r.begun = r.begun || !p.member
	w, o := &r.walker, &r.output
	for r.going() {
		state := w.state
		err := r.step()
		if state == inHeader && w.state == inBody {
			r.begun, r.whole, r.found = true, true, true
		}
		if err != nil || len(o.ends) > 0 || o.size() >= pieceSize {
			r.send()
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil && w.state == inTrailer:
			r.endMember(err)
			return nil
		case err == nil && len(o.ends) > 0:
			err = r.takeTrailer(o.ends[0])
		case o.size() >= pieceSize:
			r.slide()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// takeTrailer compares the content of the member with its trailer, and ends it. If the content is
// not verified and nothing known follows, the end of the stream is none.
func (r *recovery) takeTrailer(e memberEnd) error {
	w := &r.walker
	r.output.reset(nil)
	r.sent = r.output.to
	v := verifier{
		checks: r.file.Limits.Checks, partial: !r.whole, size: r.content, sum: r.sum, members: r.member,
	}
	err := v.endMember(&e)
	if r.searched == 0 {
		r.file.EndAtOther(w.at, container.Gzip)
	}
	if (err != nil || !r.whole) && !r.isEnd(w.at) {
		return w.fail(errs.Corrupt, errs.PartBlock, w.at, "the member ends where no other one begins")
	}
	r.endMember(err)
	r.from = 8 * w.at
	return nil
}

// begin goes to a place.
func (r *recovery) begin(p place) {
	r.walker.resetAt(p, r.look(&r.in, p.bit>>3, 1))
	r.from = p.bit + 1
	r.output.reset(nil)
	r.output.growSymbols(pieceSize)
	if !p.member {
		r.output.beginUnknown()
	}
	r.sent = r.output.to
}

// step takes a step of the walker, with the room that is left in the output. The error is io.EOF at
// the end of the file.
func (r *recovery) step() error {
	w, o := &r.walker, &r.output
	if bit, ok := w.boundary(); ok {
		r.block = bit
	}
	in, before, state := r.look(&r.in, w.at, 1), o.to, w.state
	if len(in) == 0 && state != inBody {
		return w.endError(io.EOF)
	}
	_, err := w.step(in, o, pieceSize-o.size())
	switch {
	case state == inHeader && w.state == inBody:
		r.from = 8 * w.body
	case state != inBody:
	case o.to > before || w.atBlock || w.state == inTrailer:
		if r.block >= r.from && r.isTrusted(r.block) {
			r.from = r.block + 1
		}
	case len(in) == 0 && err == nil:
		err = w.endError(io.EOF)
	}
	return err
}

// isTrusted reports whether the block at a bit is dynamic or stored. The header of such a block is
// valid by chance once in 100,000 times or less.
func (r *recovery) isTrusted(bit int64) bool {
	p := r.look(&r.in, bit>>3, 2)
	kind := uint(0)
	for i, c := range p[:min(2, len(p))] {
		kind |= uint(c) << (8 * i)
	}
	kind = kind >> (bit & 7) >> 1 & 3
	return kind == 0 || kind == 2
}

// slide makes room behind the window.
func (r *recovery) slide() {
	o := &r.output
	if o.unknown {
		copy(o.symbols, o.symbols[o.to-windowSize:o.to])
		o.to = windowSize
	} else {
		o.reset(o.window())
	}
	r.sent = o.to
}

// send sends content to the sink.
func (r *recovery) send() {
	o := &r.output
	o.grow(0)
	p := o.buf[r.sent:o.to]
	if !o.unknown {
		if r.whole {
			r.sum = Checksum(r.sum, p)
		}
		r.known(p)
		return
	}
	first, last, unknown := 0, 0, int64(0)
	for i, s := range o.symbols[r.sent:o.to] {
		p[i], r.lost[i] = byte(s), s > 0xff
		if r.lost[i] {
			if unknown == 0 {
				first = i
			}
			p[i], last = 0, i+1
			unknown++
		}
	}
	r.known(p[:first])
	if unknown > 0 {
		r.content += int64(last - first)
		g := index.Gap{
			Kind: index.DamageWindow, Stream: r.member, Span: int64(last - first), Content: unknown,
		}
		r.do(func() error { return r.sink.Mixed(p[first:last], r.lost[first:last], g) })
	}
	r.known(p[last:])
	o.settle()
}

// known sends content that is known.
func (r *recovery) known(p []byte) {
	if len(p) > 0 {
		r.content += int64(len(p))
		r.do(func() error { return r.sink.Known(p) })
	}
}

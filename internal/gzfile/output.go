package gzfile

import (
	"slices"

	"github.com/gopz/compress/internal/codec/inflate"
)

// An output is the content of a unit, in the making. In front of it is room for the window.
//
//	buf      ┊ window ┊ content                 ┊
//	symbols  ┊ window ┊ content, first part ┊
//
// Where the window is unknown, the first part of the content consists of symbols, which
// FinishContent turns into bytes. The rest is bytes.
type output struct {
	buf  []byte
	base int // where the content of the member begins in buf, 0 if before it
	to   int // end of the content in buf

	symbols []uint16 // with the window in front
	open    int      // how much content in front is symbols that are to be resolved
	unknown bool     // decoding into symbols: none of the content is in buf yet

	ends []memberEnd
	sums []uint32 // of the content in front of each cut, and behind the last one; see FinishContent

	marking bool // places where decoding can start become marks
	marks   []mark
	chosen  int // how many of them choose has seen

	file int // number of the decoder's file that counts this output
}

// mostContent is the most content of a unit in bytes. Memory for so much never grows, which would
// copy it. The system supplies only the pages that are used.
const mostContent = aheadContent + aheadStep

// endsMost is the most ends of members in a unit. It bounds the memory for them.
const endsMost = 2 << 10

// A memberEnd is the end of a member within an output.
type memberEnd struct {
	to        int    // end of the member's content, counted from the content of the output
	sum, size uint32 // what the trailer says
	member    int64  // offset of the member in the file, in bytes
	trailer   int64  // of its trailer
}

// reset makes the output empty. window is the content in front of it, if known.
func (o *output) reset(window []byte) {
	o.grow(0)
	o.to = windowSize
	n := copy(o.buf[windowSize-len(window):], window)
	// What the member has in front of a shorter window does not exist.
	o.base = windowSize - n
	o.open, o.unknown = 0, false
	o.ends, o.sums = o.ends[:0], o.sums[:0]
	o.marks, o.chosen = o.marks[:0], 0
}

// beginUnknown makes the output empty, with an unknown window of full size in front. It has memory
// for symbols.
func (o *output) beginUnknown() {
	o.reset(nil)
	o.base, o.unknown = 0, true
	inflate.UnknownWindow(o.symbols)
}

// size returns the bytes of content.
func (o *output) size() int { return o.to - windowSize }

// full reports whether the output has at least most bytes of content, or has no room for the end of
// another member.
func (o *output) full(most int) bool { return o.size() >= most || len(o.ends) >= endsMost }

// addEnd adds the end of a member. From some dozens on there is room for endsMost, so that it does
// not grow again and again.
func (o *output) addEnd(e memberEnd) {
	if n := len(o.ends); n == cap(o.ends) && n >= 32 && n < endsMost {
		o.ends = slices.Grow(o.ends, endsMost-n)
		o.sums = slices.Grow(o.sums, endsMost+1)
	}
	o.ends = append(o.ends, e)
}

// grow makes room for n bytes of content behind what there is. A buffer for more than a piece has
// room for mostContent.
func (o *output) grow(n int) {
	want := max(o.to, windowSize) + n
	if want <= cap(o.buf) {
		o.buf = o.buf[:want]
		return
	}
	least := windowSize + pieceSize
	if want > least {
		least = windowSize + mostContent
	}
	buf := make([]byte, max(want, least))
	copy(buf, o.buf[:min(o.to, len(o.buf))])
	o.buf = buf[:want]
}

// growSymbols is grow for symbols.
func (o *output) growSymbols(n int) {
	want := o.to + n
	if want <= len(o.symbols) {
		return
	}
	o.symbols = slices.Grow(o.symbols, want-len(o.symbols))
	o.symbols = o.symbols[:cap(o.symbols)]
}

// decode decodes up to room bytes of content from a Deflate stream.
func (o *output) decode(d *inflate.Decoder, src []byte, room int) (n, used int, err error) {
	if o.unknown {
		o.growSymbols(room)
		n, used, err = d.DecodeSymbols(o.symbols[:o.to+room], o.to, src)
	} else {
		o.grow(room)
		n, used, err = d.Decode(o.buf[o.base:], o.to-o.base, src)
	}
	o.to += n
	return n, used, err
}

// beginMember begins the content of a member, which has no window.
func (o *output) beginMember() {
	if o.unknown {
		o.open, o.unknown = o.size(), false
	}
	o.base = o.to
}

// settle ends the part of the content that is symbols if its last 32 KiB do not depend on the
// window.
func (o *output) settle() {
	n := o.size()
	if !o.unknown || n < windowSize {
		return
	}
	tail := o.symbols[o.to-windowSize : o.to]
	if !inflate.Known(tail) {
		return
	}
	o.open, o.unknown = n, false
	o.grow(0)
	inflate.Resolve(o.buf[o.to-windowSize:o.to], tail, (*[windowSize]byte)(o.buf)) // refers to no window
}

// know sets the window, and resolves all symbols if there is no other content yet.
func (o *output) know(window *[windowSize]byte) {
	o.grow(0)
	copy(o.buf, window[:])
	if o.unknown {
		inflate.Resolve(o.buf[windowSize:o.to], o.symbols[windowSize:o.to], window)
		o.open, o.unknown = 0, false
	}
}

// resolveEnd sets the window, and resolves as much of the end of the content as the window behind
// it needs.
func (o *output) resolveEnd(window *[windowSize]byte) {
	o.grow(0)
	copy(o.buf, window[:])
	if o.unknown {
		o.open, o.unknown = o.size(), false
	}
	from := max(windowSize, o.to-windowSize)
	if end := windowSize + o.open; from < end {
		inflate.Resolve(o.buf[from:end], o.symbols[from:end], window)
		o.open = from - windowSize
	}
}

// resolve resolves all symbols that are left. step is called behind each piece.
func (o *output) resolve(step func()) {
	window := (*[windowSize]byte)(o.buf)
	for at := 0; at < o.open; {
		n := min(o.open-at, sumPiece)
		from, to := windowSize+at, windowSize+at+n
		inflate.Resolve(o.buf[from:to], o.symbols[from:to], window)
		at += n
		step()
	}
	o.open = 0
}

// window returns the content that what follows may refer to.
func (o *output) window() []byte { return o.buf[max(o.base, o.to-windowSize):o.to] }

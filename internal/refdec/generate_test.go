package refdec

import (
	"math/bits"
	"math/rand/v2"
)

// A quirk is something that an encoder would not or must not do.
type quirk int

const (
	regular             quirk = iota
	longVarint                // numbers in five bytes
	sixVarint                 // numbers in six bytes
	longLength                // lengths below 255 in five bytes
	tablePadding              // bits set behind a table
	extraPadding              // bits set behind the last field of Extra
	extraByte                 // an extra byte in Extra
	shortSegment              // a segment of less than 4,096 symbols
	fullSegment               // a segment that ends its stream without the flag
	nearOffset                // offsets below 16
	farOffset                 // an offset to one byte before the block
	longCode                  // an offset code with e = 25
	matchOverrun              // a match that is one byte too long
	lostByte                  // a literal too few
	oddState                  // an initial state out of range
	oddWords                  // an extra byte of words
	moreWords                 // two extra bytes of words
	moreStored                // an extra byte at the end of the payload
	headBits                  // unknown bits in a segment head
	modeThree                 // an unknown mode
	oddFlags                  // unknown flags of layout Dense
	shortContextSegment       // a context-coded segment of less than 16,384 symbols
	tableCount                // a context-coded segment with no table, or more than 32
	mapBits                   // more bits of a context than exist
	oddContext                // a context with a missing table
	contextPadding            // bits set behind the contexts
	emptyRange                // an empty range
	farRange                  // ranges that end a byte behind the content
	noRanges                  // a filter without ranges
	flips                     // any bit of the payload
	numQuirks
)

var quirkNames = [numQuirks]string{
	"regular", "longVarint", "sixVarint", "longLength", "tablePadding", "extraPadding",
	"extraByte", "shortSegment", "fullSegment", "nearOffset", "farOffset", "longCode",
	"matchOverrun", "lostByte", "oddState", "oddWords", "moreWords", "moreStored", "headBits",
	"modeThree", "oddFlags", "shortContextSegment", "tableCount", "mapBits", "oddContext",
	"contextPadding", "emptyRange", "farRange", "noRanges", "flips",
}

// valid reports whether payloads with the quirk are valid. With flips some are.
func (q quirk) valid() bool { return q == regular || q == longVarint || q == extraPadding }

// A generator makes coded payloads that are valid except for a quirk, with choices that no encoder
// would make.
type generator struct {
	*rand.Rand
	quirk quirk
	done  bool // whether the quirk was applied
	out   []byte

	filtered bool         // layout Dense with the x86 filter
	dense    *denseChoice // layout Dense with these choices, unless nil

	streams [numStreams][]byte
	extra   bitWriter
	repeats [3]uint64
}

// use decides whether to apply quirk q now.
func (g *generator) use(q quirk) bool {
	if g.quirk != q || g.done && g.IntN(8) != 0 {
		return false
	}
	g.done = true
	return true
}

// pick returns a number below n, most often a small one or one near a power of two.
func (g *generator) pick(n int) int {
	x := g.IntN(2 << g.IntN(bits.Len(uint(n))))
	return min(x, n-1)
}

// A denseChoice says how to code a payload of layout Dense.
type denseChoice struct {
	flags  byte
	low    int // bits of a context that come from the symbol before the last
	tables int // of each context-coded segment
}

type bitWriter struct {
	data []byte
	at   int
}

func (w *bitWriter) put(x uint64, n int) {
	for i := range n {
		if w.at%8 == 0 {
			w.data = append(w.data, 0)
		}
		w.data[w.at/8] |= byte(x>>i&1) << (w.at % 8)
		w.at++
	}
}

// payload returns a coded payload, and its content if there is no quirk.
func (g *generator) payload(size int) (payload, content []byte) {
	layout := byte(1 + g.IntN(3))
	if g.dense != nil {
		layout = layoutDense
	}
	g.filtered = layout == layoutDense && g.IntN(2) == 0
	if g.dense != nil {
		g.filtered = g.dense.flags&filteredX86 != 0
	}
	g.repeats = [3]uint64{initialRepeat, initialRepeat, initialRepeat}
	alphabet := 1 + g.IntN(1<<g.IntN(9))
	runs := 1 << g.IntN(12)
	matches := 1 << g.IntN(12)
	for len(g.out) < size {
		run := g.pick(runs)
		if len(g.out)+run < minOffset {
			run = minOffset
		}
		g.literals(run, alphabet)
		match := g.pick(matches)
		if layout == layoutPlain {
			g.plain(run, 5+match)
		} else {
			g.repeat(run, match, minMatches(layout))
		}
	}
	g.literals(g.pick(runs), alphabet)
	if len(g.streams[streamLits]) > 0 && g.use(lostByte) {
		g.streams[streamLits] = g.streams[streamLits][1:]
	}
	if g.extra.at%8 != 0 && g.use(extraPadding) {
		g.extra.put(1, 1)
	}
	g.streams[streamExtra] = g.extra.data
	if g.use(extraByte) {
		g.streams[streamExtra] = append(g.streams[streamExtra], 0)
	}
	if layout == layoutDense {
		payload = g.codeDense()
	} else {
		payload = g.code([]byte{layout})
	}
	if g.quirk == flips && g.use(flips) {
		for range 1 + g.IntN(3) {
			payload[g.pick(len(payload))] ^= 1 << g.IntN(8)
		}
	}
	return payload, g.out
}

func (g *generator) literals(run, alphabet int) {
	for range run {
		c := byte(g.IntN(alphabet) * 7)
		if g.filtered && g.IntN(3) == 0 {
			c = "\xe8\xe9\x00\xff\x48\x8b\x05"[g.IntN(7)]
		}
		g.out = append(g.out, c)
	}
	g.streams[streamLits] = append(g.streams[streamLits], g.out[len(g.out)-run:]...)
}

// field returns the token's field for a length and appends the rest of the length to a stream.
func (g *generator) field(n, last, stream int) byte {
	if n < last {
		return byte(n)
	}
	n -= last
	s := &g.streams[stream]
	switch {
	case n >= 255 || g.use(longLength):
		*s = le.AppendUint32(append(*s, 255), uint32(n))
	default:
		*s = append(*s, byte(n))
	}
	return byte(last)
}

func (g *generator) copy(match int, offset uint64) {
	if offset > uint64(len(g.out)) {
		offset = uint64(len(g.out)) // With this quirk the content does not matter.
	}
	for range match {
		g.out = append(g.out, g.out[uint64(len(g.out))-offset])
	}
}

// offset returns any valid offset, or with a quirk an invalid one.
func (g *generator) offset(limit int) uint64 {
	switch {
	case g.use(nearOffset):
		return uint64(g.IntN(minOffset))
	case g.use(farOffset):
		return uint64(len(g.out) + 1)
	case g.IntN(4) == 0:
		return uint64(min(len(g.out), limit))
	}
	return uint64(min(minOffset+g.pick(len(g.out)-minOffset+1), limit))
}

func (g *generator) plain(run, match int) {
	token := g.field(run, 15, streamLitLens) | g.field(match-5, 15, streamMatchLens)<<4
	offset := g.offset(1<<16 - 1)
	g.streams[streamTokens] = append(g.streams[streamTokens], token)
	g.streams[streamOffsets] = le.AppendUint16(g.streams[streamOffsets], uint16(offset))
	g.copy(match, max(offset, 1))
	if g.use(matchOverrun) {
		g.out = g.out[:len(g.out)-1]
	}
}

// repeat adds a sequence whose match exceeds the minimum by match bytes.
func (g *generator) repeat(run, match int, minMatch [4]uint64) {
	token := g.field(run, 3, streamLitLens) | g.field(match, 15, streamMatchLens)<<2
	place := g.IntN(4)
	var offset uint64
	if place < 3 {
		if offset = g.repeats[place]; offset > uint64(len(g.out)) && g.quirk != farOffset {
			place = 3
		}
	}
	if place == 3 {
		offset = g.offset(1 << 27)
		g.newOffset(offset)
	} else {
		copy(g.repeats[1:place+1], g.repeats[:place])
		g.repeats[0] = offset
	}
	g.streams[streamTokens] = append(g.streams[streamTokens], token|byte(place)<<6)
	g.copy(match+int(minMatch[place]), max(offset, 1))
	if g.use(matchOverrun) {
		g.out = g.out[:len(g.out)-1]
	}
}

// newOffset adds the code of a new offset and its bits of Extra.
func (g *generator) newOffset(offset uint64) {
	// offset = (2ᵉ + x − 1)·4 + low
	y := offset/4 + 1
	e := bits.Len64(y) - 1
	code, x := byte(e<<2)|byte(offset&3), y-1<<e
	if g.use(longCode) {
		e, code = 25, 25<<2
	}
	g.streams[streamOffsets] = append(g.streams[streamOffsets], code)
	g.extra.put(x, e)
	g.repeats = [3]uint64{offset, g.repeats[0], g.repeats[1]}
}

package zstd

import (
	"bytes"

	"github.com/gopz/compress/lz77"
)

// Encoder codes the content of frames. The zero value is ready; it keeps its scratch memory from call to call. It must not be
// copied after its first use, and it is not safe for concurrent use.
type Encoder struct {
	in      input
	one     [1]lz77.Sequence
	body    body
	repeats [3]uint32 // behind the last sequence coded

	block     stats // of the block
	ahead     stats // of the unit behind it
	both      stats
	blockCost uint64 // see stats.cost

	literals literalCoder
	codes    [kinds]tableChoice

	// Bits that the states of the three tables put out in front of each sequence.
	states    []uint32
	stateBits []uint8
}

// Memory is the most scratch memory, in bytes, that an Encoder comes to.
const Memory = 5 << 18

// MaxSize returns the most bytes that the blocks of n bytes of content take. While Append works, it may need up to four times MaxBlock more
// behind them.
func MaxSize(n int) int {
	// A block that would not be smaller than its content is stored. A unit is short of unitSize only before a longer one, at the end of a
	// full block, or at the end of the content: two in a row have unitSize bytes, or a block that does is before them.
	return n + blockHeader*(n/unitSize*2+2)
}

// Types of blocks.
const (
	rawBlock = iota
	rleBlock
	compressedBlock
)

const blockHeader = 3 // bytes

// firstRepeats are the repeat offsets at the beginning of a frame.
var firstRepeats = [3]uint32{1, 4, 8}

// Append appends the blocks of one frame, whose content is src, to dst. Sequences must be valid: together not longer than src, with matches of MinMatch
// bytes or more and offsets from 1 to the number of bytes before the match. What is behind the last is literals. The encoder keeps no
// reference to src and seqs.
func (e *Encoder) Append(dst, src []byte, seqs []lz77.Sequence) []byte {
	e.in = newInput(src, seqs)
	e.repeats = firstRepeats
	e.literals.known = false
	for k := range e.codes {
		e.codes[k].last = nil
	}
	before := e.repeats // before the block
	start := len(dst)
	size := e.begin()
	for {
		// The next unit is coded as if it belonged to the block, and then looked at.
		mark, repeats, run, end := e.in, e.repeats, e.body.run, e.body.size()
		n := e.unit(MaxBlock - size)
		if n > 0 && e.merge() {
			size += n
			continue
		}
		last := len(mark.src) == 0
		var compressed bool
		dst, compressed = e.appendBlock(dst, src[:size], end, len(dst) == start, last)
		if last {
			break
		}
		src = src[size:]
		if compressed {
			before = repeats
		}
		if compressed && n > 0 && run == 0 {
			size = n
			e.body.drop(end)
			e.block, e.blockCost = e.ahead, e.ahead.cost()
			e.ahead = stats{}
		} else {
			// It cannot stay as it is: a decoder takes neither literals nor offsets over from what is not compressed.
			e.in, e.repeats = mark, before
			size = e.begin()
		}
	}
	e.in = input{}
	return dst
}

// begin begins a block with a unit and returns its size.
func (e *Encoder) begin() int {
	e.body.truncate()
	e.ahead = stats{}
	size := e.unit(MaxBlock)
	if size == 0 && len(e.in.src) > 0 {
		panic("zstd: sequences are longer than the content")
	}
	e.block, e.blockCost = e.ahead, e.ahead.cost()
	e.ahead = stats{}
	return size
}

// appendBlock appends the block that the body has up to end, and reports whether it is a compressed one.
func (e *Encoder) appendBlock(dst, content []byte, end cut, first, last bool) (_ []byte, compressed bool) {
	at := len(dst)
	dst = append(dst, make([]byte, blockHeader)...)
	if len(content) > 0 {
		dst = e.appendLiterals(dst, e.body.lits[:end.lits])
		dst = e.appendSequences(dst, end.seqs)
	}
	kind, size := compressedBlock, len(dst)-at-blockHeader
	switch {
	case size < rleMax && !first && repeatsOne(content):
		// Not as the first block: the program zstd up to 1.4.3 complains of that.
		kind, size = rleBlock, len(content)
		dst = append(dst[:at+blockHeader], content[0])
	case size >= len(content):
		kind, size = rawBlock, len(content)
		dst = append(dst[:at+blockHeader], content...)
	default:
		e.literals.commit()
		for k := range e.codes {
			if end.seqs > 0 {
				e.codes[k].commit()
			}
		}
	}
	head := kind<<1 | size<<3
	if last {
		head |= 1
	}
	dst[at], dst[at+1], dst[at+2] = byte(head), byte(head>>8), byte(head>>16)
	return dst, kind == compressedBlock
}

// rleMax is a size in bytes that blocks of one repeated byte never reach when they are compressed.
const rleMax = 32

// repeatsOne reports whether p, which is not empty, is one byte repeated.
func repeatsOne(p []byte) bool { return bytes.Equal(p[1:], p[:len(p)-1]) }

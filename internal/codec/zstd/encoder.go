package zstd

import (
	"bytes"
	"math"

	"github.com/gopz/compress/internal/zstframe"
	"github.com/gopz/compress/lz77"
)

// Encoder encodes the content of frames. The zero value is ready to use and keeps its scratch
// memory between calls. An Encoder must not be copied after its first use, nor used concurrently.
type Encoder struct {
	// Checkpoint, unless it is nil, is called after each block of at most MaxBlock bytes, on the
	// caller's goroutine. It may block. It may panic to abandon the frame; the Encoder can then
	// begin another one, and refers to src and seqs until then. The result does not depend on it.
	Checkpoint func()
	// Thorough makes blocks of few literals smaller: 0.5% for 1 KiB of JSON, which takes 4 µs more
	// then.
	Thorough bool
	// Dictionary is what frames begin with, nil for none. Matches may reach back into its content,
	// which is in front of the frame's.
	Dictionary *Dictionary

	in      input
	one     [1]lz77.Sequence
	body    body
	repeats [3]uint32 // repeat offsets behind the last encoded sequence
	begun   bool      // the frame has a block

	learned    *learner // nil until a frame has several parts
	shortBlock bool     // the block has tables from learned

	block     stats // statistics of the block
	nextUnit  stats // statistics of the next unit
	merged    stats
	blockCost uint64 // see stats.cost; 0 if it is not known yet

	literals literalCoder
	codes    [kinds]tableChoice
}

// Memory is the maximum scratch memory of an Encoder in bytes.
const Memory = 5 << 18

// MaxSize returns the maximum size of the blocks that Append makes of n bytes of content. Append
// may need up to four times MaxBlock more behind them while it works. Continue may add the
// descriptions of tables that later parts use.
func MaxSize(n int) int {
	// A block that would not be smaller than its content is stored. A unit is shorter than unitSize
	// only before a longer one, at the end of a full block, or at the end of the content. So two
	// successive blocks hold at least unitSize bytes.
	return n + blockHeader*(n/unitSize*2+2)
}

// Block types (RFC 8878, section 3.1.1.2.2).
const (
	rawBlock        = zstframe.RawBlock
	rleBlock        = zstframe.RLEBlock
	compressedBlock = zstframe.CompressedBlock
)

const blockHeader = zstframe.BlockHeaderSize

// initialRepeats are the repeat offsets at the beginning of a frame (RFC 8878, section 3.1.1.5).
var initialRepeats = [3]uint32{1, 4, 8}

// Append appends the blocks of one frame with content src to dst. The sequences must be valid:
// together not longer than src, with matches of at least MinMatch bytes and offsets of at most the
// position of the match. The rest of src are literals. The Encoder retains no reference to src or
// seqs.
func (e *Encoder) Append(dst, src []byte, seqs []lz77.Sequence) []byte {
	e.BeginFrame()
	return e.AppendPart(dst, src, seqs, true)
}

// BeginFrame begins a frame for Continue.
func (e *Encoder) BeginFrame() { e.BeginPart(true) }

// BeginPart begins a part of a frame for AppendPart or Continue. first says that it is the first
// one. The blocks of another one use neither the tables nor the repeat offsets of the blocks in
// front of the part, nor the Dictionary. So parts can be encoded at the same time.
func (e *Encoder) BeginPart(first bool) {
	if e.learned != nil {
		e.learned.beginFrame()
	}
	e.begun = !first
	e.literals.known, e.literals.thorough = false, e.Thorough
	for k := range e.codes {
		e.codes[k].last = nil
	}
	e.repeats = noRepeats
	if first {
		e.beginBehind(e.Dictionary)
	}
}

// noRepeats are repeat offsets that no match has. Neither has any match one less.
var noRepeats = [3]uint32{math.MaxInt32, math.MaxInt32, math.MaxInt32}

// AppendPart is Append for a part of the content of a frame that BeginPart has begun. Matches may
// reach back into the content in front of src. last says that the frame ends with src.
func (e *Encoder) AppendPart(dst, src []byte, seqs []lz77.Sequence, last bool) []byte {
	return e.encode(dst, src, seqs, last)
}

// Repeats returns the repeat offsets behind what has been appended of the frame.
func (e *Encoder) Repeats() [3]uint32 { return e.repeats }

// Continue is Append for a part of the content of a frame. final says that it is the last part.
// Matches reach back into the parts before it. A decoder can decode each part without the next one.
func (e *Encoder) Continue(dst, src []byte, seqs []lz77.Sequence, final bool) []byte {
	if !final {
		e.learner().on = true
	}
	return e.encode(dst, src, seqs, final)
}

// encode appends the blocks of a part of a frame. final says that it is the last part.
func (e *Encoder) encode(dst, src []byte, seqs []lz77.Sequence, final bool) []byte {
	e.in = newInput(src, seqs)
	before := e.repeats // repeat offsets before the block
	size := e.beginBlock()
	for {
		// The unit is appended to the body as if it belonged to the block.
		saved, repeats, run, end := e.in, e.repeats, e.body.run, e.body.size()
		n := e.takeUnit(MaxBlock - size)
		if n > 0 && e.mergeUnit() {
			size += n
			continue
		}
		last := len(saved.src) == 0
		var compressed bool
		dst, compressed = e.appendBlock(dst, src[:size], end, last && final)
		if e.Checkpoint != nil {
			e.Checkpoint()
		}
		if last {
			if !compressed {
				e.repeats = before
			}
			break
		}
		src = src[size:]
		if compressed {
			before = repeats
		}
		if compressed && n > 0 && run == 0 {
			size = n
			e.body.drop(end)
			e.block, e.blockCost = e.nextUnit, 0
			e.nextUnit = stats{}
		} else {
			// The next unit has to be encoded again: a decoder takes neither literals nor offsets
			// over from a block that is not compressed.
			e.in, e.repeats = saved, before
			size = e.beginBlock()
		}
	}
	e.in = input{}
	return dst
}

// beginBlock begins a block with one unit and returns its size in bytes.
func (e *Encoder) beginBlock() int {
	e.body.truncate()
	e.nextUnit = stats{}
	size := e.takeUnit(MaxBlock)
	if size == 0 && len(e.in.src) > 0 {
		panic("zstd: sequences are longer than the content")
	}
	e.block, e.blockCost = e.nextUnit, 0
	e.nextUnit = stats{}
	return size
}

// appendBlock appends a block of the body up to end, which has the given content. It reports
// whether the block is a compressed one.
func (e *Encoder) appendBlock(
	dst, content []byte, end cut, last bool,
) (_ []byte, compressed bool) {
	at := len(dst)
	dst = append(dst, make([]byte, blockHeader)...)
	short := e.learned != nil && e.learned.on && len(content) <= maxShort
	e.shortBlock = short
	if short {
		e.learned.addBlock(&e.block, end.seqs)
	}
	if short && len(content) > 0 {
		dst = e.appendShortLiterals(dst, e.body.lits[:end.lits])
		dst = e.appendSequences(dst, end.seqs)
	} else if len(content) > 0 {
		dst = e.appendLiterals(dst, e.body.lits[:end.lits])
		dst = e.appendSequences(dst, end.seqs)
	}
	kind, size, limit := compressedBlock, len(dst)-at-blockHeader, len(content)
	if short && len(content) <= maxShort/2 { // within the window in any case
		limit += e.learned.described // for later blocks as well
	}
	switch {
	case size < rleMax && e.begun && repeatsOne(content):
		// The first block is never RLE: zstd up to 1.4.3 rejects that.
		kind, size = rleBlock, len(content)
		dst = append(dst[:at+blockHeader], content[0])
	case size >= limit:
		kind, size = rawBlock, len(content)
		dst = append(dst[:at+blockHeader], content...)
	default:
		if l := e.learned; l != nil {
			l.stale = l.stale || l.train || !short
		}
		e.literals.commit()
		for k := range e.codes {
			if end.seqs > 0 {
				e.codes[k].commit()
			}
		}
	}
	e.begun = true
	head := kind<<1 | size<<3
	if last {
		head |= 1
	}
	dst[at], dst[at+1], dst[at+2] = byte(head), byte(head>>8), byte(head>>16)
	return dst, kind == compressedBlock
}

// rleMax exceeds the size in bytes of any compressed block of one repeated byte.
const rleMax = 32

// repeatsOne reports whether p, which must not be empty, is one repeated byte.
func repeatsOne(p []byte) bool { return bytes.Equal(p[1:], p[:len(p)-1]) }

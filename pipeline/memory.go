package pipeline

import (
	"github.com/gopz/compress/internal/codec/deflate"
	"github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/lzprice"
	"github.com/gopz/compress/internal/match"
	"github.com/gopz/compress/internal/optimal"
	"github.com/gopz/compress/internal/x86"
	"github.com/gopz/compress/lz77"
)

// MaxLevel is the highest level. The lowest is 1.
const MaxLevel = match.MaxLevel

// Tables of log2 of the block size by level. A larger block is denser where it is the window as
// well. It takes more memory, gives fewer blocks to the workers, and makes random access read more.
var (
	// 4 MiB in place of 2 makes level 5 1.0% smaller.
	pzBlocks = [MaxLevel + 1]uint8{0, 20, 21, 21, 21, 22, 22, 22, 23, 24}
	// The window is 32 KiB whatever the block.
	deflateBlocks = [MaxLevel + 1]uint8{0, 20, 20, 20, 20, 20, 20, 20, 20, 20}
	// 2 MiB is the window of zstd -3. 4 MiB in place of 2 makes level 5 2.9% smaller.
	zstdBlocks = [MaxLevel + 1]uint8{0, 21, 21, 21, 22, 22, 22, 22, 23, 23}
)

// BlockSize returns the default block size of a level in bytes.
func (p *Pipeline) BlockSize(level int) int { return 1 << p.blocks[level] }

// zstdReach is log2 of how many bytes in front of a block of .zst its matches reach, by level. A
// worker inserts them into the tables of its match finder. At level 6, 20 is 0.3% smaller and takes
// 1.04 times the time.
var zstdReach = [MaxLevel + 1]uint8{0, 17, 17, 17, 18, 18, 18, 18, 18, 18}

// Reach returns how many bytes in front of a block of so many bytes its matches may reach, where
// blocks are not independent, at a level; 0 if blocks always are.
func (p *Pipeline) Reach(level, blockSize int) int {
	switch p.Format {
	case container.Gzip:
		return deflate.MaxOffset
	case container.Zstd:
		return min(1<<zstdReach[level], blockSize)
	}
	return 0
}

// fixedMemory is the part of a workspace that does not depend on the block, in bytes. Of it 268 KiB
// are for context-coded streams.
const fixedMemory = 592 << 10

// Memory returns a bound on the memory in bytes of the run with that many blocks in flight: the
// scratch memory of its workers, its dictionary, and the window that references reach back to. The
// buffers of the blocks themselves are not counted, nor the memory of a device.
func (p *Plan) Memory(blocks int) int64 {
	c, size := &p.cfg, int64(p.cfg.BlockSize)
	var worker, payload, candidates int64
	if c.Op == Compress {
		worker, payload = c.encodeMemory()
	} else {
		// Payload: blocks of both Repeat and Dense leave streams of 3.4 times the block, because
		// different streams are longest in each. Worker: tables of segments. Context-coded streams
		// have most, 32 for each 16 Ki symbols.
		worker, payload = fixedMemory+15*size/8, 7*size/2
	}
	worker += c.dictionaryMemory()
	if p.verify {
		worker += fixedMemory + 9*size/2
	}
	if p.candidates {
		candidates = 4 * (size + int64(c.Reach))
	}
	workers := min(p.workers, blocks)
	payloads := workers
	if p.payloads {
		payloads = blocks
	}
	return worker*int64(workers) + payload*int64(payloads) + candidates*int64(blocks) +
		c.windowMemory(blocks)
}

// anyContexts says to the estimates of memory that literals have contexts.
var anyContexts optimal.Contexts

// encodeMemory returns bounds on the memory of a workspace and of a payload for compression, in
// bytes. These are for the worst data there can be; common data takes less than half.
func (c *Config) encodeMemory() (worker, payload int64) {
	p, level, tuned, blockSize := c.Pipeline, c.Level, c.Tuning != TuneFixed, c.BlockSize
	size := int64(blockSize)
	dense := p.dense != 0 && (level >= p.dense || tuned && level >= p.choosesDense)
	priced := dense && p.levels[level].Optimal()
	form := *p.form
	if priced {
		form = lzprice.Dense
		form.Contexts = &anyContexts
	}
	worker = fixedMemory + int64(p.levels[level].Memory(blockSize+c.Reach, &form))
	switch p.Format {
	case container.PZ:
		// Worker: words of a group of lanes, 2 bytes for each of at most 0.65 symbols a byte.
		// Payload: streams, 3 times the block, and sequences. A sequence has 12 bytes and stands
		// for at least 4 of the block, in a slice that grows by a quarter: 3.75 times the block. In
		// layout Dense sequences of 2 bytes are possible, but a chunk has 4 on average.
		worker, payload = worker+3*size/2, 27*size/4
		if dense {
			// Filtered content and the choice of filters.
			worker += size + x86.Memory + denseMemory(size)
		}
		if priced {
			// A chunk may have twice the sequences until the parser notices that.
			payload += 6 * min(size, optimal.MaxChunk)
			worker += int64(smallTrialsMemory(blockSize, &form))
		}
	case container.Gzip:
		// Sequences only, of at least 4 bytes, or 3 with optimal parsing and with HashChain.
		if l := &p.levels[level]; l.Optimal() || l.Finder == lz77.HashChain {
			worker, payload = worker+int64(deflate.Memory(blockSize, blockSize/3)), 5*size
		} else {
			worker, payload = worker+int64(deflate.Memory(blockSize, blockSize/4)), 15*size/4
		}
	case container.Zstd:
		// There are no streams. But what sequences and output leave behind when they grow takes as
		// much until it is collected: with 15/4 the command took 352 MiB of a limit of 330.
		worker, payload = worker+zstd.Memory, 27*size/4
	}
	if tuned {
		worker += tunerMemory(size)
	}
	return worker, payload
}

// denseMemory returns the additional scratch memory to encode context-coded streams, in bytes.
// Literals are the whole block at most. Each takes a mark, a byte of words, since a group has half
// of them, and up to 1.3 bytes of tables: 32 of 512 bytes for each 16 Ki, in a slice that grows by
// a quarter or more. 1.2 MB are for clustering. Small blocks have a second slice of sequences, of 2
// bytes each.
func denseMemory(size int64) int64 { return 28*size/8 + 9<<17 + 15*min(size, trialBlock)/2 }

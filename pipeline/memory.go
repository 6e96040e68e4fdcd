package pipeline

import (
	"github.com/gopz/compress/deflate"
	"github.com/gopz/compress/internal/x86"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
	"github.com/gopz/compress/zstd"
)

// MaxLevel is the highest level; the lowest is 1.
const MaxLevel = lz77.MaxLevel

// Tables of log2 of the block size by level. A larger block is denser where it is the window as well, but takes more memory, gives fewer blocks to
// share out, and makes a random read dearer.
var (
	// 1 MiB to 4 MiB brings 2–3% on text and tables. 4 MiB in place of 2 brings 1.0% at level 5 on dickens+mr+nci+xml, and costs no time.
	pzBlocks = [MaxLevel + 1]uint8{0, 20, 20, 20, 21, 22, 22, 22, 23, 24}
	// The window is 32 KiB whatever the block.
	deflateBlocks = [MaxLevel + 1]uint8{0, 20, 20, 20, 20, 20, 20, 20, 20, 20}
	// 2 MiB is the window of zstd -3; 4 MiB brings 0.7% at level 4 and 2.9% at level 5.
	zstdBlocks = [MaxLevel + 1]uint8{0, 20, 20, 21, 22, 22, 22, 22, 23, 23}
)

// BlockSize is the default block size of a level in bytes.
func (p *Pipeline) BlockSize(level int) int { return 1 << p.blocks[level] }

// Memory returns a bound on the scratch memory in bytes of that many workers, beyond the buffers of the blocks themselves.
// Payloads is how many blocks may be between their first and their last stage: 0 without a device, and with one
// as many as are in flight. What a device takes is not counted. The level and tuning matter to compression only.
func (p *Pipeline) Memory(op Op, level int, tuning Tuning, blockSize, workers, payloads int) int64 {
	const fixed = 580 << 10 // 268 KiB of it are for chained streams
	size := int64(blockSize)
	// Decompression: the streams at their longest are 3.4 times the block, if there were blocks of both Repeat and Dense: one is longest in the one, others in the other; the rest is the tables of their segments, most of which chained streams may have: 32
	// for each 16 Ki symbols.
	worker, payload := fixed+15*size/8, 7*size/2
	if op == Compress {
		// Sequences, 12 bytes for at least 4 of the block, in a slice that grows by a quarter: 3.75 times the block; 5 times if they may have 3. In layout Dense they may have 2, but 4 on average, piece by piece. Streams: 3.
		// Words, which are the worker's: 2 bytes for each coded symbol of a group, of which there are at most 0.65 for each byte. That is the
		// worst there can be; common data takes less than half of it.
		limits := *p.limits
		if p.dense != 0 && level >= p.dense {
			limits = lzseq.Dense.Limits
			limits.Contexts = new(lz77.Contexts)
		}
		finder := int64(p.levels[level].Memory(blockSize+p.Window, &limits))
		worker, payload = fixed+finder+3*size/2, 27*size/4
		if p.dense != 0 && level >= p.dense {
			payload += 6 * min(size, lz77.MaxChunk) // a piece may have twice as many sequences until that is noticed
		}
		if p.dense != 0 && (level >= p.dense || tuning != TuneFixed && level >= p.fastDense) {
			worker += denseMemory(size)
		}
		if p.dense != 0 && level >= p.dense {
			worker += size + x86.Memory + int64(smallWaysMemory(blockSize, &limits)) // filtered content, and how it was chosen; other ways
		}
		switch p.Format {
		case GZ:
			if worker, payload = fixed+finder+int64(deflate.Memory(blockSize, blockSize/4)), 15*size/4; p.levels[level].Finder.Optimal() {
				worker, payload = fixed+finder+int64(deflate.Memory(blockSize, blockSize/3)), 5*size
			}
		case ZST:
			// There are no streams, but what sequences and output leave behind when they grow takes as much until it is collected: with 15/4 the
			// command took 352 MiB on 128 MiB of all kinds of data at level 9, instead of 330.
			worker = fixed + finder + zstd.Memory
		}
		if tuning != TuneFixed {
			worker += tunerMemory(size)
		}
		if payloads > 0 {
			worker += fixed + 9*size/2 // to decode what the device has made
		}
	}
	return worker*int64(workers) + payload*int64(max(workers, payloads))
}

// denseMemory is what coding chained streams takes beyond what the other layouts do. Literals are the whole block at the most: of each a mark, a byte of words, for a
// group has half of them, and up to 1.3 bytes of tables, of which there are 32 of 512 bytes for each 16 Ki, in a slice that grows by a quarter or more. 1.5 MB are clusters. Small blocks, of one piece, have other sequences to choose from, which may be of 2 bytes each.
func denseMemory(size int64) int64 { return 28*size/8 + 6<<18 + 15*min(size, trialBlock)/2 }

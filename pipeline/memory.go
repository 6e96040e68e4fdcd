package pipeline

import "github.com/gopz/compress/lz77"

// MaxLevel is the highest level; the lowest is 1.
const MaxLevel = lz77.MaxLevel

// blockLogs is log2 of the block size by level. A block is also the window: larger ones are denser (1 MiB to 4 MiB brings 2–3% on
// text and tables), but take more memory, give fewer blocks to share out, and make a random read dearer.
var blockLogs = [MaxLevel + 1]uint8{0, 20, 20, 20, 20, 20, 20, 22, 23, 24}

// DefaultBlockSize is the block size of a level in bytes.
func DefaultBlockSize(level int) int { return 1 << blockLogs[level] }

// Memory returns a bound on the scratch memory in bytes of that many workers, beyond the buffers of the blocks themselves.
// The level matters to compression only.
func (p *Pipeline) Memory(op Op, level, blockSize, workers int) int64 {
	// Decompression: the streams at their longest, 2.9 times the block, and the tables of their segments.
	const fixed = 256 << 10
	size := int64(blockSize)
	one := fixed + 7*size/2
	if op == Compress {
		// Sequences, 12 bytes for at least 4 of the block, in a slice that grows by a quarter: 3.75 times the block. Streams: 3.
		// Words: 2 bytes for each coded symbol of a group, of which there are at most 0.65 for each byte. That is the worst there can be;
		// common data takes less than half of it.
		one = fixed + int64(lz77.Levels[level].Memory(blockSize)) + 33*size/4
	}
	return one * int64(workers)
}

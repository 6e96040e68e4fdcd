package pipeline

import "github.com/gopz/compress/lz77"

// MaxLevel is the highest level; the lowest is 1.
const MaxLevel = lz77.MaxLevel

// blockLogs is log2 of the block size by level. A block is also the window: larger ones are denser (1 MiB to 4 MiB brings 1.5–2.5% on
// text and tables), but take more memory, give fewer blocks to share out, and make a random read dearer.
var blockLogs = [MaxLevel + 1]uint8{0, 20, 20, 20, 20, 20, 20, 22, 22, 23}

// DefaultBlockSize is the block size of a level in bytes.
func DefaultBlockSize(level int) int { return 1 << blockLogs[level] }

// Memory returns a bound on the scratch memory in bytes of that many workers, beyond the buffers of the blocks themselves.
// The level matters to compression only.
func (p *Pipeline) Memory(op Op, level, blockSize, workers int) int64 {
	// The streams together hold little more than the block does; buffers that grow by appending have up to a quarter to spare.
	const fixed = 256 << 10
	streams := 5 * blockSize / 4
	one := fixed + 2*streams
	if op == Compress {
		// A sequence of 12 bytes stands for at least 4 of the block, and a coded symbol takes at most 2 bytes in each of two groups.
		one = fixed + lz77.Levels[level].Memory(blockSize) + streams + 15*blockSize/4 + blockSize
	}
	return int64(one) * int64(workers)
}

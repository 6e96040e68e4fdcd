package pipeline

import (
	"hash/crc32"

	"github.com/gopz/compress/deflate"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/lz77"
)

// Stages of the pipelines that write standard formats, which code and wrap sequences themselves.

// deflateLimits leaves out matches of 3 bytes: at most distances they cost more than literals, and nobody looks for them here.
var deflateLimits = lz77.Limits{MinMatch: 4, MaxOffset: deflate.MaxOffset}

// deflateLevels is made for a window of 32 KiB: smaller tables, which are quicker to fill again for every block, and hashes of fewer
// bytes, since near matches pay when they are short.
var deflateLevels = lz77.Levels

// deflateStage codes a block as a piece of a Deflate stream.
var deflateStage = stage{name: "deflate", run: func(ws *workspace, b *Block) error {
	b.dst = ws.deflate.Append(b.dst[:0], b.content(), b.payload.seqs, false)
	return nil
}}

// zstdMaxBlock is the window that every decoder of zstd should have (RFC 8878, section 3.1.1.1.2), and so the most
// that a frame has: its window is its content.
const zstdMaxBlock = 8 << 20

// zstdStage codes a block as a frame.
var zstdStage = stage{name: "zstd", run: func(ws *workspace, b *Block) error {
	content := b.content()
	h := zstfile.Header{ContentSize: int64(len(content)), Window: int64(len(content)), SingleSegment: true, Checksum: b.run.cfg.Checks}
	b.dst = h.Append(b.dst[:0])
	b.dst = ws.zstd.Append(b.dst, content, b.payload.seqs)
	if h.Checksum {
		b.Sum = zstfile.Checksum(content)
		b.dst = append(b.dst, byte(b.Sum), byte(b.Sum>>8), byte(b.Sum>>16), byte(b.Sum>>24))
	}
	return nil
}}

// gzipSum is the CRC32 of the content, which .gz always has.
func gzipSum(b *Block) uint32 { return crc32.ChecksumIEEE(b.content()) }

// zstdSum is what the stage has made of it: the frame ends with it.
func zstdSum(b *Block) uint32 { return b.Sum }

package compress

import (
	"slices"

	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/pipeline"
)

// framing is what a container format puts around the payloads of blocks. All methods append to dst, but for reset.
type framing interface {
	// reset begins a new stream.
	reset(o *options)
	// begin is called once, in front of the first block, or of the end if there is none.
	begin(dst []byte) []byte
	// head and foot stand around the payload of a block.
	head(dst []byte, b *pipeline.Block) []byte
	foot(dst []byte, b *pipeline.Block) []byte
	// end completes a stream; passed and written are the bytes of content and of the stream so far.
	end(dst []byte, passed, written int64) []byte
}

// framings has one of each format, so that a Writer need not allocate any.
type framings struct {
	pz  pzFraming
	gz  gzFraming
	zst zstFraming
}

func (f *framings) of(format pipeline.Format) framing {
	switch format {
	case pipeline.GZ:
		return &f.gz
	case pipeline.ZST:
		return &f.zst
	}
	return &f.pz
}

// pzFraming is docs/FORMAT.md.
type pzFraming struct {
	opt  *options
	tail []byte // end marker and index, 8 bytes for each block
}

func (f *pzFraming) reset(o *options) {
	f.opt = o
	f.tail = append(f.tail[:0], pzfile.EndMarker[:]...)
}

func (f *pzFraming) blocks() int64 {
	return int64(len(f.tail)-pzfile.EndMarkerSize) / pzfile.EntrySize
}

func (f *pzFraming) begin(dst []byte) []byte {
	o := f.opt
	h := pzfile.Header{Pipeline: o.pipe.ID, BlockSize: o.blockSize, Checks: o.checks, ContentSize: o.contentSize}
	return h.Append(dst)
}

func (f *pzFraming) head(dst []byte, b *pipeline.Block) []byte {
	e := pzfile.Entry{Kind: uint8(b.Kind), Payload: len(b.Out()), Raw: b.Raw}
	dst = pzfile.AppendBlockHeader(dst, e, b.Sum, f.blocks())
	f.tail = e.Append(f.tail)
	return dst
}

func (f *pzFraming) foot(dst []byte, b *pipeline.Block) []byte { return dst }

func (f *pzFraming) end(dst []byte, passed, written int64) []byte {
	t := pzfile.Footer{Content: passed, Size: written + int64(len(f.tail)) + pzfile.FooterSize, Blocks: f.blocks()}
	dst = slices.Grow(dst, len(f.tail)+pzfile.FooterSize)
	dst = append(dst, f.tail...)
	return pzfile.AppendFooter(dst, t, pzfile.Checksum(0, f.tail))
}

// gzFraming is RFC 1952: one member, whose Deflate stream is made of the blocks' pieces and an empty last one.
type gzFraming struct {
	opt *options
	sum uint32
}

func (f *gzFraming) reset(o *options) { f.opt, f.sum = o, 0 }

func (f *gzFraming) begin(dst []byte) []byte {
	// Whatever the system, so that the same content gives the same file everywhere.
	h := gzfile.Header{Name: f.opt.name, ModTime: f.opt.modTime, OS: gzfile.UnknownOS}
	switch f.opt.level {
	case MinLevel:
		h.Speed = gzfile.Fastest
	case MaxLevel:
		h.Speed = gzfile.Densest
	}
	p, err := h.Append(dst)
	if err != nil { // a name that cannot be written
		h.Name = ""
		p, _ = h.Append(dst)
	}
	return p
}

func (f *gzFraming) head(dst []byte, b *pipeline.Block) []byte {
	f.sum = gzfile.Combine(f.sum, b.Sum, int64(b.Raw))
	return dst
}

func (f *gzFraming) foot(dst []byte, b *pipeline.Block) []byte { return dst }

func (f *gzFraming) end(dst []byte, passed, written int64) []byte {
	// A last block with the fixed codes (RFC 1951, section 3.2.6), which holds nothing but its end.
	return gzfile.AppendTrailer(append(dst, 3, 0), f.sum, passed)
}

// zstFraming is RFC 8878: a frame for each block, and behind them a seek table.
type zstFraming struct {
	opt     *options
	entries []zstfile.Entry
	size    int // of the head of the current frame
}

func (f *zstFraming) reset(o *options) { f.opt, f.entries = o, f.entries[:0] }

func (f *zstFraming) begin(dst []byte) []byte { return dst }

func (f *zstFraming) header(dst []byte, content int64) []byte {
	h := zstfile.Header{ContentSize: content, Window: content, SingleSegment: true, Checksum: f.opt.checks}
	return h.Append(dst)
}

func (f *zstFraming) check(dst []byte, sum uint32) []byte {
	if f.opt.checks {
		dst = append(dst, byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24))
	}
	return dst
}

func (f *zstFraming) head(dst []byte, b *pipeline.Block) []byte {
	n := len(dst)
	dst = f.header(dst, int64(b.Raw))
	f.size = len(dst) - n
	return dst
}

func (f *zstFraming) foot(dst []byte, b *pipeline.Block) []byte {
	n := len(dst)
	dst = f.check(dst, b.Sum)
	size := f.size + len(b.Out()) + len(dst) - n
	f.entries = append(f.entries, zstfile.Entry{Size: uint32(size), Content: uint32(b.Raw), Sum: b.Sum})
	return dst
}

func (f *zstFraming) end(dst []byte, passed, written int64) []byte {
	if len(f.entries) == 0 {
		// Empty content is a frame that holds an empty last block (RFC 8878, section 3.1.1.2).
		n := len(dst)
		dst = append(f.header(dst, 0), 1, 0, 0)
		sum := zstfile.Checksum(nil)
		dst = f.check(dst, sum)
		f.entries = append(f.entries, zstfile.Entry{Size: uint32(len(dst) - n), Sum: sum})
	}
	if len(f.entries) > zstfile.MaxSeekFrames {
		return dst // the format has no room for them: the file can be read from the front only
	}
	table := zstfile.SeekFooter{Frames: len(f.entries), Sums: f.opt.checks}
	dst = slices.Grow(dst, int(table.TableSize()))
	return zstfile.AppendSeekTable(dst, f.entries, f.opt.checks)
}

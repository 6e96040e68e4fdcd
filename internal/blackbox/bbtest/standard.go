package bbtest

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/internal/zstframe"
	"github.com/gopz/compress/lz77"
)

// Files of the standard formats, .gz and .zst, from other encoders or put together by hand, and
// helpers to read them.

// StandardPipelines are the pipelines that write .gz and .zst.
var StandardPipelines = []string{"deflate", "lzf"}

// StoredMember makes a member. flags say which of the given fields it has.
func StoredMember(content string, flags byte, fields string) string {
	head := []byte{0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3}
	return string(head) + fields + GzBody(content, 0, 0)
}

// GzBody returns a stored block and a trailer. Bits of sum and size are wrong.
func GzBody(content string, sum, size uint32) string {
	p := []byte{1}
	p = binary.LittleEndian.AppendUint16(p, uint16(len(content)))
	p = binary.LittleEndian.AppendUint16(p, ^uint16(len(content)))
	p = append(p, content...)
	p = binary.LittleEndian.AppendUint32(p, crc32.ChecksumIEEE([]byte(content))^sum)
	return string(binary.LittleEndian.AppendUint32(p, uint32(len(content))^size))
}

// MakeSeekTable returns a seek table.
func MakeSeekTable(sums bool, list ...zstfile.Entry) []byte {
	return zstfile.AppendSeekTable(nil, list, sums)
}

// GzipMember returns a member that compress/gzip writes.
func GzipMember(t testing.TB, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(content)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// FrameWriter writes one zstd frame without a content size. Each Flush ends a block.
type FrameWriter struct {
	W       io.Writer
	Window  int64
	begun   bool
	content []byte
	flushed int // bytes of content in blocks
	enc     zstd.Encoder
	finder  lz77.Matcher
}

func (f *FrameWriter) Write(p []byte) (int, error) {
	f.content = append(f.content, p...)
	return len(p), nil
}

// Flush writes the content since the last Flush. Its blocks use no matches, tables or repeat
// offsets from the blocks before: the Matcher makes no offsets below lz77.MinOffset, and so none
// that the Encoder expects in the list of repeat offsets.
func (f *FrameWriter) Flush() error { return f.write(false) }

// Close writes the end of the frame.
func (f *FrameWriter) Close() error { return f.write(true) }

func (f *FrameWriter) write(last bool) error {
	var p []byte
	if !f.begun {
		h := zstfile.Header{ContentSize: -1, Window: f.Window, Checksum: true}
		p, f.begun = h.Append(nil), true
	}
	if piece := f.content[f.flushed:]; len(piece) > 0 || last {
		at := len(p)
		seqs := f.finder.Parse(nil, piece, &lz77.Levels[4], zstd.Limits)
		p = f.enc.Append(p, piece, seqs)
		for !last {
			// The Encoder marks the last block of the piece as the last of the frame.
			b, err := zstframe.ParseBlock(p[at:])
			if err != nil {
				return err
			}
			if b.Last {
				p[at] &^= 1
				break
			}
			at += zstframe.BlockHeaderSize + b.Size
		}
		f.flushed = len(f.content)
	}
	if last {
		p = binary.LittleEndian.AppendUint32(p, zstfile.Checksum(f.content))
	}
	_, err := f.W.Write(p)
	return err
}

// ZstdStream returns a frame without a content size, in which each piece of the content ends a
// block. Its window is 8 MiB.
func ZstdStream(t testing.TB, content []byte, piece int) []byte {
	t.Helper()
	return ZstdWindow(t, content, piece, 8<<20)
}

// ZstdWindow is ZstdStream with a window.
func ZstdWindow(t testing.TB, content []byte, piece int, window int64) []byte {
	t.Helper()
	var b bytes.Buffer
	w := &FrameWriter{W: &b, Window: window}
	for p := range slices.Chunk(content, piece) {
		w.Write(p)
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// SkippableFrame returns a skippable frame.
func SkippableFrame(kind int, content []byte) []byte {
	p := binary.LittleEndian.AppendUint32(nil, zstfile.SkippableMagic+uint32(kind))
	return append(binary.LittleEndian.AppendUint32(p, uint32(len(content))), content...)
}

// StoredFrame returns a frame of stored blocks.
func StoredFrame(h zstfile.Header, blocks ...[]byte) []byte {
	p := h.Append(nil)
	for i, b := range blocks {
		v := len(b) << 3
		if i == len(blocks)-1 {
			v |= 1
		}
		p = append(append(p, byte(v), byte(v>>8), byte(v>>16)), b...)
	}
	if h.Checksum {
		p = binary.LittleEndian.AppendUint32(p, zstfile.Checksum(slices.Concat(blocks...)))
	}
	return p
}

// WindowFrame returns a frame of stored blocks whose window may be larger than the content.
func WindowFrame(window int64, content []byte) []byte {
	var blocks [][]byte
	for c := range slices.Chunk(content, zstfile.MaxBlock) {
		blocks = append(blocks, c)
	}
	return StoredFrame(zstfile.Header{ContentSize: -1, Window: window, Checksum: true}, blocks...)
}

// FrameAt returns the offset of frame n of a file with a seek table. For n equal to the number of
// frames it returns the offset of the table.
func FrameAt(t testing.TB, file []byte, n int) int {
	t.Helper()
	f, err := zstfile.ParseSeekFooter(file[len(file)-zstfile.SeekFooterSize:], int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	table := len(file) - int(f.TableSize())
	list, err := f.AppendEntries(nil, file[table:], int64(table))
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, e := range list[:n] {
		at += int(e.Size)
	}
	return at
}

// A StandardFile is a small file of several members or frames.
type StandardFile struct {
	Name          string
	File, Content []byte
	Whole         []int // offsets at which a cut leaves a complete file
}

// StandardFiles returns a .gz file, a .zst file, and a .zst file with a seek table. The first two
// have headers of all kinds, and members and frames without content.
func StandardFiles(t testing.TB) []StandardFile {
	text, noise := TextBytes(2*BlockSize+50, 1), RandomBytes(300, 2)
	build := func(name string, parts ...[]byte) StandardFile {
		f := StandardFile{Name: name}
		for i := 0; i < len(parts); i += 2 {
			f.File, f.Content = append(f.File, parts[i]...), append(f.Content, parts[i+1]...)
			f.Whole = append(f.Whole, len(f.File))
		}
		return f
	}
	header := gzfile.Header{
		Name: "name", Comment: "comment", Extra: []byte("XX\x01\x00y"), HeaderCRC: true,
	}
	full, err := header.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	full = append(full, GzipMember(t, noise)[gzfile.MinHeaderSize:]...)
	unsized := zstfile.Header{ContentSize: -1, Window: 1 << 20, Checksum: true}
	sized := zstfile.Header{ContentSize: 300, Window: 1 << 10, Checksum: true}
	return []StandardFile{
		build("gzip",
			GzipMember(t, text), text,
			full, noise,
			GzipMember(t, nil), nil,
			Encode(t, noise, compress.WithFormat(compress.Gzip)), noise),
		build("zstd",
			SkippableFrame(3, []byte("skip me")), nil,
			ZstdStream(t, text, 700), text,
			StoredFrame(sized, noise[:100], noise[100:]), noise,
			StoredFrame(unsized, nil), nil,
			StoredFrame(zstfile.Header{ContentSize: 0, SingleSegment: true}, nil), nil,
			StoredFrame(unsized, noise), noise),
		build("seekable", Encode(t, text, compress.WithFormat(compress.Zstd),
			compress.WithSeekable(BlockSize)), text),
	}
}

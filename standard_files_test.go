package compress

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/internal/zstframe"
	"github.com/gopz/compress/lz77"
)

// Files of the standard formats, .gz and .zst, from other encoders or put together by hand, and
// helpers to read them.

// gzipMember returns a member that compress/gzip writes.
func gzipMember(t testing.TB, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(content)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// frameWriter writes one zstd frame without a content size. Each Flush ends a block.
type frameWriter struct {
	w       io.Writer
	window  int64
	begun   bool
	content []byte
	flushed int // bytes of content in blocks
	enc     zstd.Encoder
	finder  lz77.Matcher
}

func (f *frameWriter) Write(p []byte) (int, error) {
	f.content = append(f.content, p...)
	return len(p), nil
}

// Flush writes the content since the last Flush. Its blocks use no matches, tables or repeat
// offsets from the blocks before: the Matcher makes no offsets below lz77.MinOffset, and so none
// that the Encoder expects in the list of repeat offsets.
func (f *frameWriter) Flush() error { return f.write(false) }

// Close writes the end of the frame.
func (f *frameWriter) Close() error { return f.write(true) }

func (f *frameWriter) write(last bool) error {
	var p []byte
	if !f.begun {
		h := zstfile.Header{ContentSize: -1, Window: f.window, Checksum: true}
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
	_, err := f.w.Write(p)
	return err
}

// zstdStream returns a frame without a content size, in which each piece of the content ends a
// block. Its window is 8 MiB.
func zstdStream(t testing.TB, content []byte, piece int) []byte {
	t.Helper()
	return zstdWindow(t, content, piece, 8<<20)
}

// zstdWindow is zstdStream with a window.
func zstdWindow(t testing.TB, content []byte, piece int, window int64) []byte {
	t.Helper()
	var b bytes.Buffer
	w := &frameWriter{w: &b, window: window}
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

// TestFrameWriter checks that the zstd program reads the frames of frameWriter.
func TestFrameWriter(t *testing.T) {
	content := mixedBytes(300_000)
	for _, piece := range []int{100, 1000, 5000, 200_000, 400_000} {
		for _, window := range []int64{1 << 20, 8 << 20} {
			file := zstdWindow(t, content, piece, window)
			equal(t, decodeReference(t, "lzf", file), content, fmt.Sprint("pieces of ", piece))
		}
	}
}

// skippableFrame returns a skippable frame.
func skippableFrame(kind int, content []byte) []byte {
	p := binary.LittleEndian.AppendUint32(nil, zstfile.SkippableMagic+uint32(kind))
	return append(binary.LittleEndian.AppendUint32(p, uint32(len(content))), content...)
}

// storedFrame returns a frame of stored blocks.
func storedFrame(h zstfile.Header, blocks ...[]byte) []byte {
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

// windowFrame returns a frame of stored blocks whose window may be larger than the content.
func windowFrame(window int64, content []byte) []byte {
	var blocks [][]byte
	for c := range slices.Chunk(content, zstfile.MaxBlock) {
		blocks = append(blocks, c)
	}
	return storedFrame(zstfile.Header{ContentSize: -1, Window: window, Checksum: true}, blocks...)
}

// frameAt returns the offset of frame n of a file with a seek table. For n equal to the number of
// frames it returns the offset of the table.
func frameAt(t testing.TB, file []byte, n int) int {
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

// A standardFile is a small file of several members or frames.
type standardFile struct {
	name          string
	file, content []byte
	whole         []int // offsets at which a cut leaves a complete file
}

// standardFiles returns a .gz file, a .zst file, and a .zst file with a seek table. The first two
// have headers of all kinds, and members and frames without content.
func standardFiles(t testing.TB) []standardFile {
	text, noise := textBytes(2*testBlock+50, 1), randomBytes(300, 2)
	build := func(name string, parts ...[]byte) standardFile {
		f := standardFile{name: name}
		for i := 0; i < len(parts); i += 2 {
			f.file, f.content = append(f.file, parts[i]...), append(f.content, parts[i+1]...)
			f.whole = append(f.whole, len(f.file))
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
	full = append(full, gzipMember(t, noise)[gzfile.MinHeaderSize:]...)
	unsized := zstfile.Header{ContentSize: -1, Window: 1 << 20, Checksum: true}
	sized := zstfile.Header{ContentSize: 300, Window: 1 << 10, Checksum: true}
	return []standardFile{
		build("gzip",
			gzipMember(t, text), text,
			full, noise,
			gzipMember(t, nil), nil,
			encode(t, noise, WithFormat(Gzip)), noise),
		build("zstd",
			skippableFrame(3, []byte("skip me")), nil,
			zstdStream(t, text, 700), text,
			storedFrame(sized, noise[:100], noise[100:]), noise,
			storedFrame(unsized, nil), nil,
			storedFrame(zstfile.Header{ContentSize: 0, SingleSegment: true}, nil), nil,
			storedFrame(unsized, noise), noise),
		build("seekable", encode(t, text, WithFormat(Zstd), WithBlockSize(testBlock)), text),
	}
}

// decodeWith decodes file with r, or with AppendDecode if r is nil.
func decodeWith(r *Reader, file []byte) ([]byte, error) {
	if r == nil {
		return AppendDecode(nil, file)
	}
	r.Reset(onlyReader{bytes.NewReader(file)})
	return io.ReadAll(r)
}

// allReaders returns a Reader for each number of workers, and nil for AppendDecode.
func allReaders(t *testing.T, opts ...Option) (list []*Reader) {
	for _, workers := range workerCounts {
		list = append(list, newReader(t, nil, append(opts, WithConcurrency(workers))...))
	}
	return append(list, nil)
}

// decodeSame decodes a file with all readers, which must agree about content and error.
func decodeSame(
	t *testing.T, readers []*Reader, file []byte, what string,
) (content []byte, err error) {
	t.Helper()
	content, err = decodeWith(readers[0], file)
	for i, r := range readers[1:] {
		got, gotErr := decodeWith(r, file)
		if fmt.Sprint(gotErr) != fmt.Sprint(err) || !bytes.Equal(got, content) {
			t.Fatalf("%s: %d bytes and %v with one worker, %d bytes and %v with reader %d",
				what, len(content), err, len(got), gotErr, i+1)
		}
	}
	return content, err
}

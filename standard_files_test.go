package compress

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"testing"

	kzstd "github.com/klauspost/compress/zstd"

	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/zstfile"
)

// gzipOf is a member of Go's compress/gzip.
func gzipOf(t testing.TB, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(content)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// zstdStream is a frame that does not say how much content it has, and is flushed after every piece.
func zstdStream(t testing.TB, content []byte, piece int, opts ...kzstd.EOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := kzstd.NewWriter(&b, append([]kzstd.EOption{kzstd.WithEncoderConcurrency(1)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(content); i += piece {
		w.Write(content[i:min(i+piece, len(content))])
		w.Flush()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// skippable is a skippable frame.
func skippable(kind int, content []byte) []byte {
	p := binary.LittleEndian.AppendUint32(nil, zstfile.SkippableMagic+uint32(kind))
	return append(binary.LittleEndian.AppendUint32(p, uint32(len(content))), content...)
}

// zstdRaw is a frame of stored blocks.
func zstdRaw(h zstfile.Header, blocks ...[]byte) []byte {
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

// storedFrame is a frame of stored blocks whose window is not made smaller because the frame is short.
func storedFrame(window int64, content []byte) []byte {
	var blocks [][]byte
	for c := range slices.Chunk(content, zstfile.MaxBlock) {
		blocks = append(blocks, c)
	}
	return zstdRaw(zstfile.Header{ContentSize: -1, Window: window, Checksum: true}, blocks...)
}

// frameAt is the offset of a frame of a file with a seek table.
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

// A foreignFile is a small file of several members or frames, of all sorts.
type foreignFile struct {
	name          string
	file, content []byte
	whole         []int // offsets at which a file that ends there is whole
}

func foreignFiles(t testing.TB) []foreignFile {
	text, noise := textBytes(2*testBlock+50, 1), randomBytes(300, 2)
	build := func(name string, parts ...[]byte) foreignFile {
		f := foreignFile{name: name}
		for i := 0; i < len(parts); i += 2 {
			f.file, f.content = append(f.file, parts[i]...), append(f.content, parts[i+1]...)
			f.whole = append(f.whole, len(f.file))
		}
		return f
	}
	header := gzfile.Header{Name: "name", Comment: "comment", Extra: []byte("XX\x01\x00y"), HeaderCRC: true}
	full, err := header.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	full = append(full, gzipOf(t, noise)[gzfile.MinHeaderSize:]...)
	h := zstfile.Header{ContentSize: -1, Window: 1 << 20, Checksum: true}
	return []foreignFile{
		build("gzip", gzipOf(t, text), text, full, noise, gzipOf(t, nil), nil, encode(t, noise, WithPipeline("deflate")), noise),
		build("zstd",
			skippable(3, []byte("skip me")), nil,
			zstdStream(t, text, 700), text,
			zstdRaw(zstfile.Header{ContentSize: 300, Window: 1 << 10, Checksum: true}, noise[:100], noise[100:]), noise,
			zstdRaw(h, nil), nil,
			zstdRaw(zstfile.Header{ContentSize: 0, SingleSegment: true}, nil), nil,
			zstdRaw(h, noise), noise),
		build("seekable", encode(t, text, WithPipeline("lzf"), WithBlockSize(testBlock)), text),
	}
}

// readTo decodes src with r, or with AppendDecode if r is nil.
func readTo(r *Reader, file []byte) ([]byte, error) {
	if r == nil {
		return AppendDecode(nil, file)
	}
	r.Reset(plain{bytes.NewReader(file)})
	return io.ReadAll(r)
}

// allReaders are Readers of several numbers of workers, and nil for AppendDecode.
func allReaders(t *testing.T, opts ...Option) (list []*Reader) {
	for _, workers := range workerCounts {
		list = append(list, newReader(t, nil, append(opts, WithConcurrency(workers))...))
	}
	return append(list, nil)
}

// sameEverywhere decodes a file in all ways, and fails if they do not agree.
func sameEverywhere(t *testing.T, readers []*Reader, file []byte, what string) (content []byte, err error) {
	t.Helper()
	content, err = readTo(readers[0], file)
	for i, r := range readers[1:] {
		got, gerr := readTo(r, file)
		if fmt.Sprint(gerr) != fmt.Sprint(err) || !bytes.Equal(got, content) {
			t.Fatalf("%s: %d bytes and %v with one worker, %d and %v with reader %d", what, len(content), err, len(got), gerr, i+1)
		}
	}
	return content, err
}

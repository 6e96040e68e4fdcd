package refdec

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// refused are files with values that version 1 reserves. A decoder must refuse them, behind the
// content in front of them. Each has correct checks, as from a later encoder.
var refused = []struct {
	name  string
	want  error // of the library
	build func(b *builder)
}{
	{"version", compress.ErrVersion, func(b *builder) { b.header(2, 2) }},
	{"version-small", compress.ErrVersion, func(b *builder) { b.smallHeader(2, 2) }},
	{"pipeline", compress.ErrVersion, func(b *builder) { b.header(3, 3) }},
	{"pipeline-small", compress.ErrVersion, func(b *builder) { b.smallHeader(3, 3) }},
	{"flag", compress.ErrVersion, func(b *builder) { b.header(5, flagContentChecks|16) }},
	{"flag-small", compress.ErrVersion, func(b *builder) {
		b.smallHeader(4, smallStream|smallCheck|kindStored|16)
	}},
	{"section", compress.ErrVersion, func(b *builder) { b.section(5, []byte("not to be skipped")) }},
	{"layout", compress.ErrCorrupt, func(b *builder) { b.block(5, 0, 0) }},
	{"layout-flag", compress.ErrCorrupt, func(b *builder) { b.block(layoutDense, 16, 0, 0, 0, 0, 0, 0) }},
	{"segment-mode", compress.ErrCorrupt, func(b *builder) {
		b.block(layoutRepeat, 10, 3|segmentEnds, 0, 0, 0, 0, 0)
	}},
	{"segment-bit", compress.ErrCorrupt, func(b *builder) {
		b.block(layoutRepeat, 10, 16|modeByte|segmentEnds, 'x', 0, 0, 0, 0, 0)
	}},
	{"own-content", compress.ErrCorrupt, func(b *builder) { b.own(4) }},
}

// header adds a stream of which a byte of the header is another one.
func (b *builder) header(at int, value byte) {
	head := streamHead(12, flagContentChecks)
	head[at] = value
	b.file = append(b.file, sealBehind(head, stored([]byte("behind")).block)...)
}

// smallHeader adds a small stream of which a byte of the header is another one.
func (b *builder) smallHeader(at int, value byte) {
	s := sealSmall(smallCheck, stored([]byte("behind")).block)
	s[at] = value
	le.PutUint16(s[11:], crc16(s[:11]))
	b.file = append(b.file, s...)
}

// block adds a stream with a block of some content and then a coded one, of 10 bytes, with a
// payload.
func (b *builder) block(payload ...byte) {
	b.content = append(b.content, "in front"...)
	b.file = append(b.file, sealBare(12, stored([]byte("in front")).block,
		block{kindCoded, 10, payload, false})...)
}

// own adds a stream with a reference and own content of a kind.
func (b *builder) own(kind byte) {
	p := corpus.ByName("text").Make(100)
	b.content = append(b.content, p...)
	refs := list([]int{1}, [][4]int{{1, 90, 0, 0}}, kind, []byte("own"))
	b.file = append(b.file, sealBehind(streamHead(12, flagWindow, minLogWindow, 1), stored(p).block,
		block{kindCoded, 93, refs, false})...)
}

// TestGoldenRefused checks that all decoders refuse the golden files with reserved values, and give
// the content in front of them. -update writes missing files only.
func TestGoldenRefused(t *testing.T) {
	var files [][]byte
	var results []string
	for _, g := range refused {
		var b builder
		b.small(smallCheck, stored([]byte("version 1, ")))
		g.build(&b)
		path := filepath.Join("..", "..", "testdata", "golden", "refused", g.name+".pz")
		file, err := os.ReadFile(path)
		if os.IsNotExist(err) && *update {
			file, err = b.file, os.WriteFile(path, b.file, 0o666)
		}
		if err != nil || !bytes.Equal(file, b.file) {
			t.Errorf("%s: %d bytes, %v, differ from %d that are built", g.name, len(file), err, len(b.file))
		}
		got, err := agree(t, b.file)
		if err == nil || !bytes.Equal(got, b.content) {
			t.Errorf("%s: %q, %v", g.name, got, err)
		}
		got, err = readAll(b.file, 3)
		if !errors.Is(err, g.want) || !bytes.Equal(got, b.content) {
			t.Errorf("%s: Reader: %q, %v", g.name, got, err)
		}
		if r, err := openAt(b.file); err == nil {
			got, err = io.ReadAll(r)
			r.Close()
			if !errors.Is(err, g.want) || !bytes.Equal(got, b.content) {
				t.Errorf("%s: ReaderAt: %q, %v", g.name, got, err)
			}
		} else if !errors.Is(err, compress.ErrVersion) {
			t.Errorf("%s: NewReaderAt: %v", g.name, err)
		}
		files = append(files, b.file)
		results = append(results, fmt.Sprintf("false %x", sha256.Sum256(b.content)))
	}
	if testenv.Emulated() {
		return
	}
	for i, got := range pythonResults(t, files) {
		if got != results[i] {
			t.Errorf("%s: decode.py: %s, want %s", refused[i].name, got, results[i])
		}
	}
}

package compress

import (
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/pzfile"
)

// TestNotPZ opens files that are of no format, incomplete or inconsistent.
func TestNotPZ(t *testing.T) {
	good := encode(t, []byte("some content"))
	for _, c := range []struct {
		name string
		file []byte
		kind error
	}{
		{"empty", nil, ErrTruncated},
		{
			"text", []byte("This text is longer than the shortest compressed file there is."),
			ErrFormat,
		},
		{"one byte", []byte{'x'}, ErrFormat},
		{"P", []byte{'P'}, ErrTruncated},
		{"zeros", make([]byte, 100), ErrFormat},
		{"gzip", append([]byte{0x1f, 0x8b}, make([]byte, 100)...), ErrFormat},
		{"version", append([]byte("PZ\x02"), good[3:]...), ErrVersion},
		{"pipeline", replaceHeader(good, func(h *pzfile.Header) { h.Pipeline = 200 }), ErrVersion},
		{"text behind", append(slices.Clone(good), "junk"...), ErrCorrupt},
		{"a zero behind", append(slices.Clone(good), 0), ErrCorrupt},
		{"part of a stream behind", append(slices.Clone(good), good[:20]...), ErrTruncated},
		{
			"content size too large",
			replaceHeader(encode(t, make([]byte, 70_000), WithContentSize(70_000)),
				func(h *pzfile.Header) { h.ContentSize++ }),
			ErrCorrupt,
		},
		{
			"content size too small",
			replaceHeader(encode(t, make([]byte, 70_000), WithContentSize(70_000)),
				func(h *pzfile.Header) { h.ContentSize-- }),
			ErrCorrupt,
		},
	} {
		if _, err := decode(c.file); !errors.Is(err, c.kind) {
			t.Errorf("%s: Reader: %v, want %v", c.name, err, c.kind)
		}
		if _, err := AppendDecode(nil, c.file); !errors.Is(err, c.kind) {
			t.Errorf("%s: AppendDecode: %v, want %v", c.name, err, c.kind)
		}
		if _, err := openFile(c.file); !errors.Is(err, c.kind) {
			t.Errorf("%s: NewReaderAt: %v, want %v", c.name, err, c.kind)
		}
	}
}

// replaceHeader returns the stream with a changed header.
func replaceHeader(file []byte, change func(*pzfile.Header)) []byte {
	size, err := pzfile.HeaderSize(file)
	if err != nil {
		panic(err)
	}
	h, err := pzfile.ParseHeader(file[:size])
	if err != nil {
		panic(err)
	}
	change(&h)
	return append(h.Append(nil), file[size:]...)
}

// TestInconsistentIndex opens files whose index has a right check but does not match the blocks.
// Recover saves all blocks and tells that the index is damaged.
func TestInconsistentIndex(t *testing.T) {
	content := randomBytes(2*testBlock, 1)
	file := encode(t, content, WithBlockSize(testBlock))
	tail := len(file) - int(pzfile.TailSize(2))
	type change func(entries []pzfile.Entry, f *pzfile.Footer) []pzfile.Entry
	for name, change := range map[string]change{
		"entry": func(e []pzfile.Entry, _ *pzfile.Footer) []pzfile.Entry {
			e[1].Payload, e[1].Raw = 100, 100
			return e
		},
		"fewer": func(e []pzfile.Entry, f *pzfile.Footer) []pzfile.Entry {
			f.Units--
			return e[:1]
		},
		"content": func(e []pzfile.Entry, f *pzfile.Footer) []pzfile.Entry {
			f.Content--
			return e
		},
		"size": func(e []pzfile.Entry, f *pzfile.Footer) []pzfile.Entry {
			f.Size--
			return e
		},
		"marker": func(e []pzfile.Entry, _ *pzfile.Footer) []pzfile.Entry { return e },
	} {
		f, err := pzfile.ParseFooter(file[len(file)-pzfile.FooterSize:])
		if err != nil {
			t.Fatal(err)
		}
		e := pzfile.Entry{Kind: pzfile.Stored, Payload: testBlock, Raw: testBlock}
		p := make([]byte, pzfile.EndMarkerSize)
		for _, e := range change([]pzfile.Entry{e, e}, &f) {
			p = e.Append(p)
		}
		if name == "marker" {
			p[0] = 2<<3 | 4 // as if a header were short
		}
		bad := slices.Concat(file[:tail], pzfile.AppendFooter(p, f, pzfile.Checksum(0, p)))
		if _, err := decode(bad); !isDamage(err) {
			t.Errorf("%s: Reader: %v", name, err)
		}
		if _, err := openFile(bad); !isDamage(err) {
			t.Errorf("%s: NewReaderAt: %v", name, err)
		}
		checkFrameDamage(t, name, bad, content)
	}
	more := replaceHeader(file, func(h *pzfile.Header) { h.ContentSize = 2*testBlock + 1 })
	checkFrameDamage(t, "content size", fixTail(t, more, nil), content)
	flushed, _ := flushPieces(t, [][]byte{content[:5], content[5:10]}, 10)
	padding := fixTail(t, flushed, func(index []byte) { index[len(index)-1] = 1 })
	checkFrameDamage(t, "padding", padding, content[:10])
}

// checkFrameDamage recovers a file that has all content. Its header or its index is damaged.
func checkFrameDamage(t *testing.T, name string, file, content []byte) {
	t.Helper()
	got, list := recoverAll(t, file)
	equal(t, got, content, name)
	if len(list) != 1 || list[0].Blocks > 0 || !isDamage(list[0].Err) {
		t.Errorf("%s: damage %+v", name, list)
	}
}

// fixTail returns the file of one stream with an index that change, unless it is nil, has changed, and
// a footer that has the right size and check.
func fixTail(t *testing.T, file []byte, change func(index []byte)) []byte {
	t.Helper()
	at := len(file) - pzfile.FooterSize
	f, err := pzfile.ParseFooter(file[at:])
	if err != nil {
		t.Fatal(err)
	}
	tail := len(file) - int(pzfile.TailSize(f.Units))
	p := slices.Clone(file[:at])
	if change != nil {
		change(p[tail+pzfile.EndMarkerSize:])
	}
	f.Size = int64(len(file))
	return pzfile.AppendFooter(p, f, pzfile.Checksum(0, p[tail:]))
}

// TestIndexFlush opens a file whose index says of a block that a flush ends it, and whose header says
// that none does.
func TestIndexFlush(t *testing.T) {
	file := encode(t, randomBytes(2*testBlock, 1), WithBlockSize(testBlock))
	bad := fixTail(t, file, func(index []byte) { index[pzfile.UnitSize] ^= 8 })
	if _, err := decode(bad); !errors.Is(err, ErrCorrupt) {
		t.Errorf("Reader: %v", err)
	}
	n, err := openAt(t, bad).WriteTo(io.Discard)
	var e *Error
	if n != testBlock || !errors.As(err, &e) || e.Kind != ErrCorrupt || e.Block != 1 {
		t.Errorf("ReaderAt: %d bytes, %v", n, err)
	}
}

package compress

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/pzfile"
)

func TestNotPz(t *testing.T) {
	good := encode(t, []byte("some content"))
	for _, c := range []struct {
		name string
		file []byte
		kind error
	}{
		{"empty", nil, ErrTruncated},
		{"text", []byte("This is no compressed file at all, but it is longer than one."), ErrFormat},
		{"one byte", []byte{'x'}, ErrFormat},
		{"P", []byte{'P'}, ErrTruncated},
		{"zeros", make([]byte, 100), ErrFormat},
		{"gzip", append([]byte{0x1f, 0x8b}, make([]byte, 100)...), ErrFormat},
		{"version", append([]byte("PZ\x02"), good[3:]...), ErrVersion},
		{"pipeline", reheader(good, func(h *pzfile.Header) { h.Pipeline = 200 }), ErrVersion},
		{"junk after", append(slices.Clone(good), "junk"...), ErrCorrupt},
		{"zeros after", append(slices.Clone(good), 0), ErrCorrupt},
		{"part of a stream after", append(slices.Clone(good), good[:20]...), ErrTruncated},
		{"wrong content size", reheader(encode(t, make([]byte, 10), WithContentSize(10)), func(h *pzfile.Header) { h.ContentSize++ }), ErrCorrupt},
		{"smaller content size", reheader(encode(t, make([]byte, 10), WithContentSize(10)), func(h *pzfile.Header) { h.ContentSize-- }), ErrCorrupt},
	} {
		if _, err := decode(c.file); !errors.Is(err, c.kind) {
			t.Errorf("%s: Reader: %v", c.name, err)
		}
		if _, err := AppendDecode(nil, c.file); !errors.Is(err, c.kind) {
			t.Errorf("%s: AppendDecode: %v", c.name, err)
		}
		if _, err := NewReaderAt(bytes.NewReader(c.file), int64(len(c.file))); !errors.Is(err, c.kind) {
			t.Errorf("%s: NewReaderAt: %v", c.name, err)
		}
	}
}

// reheader replaces the header of a stream.
func reheader(file []byte, change func(*pzfile.Header)) []byte {
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

// An index that is consistent in itself, and not with the blocks.
func TestFalseIndex(t *testing.T) {
	file := encode(t, randomBytes(2*testBlock, 1), WithBlockSize(testBlock))
	tail := len(file) - int(pzfile.TailSize(2))
	for name, change := range map[string]func(entries []pzfile.Entry, f *pzfile.Footer) []pzfile.Entry{
		"entry":   func(e []pzfile.Entry, f *pzfile.Footer) []pzfile.Entry { e[1].Payload, e[1].Raw = 100, 100; return e },
		"fewer":   func(e []pzfile.Entry, f *pzfile.Footer) []pzfile.Entry { f.Blocks--; return e[:1] },
		"content": func(e []pzfile.Entry, f *pzfile.Footer) []pzfile.Entry { f.Content--; return e },
		"size":    func(e []pzfile.Entry, f *pzfile.Footer) []pzfile.Entry { f.Size--; return e },
	} {
		f, err := pzfile.ParseFooter(file[len(file)-pzfile.FooterSize:])
		if err != nil {
			t.Fatal(err)
		}
		e := pzfile.Entry{Kind: pzfile.Stored, Payload: testBlock, Raw: testBlock}
		p := append([]byte(nil), pzfile.EndMarker[:]...)
		for _, e := range change([]pzfile.Entry{e, e}, &f) {
			p = e.Append(p)
		}
		bad := append(slices.Clone(file[:tail]), pzfile.AppendFooter(p, f, pzfile.Checksum(0, p))...)
		if _, err := decode(bad); classOf(err) == nil {
			t.Errorf("%s: Reader: %v", name, err)
		}
		if _, err := NewReaderAt(bytes.NewReader(bad), int64(len(bad))); classOf(err) == nil {
			t.Errorf("%s: NewReaderAt: %v", name, err)
		}
	}
}

package compress

import (
	"errors"
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
func TestInconsistentIndex(t *testing.T) {
	file := encode(t, randomBytes(2*testBlock, 1), WithBlockSize(testBlock))
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
		bad := slices.Concat(file[:tail], pzfile.AppendFooter(p, f, pzfile.Checksum(0, p)))
		if _, err := decode(bad); !isDamage(err) {
			t.Errorf("%s: Reader: %v", name, err)
		}
		if _, err := openFile(bad); !isDamage(err) {
			t.Errorf("%s: NewReaderAt: %v", name, err)
		}
	}
}

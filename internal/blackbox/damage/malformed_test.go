package damage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/internal/section"
)

// TestNotPZ opens files that are of no format, incomplete or inconsistent.
func TestNotPZ(t *testing.T) {
	good := bbtest.Encode(t, []byte("some content"))
	for _, c := range []struct {
		name string
		file []byte
		kind error
	}{
		{"empty", nil, compress.ErrTruncated},
		{
			"text", []byte("This text is longer than the shortest compressed file there is."),
			compress.ErrFormat,
		},
		{"one byte", []byte{'x'}, compress.ErrFormat},
		{"P", []byte{'P'}, compress.ErrTruncated},
		{"zeros", make([]byte, 100), compress.ErrFormat},
		{"gzip", append([]byte{0x1f, 0x8b}, make([]byte, 100)...), compress.ErrFormat},
		{"version", append([]byte("PZ\x02"), good[3:]...), compress.ErrVersion},
		{"pipeline", replaceHeader(good, func(h *pzfile.Header) { h.Pipeline = 200 }), compress.ErrVersion},
		{"text behind", append(slices.Clone(good), "junk"...), compress.ErrCorrupt},
		{"a zero behind", append(slices.Clone(good), 0), compress.ErrCorrupt},
		{"part of a stream behind", append(slices.Clone(good), good[:20]...), compress.ErrTruncated},
		{
			"content size too large",
			replaceHeader(bbtest.Encode(t, make([]byte, 70_000), compress.WithContentSize(70_000)),
				func(h *pzfile.Header) { h.ContentSize++ }),
			compress.ErrCorrupt,
		},
		{
			"content size too small",
			replaceHeader(bbtest.Encode(t, make([]byte, 70_000), compress.WithContentSize(70_000)),
				func(h *pzfile.Header) { h.ContentSize-- }),
			compress.ErrCorrupt,
		},
	} {
		if _, err := bbtest.Decode(c.file); !errors.Is(err, c.kind) {
			t.Errorf("%s: Reader: %v, want %v", c.name, err, c.kind)
		}
		if _, err := compress.AppendDecode(nil, c.file); !errors.Is(err, c.kind) {
			t.Errorf("%s: AppendDecode: %v, want %v", c.name, err, c.kind)
		}
		if _, err := bbtest.OpenFile(c.file); !errors.Is(err, c.kind) {
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
	content := bbtest.RandomBytes(2*bbtest.BlockSize, 1)
	file := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize))
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
		e := pzfile.Entry{Kind: pzfile.Stored, Payload: bbtest.BlockSize, Raw: bbtest.BlockSize}
		p := make([]byte, pzfile.EndMarkerSize)
		for _, e := range change([]pzfile.Entry{e, e}, &f) {
			p = e.Append(p)
		}
		if name == "marker" {
			p[0] = 2<<3 | 4 // as if a header were short
		}
		bad := slices.Concat(file[:tail], pzfile.AppendFooter(p, f, pzfile.Checksum(0, p)))
		if _, err := bbtest.Decode(bad); !bbtest.IsDamage(err) {
			t.Errorf("%s: Reader: %v", name, err)
		}
		if _, err := bbtest.OpenFile(bad); !bbtest.IsDamage(err) {
			t.Errorf("%s: NewReaderAt: %v", name, err)
		}
		checkFrameDamage(t, name, bad, content)
	}
	more := replaceHeader(file, func(h *pzfile.Header) { h.ContentSize = 2*bbtest.BlockSize + 1 })
	checkFrameDamage(t, "content size", fixTail(t, more, nil), content)
	flushed, _ := bbtest.FlushPieces(t, [][]byte{content[:5], content[5:10]}, 10)
	padding := fixTail(t, flushed, func(index []byte) { index[len(index)-1] = 1 })
	checkFrameDamage(t, "padding", padding, content[:10])
}

// checkFrameDamage recovers a file that has all content. Its header or its index is damaged.
func checkFrameDamage(t *testing.T, name string, file, content []byte) {
	t.Helper()
	got, list := bbtest.RecoverAll(t, file)
	bbtest.Equal(t, got, content, name)
	if len(list) != 1 || list[0].Blocks > 0 || !bbtest.IsDamage(list[0].Err) {
		t.Errorf("%s: damage %+v", name, list)
	}
}

// fixTail returns the file of one stream with an index that change, unless it is nil, has changed,
// and a footer that has the right size and check.
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

// TestIndexFlush opens a file whose index says of a block that a flush ends it, and whose header
// says that none does.
func TestIndexFlush(t *testing.T) {
	file := bbtest.Encode(t, bbtest.RandomBytes(2*bbtest.BlockSize, 1),
		compress.WithBlockSize(bbtest.BlockSize))
	bad := fixTail(t, file, func(index []byte) { index[pzfile.UnitSize] ^= 8 })
	if _, err := bbtest.Decode(bad); !errors.Is(err, compress.ErrCorrupt) {
		t.Errorf("Reader: %v", err)
	}
	n, err := bbtest.OpenAt(t, bad).WriteTo(io.Discard)
	var e *compress.Error
	if n != bbtest.BlockSize || !errors.As(err, &e) || e.Kind != compress.ErrCorrupt || e.Block != 1 {
		t.Errorf("ReaderAt: %d bytes, %v", n, err)
	}
}

// TestSections reads files with sections, which decoders pass over.
func TestSections(t *testing.T) {
	content := bbtest.MixedBytes(9*bbtest.BlockSize + 99)
	first := bbtest.Encode(t, content[:5*bbtest.BlockSize], compress.WithBlockSize(bbtest.BlockSize))
	small := bbtest.Encode(t, content[5*bbtest.BlockSize:5*bbtest.BlockSize+900])
	last := bbtest.Encode(t, content[5*bbtest.BlockSize+900:], compress.WithBlockSize(bbtest.BlockSize))
	parity := bbtest.MakeSection(section.Parity, bbtest.RandomBytes(200_000, 1))
	empty := bbtest.MakeSection(section.MaySkip|77, nil)
	for name, file := range map[string][]byte{
		"behind each": slices.Concat(first, parity, small, parity, last, parity),
		"several":     slices.Concat(empty, parity, first, empty, parity, empty, small, empty, empty, last),
		"nested":      slices.Concat(first, bbtest.MakeSection(section.Parity, first), small, last),
		"many":        slices.Concat(first, small, bytes.Repeat(empty, 50_000), last, empty),
	} {
		bbtest.CheckAllReaders(t, file, content, compress.WithConcurrency(2))
		info, err := bbtest.FileInfo(file)
		if err != nil || len(info.Streams) != 3 || info.Content != int64(len(content)) || !info.Seekable {
			t.Errorf("%s: %+v, %v", name, info, err)
		}
		// The index of the first stream is damaged, so that all is searched.
		bad := slices.Clone(file)
		at := bytes.Index(file, first)
		bad[at+len(first)-40] ^= 1
		got, list := bbtest.RecoverAll(t, bad)
		bbtest.Equal(t, got, content, name)
		if len(list) != 1 || list[0].Kind != compress.DamageFrame {
			t.Errorf("%s: damage %+v", name, list)
		}
	}
}

// TestBadSections checks that damaged and unknown sections are errors of their kind.
func TestBadSections(t *testing.T) {
	content := bbtest.TextBytes(3*bbtest.BlockSize, 1)
	first := bbtest.Encode(t, content[:bbtest.BlockSize], compress.WithBlockSize(bbtest.BlockSize))
	second := bbtest.Encode(t, content[bbtest.BlockSize:], compress.WithBlockSize(bbtest.BlockSize))
	whole := bbtest.MakeSection(section.Parity, bbtest.TextBytes(1000, 2))
	for name, c := range map[string]struct {
		section []byte
		kind    error
	}{
		"unknown": {bbtest.MakeSection(5, nil), compress.ErrVersion},
		"header":  {flipped(whole, 9), compress.ErrChecksum},
		"kind":    {flipped(whole, 4), compress.ErrChecksum},
		"shorter": {whole[:len(whole)-1], compress.ErrTrailing},
		"longer":  {append(whole[:len(whole):len(whole)], 0), compress.ErrTrailing},
	} {
		for _, rest := range [][]byte{nil, second} {
			file := slices.Concat(first, c.section, rest)
			got, err := bbtest.DecodeSame(t, bbtest.AllReaders(t), file, fmt.Sprint(name, len(rest)))
			kind := c.kind
			if rest == nil && name == "shorter" {
				kind = compress.ErrTruncated
			}
			if !errors.Is(err, kind) || !bytes.Equal(got, content[:bbtest.BlockSize]) {
				t.Errorf("%s, %d bytes behind: %d bytes, %v; want %v", name, len(rest), len(got), err, kind)
			}
			if _, err := bbtest.OpenFile(file); rest == nil && !errors.Is(err, kind) {
				t.Errorf("%s: NewReaderAt: %v, want %v", name, err, kind)
			}
			// Whatever the section is, recovery finds all blocks, and tells what is wrong.
			got, list := bbtest.RecoverAll(t, file)
			bbtest.Equal(t, got,
				content[:bbtest.BlockSize+len(content[bbtest.BlockSize:])*min(len(rest), 1)], name)
			if len(list) == 0 {
				t.Errorf("%s, %d bytes behind: no damage", name, len(rest))
			}
		}
	}
	// The file ends in a section.
	for n := section.HeaderSize; n < len(whole); n++ {
		got, list := bbtest.RecoverAll(t, append(first, whole[:n]...))
		bbtest.Equal(t, got, content[:bbtest.BlockSize], "cut")
		if len(list) != 1 || list[0].Kind != compress.DamageFrame ||
			!errors.Is(list[0].Err, compress.ErrTruncated) {
			t.Fatalf("cut at %d: %+v", n, list)
		}
	}
	// Damage behind the header does not concern decoders. A ReaderAt needs the footer.
	bad := slices.Concat(first, flipped(whole, len(whole)-1))
	if got, err := bbtest.Decode(bad); err != nil || !bytes.Equal(got, content[:bbtest.BlockSize]) {
		t.Errorf("damaged footer: %d bytes, %v", len(got), err)
	}
	if _, err := bbtest.OpenFile(bad); !errors.Is(err, compress.ErrCorrupt) {
		t.Errorf("damaged footer: NewReaderAt: %v", err)
	}
	if got, err := bbtest.Decode(whole); !errors.Is(err, compress.ErrTruncated) {
		t.Errorf("no stream: %d bytes, %v", len(got), err)
	}
}

// flipped returns a copy of p with a flipped bit.
func flipped(p []byte, at int) []byte {
	q := slices.Clone(p)
	q[at] ^= 0x10
	return q
}

// TestZstdSections reads .zst files with sections, which are skippable frames.
func TestZstdSections(t *testing.T) {
	content := bbtest.MixedBytes(9*bbtest.BlockSize + 99)
	opts := []compress.WriterOption{
		compress.WithFormat(compress.Zstd), compress.WithSeekable(bbtest.BlockSize),
	}
	first, second := bbtest.Encode(t, content[:5*bbtest.BlockSize], opts...),
		bbtest.Encode(t, content[5*bbtest.BlockSize:], opts...)
	frame := func(body []byte) []byte {
		return bbtest.SkippableFrame(10, section.AppendFooter(body, int64(8+len(body)+section.FooterSize)))
	}
	parity, empty := frame(bbtest.RandomBytes(100_000, 1)), frame(nil)
	for name, file := range map[string][]byte{
		"behind each": slices.Concat(first, parity, second, parity),
		"several":     slices.Concat(empty, parity, first, empty, parity, empty, second, empty, empty),
		"between":     slices.Concat(first, parity, second),
	} {
		bbtest.CheckAllReaders(t, file, content, compress.WithConcurrency(2))
		info, err := bbtest.FileInfo(file)
		if err != nil || info.Content != int64(len(content)) || !info.Seekable {
			t.Errorf("%s: %+v, %v", name, info, err)
		}
	}
}

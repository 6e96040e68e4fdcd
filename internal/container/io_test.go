package container

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/testenv"
)

var errTest = errors.New("test error")

// readFunc is a function as a Reader, Writer and ReaderAt.
type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error)            { return f(p) }
func (f readFunc) Write(p []byte) (int, error)           { return f(p) }
func (f readFunc) ReadAt(p []byte, _ int64) (int, error) { return f(p) }

// TestReadFull reads from readers that end, fail, stall or return wrong counts.
func TestReadFull(t *testing.T) {
	empty := readFunc(func([]byte) (int, error) { return 0, nil })
	large := readFunc(func(p []byte) (int, error) { return len(p) + 1, nil })
	negative := readFunc(func([]byte) (int, error) { return -1, nil })
	for _, c := range []struct {
		name string
		r    io.Reader
		want string
		err  error
	}{
		{"all", strings.NewReader("content and more"), "content", nil},
		{"one byte at a time", iotest.OneByteReader(strings.NewReader("content")), "content", nil},
		{"data with EOF", iotest.DataErrReader(strings.NewReader("content")), "content", nil},
		{"too short", strings.NewReader("cont"), "cont", io.EOF},
		{"too short, data with EOF", iotest.DataErrReader(strings.NewReader("c")), "c", io.EOF},
		{"empty", strings.NewReader(""), "", io.EOF},
		{
			"failing", io.MultiReader(strings.NewReader("co"), iotest.ErrReader(errTest)),
			"co", errTest,
		},
		{"no progress", empty, "", io.ErrNoProgress},
		{"count too large", large, "", errs.BadCount},
		{"negative count", negative, "", errs.BadCount},
	} {
		p := make([]byte, len("content"))
		n, err := ReadFull(c.r, p)
		if string(p[:n]) != c.want || err != c.err {
			t.Errorf("%s: %q, %v; want %q, %v", c.name, p[:n], err, c.want, c.err)
		}
	}
}

// TestWriteFull writes to writers with wrong counts.
func TestWriteFull(t *testing.T) {
	for _, c := range []struct {
		count int
		err   error
		n     int
		want  error
	}{
		{5, nil, 5, nil},
		{3, nil, 3, io.ErrShortWrite},
		{3, errTest, 3, errTest},
		{6, nil, 0, errs.BadCount},
		{-1, nil, 0, errs.BadCount},
	} {
		w := readFunc(func([]byte) (int, error) { return c.count, c.err })
		if n, err := WriteFull(w, []byte("bytes")); n != c.n || err != c.want {
			t.Errorf("count %d, %v: %d, %v; want %d, %v", c.count, c.err, n, err, c.n, c.want)
		}
	}
}

// TestReadAt reads beyond the end, and from sources that fail.
func TestReadAt(t *testing.T) {
	src := strings.NewReader("content")
	p := make([]byte, 4)
	if err := ReadAt(src, p, 3); err != nil || string(p) != "tent" {
		t.Errorf("to the end: %q, %v", p, err)
	}
	var e *errs.Error
	err := ReadAt(src, p, 5)
	if !errors.Is(err, errs.Truncated) || !errors.As(err, &e) || e.Offset != 7 {
		t.Errorf("beyond the end: %v, want errs.Truncated at byte 7", err)
	}
	failing := readFunc(func([]byte) (int, error) { return 1, errTest })
	if err := ReadAt(failing, p, 0); err != errTest {
		t.Errorf("failing source: %v, want its error", err)
	}
	short := readFunc(func([]byte) (int, error) { return 1, nil })
	if err := ReadAt(short, p, 0); err != errs.BadCount {
		t.Errorf("short count without an error: %v, want errs.BadCount", err)
	}
}

// TestReadAround reads across sectors that fail. They must be zeros, and be reported.
func TestReadAround(t *testing.T) {
	const sectors = 64
	data := bytes.Repeat([]byte("data"), sectors*Sector/4)
	for _, bare := range []bool{false, true} {
		for _, bad := range []map[int64]bool{
			{}, {0: true}, {1: true, 2: true, 17: true}, {sectors - 1: true}, {40: true},
		} {
			src := &testenv.BadSectors{Data: data, Bad: bad, Bare: bare}
			want := bytes.Clone(data)
			for s := range bad {
				clear(want[s*Sector:][:Sector])
			}
			for _, off := range []int{0, 1, Sector, Sector + 7} {
				for _, size := range []int{1, Sector, Sector + 1, len(data) - off, len(data)} {
					p := bytes.Repeat([]byte{1}, size)
					src.Reads = 0
					lost := 0
					n, err := ReadAround(src, p, int64(off), func(from, to int, err error) error {
						lost += to - from
						isBad := bad[int64(off+from)/Sector] && bad[int64(off+to-1)/Sector]
						if !isBad || err != testenv.ErrSector {
							t.Errorf("bytes %d to %d failed: %v", from, to, err)
						}
						return nil
					})
					expected := want[off:min(len(want), off+size)]
					if err != nil || !bytes.Equal(p[:n], expected) ||
						lost != bytes.Count(expected, []byte{0}) {
						t.Errorf("bad %v, %d bytes at %d: %d, %v, %d lost", bad, size, off, n, err, lost)
					}
					// Each failure costs a few reads, however long the read is.
					if most := 2 + 32*len(bad); src.Reads > most {
						t.Errorf("bad %v, %d bytes at %d: %d reads, want at most %d", bad, size, off,
							src.Reads, most)
					}
				}
			}
		}
	}
}

// TestReadAroundEnds checks that an error of failed ends the read, and that wrong counts are
// failures.
func TestReadAroundEnds(t *testing.T) {
	stop := errors.New("stop")
	src := &testenv.BadSectors{Data: make([]byte, 8*Sector), Bad: map[int64]bool{2: true, 5: true}}
	n, err := ReadAround(src, make([]byte, 8*Sector), 0, func(int, int, error) error { return stop })
	if n != 2*Sector || err != stop {
		t.Errorf("%d, %v; want %d, %v", n, err, 2*Sector, stop)
	}
	for _, count := range []int{-1, 1, Sector + 1} {
		src := readFunc(func([]byte) (int, error) { return count, nil })
		p := bytes.Repeat([]byte{1}, Sector)
		failed := 0
		n, err := ReadAround(src, p, 0, func(from, to int, err error) error {
			failed += to - from
			if err != errs.BadCount {
				t.Errorf("count %d: %v", count, err)
			}
			return nil
		})
		if n != Sector || err != nil || failed != Sector || !bytes.Equal(p, make([]byte, Sector)) {
			t.Errorf("count %d: %d, %v, %d failed", count, n, err, failed)
		}
	}
}

// TestReadProgress counts reads without progress in a row.
func TestReadProgress(t *testing.T) {
	var c ReadProgress
	for i := range maxEmptyReads - 1 {
		if err := c.Check(0, nil); err != nil {
			t.Fatalf("empty read %d: %v", i, err)
		}
	}
	if err := c.Check(1, nil); err != nil {
		t.Error("read of a byte:", err)
	}
	for range maxEmptyReads - 1 {
		c.Check(0, nil)
	}
	if err := c.Check(0, nil); err != io.ErrNoProgress {
		t.Errorf("empty read %d in a row: %v, want io.ErrNoProgress", maxEmptyReads, err)
	}
	if err := c.Check(0, errTest); err != errTest {
		t.Errorf("failed read: %v, want its error", err)
	}
}

// inputs returns an Input of content for each kind of source.
func inputs(content []byte) map[string]*Input {
	var head [DetectSize]byte
	stream, memory, at, rest := new(Input), new(Input), new(Input), new(Input)
	start := ReadStart(iotest.HalfReader(bytes.NewReader(content)), &head, true)
	stream.Reset(&start)
	start = MemoryStart(content)
	memory.Reset(&start)
	at.ResetAt(bytes.NewReader(content), int64(len(content)))
	rest.ResetBytes(content, 0)
	return map[string]*Input{"stream": stream, "memory": memory, "at": at, "bytes": rest}
}

// TestInput reads and skips through an Input of each kind.
func TestInput(t *testing.T) {
	content := make([]byte, 20_000)
	for i := range content {
		content[i] = byte(i * 7 >> 3)
	}
	for name, in := range inputs(content) {
		at := 0
		for i, n := range []int{1, 5, 0, 3000, 10, 9000, 2} {
			if i%2 == 0 {
				p := make([]byte, n)
				if m, err := io.ReadFull(in, p); err != nil || !bytes.Equal(p, content[at:at+m]) {
					t.Fatalf("%s: read of %d bytes at %d: %v", name, n, at, err)
				}
			} else if err := in.Skip(int64(n)); err != nil {
				t.Fatalf("%s: skip of %d bytes at %d: %v", name, n, at, err)
			}
			if at += n; in.Offset() != int64(at) {
				t.Fatalf("%s: Offset = %d, want %d", name, in.Offset(), at)
			}
			if in.Random() && in.Left() != int64(len(content)-at) {
				t.Fatalf("%s: Left = %d, want %d", name, in.Left(), len(content)-at)
			}
		}
		if in.Random() != (name != "stream") {
			t.Errorf("%s: Random = %v", name, in.Random())
		}
		if err := in.Skip(int64(len(content))); err != io.EOF {
			t.Errorf("%s: skip beyond the end: %v, want io.EOF", name, err)
		}
		if n, err := in.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("%s: read at the end: %d, %v, want io.EOF", name, n, err)
		}
	}
}

// TestSourceError checks that an Input marks the errors of its reader, and no other errors.
func TestSourceError(t *testing.T) {
	var head [DetectSize]byte
	for name, c := range map[string]struct {
		r    io.Reader
		want error
	}{
		"failing":     {iotest.ErrReader(errTest), errTest},
		"no progress": {readFunc(func([]byte) (int, error) { return 0, nil }), io.ErrNoProgress},
		"bad count": {
			readFunc(func(p []byte) (int, error) { return len(p) + 1, nil }), errs.BadCount,
		},
	} {
		start := ReadStart(strings.NewReader("head"), &head, false)
		start.Reader = c.r
		var in Input
		in.Reset(&start)
		_, err := io.ReadAll(&in)
		if got, ok := SourceError(err); !ok || got != c.want {
			t.Errorf("%s: %v, %v; want %v", name, got, ok, c.want)
		}
	}
	if _, ok := SourceError(io.ErrUnexpectedEOF); ok {
		t.Error("an error of a decoder counts as one of the source")
	}
}

// TestBegin checks the head of short inputs.
func TestBegin(t *testing.T) {
	for _, content := range []string{"", "ab", "abcd", "abcdef"} {
		var head [DetectSize]byte
		want := content[:min(len(content), DetectSize)]
		for name, s := range map[string]Start{
			"reader": ReadStart(strings.NewReader(content), &head, false),
			"memory": MemoryStart([]byte(content)),
		} {
			if string(s.Head) != want || (s.HeadErr == io.EOF) != (len(content) < DetectSize) {
				t.Errorf("%s of %q: head %q, %v; want %q", name, content, s.Head, s.HeadErr, want)
			}
		}
	}
}

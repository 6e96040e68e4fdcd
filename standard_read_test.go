package compress

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/gzfile"
)

// TestReadStandard reads all files with all readers, and from readers that return few bytes.
func TestReadStandard(t *testing.T) {
	checkGoroutines(t)
	readers := allReaders(t)
	for _, f := range standardFiles(t) {
		got, err := decodeSame(t, readers, f.file, f.name)
		if err != nil {
			t.Fatal(f.name, err)
		}
		equal(t, got, f.content, f.name)
		for name, wrap := range map[string]func(io.Reader) io.Reader{
			"one byte":      iotest.OneByteReader,
			"half":          iotest.HalfReader,
			"data with EOF": iotest.DataErrReader,
		} {
			got, err := io.ReadAll(newReader(t, wrap(bytes.NewReader(f.file))))
			if err != nil {
				t.Fatal(f.name, name, err)
			}
			equal(t, got, f.content, f.name+", "+name)
		}
		if err := iotest.TestReader(newReader(t, bytes.NewReader(f.file)), f.content); err != nil {
			t.Error(f.name, err)
		}
	}
}

// TestLongGzipHeader reads members with very long names and comments, which the format allows.
func TestLongGzipHeader(t *testing.T) {
	text := textBytes(1000, 1)
	gz := gzipMember(t, text)
	with := func(flags byte, strings ...string) []byte {
		p := slices.Clone(gz[:gzfile.MinHeaderSize])
		p[3] = flags
		for _, s := range strings {
			p = append(append(p, s...), 0)
		}
		return append(p, gz[gzfile.MinHeaderSize:]...)
	}
	long := strings.Repeat("n", 3*container.InputBuffer)
	for _, c := range []struct {
		file []byte
		name string
	}{
		{with(1<<3, long), ""},
		{with(1<<3|1<<4, long, long), ""},
		{with(1<<3|1<<4, "name", long), "name"},
		{with(1<<4, long), ""},
	} {
		file := append(slices.Clone(gz), c.file...)
		if got, err := decodeSame(t, allReaders(t), file, c.name); err != nil ||
			!bytes.Equal(got, slices.Concat(text, text)) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		if info, err := fileInfo(file); err != nil ||
			info.Content != 2000 {
			t.Errorf("%+v, %v", info, err)
		}
		if name, _, err := ReadName(bytes.NewReader(c.file)); err != nil || name != c.name {
			t.Errorf("%q, %v; want %q", name, err, c.name)
		}
	}
}

// TestStandardReset resets a Reader from one format to another, in any state.
func TestStandardReset(t *testing.T) {
	checkGoroutines(t)
	text := mixedBytes(50_000)
	files := standardFiles(t)
	files = append(files, standardFile{"pz", encode(t, text, WithBlockSize(testBlock)), text, nil})
	r := newReader(t, nil, WithConcurrency(2))
	for i := range 60 {
		f := files[i*7%len(files)]
		r.Reset(bytes.NewReader(f.file))
		switch i % 4 {
		case 0:
			io.ReadFull(r, make([]byte, 1+i*100))
		case 1:
			io.ReadFull(r, make([]byte, 100))
			r.Close()
		case 2:
			r.Reset(bytes.NewReader(f.file[:len(f.file)/2]))
			io.Copy(io.Discard, r)
		}
		f = files[i*5%len(files)]
		r.Reset(bytes.NewReader(f.file))
		got, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(f.name, err)
		}
		equal(t, got, f.content, f.name)
	}
}

// TestStandardFailingReader lets the underlying reader fail at many bytes.
func TestStandardFailingReader(t *testing.T) {
	checkGoroutines(t)
	for _, f := range standardFiles(t) {
		for _, workers := range workerCounts {
			r := newReader(t, nil, WithConcurrency(workers))
			for n := 0; n < len(f.file); n += 11 {
				mustFinish(t, fmt.Sprint(f.name, ", failing at byte ", n), func() {
					r.Reset(io.MultiReader(bytes.NewReader(f.file[:n]), iotest.ErrReader(errTest)))
					if got, err := io.ReadAll(r); !errors.Is(err, errTest) ||
						!bytes.HasPrefix(f.content, got) {
						t.Errorf("%s, byte %d: %v", f.name, n, err)
					}
				})
			}
		}
	}
}

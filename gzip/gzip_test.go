package gzip_test

import (
	"bufio"
	"bytes"
	stdgzip "compress/gzip"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gzip"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

var levels = []int{
	gzip.HuffmanOnly, gzip.DefaultCompression, gzip.NoCompression, 1, 2, 3, 4, 5, 6, 7, 8, 9,
}

// sizes are those of contents in bytes, at the edges of blocks, windows and buffers.
var sizes = []int{
	0, 1, 300, 8 << 10, 32<<10 + 1, 65535, 65536,
	96 << 10, 96<<10 + 1, 256<<10 + 1, 1<<20 + 1, 3 << 20,
}

func content(size int) []byte { return corpus.ByName("json").Make(size) }

// write compresses p with writes of a part each, and a flush behind every third one.
func write(t testing.TB, p []byte, level, part int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; len(p) > 0; i++ {
		n, err := w.Write(p[:min(part, len(p))])
		if err != nil {
			t.Fatal(err)
		}
		p = p[n:]
		if i%3 == 0 {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestWriter has the standard library read what a Writer writes.
func TestWriter(t *testing.T) {
	for _, level := range append(levels, gzip.StatelessCompression) {
		for _, size := range sizes {
			if size > 1<<18 && level > 7 || size > 1<<16 && testing.Short() {
				continue // takes long
			}
			p := content(size)
			for _, part := range []int{size + 1, 100_000} {
				r, err := stdgzip.NewReader(bytes.NewReader(write(t, p, level, part)))
				if err != nil {
					t.Fatal(err)
				}
				if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, p) {
					t.Errorf("level %d, %d bytes by %d: %d bytes, %v", level, size, part, len(got), err)
				}
			}
		}
	}
}

// A byteReader is an io.ByteReader of no type that the package knows.
type byteReader struct {
	io.Reader
	io.ByteReader
}

// kinds are ways to read a file.
var kinds = []struct {
	name string
	open func(p []byte) io.Reader
}{
	{"bufio", func(p []byte) io.Reader { return bufio.NewReaderSize(bytes.NewReader(p), 100) }},
	{"Buffer", func(p []byte) io.Reader { return bytes.NewBuffer(p) }},
	{"Reader", func(p []byte) io.Reader { return bytes.NewReader(p) }},
	{"strings", func(p []byte) io.Reader { return strings.NewReader(string(p)) }},
	{"ByteReader", func(p []byte) io.Reader { b := bytes.NewReader(p); return byteReader{b, b} }},
	{"io.Reader", func(p []byte) io.Reader { return iotest.DataErrReader(bytes.NewReader(p)) }},
	{"one byte", func(p []byte) io.Reader { return iotest.OneByteReader(bytes.NewReader(p)) }},
}

// TestReader reads members of the standard library in all ways.
func TestReader(t *testing.T) {
	for _, k := range kinds {
		name, open := k.name, k.open
		t.Run(name, func(t *testing.T) {
			r := new(gzip.Reader)
			for _, level := range []int{gzip.HuffmanOnly, gzip.NoCompression, gzip.DefaultCompression} {
				for _, size := range sizes {
					if size > 1<<18 && (name == "one byte" || testing.Short()) {
						continue // takes long
					}
					var b bytes.Buffer
					w, _ := stdgzip.NewWriterLevel(&b, level)
					w.Header = stdgzip.Header{Name: "näme", Comment: "comment", Extra: []byte("extra"), OS: 7}
					p := content(size)
					w.Write(p)
					w.Close()
					p = append(p[:size:size], p...)
					file := append(b.Bytes(), b.Bytes()...)
					if err := r.Reset(open(file)); err != nil {
						t.Fatal(err)
					}
					if !reflect.DeepEqual(stdgzip.Header(r.Header), w.Header) {
						t.Errorf("header %+v, want %+v", r.Header, w.Header)
					}
					got, err := io.ReadAll(r)
					if err != nil || !bytes.Equal(got, p) {
						t.Errorf("level %d, %d bytes: %d bytes, %v", level, len(p), len(got), err)
					}
				}
			}
		})
	}
}

// TestBehindMember leaves ByteReaders right behind a member.
func TestBehindMember(t *testing.T) {
	for _, k := range kinds {
		name, open := k.name, k.open
		for _, size := range []int{0, 1, 1000, 200_000} {
			file := write(t, content(size), 6, 70_000)
			src := open(append(file, "what follows"...))
			r, err := gzip.NewReader(src)
			if err != nil {
				t.Fatal(err)
			}
			r.Multistream(false)
			if n, err := io.Copy(io.Discard, r); err != nil || n != int64(size) {
				t.Errorf("%s: %d bytes of %d, %v", name, n, size, err)
			}
			if _, ok := src.(io.ByteReader); !ok {
				continue
			}
			if rest, err := io.ReadAll(src); err != nil || string(rest) != "what follows" {
				t.Errorf("%s: %q behind a member of %d bytes, %v", name, rest, size, err)
			}
		}
	}
}

// TestReadFlushed reads what has been flushed into a pipe before anything else is written.
func TestReadFlushed(t *testing.T) {
	for _, exact := range []bool{false, true} {
		pr, pw := io.Pipe()
		turn := make(chan bool)
		go func() {
			w := gzip.NewWriter(pw)
			for i := range 200 {
				<-turn
				fmt.Fprintf(w, "line %d %x\n", i, i*i*i)
				w.Flush()
			}
			w.Close()
			pw.Close()
		}()
		turn <- true
		var src io.Reader = pr
		if exact {
			src = byteReader{pr, &singleBytes{r: pr}}
		}
		r, err := gzip.NewReader(src)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(r)
		for i := range 200 {
			line, err := lines.ReadString('\n')
			if want := fmt.Sprintf("line %d %x\n", i, i*i*i); err != nil || line != want {
				t.Fatalf("exact %v: %q, %v", exact, line, err)
			}
			if i < 199 {
				turn <- true
			}
		}
		if _, err := lines.ReadByte(); err != io.EOF {
			t.Errorf("exact %v: %v at the end", exact, err)
		}
	}
}

// singleBytes is the ReadByte method of a reader without one.
type singleBytes struct {
	r io.Reader
	p [1]byte
}

func (s *singleBytes) ReadByte() (byte, error) {
	_, err := io.ReadFull(s.r, s.p[:])
	return s.p[0], err
}

// TestErrorsOfWriter compares results of calls with those of the standard library.
func TestErrorsOfWriter(t *testing.T) {
	type writer interface {
		io.WriteCloser
		Flush() error
	}
	boom := errors.New("boom")
	headers := []stdgzip.Header{{}, {Name: "日"}, {Comment: "a\x00"}, {Extra: make([]byte, 1<<16)}}
	for name, use := range map[string]func(w writer) []error{
		"closed": func(w writer) (list []error) {
			list = append(list, w.Close(), w.Close(), w.Flush())
			_, err := w.Write(nil)
			return append(list, err, w.Flush(), w.Close())
		},
		"written": func(w writer) (list []error) {
			_, err := w.Write([]byte("content"))
			return append(list, err, w.Flush(), w.Flush(), w.Close())
		},
	} {
		// The number of writes differs, so that the destination fails at once or never.
		for _, fails := range []bool{true, false} {
			for _, h := range headers {
				dst := func() io.Writer {
					if fails {
						return failing{boom}
					}
					return io.Discard
				}
				want := stdgzip.NewWriter(dst())
				want.Header = h
				got := gzip.NewWriter(dst())
				got.Header = gzip.Header(h)
				if g, w := fmt.Sprint(use(got)), fmt.Sprint(use(want)); g != w {
					t.Errorf("%s, fails %v, %q: %v, not %v", name, fails, h.Name, g, w)
				}
			}
		}
	}
	for _, level := range []int{-4, 10} {
		_, want := stdgzip.NewWriterLevel(nil, level)
		if _, err := gzip.NewWriterLevel(nil, level); err == nil || err.Error() != want.Error() {
			t.Errorf("level %d: %v, not %v", level, err, want)
		}
	}
}

// failing is a writer that fails.
type failing struct{ err error }

func (f failing) Write(p []byte) (int, error) { return 0, f.err }

// TestSetOptions writes the same bytes with any number of workers, and refuses late calls.
func TestSetOptions(t *testing.T) {
	p := content(3 << 20)
	var files [][]byte
	for _, workers := range []int{1, 3} {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		err := w.SetOptions(compress.WithConcurrency(workers), compress.WithFormat(compress.PZ),
			compress.WithBlockSize(128<<10), compress.WithName("x", time.Now()))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.SetOptions(compress.WithConcurrency(-1)); !errors.Is(err, compress.ErrOption) {
			t.Errorf("wrong option: %v", err)
		}
		w.Name = "name"
		w.Write(p)
		if err := w.SetOptions(); err == nil {
			t.Error("options were set after Write")
		}
		w.Close()
		files = append(files, b.Bytes())
	}
	r, err := gzip.NewReader(bytes.NewReader(files[0]))
	if err != nil || r.Name != "name" {
		t.Fatal(r.Name, err)
	}
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, p) || !bytes.Equal(files[0], files[1]) {
		t.Errorf("%d bytes, %v; files of %d and %d bytes", len(got), err, len(files[0]), len(files[1]))
	}
}

// TestSmall codes a small content without goroutines and, with Reset, without allocations.
func TestSmall(t *testing.T) {
	testenv.Measures(t)
	p := content(1 << 10)
	for _, level := range []int{gzip.DefaultCompression, gzip.NoCompression, gzip.HuffmanOnly} {
		var file bytes.Buffer
		w, _ := gzip.NewWriterLevel(&file, level)
		var r gzip.Reader
		var src bytes.Reader
		got := make([]byte, len(p)+1)
		before := runtime.NumGoroutine()
		allocs := testing.AllocsPerRun(100, func() {
			file.Reset()
			w.Reset(&file)
			w.Write(p)
			w.Close()
			src.Reset(file.Bytes())
			if err := r.Reset(&src); err != nil {
				t.Fatal(err)
			}
			if n, err := io.ReadFull(&r, got); n != len(p) || err != io.ErrUnexpectedEOF {
				t.Fatal(n, err)
			}
		})
		if allocs >= 1 || runtime.NumGoroutine() > before {
			more := runtime.NumGoroutine() - before
			t.Errorf("level %d: %v allocations, %d goroutines more", level, allocs, more)
		}
	}
}

// FuzzReader compares a Reader with that of the standard library: the content, the kind of the
// error, and what is left of the source.
func FuzzReader(f *testing.F) {
	for _, level := range []int{gzip.HuffmanOnly, 0, 1, 6, 9} {
		f.Add(write(f, content(3000), level, 700))
	}
	f.Add([]byte("\x1f\x8b\x08\x1e\x01\x00\x00\x00\x00\xff\x02\x00ab\x00name\x00c\x00"))
	f.Fuzz(func(t *testing.T, file []byte) {
		for _, single := range []bool{true, false} {
			src := bytes.NewReader(file)
			want, header, wantErr := readStd(src, single)
			for _, k := range kinds {
				name, open := k.name, k.open
				in := open(file)
				got, h, err := readOurs(in, single)
				if kind(err) == io.ErrUnexpectedEOF.Error() && len(got) > len(want) {
					// The standard library waits for as many bits as the end of the block has.
					got = got[:len(want)]
				}
				if !bytes.Equal(got, want) || !reflect.DeepEqual(stdgzip.Header(h), header) {
					t.Fatalf("%s: %d bytes, %+v; want %d, %+v", name, len(got), h, len(want), header)
				}
				if kind(err) != kind(wantErr) {
					t.Fatalf("%s: error %v, want %v", name, err, wantErr)
				}
				if b, ok := in.(*bytes.Reader); ok && err == nil && b.Len() != src.Len() {
					t.Fatalf("%s: %d bytes left, want %d", name, b.Len(), src.Len())
				}
			}
		}
	})
}

// kind returns an error's message without the place.
func kind(err error) string {
	message, _, _ := strings.Cut(fmt.Sprint(err), " before offset")
	return message
}

func readStd(src io.Reader, single bool) (p []byte, h stdgzip.Header, err error) {
	r, err := stdgzip.NewReader(src)
	if err != nil {
		return nil, h, err
	}
	r.Multistream(!single)
	p, err = io.ReadAll(io.LimitReader(r, 1<<20))
	return p, r.Header, err
}

func readOurs(src io.Reader, single bool) (p []byte, h gzip.Header, err error) {
	r, err := gzip.NewReader(src)
	if err != nil {
		return nil, h, err
	}
	r.Multistream(!single)
	p, err = io.ReadAll(io.LimitReader(r, 1<<20))
	return p, r.Header, err
}

// TestErrorValues checks that errors are the values of compress/gzip: programs compare with both.
func TestErrorValues(t *testing.T) {
	file := write(t, content(300), 6, 300)
	bad := bytes.Clone(file)
	bad[len(bad)-8]++
	if _, err := gzip.NewReader(strings.NewReader("no gzip data")); err != stdgzip.ErrHeader {
		t.Errorf("%v is not ErrHeader of compress/gzip", err)
	}
	z, err := gzip.NewReader(bytes.NewReader(bad))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, z); err != stdgzip.ErrChecksum || err != gzip.ErrChecksum {
		t.Errorf("%v is not ErrChecksum of compress/gzip", err)
	}
}

package gzip_test

import (
	"bufio"
	"bytes"
	stdgzip "compress/gzip"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopz/compress/gzip"
)

// stdWriter and ourWriter give both Writers the same methods.
type (
	stdWriter struct{ *stdgzip.Writer }
	ourWriter struct{ *gzip.Writer }
)

func (w stdWriter) set(h stdgzip.Header) { w.Header = h }
func (w ourWriter) set(h stdgzip.Header) { w.Header = gzip.Header(h) }

type anyWriter interface {
	io.WriteCloser
	Flush() error
	Reset(io.Writer)
	set(stdgzip.Header)
}

// callHeaders are what FuzzWriterCalls sets.
var callHeaders = []stdgzip.Header{
	{},
	{OS: 3, Name: "name", ModTime: time.Unix(1e9, 999)},
	{Comment: "\u00ff\u0001 comment", Extra: []byte{}},
	{Name: "é", Comment: "ü", Extra: []byte("extra"), OS: 255, ModTime: time.Unix(1, 0)},
	{ModTime: time.Unix(0, 1)},
	{ModTime: time.Unix(-5, 0)},
	{ModTime: time.Unix(1<<32+7, 0)},
	{Name: "\u0100"},
	{Name: "before\x00behind"},
	{Name: "good", Comment: "\xff is no UTF-8"},
	{Extra: make([]byte, 1<<16-1)},
	{Extra: make([]byte, 1<<16), Name: "name"},
}

// headerSize returns the size of a written header in bytes.
func headerSize(h *stdgzip.Header) int {
	n := 10
	if h.Extra != nil {
		n += 2 + len(h.Extra)
	}
	for _, s := range []string{h.Name, h.Comment} {
		if s != "" {
			n += len([]rune(s)) + 1
		}
	}
	return n
}

// FuzzWriterCalls makes the same calls of both Writers. It compares their results and the bytes of
// the header, and reads the content back after each Flush and Close. Each byte of calls is a call.
func FuzzWriterCalls(f *testing.F) {
	for level := range levels {
		for header := range callHeaders {
			h := byte(header)<<3 | 7
			f.Add(byte(level), []byte{4, h, 0x1a, 4, 4, 0x22, h ^ 8, 0x0b, 5, 5, 4, 2, 6, h, 5, 2, 5})
		}
		f.Add(byte(level), []byte{0x22, 0x22, 4, 0x2b, 0x22, 4, 0x0a, 4, 0x12, 5, 6, 4, 4, 5, 6, 6, 5})
		f.Add(byte(level), []byte{5, 4, 0, 0, 5, 4, 6, 0, 5})
	}
	f.Fuzz(func(t *testing.T, l byte, calls []byte) {
		level := levels[int(l)%len(levels)]
		var files [2]bytes.Buffer
		std, _ := stdgzip.NewWriterLevel(&files[0], level)
		our, _ := gzip.NewWriterLevel(&files[1], level)
		writers := [2]anyWriter{stdWriter{std}, ourWriter{our}}
		source := content(300_000)
		written, begun, header := 0, false, stdgzip.Header{OS: 255}
		for at, call := range calls {
			p := source[written:][:min(callSizes[int(call>>3)%len(callSizes)], len(source)-written)]
			want := callWriter(writers[0], &files[0], call, p)
			if got := callWriter(writers[1], &files[1], call, p); got != want {
				t.Fatalf("call %d of %x: %s, not %s", at, calls, got, want)
			}
			switch call & 7 {
			case 6:
				written, begun, header = 0, false, stdgzip.Header{OS: 255}
				continue
			case 7:
				if !begun {
					header = callHeaders[int(call>>3)%len(callHeaders)]
				}
				continue
			}
			begun = true
			theirs, ours := files[0].Bytes(), files[1].Bytes()
			switch n := headerSize(&header); {
			case strings.HasSuffix(want, "closed writer"):
			case !strings.HasSuffix(want, "<nil>"): // the header is wrong
				if !bytes.Equal(ours, theirs) {
					t.Fatalf("call %d of %x: written % x, not % x", at, calls, ours, theirs)
				}
			case len(ours) < n || !bytes.Equal(ours[:n], theirs[:n]):
				t.Fatalf("call %d of %x: the headers differ", at, calls)
			case call&7 < 4:
				written += len(p)
			default:
				checkWritten(t, ours, source[:written], call&7 == 5)
			}
		}
	})
}

// callSizes are those of Writes in bytes.
var callSizes = []int{0, 1, 10, 300, 5000, 70_000}

// callWriter makes a call and returns its results: by the lowest three bits of the call Write of p,
// Flush, Close, Reset to file, or setting the Header.
func callWriter(w anyWriter, file *bytes.Buffer, call byte, p []byte) string {
	switch call & 7 {
	case 4:
		return fmt.Sprint(w.Flush())
	case 5:
		return fmt.Sprint(w.Close())
	case 6:
		file.Reset()
		w.Reset(file)
		return ""
	case 7:
		w.set(callHeaders[int(call>>3)%len(callHeaders)])
		return ""
	}
	return fmt.Sprint(w.Write(p))
}

// checkWritten reads the content from a file, and the end of the file if it is closed.
func checkWritten(t *testing.T, file, want []byte, closed bool) {
	t.Helper()
	r, err := stdgzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(want)+1)
	n, err := io.ReadFull(r, got[:len(want)])
	if err != nil || !bytes.Equal(got[:n], want) {
		t.Fatalf("%d bytes of %d: %v", n, len(want), err)
	}
	if _, err := io.ReadFull(r, got[:1]); closed && err != io.EOF {
		t.Fatalf("behind the content: %v", err)
	}
}

// TestMethods compares the methods: a program may rely on one being absent, as io.Copy does.
func TestMethods(t *testing.T) {
	added := []string{"SetOptions", "SetConcurrency", "UncompressedSize"} // the last two are pgzip's
	for _, c := range []struct{ ours, theirs any }{
		{(*gzip.Writer)(nil), (*stdgzip.Writer)(nil)},
		{(*gzip.Reader)(nil), (*stdgzip.Reader)(nil)},
	} {
		names := func(v any) (list []string) {
			typ := reflect.TypeOf(v)
			for m := range typ.Methods() {
				if !slices.Contains(added, m.Name) {
					list = append(list, m.Name+strings.ReplaceAll(m.Type.String(), typ.String(), "T"))
				}
			}
			return list
		}
		if got, want := names(c.ours), names(c.theirs); !reflect.DeepEqual(got, want) {
			t.Errorf("%v, not %v", got, want)
		}
	}
}

// TestNil passes nil where a source or destination belongs.
func TestNil(t *testing.T) {
	panics := func(f func()) (yes bool) {
		defer func() { yes = recover() != nil }()
		f()
		return
	}
	p := make([]byte, 1)
	for name, pair := range map[string][2]func(){
		"NewReader":  {func() { gzip.NewReader(nil) }, func() { stdgzip.NewReader(nil) }},
		"zero Read":  {func() { new(gzip.Reader).Read(p) }, func() { new(stdgzip.Reader).Read(p) }},
		"NewWriter":  {func() { gzip.NewWriter(nil) }, func() { stdgzip.NewWriter(nil) }},
		"Write":      {func() { gzip.NewWriter(nil).Write(p) }, func() { stdgzip.NewWriter(nil).Write(p) }},
		"zero Write": {func() { new(gzip.Writer).Write(nil) }, func() { new(stdgzip.Writer).Write(nil) }},
	} {
		if got, want := panics(pair[0]), panics(pair[1]); got != want {
			t.Errorf("%s: panics is %v, not %v", name, got, want)
		}
	}
}

// failAfter fails for good when n bytes have been written.
type failAfter struct {
	n   int
	err error
}

func (f *failAfter) Write(p []byte) (int, error) {
	n := min(len(p), f.n)
	f.n -= n
	if n < len(p) {
		return n, f.err
	}
	return n, nil
}

// TestAfterError has the destination fail at each of the first bytes. The error stays until Reset.
func TestAfterError(t *testing.T) {
	boom := errors.New("boom")
	p := content(20_000)
	for _, level := range []int{gzip.NoCompression, gzip.HuffmanOnly, 1, 6} {
		var file bytes.Buffer
		w, _ := gzip.NewWriterLevel(&file, level)
		w.Name = "name"
		w.Write(p)
		w.Close()
		for n := 0; n < file.Len(); n += 1 + n/8 {
			w.Reset(&failAfter{n, boom})
			w.Name = "name"
			var errs []error
			_, err := w.Write(p)
			errs = append(errs, err, w.Flush(), w.Close())
			if errs[2] != boom {
				t.Fatalf("level %d, after %d bytes: %v", level, n, errs)
			}
			if _, err := w.Write(p); err != boom || w.Flush() != boom || w.Close() != boom {
				t.Fatalf("level %d, after %d bytes: the error changes to %v", level, n, err)
			}
		}
		var again bytes.Buffer
		w.Reset(&again)
		w.Name = "name"
		w.Write(p)
		w.Close()
		if !bytes.Equal(again.Bytes(), file.Bytes()) {
			t.Errorf("level %d: other bytes after errors", level)
		}
	}
	// A Reader passes on the error of its source.
	for _, n := range []int{0, 5, 30} {
		for _, buffered := range []bool{false, true} {
			src := io.MultiReader(bytes.NewReader(write(t, p, 6, 5000)[:n]), failingReader{boom})
			if buffered {
				src = bufio.NewReader(src)
			}
			z, err := gzip.NewReader(src)
			if err == nil {
				_, err = io.ReadAll(z)
			}
			if err != boom {
				t.Errorf("after %d bytes: %v", n, err)
			}
		}
	}
}

type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }

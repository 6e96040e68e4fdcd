package inflate

import (
	"bufio"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/iotest"

	"github.com/gopz/compress/internal/testenv"
)

func TestReader(t *testing.T) {
	var r Reader
	for level := flate.HuffmanOnly; level <= 9; level++ {
		for _, n := range []int{0, 1, 100, 300_000} {
			content := text(n)
			file := append(standard(t, content, level), "more"...)
			for how, src := range map[string]io.Reader{
				"plain":       bytes.NewReader(file),
				"bytes":       iotest.OneByteReader(bytes.NewReader(file)),
				"error early": iotest.DataErrReader(bytes.NewReader(file)),
			} {
				b := bufio.NewReader(src)
				r.Reset(b)
				got, err := io.ReadAll(&r)
				if err != nil || !bytes.Equal(got, content) {
					t.Errorf("level %d, %d bytes, %s: %d bytes, %v", level, n, how, len(got), err)
				}
				if rest, _ := io.ReadAll(b); string(rest) != "more" {
					t.Errorf("level %d, %d bytes, %s: %q is left", level, n, how, rest)
				}
			}
		}
	}
}

func TestReaderErrors(t *testing.T) {
	var r Reader
	src := standard(t, text(100_000), 6)
	broken := errors.New("broken")
	for n := 0; n < len(src); n += 1 + n/10 {
		r.Reset(bufio.NewReader(bytes.NewReader(src[:n])))
		if _, err := io.ReadAll(&r); err != io.ErrUnexpectedEOF {
			t.Errorf("%d bytes: %v", n, err)
		}
		r.Reset(bufio.NewReader(io.MultiReader(bytes.NewReader(src[:n]), iotest.ErrReader(broken))))
		if _, err := io.ReadAll(&r); err != broken {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	r.Reset(bufio.NewReader(bytes.NewReader([]byte{3, 0})))
	if n, err := r.Read(nil); n != 0 || err != nil {
		t.Errorf("no room: %d, %v", n, err)
	}
	r.Reset(bufio.NewReader(bytes.NewReader([]byte{4, 0xff, 0xff, 0xff, 0xff})))
	_, err := io.ReadAll(&r)
	if at, ok := r.Corrupt(fmt.Errorf("wrapped: %w", err)); !ok || at < 1 || at > 5 {
		t.Errorf("%v: %d, %v", err, at, ok)
	}
	if _, ok := r.Corrupt(broken); ok {
		t.Error("another error counts as damage")
	}
}

// TestReaderWaits checks that a Reader gives out what has been flushed before it reads on.
func TestReaderWaits(t *testing.T) {
	content := text(300_000)
	for _, n := range []int{1, 1000, 32 << 10, 64 << 10, 100_000} {
		var b bytes.Buffer
		w, err := flate.NewWriter(&b, 6)
		if err != nil {
			t.Fatal(err)
		}
		var ends []int
		for p := content; len(p) > 0; p = p[min(n, len(p)):] {
			w.Write(p[:min(n, len(p))])
			w.Flush()
			ends = append(ends, b.Len())
		}
		w.Close()
		got := 0
		src := b.Bytes()
		part := 0
		var r Reader
		r.Reset(bufio.NewReader(readerFunc(func(p []byte) (int, error) {
			if want := min(part*n, len(content)); got < want {
				t.Fatalf("parts of %d bytes: %d read, %d flushed", n, got, want)
			}
			end := len(b.Bytes())
			if part < len(ends) {
				end = ends[part]
			}
			at := len(b.Bytes()) - len(src)
			m := copy(p, src[:end-at])
			if src = src[m:]; at+m == end {
				part++
			}
			return m, nil
		})))
		p := make([]byte, 10_000)
		for err == nil {
			var m int
			m, err = r.Read(p)
			if !bytes.Equal(p[:m], content[got:got+m]) {
				t.Fatalf("wrong content at %d", got)
			}
			got += m
		}
		if err != io.EOF || got != len(content) {
			t.Errorf("%d bytes, %v", got, err)
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestReaderAllocations(t *testing.T) {
	testenv.Measures(t)
	src := standard(t, text(100_000), 6)
	raw := bytes.NewReader(nil)
	b := bufio.NewReader(raw)
	p := make([]byte, 1<<16)
	var r Reader
	n := testing.AllocsPerRun(10, func() {
		raw.Reset(src)
		b.Reset(raw)
		r.Reset(b)
		for err := error(nil); err == nil; {
			_, err = r.Read(p)
		}
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}

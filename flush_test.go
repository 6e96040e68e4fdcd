package compress

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"testing"

	kzstd "github.com/klauspost/compress/zstd"
)

// stalling gives what it has, and then says that it was asked for more.
type stalling struct {
	p     []byte
	asked func()
}

func (s *stalling) Read(p []byte) (int, error) {
	if len(s.p) == 0 {
		s.asked()
		return 0, errTest
	}
	n := copy(p, s.p)
	s.p = s.p[n:]
	return n, nil
}

type flusher interface {
	io.WriteCloser
	Flush() error
}

// All that was flushed is given out before more input is asked for, wherever in what follows the input stops.
func TestFlushedBeforeMore(t *testing.T) {
	noErr := func(w flusher, err error) flusher {
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	writers := map[string]func(io.Writer) flusher{
		"gzip": func(w io.Writer) flusher { return gzip.NewWriter(w) },
		"zstd": func(w io.Writer) flusher {
			z, err := kzstd.NewWriter(w, kzstd.WithEncoderConcurrency(1))
			return noErr(z, err)
		},
		"zstd, large window": func(w io.Writer) flusher {
			z, err := kzstd.NewWriter(w, kzstd.WithEncoderConcurrency(1), kzstd.WithWindowSize(32<<20))
			return noErr(z, err)
		},
	}
	for _, p := range Pipelines() {
		writers[p.Name] = func(w io.Writer) flusher {
			return newWriter(t, w, WithPipeline(p.Name), WithBlockSize(16<<10), WithConcurrency(2))
		}
	}
	const window = 32 << 10
	for name, writer := range writers {
		for _, sizes := range [][]int{{window, window, 3 * window}, {2 * window, 4 * window}, {window - 1, 1, window + 1, 3*window - 1}, {1, 100, 200_000, 7}} {
			var b bytes.Buffer
			w := writer(&b)
			var content []byte
			type mark struct{ file, content int }
			var marks []mark
			for i, n := range sizes {
				part := textBytes(n, uint64(i))
				w.Write(part)
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
				content = append(content, part...)
				marks = append(marks, mark{b.Len(), len(content)})
			}
			w.Close()
			for _, m := range marks {
				for more := range 18 {
					end := min(m.file+more, b.Len())
					for _, workers := range []int{1, 3} {
						var got []byte
						asked := false
						src := &stalling{p: b.Bytes()[:end], asked: func() {
							if asked = true; len(got) < m.content {
								t.Fatalf("%s %v: %d bytes behind a flush: %d bytes given out of %d", name, sizes, more, len(got), m.content)
							}
						}}
						r := newReader(t, src, WithConcurrency(workers))
						p := make([]byte, 10_000)
						var err error
						for err == nil {
							var n int
							n, err = r.Read(p)
							got = append(got, p[:n]...)
						}
						if !bytes.HasPrefix(content, got) || asked && end < b.Len() && !errors.Is(err, errTest) {
							t.Fatalf("%s %v: %d bytes, %v", name, sizes, len(got), err)
						}
					}
				}
			}
		}
	}
}

// Content of a frame is given out in front of one that has to be waited for, which is decoded in order.
func TestFrameBeforeOther(t *testing.T) {
	content := textBytes(testBlock, 1)
	first := encode(t, content, WithPipeline("lzf"), WithBlockSize(testBlock))
	first = first[:frameAt(t, first, 1)]
	second := zstdStream(t, textBytes(100_000, 2), 100_000)
	for n := range min(len(second), 1000) {
		var got int
		r := newReader(t, &stalling{append(first[:len(first):len(first)], second[:n]...), func() {
			if got < len(content) {
				t.Fatalf("%d bytes of the second frame: %d bytes given out of %d", n, got, len(content))
			}
		}}, WithConcurrency(2))
		p := make([]byte, testBlock)
		for {
			m, err := r.Read(p)
			if got += m; err != nil {
				if !errors.Is(err, errTest) {
					t.Fatal(fmt.Sprint(n, " bytes: ", err))
				}
				break
			}
		}
	}
}

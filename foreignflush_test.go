package compress

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	kzstd "github.com/klauspost/compress/zstd"

	"github.com/gopz/compress/internal/zstfile"
)

// What was flushed comes out before more comes in.
func TestForeignFlush(t *testing.T) {
	checkGoroutines(t)
	for _, p := range Pipelines() {
		deadline(t, p.Name, func() {
			pr, pw := io.Pipe()
			r := newReader(t, pr, WithConcurrency(2))
			parts := make(chan []byte)
			go func() {
				w := newWriter(t, pw, WithPipeline(p.Name), WithBlockSize(testBlock))
				for p := range parts {
					w.Write(p)
					w.Flush()
				}
				w.Close()
				pw.Close()
			}()
			for _, n := range []int{1, 100, testBlock, 3*testBlock + 1, 5} {
				part := textBytes(n, uint64(n))
				parts <- part
				got := make([]byte, n)
				if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got, part) {
					t.Errorf("%s: %d bytes: %v", p.Name, n, err)
				}
			}
			close(parts)
			if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
				t.Errorf("%s: %d, %v", p.Name, n, err)
			}
		})
	}
}

// Also from a frame that has a large window: whoever flushes wants it to be read.
func TestForeignFlushWindow(t *testing.T) {
	checkGoroutines(t)
	for _, window := range []int{0, 16 << 20, 64 << 20} {
		pr, pw := io.Pipe()
		opts := []kzstd.EOption{kzstd.WithEncoderConcurrency(1)}
		if window > 0 {
			opts = append(opts, kzstd.WithWindowSize(window))
		}
		w, err := kzstd.NewWriter(pw, opts...)
		if err != nil {
			t.Fatal(err)
		}
		parts := make(chan []byte)
		go func() {
			for p := range parts {
				w.Write(p)
				w.Flush()
			}
			w.Close()
			pw.Close()
		}()
		r := newReader(t, pr)
		deadline(t, fmt.Sprint("window of ", window), func() {
			for i := range 5 {
				part := textBytes(200+i, uint64(i))
				parts <- part
				got := make([]byte, len(part))
				if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got, part) {
					t.Errorf("window of %d: %v", window, err)
				}
			}
			close(parts)
			if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
				t.Errorf("window of %d: %d, %v", window, n, err)
			}
		})
	}
	// A header alone is not worth the window.
	pr, pw := io.Pipe()
	head := (&zstfile.Header{ContentSize: -1, Window: 128 << 20}).Append(nil)
	got := allocated(func() {
		go func() {
			for _, b := range head {
				pw.Write([]byte{b})
			}
			pw.Close()
		}()
		if _, err := io.ReadAll(newReader(t, pr)); !errors.Is(err, ErrTruncated) {
			t.Error(err)
		}
	})
	if got > 4<<20 {
		t.Errorf("%d bytes of memory for a header", got)
	}
}

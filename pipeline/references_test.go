package pipeline

import (
	"bytes"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/ldm"
)

// TestWindow: blocks repeat earlier ones of their stream, and none of another stream of the same
// run.
func TestWindow(t *testing.T) {
	const size = 64 << 10
	block := corpus.ByName("random").Make(size)
	src := bytes.Repeat(block, 5)
	cfg := Config{Pipeline: ByName("lzseqr"), Level: 1, BlockSize: size, Checks: true, Window: ldm.MinWindow}
	s := NewScheduler(3)
	enc := s.Start(cfg)
	defer enc.Close()
	cfg.Op, cfg.Sources = Decompress, ldm.Sources
	dec := s.Start(cfg)
	defer dec.Close()
	cfg.Window = 0
	own := s.Start(cfg)
	defer own.Close()
	for stream := range 3 {
		enc.Number(0)
		dec.Number(0)
		for i := range 5 {
			b := enc.Get()
			b.Src = append(b.Src[:0], src[i*size:][:size]...)
			enc.Submit(b)
			b = next(t, enc)
			if small := len(b.Out()) < 100; b.Err != nil || b.Raw != size || small != (i > 0) {
				t.Fatalf("stream %d, block %d: %d bytes, error %v", stream, i, len(b.Out()), b.Err)
			}
			for _, r := range []*Run{dec, own} {
				d := r.Get()
				d.Src = append(d.Src[:0], b.Out()...)
				d.Raw, d.Kind, d.Sum = b.Raw, b.Kind, b.Sum
				r.Submit(d)
				d = next(t, r)
				want := block
				if r == own && i > 0 {
					want = nil
				}
				if d.Err != nil || !bytes.Equal(d.Out(), want) {
					t.Errorf("stream %d, block %d: %d bytes, error %v", stream, i, len(d.Out()), d.Err)
				}
				r.Put(d)
			}
			enc.Put(b)
		}
		if stream == 1 {
			enc.ReleaseScratch()
			dec.ReleaseScratch()
		}
	}
	cfg.Window, cfg.BlockSize = 3<<20, size
	defer func() {
		if recover() == nil {
			t.Error("a window that is no power of two")
		}
	}()
	s.Start(cfg)
}

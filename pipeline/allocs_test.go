package pipeline

import (
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// TestBlockAllocs: once buffers have grown, a block allocates nothing, neither where its worker was
// parked nor where the worker goes straight from one block to the next.
func TestBlockAllocs(t *testing.T) {
	testenv.Measures(t)
	some := []int{1, 3, 5, 9}
	if brief() {
		some = []int{3, 9}
	}
	forEachPipeline(t, func(t *testing.T, p *Pipeline) {
		for _, level := range some {
			for _, atOnce := range []int{1, 4} {
				blockAllocs(t, p, level, atOnce)
			}
		}
	})
}

func blockAllocs(t *testing.T, p *Pipeline, level, atOnce int) {
	s := NewScheduler(1)
	enc := s.Start(Config{Pipeline: p, Op: Compress, Level: level, Checks: true, InFlight: atOnce})
	dec := s.Start(Config{Pipeline: p, Op: Decompress, Checks: true, InFlight: atOnce})
	defer enc.Close()
	defer dec.Close()
	src := corpus.ByName("text").Make(5000)
	coded, err := compressAll(s, p, level, len(src), src)
	if err != nil || coded[0].kind != codedKind {
		t.Fatalf("kind %d, error %v", coded[0].kind, err)
	}
	e := coded[0]
	cycle := func(r *Run, payload []byte) {
		for range atOnce {
			b := r.Get()
			copy(b.Grow(len(payload)), payload)
			b.Raw, b.Kind, b.Sum = e.raw, e.kind, e.sum
			r.Submit(b)
		}
		for range atOnce {
			b, _ := r.Next(true)
			if b.Err != nil {
				t.Fatal(b.Err)
			}
			r.Put(b)
		}
	}
	for i := range 3 {
		cycle(enc, src[i:])
		cycle(dec, e.payload)
	}
	if n := testing.AllocsPerRun(5, func() { cycle(enc, src) }); n != 0 {
		t.Errorf("level %d, %d at once: compressing allocates %v times", level, atOnce, n)
	}
	if n := testing.AllocsPerRun(5, func() { cycle(dec, e.payload) }); n != 0 {
		t.Errorf("level %d, %d at once: decompressing allocates %v times", level, atOnce, n)
	}
}

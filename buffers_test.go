package compress

import (
	"math"
	"math/bits"
	"testing"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/hook"
	"github.com/gopz/compress/pipeline"
)

// TestEndMemory checks that the index or seek table at the end of a stream is made in a buffer of
// its size, as WriterMemory documents.
func TestEndMemory(t *testing.T) {
	for _, p := range pipeline.Pipelines() {
		o, err := newWriterOptions([]WriterOption{hook.Pipeline(p.Name).(WriterOption)})
		if err != nil {
			t.Fatal(err)
		}
		var all framers
		b := container.Block{Kind: container.Fill, Payload: 1, Raw: 4096}
		for n := 100_000; n < 101_024; n += 128 {
			f := all.beginFile(&o)
			for range n {
				f.BlockTrailer(f.BlockHeader(nil, b), b)
			}
			if end := f.Trailer(nil, 1, 1); cap(end) > len(end)+16<<10 {
				t.Errorf("%s: a buffer of %d bytes for %d", p.Name, cap(end), len(end))
			}
		}
	}
}

// TestSizeHint checks that a content size in a header makes AppendDecode reserve little memory on a
// 32-bit machine.
func TestSizeHint(t *testing.T) {
	n := sizeHint(1<<40, 1<<30)
	if bits.UintSize == 32 && n > 256<<20 || n > math.MaxInt32 {
		t.Errorf("sizeHint reserves %d bytes", n)
	}
}

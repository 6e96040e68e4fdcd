package compress

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// TestPosition checks that WithPosition counts each block of content once, in all formats, and is never
// behind the blocks written.
func TestPosition(t *testing.T) {
	mixed := corpus.ByName("mixed").Make(3*testBlock + 1)
	content := append(append(mixed, make([]byte, 2*testBlock)...), corpus.ByName("random").Make(testBlock)...)
	size := int64(len(content))
	for _, format := range []Format{PZ, Gzip, Zstd} {
		for level := MinLevel; level <= MaxLevel; level++ {
			if !testenv.All() && level%4 != int(format)%4 {
				continue // each finder is in the list of one format
			}
			for name, more := range map[string][]Option{
				"":         nil,
				"auto":     {WithTuning(TuneAuto)},
				"long":     {WithLongDistance(1 << 20)},
				"large":    {WithBlockSize(1 << 17)},
				"1 worker": {WithConcurrency(1)},
			} {
				if name == "long" && format != PZ {
					continue
				}
				t.Run(fmt.Sprint(format, level, name), func(t *testing.T) {
					var n atomic.Int64
					check := WithProgress(func(p Progress) {
						if at := n.Load(); at < p.Content || at > size {
							t.Errorf("position %d of %d with %d bytes written", at, size, p.Content)
						}
					})
					opts := append([]Option{WithFormat(format), WithLevel(level), check, WithPosition(&n),
						WithBlockSize(testBlock)}, more...)
					encode(t, content, opts...)
					if got := n.Load(); got != size {
						t.Errorf("Writer: position %d, want %d", got, size)
					}
					n.Store(0)
					if _, err := AppendEncode(nil, content, opts...); err != nil || n.Load() != size {
						t.Errorf("AppendEncode: position %d, want %d; %v", n.Load(), size, err)
					}
				})
			}
		}
	}
}

package zstfile

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/codec/zstd"
)

// TestRing writes random frames to rings. The window must be in front of each part, with nothing of
// other frames, and parts must stay as they are while they are in flight.
func TestRing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	wraps, grown := 0, 0
	pool := make([]byte, 2*512<<10)
	for i := range pool {
		pool[i] = byte(r.Uint32())
	}
	for range 150 {
		var x zstd.Executor
		var g ring
		scale := 1 << r.IntN(10)
		inFlight := 1 + r.IntN(6)
		type held struct{ is, was []byte }
		var parts []held
		g.reset()
		g.first, g.moved = 1+r.IntN(3000*scale), int64(r.IntN(2))<<20
		for range 1 + r.IntN(4) {
			window := int64(1 + r.IntN(2000*scale))
			most := 1 + r.IntN(500*scale)
			inFlight = max(1, inFlight+r.IntN(2)*(r.IntN(3)-1))
			if len(parts) >= inFlight {
				parts = parts[len(parts)-inFlight+1:]
			}
			g.beginFrame(inFlight, int(window)+(inFlight+1)*most+r.IntN(3)*most, int64(r.IntN(50*most)-1))
			x.Reset(window, nil)
			var content []byte
			for range r.IntN(100) {
				n := r.IntN(most + 1)
				size, front := len(g.buf), g.at
				dst, at := g.beginPart(n, window, &x)
				if len(g.buf) != size {
					grown++
				} else if g.at < front {
					wraps++
				}
				if len(g.buf) > max(g.most, g.first) {
					t.Fatalf("ring of %d bytes, most %d", len(g.buf), g.most)
				}
				front = max(0, len(content)-int(window))
				before := append(bytes.Clone(g.older), dst[:at]...)
				if len(before) > len(content) || !bytes.HasSuffix(before, content[front:]) {
					t.Fatalf("%d bytes in front of the part, window of %d in a frame of %d",
						len(before), window, len(content))
				}
				used := r.IntN(n + 1)
				copy(dst[at:], pool[r.IntN(len(pool)/2):])
				part := dst[at : at+used]
				g.endPart(at, at+used)
				content = append(content, part...)
				parts = append(parts, held{part, bytes.Clone(part)})
				if len(parts) > inFlight {
					parts = parts[1:]
				}
				for k, p := range parts {
					if !bytes.Equal(p.is, p.was) {
						t.Fatalf("part %d of %d in flight has changed", k, len(parts))
					}
				}
			}
		}
	}
	t.Logf("wrapped %d times, grown %d times", wraps, grown)
	if wraps < 300 || grown < 300 {
		t.Errorf("wrapped %d times, grown %d times", wraps, grown)
	}
}

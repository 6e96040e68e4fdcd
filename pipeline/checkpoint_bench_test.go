package pipeline

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/corpus"
)

// gapMeter measures the processor time between checkpoints of a block. Of several passes over the
// same block the shortest time of each gap counts: checkpoints come at the same places every time.
type gapMeter struct {
	last time.Duration
	gaps []time.Duration
	ends []uintptr // where each gap ends
	k    int       // index of the gap
}

func (m *gapMeter) begin() { m.last, m.k = threadTime(), 0 }

func (m *gapMeter) checkpoint() {
	took := threadTime() - m.last
	if m.k == len(m.gaps) {
		var pc [1]uintptr
		runtime.Callers(3, pc[:]) // the caller of the method that calls this
		m.gaps, m.ends = append(m.gaps, took), append(m.ends, pc[0])
	}
	m.gaps[m.k] = min(m.gaps[m.k], took)
	m.k++
	m.last = threadTime()
}

// longest returns the longest gap and the line where it ends.
func (m *gapMeter) longest() (gap time.Duration, end string) {
	at := 0
	for k, g := range m.gaps {
		if g > gap {
			gap, at = g, k
		}
	}
	f, _ := runtime.CallersFrames(m.ends[at : at+1]).Next()
	return gap, fmt.Sprintf("%s:%d", f.Function, f.Line)
}

// runAlone takes a block through all steps that a worker would.
func runAlone(ws *workspace, b *Block) error {
	r := b.run
	b.Err, b.choice = nil, choice{}
	b.beginWork(r.cfg.Op)
	if whole, err := b.precheck(ws); whole || err != nil {
		return err
	}
	if r.cfg.Op == Compress && r.cfg.Tuning != TuneFixed && !b.noMatches {
		ws.tune(b)
	}
	b.payload = ws.takePayload()
	defer func() { ws.payload, b.payload = b.payload, nil }()
	for i := range r.stages {
		ws.checkpoint()
		if err := r.stages[i].run(ws, b); err != nil {
			return err
		}
	}
	ws.checkpoint()
	return b.finishWork(ws)
}

// gapContents are content for which stages take long, or take large steps.
func gapContents(size int) map[string][]byte {
	c := map[string][]byte{}
	for _, name := range []string{"text", "exe", "random", "zeros", "short"} {
		c[name] = corpus.ByName(name).Make(size)
	}
	// A match of nearly the whole block, which is no fill.
	c["period"] = bytes.Repeat(c["random"][:min(40, size)], size/40+1)[:size]
	grow := make([]byte, 0, size+1024)
	for k := 1; len(grow) < size; k++ {
		grow = append(append(grow, make([]byte, 8+k%1000)...), 1)
	}
	c["growing"] = grow[:size]
	return c
}

// BenchmarkCheckpointGap measures the longest processor time between two checkpoints, of all kinds
// of content. It takes minutes for large blocks. The first pass over a block also pays for new
// memory; the unit ms/first has its longest gap.
func BenchmarkCheckpointGap(b *testing.B) {
	for _, size := range []int{4 << 10, 64 << 10, 1 << 20, 8 << 20, 64 << 20} {
		var contents map[string][]byte
		for i := range table {
			p := &table[i]
			if p.MaxBlock != 0 && size > p.MaxBlock {
				continue
			}
			for level := 1; level <= MaxLevel; level++ {
				for _, op := range []Op{Compress, Decompress} {
					if op == Decompress && p.Format == container.Gzip {
						continue
					}
					name := fmt.Sprintf("%s/%d/%v/%d", p.Name, level, []string{"enc", "dec"}[op], size)
					b.Run(name, func(b *testing.B) {
						if contents == nil {
							contents = gapContents(size)
						}
						for content, src := range contents {
							b.Run(content, func(b *testing.B) { benchGap(b, p, op, level, src) })
						}
					})
				}
			}
		}
	}
}

func benchGap(b *testing.B, p *Pipeline, op Op, level int, src []byte) {
	runtime.LockOSThread() // threadTime is of the thread
	defer runtime.UnlockOSThread()
	ws := new(workspace)
	first, repeated := new(gapMeter), new(gapMeter)
	block := gapBlock(b, p, op, level, src)
	passes := 3
	if len(src) >= 8<<20 && level > 4 {
		passes = 1
	}
	for range b.N {
		for k := range 1 + passes {
			m := first
			if k > 0 {
				m = repeated
			}
			ws.setCheckpoint(m.checkpoint)
			m.begin()
			if err := runAlone(ws, block); err != nil {
				b.Fatal(err)
			}
			m.checkpoint()
		}
	}
	b.ReportMetric(0, "ns/op")
	gap, end := repeated.longest()
	b.ReportMetric(gap.Seconds()*1e3, "ms/gap")
	gap, firstEnd := first.longest()
	b.ReportMetric(gap.Seconds()*1e3, "ms/first")
	b.ReportMetric(float64(len(repeated.gaps)), "calls")
	if testing.Verbose() {
		b.Logf("%s, the first time %s", end, firstEnd)
	}
}

package pipeline

import (
	"testing"

	"github.com/gopz/compress/gpu"
)

// TestResetBehindHandoff: a worker that has handed a block to the device does not touch what
// belongs to the run's next scheduler. The race detector notices that.
func TestResetBehindHandoff(t *testing.T) {
	op := &deviceOp{
		op: gpu.StageN, prepare: func(_ *Block, q *gpu.Request) { q.Decode = true },
		accept: func(*workspace, *Block, *gpu.Request) error { return nil },
	}
	p := &Pipeline{Name: "fake", decode: []stage{
		{name: "a", device: op, run: func(*workspace, *Block) error { return nil }},
	}, check: func(_ *workspace, b *Block) uint32 { return b.Sum }}
	nop := func(*gpu.Request) error { return nil }
	d := gpu.NewSoft(nop, gpu.SoftConfig{})
	defer d.Close()
	s, other := NewScheduler(4), NewScheduler(4)
	if err := s.SetDevice(d); err != nil {
		t.Fatal(err)
	}
	cfg := Config{Pipeline: p, Op: Decompress, InFlight: 1, Checks: true, Assign: Assignment{GPU, GPU}}
	r := s.Start(cfg)
	defer r.Close()
	for range 2000 {
		for _, to := range []*Scheduler{s, other} {
			c := cfg
			if to == other {
				c.Assign = Assignment{}
			}
			if !r.Reset(to, c) {
				t.Fatal("no Reset")
			}
			feed(t, r, 1)
			r.Put(next(t, r))
		}
	}
}

package pipeline

import (
	"math"
	"reflect"
	"testing"

	"github.com/gopz/compress/gpu"
)

// TestInFlight: a device adds blocks in flight only where it may get blocks.
func TestInFlight(t *testing.T) {
	const never = math.MaxInt
	recent := gpu.SoftConfig{Batch: 4, RowHashOnly: true, MinAuto: 1 << 16, MinAutoDecode: 1 << 19}
	for _, x := range []struct {
		soft        gpu.SoftConfig
		pipeline    string
		op          Op
		level, size int
		match, code gpu.Backend
		more        bool
	}{
		{gpu.SoftConfig{}, "lzseqr", Compress, 1, 0, CPU, CPU, false},
		{gpu.SoftConfig{}, "lzseqr", Compress, 1, 0, Auto, Auto, true},
		{gpu.SoftConfig{MinAuto: never}, "lzseqr", Compress, 1, 0, Auto, Auto, false},
		{gpu.SoftConfig{MinAuto: never}, "lzseqr", Compress, 1, 0, CPU, GPU, true},
		{gpu.SoftConfig{MinAuto: never}, "lzseqr", Compress, 5, 0, Fused, Fused, true},
		{gpu.SoftConfig{MinAuto: never}, "lzseqr", Decompress, 0, 0, Auto, Auto, true},
		{gpu.SoftConfig{MinAutoDecode: never}, "lzseqr", Decompress, 0, 0, Auto, Auto, false},
		{gpu.SoftConfig{MinAutoDecode: never}, "lzseqr", Decompress, 0, 0, Fused, Fused, true},
		{gpu.SoftConfig{}, "lzseqr", Decompress, 0, 0, GPU, CPU, false},
		{gpu.SoftConfig{Ops: []gpu.Op{gpu.Stage0}}, "lzseqr", Compress, 1, 0, Auto, Auto, true},
		{gpu.SoftConfig{Ops: []gpu.Op{gpu.Stage0}}, "lzseqr", Decompress, 0, 0, Auto, GPU, false},
		{recent, "lzseqr", Compress, 5, 1 << 16, Auto, CPU, true},
		{recent, "lzseqr", Compress, 5, 1<<16 - 1, Auto, CPU, false},
		{recent, "lzseqr", Compress, 4, 1 << 20, Auto, CPU, false}, // another finder
		{recent, "lzseqr", Compress, 9, 1 << 24, Auto, Auto, false},
		{recent, "lzr", Decompress, 0, 1 << 19, Auto, Auto, true},
		{recent, "lzr", Decompress, 0, 1<<19 - 1, Auto, Auto, false},
		{recent, "lzf", Compress, 5, 1 << 20, Auto, Auto, true},
		{recent, "deflate", Compress, 5, 1 << 20, Auto, Auto, false}, // another finder
		{recent, "deflate", Decompress, 0, 1 << 20, Auto, Auto, false},
		{recent, "lzf", Decompress, 0, 1 << 20, GPU, GPU, false},
	} {
		assign := Assignment{x.match, x.code}
		cfg := Config{
			Pipeline: ByName(x.pipeline), Op: x.op, Level: x.level, BlockSize: x.size, Assign: assign,
		}
		s := withSoft(t, 3, x.soft)
		if n := s.Plan(cfg).InFlight; (n > 6) != x.more || n < 6 {
			t.Errorf("%+v: %d", x, n)
		}
		if n := NewScheduler(3).Plan(cfg).InFlight; n != 6 {
			t.Errorf("%+v: %d without a device", x, n)
		}
	}
}

// TestPlan: blocks in flight follow from the workers and from the batches that are useful to them.
// Only with Fused they follow from the largest batch of the device. Memory is planned for what
// blocks hold while the device has them.
func TestPlan(t *testing.T) {
	like := gpu.SoftConfig{Batch: 64, Concurrent: 2, MinAuto: 1 << 16, MinAutoDecode: 1 << 20}
	for _, tt := range []struct {
		workers int
		op      Op
		ops     []gpu.Op
		bytes   int // most content of a batch
		backend gpu.Backend
		want    Plan
	}{
		{2, Compress, []gpu.Op{gpu.Stage0}, 0, CPU, Plan{InFlight: 4}},
		{2, Compress, []gpu.Op{gpu.Stage0}, 0, Auto, Plan{InFlight: 4 + 2*2 + 2, candidates: true}},
		{2, Compress, []gpu.Op{gpu.Stage0}, 0, GPU, Plan{InFlight: 4 + 2*8 + 2, candidates: true}},
		{2, Compress, []gpu.Op{gpu.Fused}, 0, Fused, Plan{InFlight: 4 + 2*64 + 2, verify: true}},
		{2, Compress, []gpu.Op{gpu.Fused}, 16 << 20, Fused, Plan{InFlight: 4 + 2*4 + 2, verify: true}},
		{2, Compress, []gpu.Op{gpu.Fused}, 1 << 20, Fused, Plan{InFlight: 4 + 2*1 + 2, verify: true}},
		{16, Compress, []gpu.Op{gpu.Fused}, 256 << 20, Fused, Plan{InFlight: 32 + 2*64 + 16, verify: true}},
		{
			2, Compress, nil, 0, GPU,
			Plan{InFlight: 4 + 2*8 + 2, candidates: true, payloads: true, verify: true},
		},
		{2, Decompress, nil, 0, Auto, Plan{InFlight: 4 + 2*2 + 2, payloads: true}},
		{16, Compress, []gpu.Op{gpu.Stage0}, 0, Auto, Plan{InFlight: 32 + 2*16 + 16, candidates: true}},
		{16, Decompress, nil, 0, GPU, Plan{InFlight: 32 + 64, payloads: true}}, // maxAway
	} {
		cfg := like
		cfg.Ops, cfg.Bytes = tt.ops, tt.bytes
		s := withSoft(t, tt.workers, cfg)
		run := Config{
			Pipeline: ByName("lzseqr"), Op: tt.op, Level: 5, BlockSize: 4 << 20,
			Assign: Assignment{tt.backend, tt.backend},
		}
		got := s.Plan(run)
		got.cfg, got.workers = Config{}, 0
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%d workers, op %d, %v of %v: %+v, want %+v",
				tt.workers, tt.op, tt.backend, tt.ops, got, tt.want)
		}
		s.device.Load().Lose(errTest)
		lost := s.Plan(run)
		lost.cfg, lost.workers = Config{}, 0
		if !reflect.DeepEqual(lost, Plan{InFlight: 2 * tt.workers}) {
			t.Errorf("device lost: %+v", lost)
		}
	}
}

// TestGrow: a run that may grow has two blocks for each worker, and all others once the device has
// taken one.
func TestGrow(t *testing.T) {
	g, s := startGate(2)
	r := s.Start(Config{
		Pipeline: ByName("lzseqr"), Op: Compress, Level: 3, InFlight: 9, Grow: true,
		Assign: Assignment{GPU, CPU},
	})
	defer r.Close()
	count := func() (n int) {
		var list []*Block
		for b := r.Get(); b != nil; b = r.Get() {
			list = append(list, b)
		}
		n = r.Taken()
		for _, b := range list {
			r.Put(b)
		}
		return n
	}
	if n := count(); n != 4 {
		t.Errorf("%d blocks before the device takes one, want 4", n)
	}
	burst(t, r, 1)
	<-g.in
	until(t, "the run grows", r.grown.Load)
	if n := count(); n != 9 {
		t.Errorf("%d blocks after the device has taken one, want 9", n)
	}
	close(g.open)
	r.Put(next(t, r))
	if !r.Reset(s, r.cfg) || r.grown.Load() {
		t.Error("grown after Reset")
	}
}

// TestPlanMemory: a block that the device finds matches for costs the memory of its candidates, and
// no payload.
func TestPlanMemory(t *testing.T) {
	const size, workers, blocks = 4 << 20, 2, 10
	for _, p := range []*Pipeline{ByName("lzr"), ByName("deflate")} {
		cfg := Config{
			Pipeline: p, Op: Compress, Level: 6, BlockSize: size, Reach: p.Reach(6, size),
		}
		memory := func(plan Plan) int64 {
			plan.cfg, plan.workers = cfg, workers
			return plan.Memory(blocks)
		}
		none := memory(Plan{})
		_, payload := cfg.encodeMemory()
		for _, tt := range []struct {
			plan Plan
			more int64
		}{
			{Plan{InFlight: 99}, 0},
			{Plan{candidates: true}, blocks * 4 * int64(size+cfg.Reach)},
			{Plan{payloads: true}, (blocks - workers) * payload},
			{Plan{verify: true}, workers * (fixedMemory + 9*size/2)},
		} {
			if more := memory(tt.plan) - none; more != tt.more {
				t.Errorf("%s, %+v: %d bytes more, want %d", p.Name, tt.plan, more, tt.more)
			}
		}
	}
}

package pipeline

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/corpus"
)

// gate is a device that holds its batches until open is closed.
type gate struct {
	*gpu.Soft
	in   chan struct{} // receives for each batch
	open chan struct{}

	mu  sync.Mutex
	ops []gpu.Op // of all requests so far
}

func newGate(cfg gpu.SoftConfig) *gate {
	g := &gate{in: make(chan struct{}, 1000), open: make(chan struct{})}
	cfg.Observe = func(op gpu.Op, batch []*gpu.Request) {
		g.mu.Lock()
		for range batch {
			g.ops = append(g.ops, op)
		}
		g.mu.Unlock()
		g.in <- struct{}{}
		<-g.open
	}
	g.Soft = gpu.NewSoft(Host, cfg)
	return g
}

// served returns the operations of all requests so far.
func (g *gate) served() []gpu.Op {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.ops)
}

// burst submits n blocks to a run.
func burst(t *testing.T, r *Run, n int) {
	t.Helper()
	src := corpus.ByName("text").Make(deviceBlock)
	for range n {
		b := r.Get()
		if b == nil {
			t.Fatal("no block free")
		}
		copy(b.Grow(len(src)), src)
		r.Submit(b)
	}
}

// occupy submits a block that keeps the gate busy. Its run insists on the device, so that nothing
// reclaims the block.
func occupy(t *testing.T, s *Scheduler, g *gate) *Run {
	t.Helper()
	r := s.Start(Config{
		Pipeline: ByName("lzseqr"), Op: Compress, Level: 3, InFlight: 1, Assign: Assignment{GPU, CPU},
	})
	burst(t, r, 1)
	<-g.in
	until(t, "the device is busy", func() bool { return s.device.Load().Status().Saturated })
	return r
}

// plug keeps every worker busy with a block until it is pulled.
type plug struct {
	s     *Scheduler
	r     *Run
	hold  chan struct{}
	begun chan struct{}
}

// newPlug submits the blocks. Its run has a debt: workers begin with the blocks when no other work
// waits.
func newPlug(t *testing.T, s *Scheduler) *plug {
	t.Helper()
	p := &plug{s: s, hold: make(chan struct{}), begun: make(chan struct{}, s.workers)}
	stop := func(ws *workspace, b *Block) error { p.begun <- struct{}{}; <-p.hold; return nil }
	p.r = s.Start(Config{Pipeline: fake(stop), Op: Decompress, InFlight: s.workers})
	p.r.share.credit = -time.Hour
	for i := range s.workers {
		feed(t, p.r, int64(i))
	}
	return p
}

// wait returns when every worker has one.
func (p *plug) wait() {
	for range p.s.workers {
		<-p.begun
	}
}

func (p *plug) pull() {
	close(p.hold)
	p.r.Close()
}

// finish takes n blocks back.
func finish(t *testing.T, r *Run, n int) {
	t.Helper()
	for range n {
		if b := next(t, r); b.Err != nil {
			t.Fatal(b.Err)
		}
	}
}

// waiting returns the number of requests of an operation that wait.
func waiting(s *Scheduler, op gpu.Op) int { return s.device.Load().Status().Waiting[op] }

// startGate returns a scheduler with a gate for Stage0 that takes one block at a time.
func startGate(workers int) (*gate, *Scheduler) {
	g := newGate(gpu.SoftConfig{Batch: 1, Ops: []gpu.Op{gpu.Stage0}})
	s := NewScheduler(workers)
	s.EnableStats(true)
	s.SetDevice(g)
	return g, s
}

// TestFullQueueFallsBackToCPU: with the device busy and its queue full, workers do Auto blocks at
// once, and reclaim those in the queue as soon as they have nothing else to do.
func TestFullQueueFallsBackToCPU(t *testing.T) {
	for _, workers := range forWorkers {
		g, s := startGate(workers)
		c := s.device.Load()
		depth := c.Status().Depth
		if want := min(2*workers, 16); depth != want {
			t.Errorf("depth %d, want %d", depth, want)
		}
		n := 2 + depth + 2*workers + 20
		strict := occupy(t, s, g)
		r := s.Start(Config{Pipeline: ByName("lzseqr"), Op: Compress, Level: 3, InFlight: n})
		p := newPlug(t, s)
		p.wait()
		burst(t, r, n)
		p.pull()
		until(t, "the CPU has all", func() bool { return onBackend(r.Stats(), CPU) == int64(3*n) })
		st := r.Stats()
		if st.QueueFull == 0 || st.Reclaimed == 0 || st.Reclaimed+st.QueueFull > int64(n) {
			t.Errorf("%d workers: %d found the queue full, %d reclaimed, of %d",
				workers, st.QueueFull, st.Reclaimed, n)
		}
		close(g.open)
		finish(t, r, n)
		finish(t, strict, 1)
		if got := onBackend(strict.Stats(), GPU); got != 1 {
			t.Errorf("%d workers: %d blocks on the device, want 1", workers, got)
		}
		r.Close()
		strict.Close()
	}
}

// until waits for a condition. It fails the test after 20 s.
func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: did not happen", what)
		}
	}
}

// TestLostDeviceFallsBackToCPU: workers do all blocks, strict ones as well, if the device is lost.
func TestLostDeviceFallsBackToCPU(t *testing.T) {
	s := withSoft(t, 2, gpu.SoftConfig{})
	s.device.Load().Lose(errTest)
	for _, assign := range []Assignment{{Auto, Auto}, {GPU, GPU}} {
		s.ResetStats()
		sameAsCPU(t, s, ByName("lzseqr"), 3, assign)
		if st := s.Stats(); onBackend(st, GPU) != 0 || st.DeviceLost == 0 {
			t.Errorf("%v: %+v", assign, st)
		}
	}
}

// TestPressureBiasesAutoToCPU: above the limit of the score Auto blocks are not even offered, and
// the device gets blocks again once it is idle.
func TestPressureBiasesAutoToCPU(t *testing.T) {
	for _, workers := range forWorkers {
		g, s := startGate(workers)
		c := s.device.Load()
		depth, limit := c.Status().Depth, int64(2*workers)
		n := depth + 200
		strict := occupy(t, s, g)
		r := s.Start(Config{Pipeline: ByName("lzseqr"), Op: Compress, Level: 3, InFlight: n})
		if p := c.Status().Pressure; p != 0 {
			t.Errorf("pressure %d after a send", p)
		}
		first := newPlug(t, s)
		first.wait()
		burst(t, r, n)
		// Workers with nothing else to do would reclaim blocks, and make room for others.
		last := newPlug(t, s)
		first.pull()
		last.wait()
		st, p := r.Stats(), c.Status().Pressure
		if got, want := onBackend(st, CPU), int64(3*(n-depth)); got != want {
			t.Errorf("%d workers: %d stages on the CPU, want %d", workers, got, want)
		}
		if p <= limit || p > limit+2*int64(workers) {
			t.Errorf("%d workers: pressure %d after %d sends that found the queue full, the limit is %d",
				workers, p, st.QueueFull, limit)
		}
		if st.QueueFull+int64(depth) > int64(n)/2 {
			t.Errorf("%d workers: %d of %d blocks were offered", workers, st.QueueFull, n)
		}
		last.pull()
		close(g.open)
		finish(t, r, n)
		finish(t, strict, 1)
		before := onBackend(r.Stats(), GPU)
		until(t, "the device is idle", func() bool { return !c.Status().Busy })
		r2 := s.Start(Config{Pipeline: ByName("lzseqr"), Op: Compress, Level: 3})
		burst(t, r2, 1)
		finish(t, r2, 1)
		if st := r2.Stats(); onBackend(st, GPU)+st.Reclaimed != 1 {
			t.Errorf("%d workers: no block to an idle device, %d before", workers, before)
		}
		r.Close()
		r2.Close()
		strict.Close()
	}
}

// TestStrictBesideAuto: a strict run beside a run of Auto neither adds to the pressure nor counts
// full queues. Blocks of Auto are still offered, and the strict run counts its own waiting.
func TestStrictBesideAuto(t *testing.T) {
	for _, workers := range forWorkers {
		g, s := startGate(workers)
		c := s.device.Load()
		depth := c.Status().Depth
		const n = 100
		cfg := Config{Pipeline: ByName("lzseqr"), Op: Compress, Level: 3, InFlight: n}
		auto := s.Start(cfg)
		cfg.Assign = Assignment{GPU, CPU}
		strict := s.Start(cfg)
		burst(t, strict, 1)
		<-g.in
		until(t, "the device is busy", func() bool { return c.Status().Saturated })
		first := newPlug(t, s)
		first.wait()
		burst(t, auto, depth)
		burst(t, strict, n-1)
		// Workers with nothing else to do would reclaim the blocks of Auto.
		last := newPlug(t, s)
		first.pull()
		last.wait()
		a, b := auto.Stats(), strict.Stats()
		if p := c.Status().Pressure; p != 0 || auto.crowded() {
			t.Errorf("%d workers: pressure %d, crowded %v", workers, p, auto.crowded())
		}
		if a.QueueFull != 0 || b.QueueFull != 0 || a.StrictWaiting != 0 || b.StrictWaiting != n-1 {
			t.Errorf("%d workers: Auto %+v, strict %+v", workers, a, b)
		}
		last.pull()
		close(g.open)
		finish(t, auto, depth)
		finish(t, strict, n)
		if a, b := auto.Stats(), strict.Stats(); a.StrictWait != 0 || b.StrictWait == 0 {
			t.Errorf("%d workers: Auto waited %v, strict %v", workers, a.StrictWait, b.StrictWait)
		}
		auto.Close()
		strict.Close()
	}
}

// TestPressureNeverOverridesExplicit: no pressure moves stages from where they are assigned.
func TestPressureNeverOverridesExplicit(t *testing.T) {
	for _, workers := range forWorkers {
		for _, assign := range []Assignment{{GPU, CPU}, {CPU, GPU}, {GPU, GPU}, {Fused, Fused}, {CPU, CPU}} {
			s := withSoft(t, workers, gpu.SoftConfig{
				Batch: 1, Latency: time.Millisecond, Ops: []gpu.Op{gpu.Stage0, gpu.StageN},
			})
			s.device.Load().Press(1 << 40)
			const n = 60
			r := s.Start(Config{
				Pipeline: ByName("lzseqr"), Op: Compress, Level: 3, InFlight: n, Assign: assign,
			})
			burst(t, r, n)
			finish(t, r, n)
			for _, x := range r.Stats().Stages {
				want := CPU
				switch x.Stage {
				case "lz77":
					want = assign.Match
				case "rans":
					want = assign.Entropy
				case "verify": // once for each time
					x.Blocks /= int64(onBackend(r.Stats(), GPU)) / n
				}
				if want == Fused { // which this device does not do
					want = GPU
				}
				if x.Backend != want || x.Blocks != n {
					t.Errorf("%d workers, %v: %+v", workers, assign, x)
				}
			}
			r.Close()
		}
	}
}

// TestServiceOrder: under a burst the device serves later stages first, then fused requests, then
// first stages.
func TestServiceOrder(t *testing.T) {
	for _, workers := range forWorkers {
		g := newGate(gpu.SoftConfig{Batch: 2})
		s := NewScheduler(workers)
		s.SetDevice(g)
		const n = 6
		start := func(match, entropy gpu.Backend) *Run {
			return s.Start(Config{
				Pipeline: ByName("lzseqr"), Op: Compress, Level: 3, InFlight: n,
				Assign: Assignment{match, entropy},
			})
		}
		stage0, fused, stageN := start(GPU, CPU), start(Fused, Fused), start(CPU, GPU)
		burst(t, stage0, 1)
		<-g.in // the device is busy with this one
		burst(t, stage0, n-1)
		burst(t, fused, n)
		burst(t, stageN, n)
		until(t, "the requests come", func() bool {
			w := s.device.Load().Status().Waiting
			return w[gpu.Stage0] == n-1 && w[gpu.Fused] == n && w[gpu.StageN] == n
		})
		close(g.open)
		for _, r := range []*Run{stageN, fused, stage0} {
			finish(t, r, n)
			r.Close()
		}
		ops := g.served()
		if !slices.IsSorted(ops[1:]) || ops[0] != gpu.Stage0 || len(ops) != 3*n {
			t.Errorf("%d workers: served %v", workers, ops)
		}
	}
}

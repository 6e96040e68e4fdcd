package pipeline

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/corpus"
)

// gate is a device that does nothing until it is let go.
type gate struct {
	*gpu.Soft
	in   chan struct{} // a batch has come in
	open chan struct{}

	mu  sync.Mutex
	ops []gpu.Op
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

// plug is a block for each worker that keeps it busy until it is pulled.
type plug struct {
	s     *Scheduler
	r     *Run
	hold  chan struct{}
	begun chan struct{}
}

// newPlug submits the blocks: workers get to them when they have done what was submitted before.
func newPlug(t *testing.T, s *Scheduler) *plug {
	t.Helper()
	p := &plug{s: s, hold: make(chan struct{}), begun: make(chan struct{}, s.workers)}
	stop := func(ws *workspace, b *Block) error { p.begun <- struct{}{}; <-p.hold; return nil }
	p.r = s.Start(Config{Pipeline: fake(stop), Op: Decompress, InFlight: s.workers})
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

// TestFullChannelFallsBackToCPU: with the device busy and its channel full, Auto blocks are the workers' at once, and those in the channel
// as soon as a worker has nothing else to do.
func TestFullChannelFallsBackToCPU(t *testing.T) {
	for _, workers := range forWorkers {
		g := newGate(gpu.SoftConfig{Batch: 1, Only: []gpu.Op{gpu.Stage0}})
		s := NewScheduler(workers)
		s.EnableStats(true)
		s.SetDevice(g)
		c := s.device.Load()
		c.holds = true
		depth := cap(c.reqs[gpu.Stage0])
		if want := min(2*workers, 16); depth != want {
			t.Errorf("depth %d, want %d", depth, want)
		}
		n := 2 + depth + 2*workers + 20
		r := s.Start(Config{Pipeline: ByName("lzseqr"), Op: Compress, Level: 3, InFlight: n})
		burst(t, r, 1)
		<-g.in
		// The worker of the first block has to be out of the way, and the device known to be busy.
		until(t, "the device is busy", func() bool { return c.saturated.Load() })
		p := newPlug(t, s)
		p.wait()
		burst(t, r, n-1)
		p.pull()
		until(t, "the CPU has all others", func() bool { return onBackend(r.Stats(), CPU) == int64(3*(n-1)) })
		st := r.Stats()
		if st.SendFull == 0 || st.Reclaimed == 0 || st.Reclaimed+st.SendFull > int64(n-1) {
			t.Errorf("%d workers: %d found the channel full, %d taken back, of %d", workers, st.SendFull, st.Reclaimed, n)
		}
		close(g.open)
		finish(t, r, n)
		if got := onBackend(r.Stats(), GPU); got != 1 {
			t.Errorf("%d workers: %d blocks on the device, want 1", workers, got)
		}
		r.Close()
	}
}

// until waits for a condition, but not for ever.
func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: did not happen", what)
		}
	}
}

// TestClosedChannelFallsBackToCPU: so it is with a device that is lost.
func TestClosedChannelFallsBackToCPU(t *testing.T) {
	s := withSoft(t, 2, gpu.SoftConfig{})
	s.device.Load().lose(errTest)
	for _, assign := range []Assignment{{Auto, Auto}, {GPU, GPU}} {
		s.ResetStats()
		sameAsCPU(t, s, ByName("lzseqr"), 3, assign)
		if st := s.Stats(); onBackend(st, GPU) != 0 || st.SendClosed == 0 {
			t.Errorf("%v: %+v", assign, st)
		}
	}
}

// TestPressureBiasesAutoToCPU: the score rises and falls as it says, and above the limit blocks of an Auto assignment are not even offered.
func TestPressureBiasesAutoToCPU(t *testing.T) {
	for _, workers := range forWorkers {
		g := newGate(gpu.SoftConfig{Batch: 1, Only: []gpu.Op{gpu.Stage0}})
		s := NewScheduler(workers)
		s.EnableStats(true)
		s.SetDevice(g)
		c := s.device.Load()
		c.holds = true
		depth, limit := cap(c.reqs[gpu.Stage0]), int64(2*workers)
		n := depth + 200
		r := s.Start(Config{Pipeline: ByName("lzseqr"), Op: Compress, Level: 3, InFlight: n})
		burst(t, r, 1)
		<-g.in
		if p := c.pressure.Load(); p != 0 {
			t.Errorf("pressure %d after a send", p)
		}
		first := newPlug(t, s)
		first.wait()
		burst(t, r, n-1)
		// Workers that had nothing else to do would take blocks back from the device, and make room for those that others are about to offer.
		last := newPlug(t, s)
		first.pull()
		last.wait()
		st, p := r.Stats(), c.pressure.Load()
		if got, want := onBackend(st, CPU), int64(3*(n-1-depth)); got != want {
			t.Errorf("%d workers: %d stages on the CPU, want %d", workers, got, want)
		}
		if p <= limit || p > limit+2*int64(workers) {
			t.Errorf("%d workers: pressure %d after %d sends that found it full, the limit is %d", workers, p, st.SendFull, limit)
		}
		if st.SendFull+int64(depth) > int64(n)/2 {
			t.Errorf("%d workers: %d of %d blocks were offered", workers, st.SendFull, n)
		}
		last.pull()
		close(g.open)
		finish(t, r, n)
		// Once the device has nothing to do it gets blocks again.
		before := onBackend(r.Stats(), GPU)
		until(t, "the device is idle", func() bool { return !c.busy.Load() })
		r2 := s.Start(Config{Pipeline: ByName("lzseqr"), Op: Compress, Level: 3})
		burst(t, r2, 1)
		finish(t, r2, 1)
		if onBackend(r2.Stats(), GPU) != 1 {
			t.Errorf("%d workers: no block to an idle device, %d before", workers, before)
		}
		r.Close()
		r2.Close()
	}
	c := newCoordinator(NewScheduler(3), gpu.NewSoft(Host, gpu.SoftConfig{}))
	for _, step := range []struct{ add, want int64 }{{-1, 0}, {2, 2}, {1, 3}, {-1, 2}, {2, 4}, {2, 6}} {
		if c.press(step.add); c.pressure.Load() != step.want || c.crowded() {
			t.Errorf("%+v: %d, crowded %v", step, c.pressure.Load(), c.crowded())
		}
	}
	c.busy.Store(true)
	if c.press(1); !c.crowded() {
		t.Error("above twice the workers and not crowded")
	}
}

// TestPressureNeverOverridesExplicit: no pressure moves what was assigned.
func TestPressureNeverOverridesExplicit(t *testing.T) {
	for _, workers := range forWorkers {
		for _, assign := range []Assignment{{GPU, CPU}, {CPU, GPU}, {GPU, GPU}, {Fused, Fused}, {CPU, CPU}} {
			s := withSoft(t, workers, gpu.SoftConfig{Batch: 1, Latency: time.Millisecond, Only: []gpu.Op{gpu.Stage0, gpu.StageN}})
			s.device.Load().pressure.Store(1 << 40)
			const n = 60
			r := s.Start(Config{Pipeline: ByName("lzseqr"), Op: Compress, Level: 3, InFlight: n, Assign: assign})
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

// waiting is how many requests of a kind wait.
func waiting(c *coordinator, op gpu.Op) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.reqs[op]) + c.strict[op].size
}

// TestServiceOrder: under a burst later stages are served before fused requests, and those before first stages.
func TestServiceOrder(t *testing.T) {
	for _, workers := range forWorkers {
		g := newGate(gpu.SoftConfig{Batch: 2})
		s := NewScheduler(workers)
		s.SetDevice(g)
		const n = 6
		p := ByName("lzseqr")
		stage0 := s.Start(Config{Pipeline: p, Op: Compress, Level: 3, InFlight: n, Assign: Assignment{GPU, CPU}})
		fused := s.Start(Config{Pipeline: p, Op: Compress, Level: 3, InFlight: n, Assign: Assignment{Fused, Fused}})
		stageN := s.Start(Config{Pipeline: p, Op: Compress, Level: 3, InFlight: n, Assign: Assignment{CPU, GPU}})
		burst(t, stage0, 1)
		<-g.in // the device is busy with this one
		burst(t, stage0, n-1)
		burst(t, fused, n)
		burst(t, stageN, n)
		c := s.device.Load()
		until(t, "the requests come", func() bool {
			return waiting(c, gpu.Stage0) == n-1 && waiting(c, gpu.Fused) == n && waiting(c, gpu.StageN) == n
		})
		close(g.open)
		for _, r := range []*Run{stageN, fused, stage0} {
			finish(t, r, n)
			r.Close()
		}
		if !slices.IsSorted(g.ops[1:]) || g.ops[0] != gpu.Stage0 || len(g.ops) != 3*n {
			t.Errorf("%d workers: served %v", workers, g.ops)
		}
	}
}

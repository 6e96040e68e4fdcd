package pipeline

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/testenv"
)

// TestStress drives two schedulers with random work in virtual time. Many clients start runs, feed
// them blocks and take results. At random moments a client closes a run, cancels its context, drops
// it, or resets it to either scheduler. Stages take random times, ask for helpers, fail and panic.
// Some blocks are serial, and some are done by Run.Do. The first scheduler may have a device, which
// may fail in one of several ways.
//
// The test checks:
//   - Every block ends exactly once, in order, with the result or the error of its own stages. Each
//     stage runs once, on a worker or on the device. Serial blocks run in the order of Submit.
//   - A scheduler has at most as many goroutines at work as workers. A run has at most as many
//     workspaces. No two blocks share a workspace, and none gets that of a stage that panicked.
//   - No work waits while a worker is free. The ring has the runs with work, and no others.
//   - A short block waits for at most one turn of each run that works meanwhile. Close waits for at
//     most one piece of a stage. After Close no stage of the run is at work.
//   - In the end no goroutine, no work and no claim on scratch memory is left.
//
// A block that never ends is a deadlock, which synctest reports. A wrong change of a block's state
// panics. The race detector sees blocks, and memory of blocks, with two owners. Statistics show
// that pauses, reclaimed blocks and faults of the device did happen.
//
// A seed determines what clients and stages do, but not the order of goroutines that are ready at
// the same time. The name of a failed case has its seed; PZ_SEED repeats it.
func TestStress(t *testing.T) {
	var sum Stats
	cases := 0
	for _, seed := range testenv.Seeds(t, 1, 2, 3, 4) {
		for _, fault := range stressFaults {
			for _, workers := range []int{1, 2, 8} {
				name := fmt.Sprintf("seed=%d/device=%s/workers=%d", seed, fault, workers)
				if !t.Run(name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { stressSchedulers(t, &sum, seed, fault, workers) })
					cases++
				}) {
					return
				}
			}
		}
	}
	rare := min(sum.Pauses, sum.StrictWaiting, sum.Failed, sum.Wrong, sum.Reclaimed, sum.Returned)
	if all := 4 * 3 * len(stressFaults); cases >= all && rare == 0 {
		t.Errorf("something never happened: %+v", sum)
	}
}

// stressFaults are the faults of the device. A device begins to fail after stressBatches.
var stressFaults = []string{"missing", "sound", "lost", "hangs", "panics", "fails", "wrong"}

const stressBatches = 20

// stress is the state of one case of TestStress.
type stress struct {
	t     *testing.T
	fault string // of the device
	pools [2]*stressPool

	clients atomic.Int64 // that have not ended
	errors  atomic.Int64

	mu   sync.Mutex
	runs []*stressRun
	held map[*workspace]bool // those of blocks in a stage, and those of stages that panicked
}

// stressPool is a scheduler and the number of its goroutines at work.
type stressPool struct {
	*Scheduler
	atWork atomic.Int64 // workers and helpers; not those that pause or wait
}

// stressSchedulers is one case of TestStress. It adds the statistics of its runs to sum.
func stressSchedulers(t *testing.T, sum *Stats, seed uint64, fault string, workers int) {
	rng := rand.New(rand.NewPCG(seed, uint64(workers)))
	s := &stress{t: t, fault: fault, held: map[*workspace]bool{}}
	s.pools[0] = &stressPool{Scheduler: NewScheduler(workers)}
	s.pools[1] = &stressPool{Scheduler: NewScheduler(2)}
	if fault != "missing" {
		d := stressDevice(rng, fault)
		defer d.Close()
		if err := s.pools[0].SetDevice(d); err != nil {
			t.Fatal(err)
		}
	}
	var clients sync.WaitGroup
	for range 1 + rng.IntN(16) {
		c := &stressClient{stress: s, rng: rand.New(rand.NewPCG(rng.Uint64(), 0))}
		s.clients.Add(1)
		clients.Go(c.main)
	}
	began := time.Now()
	for s.clients.Load() > 0 && time.Since(began) < 20*time.Minute {
		time.Sleep(upTo(rng, 20*time.Millisecond))
		s.check()
	}
	clients.Wait()               // a deadlock if one waits for ever, since the timer above is gone
	time.Sleep(10 * time.Minute) // runs that were dropped end as well
	s.check()
	for _, r := range s.runs {
		if r.dropped {
			r.checkAtRest()
			if c := &r.run.chain; c.turn != r.run.turns || len(c.waiting) > 0 {
				s.errorf("turn %d of %d, %d serial blocks wait", c.turn, r.run.turns, len(c.waiting))
			}
			r.close()
		}
	}
	for _, p := range s.pools {
		p.checkIdle(s)
		st := p.Stats()
		sum.Add(&st)
	}
}

// check checks the schedulers once all goroutines sleep or wait.
func (s *stress) check() {
	synctest.Wait()
	for _, p := range s.pools {
		p.check(s)
	}
}

// stressDevice returns a device that copies the input of a request to the output.
func stressDevice(rng *rand.Rand, fault string) gpu.Device {
	var calls, batches atomic.Uint64
	seed := rng.Uint64()
	random := func(n int) int { return rand.New(rand.NewPCG(seed, calls.Add(1))).IntN(n) }
	cfg := gpu.SoftConfig{
		Batch: 1 + rng.IntN(8), Concurrent: 1 + rng.IntN(3), MaxSize: stressSize,
		Timeout: 500 * time.Millisecond, Trial: rng.IntN(2) == 0,
		Observe: func(gpu.Op, []*gpu.Request) {
			batches.Add(1)
			time.Sleep(time.Duration(random(60_000)) * time.Microsecond)
		},
	}
	failing := func() bool { return batches.Load() > stressBatches }
	switch fault {
	case "lost":
		cfg.LostAfter = stressBatches
	case "hangs":
		cfg.StallAfter = stressBatches
	case "panics":
		cfg.Fault = func() error {
			if failing() {
				panic("device")
			}
			return nil
		}
	case "fails":
		cfg.FailBlock = func(*gpu.Request) error {
			if random(3) == 0 {
				return errTest
			}
			return nil
		}
	}
	return gpu.NewSoft(func(q *gpu.Request) error {
		q.Dst = append(q.Dst[:0], q.Src...)
		if fault == "wrong" && failing() {
			flip(q.Dst)
		}
		return nil
	}, cfg)
}

// errorf reports an error. A broken scheduler has thousands: only the first ones count.
func (s *stress) errorf(format string, args ...any) {
	s.t.Helper()
	if s.errors.Add(1) <= 10 {
		s.t.Errorf(format, args...)
	}
}

// check checks the counts and queues of a scheduler while all goroutines sleep or wait.
func (p *stressPool) check(s *stress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.alive < 0 || p.alive+len(p.slots) != p.workers || len(p.idle) > p.workers {
		s.errorf("%d workers: %d alive, free slots %v, %d idle", p.workers, p.alive, p.slots, len(p.idle))
	}
	n := p.ring.Len()
	if n > 0 && p.alive < p.workers {
		s.errorf("%d runs wait although only %d of %d workers are at work", n, p.alive, p.workers)
	}
	if w := p.waiting.Load(); int(w) != n {
		s.errorf("%d runs are said to wait, %d do", w, n)
	}
	for range n {
		h := p.ring.Pop()
		p.ring.Push(h)
		if h.empty() || !h.inRing.Load() || h.credit < -quantum || h.credit > quantum {
			s.errorf("in the ring: empty %t, inRing %t, credit %v", h.empty(), h.inRing.Load(), h.credit)
		}
	}
}

// checkIdle checks that nothing is left in a scheduler whose runs have ended.
func (p *stressPool) checkIdle(s *stress) {
	p.check(s)
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := p.ring.Len(); n+p.alive+p.runs+len(p.idle)+len(p.payloads) != 0 {
		s.errorf("left: %d runs wait, %d workers alive, %d claims, %d idle workers, %d payloads",
			n, p.alive, p.runs, len(p.idle), len(p.payloads))
	}
	slices.Sort(p.slots)
	if len(slices.Compact(p.slots)) != p.workers {
		s.errorf("a slot is free twice: %v", p.slots)
	}
	c := p.device.Load()
	if c == nil {
		return
	}
	if st := c.Status(); st.Busy || st.Waiting != [gpu.NumOps]int{} {
		s.errorf("the device is not idle: %+v", st)
	}
	if err := c.Err(); err != nil && (s.fault == "sound" || s.fault == "fails") {
		s.errorf("the device is lost: %v", err)
	}
}

package pipeline

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gopz/compress/gpu"
)

// TestPassedOver: a queue in which something waits is passed over by maxPassed batches and no more, whatever is in front of it.
func TestPassedOver(t *testing.T) {
	type queue struct {
		op     gpu.Op
		strict bool
	}
	for _, tt := range []struct {
		first, second queue // the first always has something
	}{
		{queue{gpu.Fused, true}, queue{gpu.Stage0, true}},
		{queue{gpu.StageN, true}, queue{gpu.Stage0, true}},
		{queue{gpu.StageN, true}, queue{gpu.Fused, false}},
		{queue{gpu.StageN, false}, queue{gpu.Stage0, false}},
		{queue{gpu.Stage0, true}, queue{gpu.Stage0, false}},
	} {
		c := newCoordinator(NewScheduler(16), gpu.NewSoft(Host, gpu.SoftConfig{Batch: 2}))
		c.busy.Store(true) // no goroutine takes anything out
		offer := func(q queue, tag int64) {
			t.Helper()
			if !c.offer(&Block{run: new(Run), Tag: tag}, q.op, q.strict, offerTimer{}) {
				t.Fatal("refused")
			}
		}
		for tag := range int64(3) {
			offer(tt.second, tag)
		}
		var got []int64 // -1 for a block of the first queue
		for range 2*maxPassed + 3 {
			offer(tt.first, -1)
			offer(tt.first, -1)
			x := c.gather()
			for _, b := range x.blocks {
				got = append(got, b.Tag)
			}
			c.recycle(x)
		}
		want := slices.Repeat([]int64{-1}, 2*maxPassed)
		want = append(want, 0, 1)
		want = append(want, slices.Repeat([]int64{-1}, 2*maxPassed)...)
		want = append(want, 2, -1)
		if !slices.Equal(got[:len(want)], want) {
			t.Errorf("%+v before %+v: served %v", tt.first, tt.second, got)
		}
	}
}

// feeding is a device that is always busy: it does not end a batch before a fused request waits, until the run that is held up is gone.
type feeding struct {
	*gate
	sched *Scheduler
	gone  chan struct{}
}

func (f feeding) Run(op gpu.Op, batch []*gpu.Request) error {
	err := f.gate.Run(op, batch)
	for waiting(f.sched.device.Load(), gpu.Fused) == 0 {
		select {
		case <-f.gone:
			return err
		case <-time.After(100 * time.Microsecond):
		}
	}
	return err
}

// TestNoStarvation: runs whose requests go first do not hold up another for ever, though there is always one waiting. They are two, of a block each: the blocks of one run
// come back in order, and the oldest may be the last that a worker sends.
func TestNoStarvation(t *testing.T) {
	for _, workers := range forWorkers {
		gone := make(chan struct{}) // the run that is held up is done, or takes too long
		leave := sync.OnceFunc(func() { close(gone) })
		defer time.AfterFunc(20*time.Second, leave).Stop()
		g := newGate(gpu.SoftConfig{Batch: 1})
		s := NewScheduler(workers)
		s.SetDevice(feeding{g, s, gone})
		p := ByName("lzseqr")
		const n = 4
		var front [2]*Run
		for i := range front {
			front[i] = s.Start(Config{Pipeline: p, Op: Compress, Level: 3, InFlight: 1, Assign: Assignment{Fused, Fused}})
			burst(t, front[i], 1)
		}
		back := s.Start(Config{Pipeline: p, Op: Compress, Level: 3, InFlight: n, Assign: Assignment{GPU, CPU}})
		<-g.in // the device is busy with the first
		burst(t, back, n)
		until(t, "all requests of the run wait", func() bool { return waiting(s.device.Load(), gpu.Stage0) == n })
		close(g.open)
		fed := make(chan struct{})
		var feeds sync.WaitGroup
		for _, r := range front {
			feeds.Go(func() {
				for {
					select {
					case <-gone:
						return
					default:
					}
					b, err := r.Next(true)
					if err != nil || b.Err != nil {
						t.Error(err, b.Err)
						return
					}
					r.Submit(b)
				}
			})
		}
		go func() { feeds.Wait(); close(fed) }()
		finish(t, back, n)
		leave()
		soon(t, "the other runs end", fed)
		for _, r := range front {
			r.Close()
		}
		back.Close()
		var at []int
		for i, op := range g.ops {
			if op == gpu.Stage0 {
				at = append(at, i)
			}
		}
		for i, k := range at {
			if want := 1 + (i+1)*maxPassed + i; k != want {
				t.Errorf("%d workers: blocks at %v, number %d should be at %d", workers, at, i, want)
			}
		}
		if len(at) != n {
			t.Errorf("%d workers: %d blocks", workers, len(at))
		}
	}
}

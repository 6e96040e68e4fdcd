package pipeline

import (
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gopz/compress/gpu"
)

// oneByOne is a device that runs one batch after the other although it takes more.
type oneByOne struct {
	*gpu.Soft
	turn chan struct{} // holds one
}

func (d oneByOne) Run(op gpu.Op, batch []*gpu.Request) error {
	d.turn <- struct{}{}
	defer func() { <-d.turn }()
	return d.Soft.Run(op, batch)
}

// TestPatience: a batch that waits in the device for others to end, in any order, is not late. One
// that takes too long by itself is.
func TestPatience(t *testing.T) {
	for _, tt := range []struct {
		latency, patience time.Duration
		late              bool
	}{
		{29 * time.Second, 30 * time.Second, false},
		{31 * time.Second, 30 * time.Second, true},
		{time.Hour, math.MaxInt64 / 2, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := NewScheduler(2)
			soft := gpu.NewSoft(Host, gpu.SoftConfig{
				Concurrent: 3, Latency: tt.latency, Timeout: tt.patience,
			})
			d := oneByOne{soft, make(chan struct{}, 1)}
			if err := s.SetDevice(d); err != nil {
				t.Fatal(err)
			}
			const n = 7
			r := startFused(s, n)
			burst(t, r, n)
			finish(t, r, n)
			r.Close()
			if err := s.DeviceError(); (err != nil) != tt.late {
				t.Errorf("%v a batch: %v", tt.latency, err)
			}
			d.Close()
			time.Sleep(24 * time.Hour) // batches that were given up end too
		})
	}
}

// startFused starts a run of n blocks whose stages the device does in one request each.
func startFused(s *Scheduler, n int) *Run {
	return s.Start(Config{
		Pipeline: ByName("lzseqr"), Op: Compress, Level: 3, InFlight: n, Assign: Assignment{Fused, Fused},
	})
}

// stuck is a device that never ends its first batch and takes 29 s for each of the others, one
// after the other. From batch number dies on it reports that it is lost; 0 is never.
type stuck struct {
	oneByOne
	first atomic.Bool
	done  atomic.Int64
	dies  int64
}

func (d *stuck) Run(op gpu.Op, batch []*gpu.Request) error {
	if d.first.CompareAndSwap(false, true) {
		time.Sleep(time.Hour)
		return nil
	}
	err := d.oneByOne.Run(op, batch)
	if n := d.done.Add(1); d.dies > 0 && n >= d.dies {
		return gpu.ErrLost
	}
	return err
}

// TestGivenUp: a batch that never ends is given up after Concurrent times Timeout, whatever other
// batches do. A device that reports its loss keeps its patience for the other batches, since it may
// still read the blocks.
func TestGivenUp(t *testing.T) {
	for _, tt := range []struct{ dies, seconds int64 }{{0, 90}, {1, 88}, {2, 90}} {
		synctest.Test(t, func(t *testing.T) {
			s := NewScheduler(2)
			soft := gpu.NewSoft(Host, gpu.SoftConfig{
				Concurrent: 3, Latency: 29 * time.Second, Timeout: 30 * time.Second,
			})
			d := &stuck{oneByOne: oneByOne{soft, make(chan struct{}, 1)}, dies: tt.dies}
			if err := s.SetDevice(d); err != nil {
				t.Fatal(err)
			}
			const n = 12
			r := startFused(s, n)
			start := time.Now()
			burst(t, r, n)
			finish(t, r, n)
			r.Close()
			took, want := time.Since(start), time.Duration(tt.seconds)*time.Second // of the bubble's clock
			if took != want || s.DeviceError() == nil {
				t.Errorf("dies at %d: all blocks are back after %v, want %v; %v",
					tt.dies, took, want, s.DeviceError())
			}
			time.Sleep(2 * time.Hour) // batches that were given up end too
		})
	}
}

// feeding is a device that ends no batch before a fused request waits, until release is closed.
type feeding struct {
	*gate
	sched   *Scheduler
	release chan struct{}
}

func (f feeding) Run(op gpu.Op, batch []*gpu.Request) error {
	err := f.gate.Run(op, batch)
	for waiting(f.sched, gpu.Fused) == 0 {
		select {
		case <-f.release:
			return err
		case <-time.After(100 * time.Microsecond):
		}
	}
	return err
}

// TestNoStarvation: a run is served although requests of two others come first and always wait. The
// others have one block each: a run's blocks come back in order, and the oldest may be the last
// that a worker sends.
func TestNoStarvation(t *testing.T) {
	const passed = 8 // batches that may pass over a queue
	for _, workers := range forWorkers {
		release := make(chan struct{}) // the run that is held up is done, or takes too long
		leave := sync.OnceFunc(func() { close(release) })
		defer time.AfterFunc(20*time.Second, leave).Stop()
		g := newGate(gpu.SoftConfig{Batch: 1})
		s := NewScheduler(workers)
		s.SetDevice(feeding{g, s, release})
		const n = 4
		var front [2]*Run
		for i := range front {
			front[i] = startFused(s, 1)
			burst(t, front[i], 1)
		}
		back := s.Start(Config{
			Pipeline: ByName("lzseqr"), Op: Compress, Level: 3, InFlight: n, Assign: Assignment{GPU, CPU},
		})
		<-g.in // the device is busy with the first
		burst(t, back, n)
		until(t, "all requests of the run wait", func() bool { return waiting(s, gpu.Stage0) == n })
		close(g.open)
		fed := make(chan struct{})
		var feeds sync.WaitGroup
		for _, r := range front {
			feeds.Go(func() { resubmit(t, r, release) })
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
		for i, op := range g.served() { // Close leaves the last batch to the device
			if op == gpu.Stage0 {
				at = append(at, i)
			}
		}
		for i, k := range at {
			if want := 1 + (i+1)*passed + i; k != want {
				t.Errorf("%d workers: blocks at %v, number %d should be at %d", workers, at, i, want)
			}
		}
		if len(at) != n {
			t.Errorf("%d workers: %d blocks", workers, len(at))
		}
	}
}

// resubmit submits the blocks of a run again and again until stop is closed.
func resubmit(t *testing.T, r *Run, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
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
}

package pipeline

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
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
			if !c.offer(&Block{run: new(Run), state: stateRunning, Tag: tag}, q.op, q.strict, offerTimer{}) {
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

// TestBatchBytes: a batch has no more content than the device takes, but for one block alone.
func TestBatchBytes(t *testing.T) {
	for _, tt := range []struct {
		strict, auto []int // bytes of blocks, in the order in which they wait
		want         [][]int
	}{
		{[]int{60, 40, 30, 71, 120, 10, 1, 1, 1, 1, 1}, nil, [][]int{{60, 40}, {30}, {71}, {120}, {10, 1, 1, 1, 1}, {1}}},
		// There must be room for any block, which is 60 bytes or less.
		{nil, []int{40, 1, 1, 60, 41, 59}, [][]int{{40, 1}, {1, 60}, {41}, {59}}},
		{[]int{30, 90}, []int{5, 7, 60}, [][]int{{30, 5, 7}, {90}, {60}}},
	} {
		c := newCoordinator(NewScheduler(16), gpu.NewSoft(Host, gpu.SoftConfig{Batch: 5, Bytes: 100, MaxSize: 60}))
		c.busy.Store(true) // no goroutine takes anything out
		for i, sizes := range [][]int{tt.strict, tt.auto} {
			for _, n := range sizes {
				if !c.offer(&Block{run: new(Run), state: stateRunning, Raw: n}, gpu.Fused, i == 0, offerTimer{}) {
					t.Fatal("refused")
				}
			}
		}
		var got [][]int
		for x := c.gather(); x != nil; x = c.gather() {
			var sizes []int
			for _, b := range x.blocks {
				sizes = append(sizes, b.Raw)
			}
			got = append(got, sizes)
			c.recycle(x)
		}
		if !slices.EqualFunc(got, tt.want, slices.Equal[[]int]) {
			t.Errorf("%v and %v: %v, want %v", tt.strict, tt.auto, got, tt.want)
		}
	}
}

// single is a device that does one batch after the other, although it takes more.
type single struct {
	*gpu.Soft
	turn chan struct{} // holds one
}

func (d single) Run(op gpu.Op, batch []*gpu.Request) error {
	d.turn <- struct{}{}
	defer func() { <-d.turn }()
	return d.Soft.Run(op, batch)
}

// TestPatience: a batch that waits in the device for others to end, in any order, is not late; one that takes too long by itself is.
func TestPatience(t *testing.T) {
	for _, tt := range []struct {
		latency, patience time.Duration
		late              bool
	}{{29 * time.Second, 30 * time.Second, false}, {31 * time.Second, 30 * time.Second, true}, {time.Hour, math.MaxInt64 / 2, false}} {
		synctest.Test(t, func(t *testing.T) {
			s := NewScheduler(2)
			d := single{gpu.NewSoft(Host, gpu.SoftConfig{Concurrent: 3, Latency: tt.latency, Patience: tt.patience}), make(chan struct{}, 1)}
			if err := s.SetDevice(d); err != nil {
				t.Fatal(err)
			}
			const n = 7
			r := s.Start(Config{Pipeline: ByName("lzseqr"), Op: Compress, Level: 3, InFlight: n, Assign: Assignment{Fused, Fused}})
			burst(t, r, n)
			finish(t, r, n)
			r.Close()
			if err := s.DeviceError(); (err != nil) != tt.late {
				t.Errorf("%v a batch: %v", tt.latency, err)
			}
			d.Close()
			time.Sleep(24 * time.Hour) // what was given up ends too
		})
	}
}

// stuck is a device that never ends its first batch and takes 29 s for each of the others, one after the other; from the one that is numbered dies on it reports that it is lost.
type stuck struct {
	single
	first atomic.Bool
	done  atomic.Int64
	dies  int64
}

func (d *stuck) Run(op gpu.Op, batch []*gpu.Request) error {
	if d.first.CompareAndSwap(false, true) {
		time.Sleep(time.Hour)
		return nil
	}
	err := d.single.Run(op, batch)
	if n := d.done.Add(1); d.dies > 0 && n >= d.dies {
		return gpu.ErrLost
	}
	return err
}

// TestGivenUp: batches that end do not excuse one that never does for longer than Concurrent times Patience. A device that reports its loss has its patience for what else it has: it may still
// read the blocks.
func TestGivenUp(t *testing.T) {
	for _, tt := range []struct{ dies, seconds int64 }{{0, 90}, {1, 88}, {2, 90}} {
		synctest.Test(t, func(t *testing.T) {
			s := NewScheduler(2)
			soft := gpu.NewSoft(Host, gpu.SoftConfig{Concurrent: 3, Latency: 29 * time.Second, Patience: 30 * time.Second})
			if err := s.SetDevice(&stuck{single: single{soft, make(chan struct{}, 1)}, dies: tt.dies}); err != nil {
				t.Fatal(err)
			}
			const n = 12
			r := s.Start(Config{Pipeline: ByName("lzseqr"), Op: Compress, Level: 3, InFlight: n, Assign: Assignment{Fused, Fused}})
			start := time.Now()
			burst(t, r, n)
			finish(t, r, n)
			r.Close()
			if took, want := time.Since(start), time.Duration(tt.seconds)*time.Second; took != want || s.DeviceError() == nil {
				t.Errorf("dies at %d: all blocks are back after %v, want %v; %v", tt.dies, took, want, s.DeviceError())
			}
			time.Sleep(2 * time.Hour) // what was given up ends too
		})
	}
}

// TestEndBeforeLate: a batch that has ended is not late, even if nobody looked before its time was up.
func TestEndBeforeLate(t *testing.T) {
	c := newCoordinator(NewScheduler(1), gpu.NewSoft(Host, gpu.SoftConfig{}))
	timeUp := make(chan time.Time, 1)
	for range 100 {
		x := new(batch)
		c.ends <- x
		timeUp <- time.Time{}
		if end, late := c.event(timeUp); end != x || late {
			t.Fatal("a batch has ended, but another counts as late")
		}
		select {
		case <-timeUp:
		default:
		}
	}
	timeUp <- time.Time{}
	if end, late := c.event(timeUp); end != nil || !late {
		t.Error("nothing is late when time is up")
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

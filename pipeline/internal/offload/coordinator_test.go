package offload

import (
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gopz/compress/gpu"
)

var errTest = errors.New("test")

// result is a call of fakeScheduler.Complete.
type result struct {
	block any
	out   Outcome
}

// fakeScheduler records where requests are.
type fakeScheduler struct {
	mu      sync.Mutex
	places  map[any][]Place
	results []result
	closed  any // the block whose run is closed
	ended   any // the block whose run has ended
	idle    int
}

func (s *fakeScheduler) Moved(r *Request, to Place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.places == nil {
		s.places = map[any][]Place{}
	}
	s.places[r.Block] = append(s.places[r.Block], to)
}

func (s *fakeScheduler) Complete(r *Request, out Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.results = append(s.results, result{r.Block, out})
}

func (s *fakeScheduler) Closed(r *Request) bool { return s.closed != nil && s.closed == r.Block }

func (s *fakeScheduler) Ended(r *Request) bool {
	return s.Closed(r) || s.ended != nil && s.ended == r.Block
}

func (s *fakeScheduler) IdleWorkers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.idle
}

func (s *fakeScheduler) PanicError(stage string, value any) error { return errTest }

// take returns the results since the last call.
func (s *fakeScheduler) take() []result {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := s.results
	s.results = nil
	return got
}

func nothing(*gpu.Request) error { return nil }

// stopped returns a Coordinator whose goroutine does not run.
func stopped(workers int, cfg gpu.SoftConfig) (*Coordinator, *fakeScheduler) {
	s := &fakeScheduler{}
	c := New(s, workers, gpu.NewSoft(nothing, cfg))
	c.busy.Store(true)
	return c, s
}

func request(op gpu.Op, block, size int, strict bool) *Request {
	return &Request{Block: block, Strict: strict, GPU: &gpu.Request{Op: op, Size: size}}
}

// TestPassedOver: maxPassed batches pass over a queue in which requests wait, and no more.
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
		c, _ := stopped(16, gpu.SoftConfig{Batch: 2})
		offer := func(q queue, block int) {
			t.Helper()
			if !c.Offer(request(q.op, block, 0, q.strict), time.Time{}) {
				t.Fatal("refused")
			}
		}
		for block := range 3 {
			offer(tt.second, block)
		}
		var got []int // -1 for a block of the first queue
		for range 2*maxPassed + 3 {
			offer(tt.first, -1)
			offer(tt.first, -1)
			x := c.nextBatch()
			for _, r := range x.requests {
				got = append(got, r.Block.(int))
			}
			c.releaseBatch(x)
		}
		want := slices.Repeat([]int{-1}, 2*maxPassed)
		want = append(want, 0, 1)
		want = append(want, slices.Repeat([]int{-1}, 2*maxPassed)...)
		want = append(want, 2, -1)
		if !slices.Equal(got[:len(want)], want) {
			t.Errorf("%+v before %+v: served %v", tt.first, tt.second, got)
		}
	}
}

// TestBatchBytes: a batch of several blocks has no more content than the device takes.
func TestBatchBytes(t *testing.T) {
	for _, tt := range []struct {
		strict, auto []int // bytes of blocks, in the order in which they wait
		want         [][]int
	}{
		{
			strict: []int{60, 40, 30, 71, 120, 10, 1, 1, 1, 1, 1},
			want:   [][]int{{60, 40}, {30}, {71}, {120}, {10, 1, 1, 1, 1}, {1}},
		},
		// There must be room for any block, which is 60 bytes or less.
		{auto: []int{40, 1, 1, 60, 41, 59}, want: [][]int{{40, 1}, {1, 60}, {41}, {59}}},
		{strict: []int{30, 90}, auto: []int{5, 7, 60}, want: [][]int{{30, 5, 7}, {90}, {60}}},
	} {
		c, _ := stopped(16, gpu.SoftConfig{Batch: 5, Bytes: 100, MaxSize: 60})
		for i, sizes := range [][]int{tt.strict, tt.auto} {
			for _, n := range sizes {
				if !c.Offer(request(gpu.Fused, 0, n, i == 0), time.Time{}) {
					t.Fatal("refused")
				}
			}
		}
		var got [][]int
		for x := c.nextBatch(); x != nil; x = c.nextBatch() {
			var sizes []int
			for _, r := range x.requests {
				sizes = append(sizes, r.GPU.Size)
			}
			got = append(got, sizes)
			c.releaseBatch(x)
		}
		if !slices.EqualFunc(got, tt.want, slices.Equal[[]int]) {
			t.Errorf("%v and %v: %v, want %v", tt.strict, tt.auto, got, tt.want)
		}
	}
}

// TestEndBeforeLate: a batch that has ended is not late, even if the timer fired before its end was
// received.
func TestEndBeforeLate(t *testing.T) {
	c, _ := stopped(1, gpu.SoftConfig{})
	timer := make(chan time.Time, 1)
	for range 100 {
		x := new(batch)
		c.ends <- x
		timer <- time.Time{}
		if end, late := c.awaitEvent(timer); end != x || late {
			t.Fatal("a batch has ended, but another counts as late")
		}
		select {
		case <-timer:
		default:
		}
	}
	timer <- time.Time{}
	if end, late := c.awaitEvent(timer); end != nil || !late {
		t.Error("nothing is late when the timer has fired")
	}
}

// TestOfferPressure: an accepted request removes 1 from the score, a full queue adds 2, a lost
// device 1.
func TestOfferPressure(t *testing.T) {
	c, s := stopped(1, gpu.SoftConfig{})
	offer := func(want int64, ok bool) {
		t.Helper()
		got := c.Offer(request(gpu.Stage0, 0, 0, false), time.Time{})
		if p := c.Status().Pressure; got != ok || p != want {
			t.Errorf("offer: %v, pressure %d; want %v, %d", got, p, ok, want)
		}
	}
	c.Press(5)
	offer(4, true)
	offer(3, true) // full now
	offer(5, false)
	c.Lose(errTest)
	offer(6, false)
	s.closed = 0
	offer(6, false) // closing does not count
}

// TestPressure: the score is never below 0, and crowded means above twice the workers.
func TestPressure(t *testing.T) {
	c, _ := stopped(3, gpu.SoftConfig{})
	c.busy.Store(false)
	for _, step := range []struct{ add, want int64 }{{-1, 0}, {2, 2}, {1, 3}, {-1, 2}, {2, 4}, {2, 6}} {
		c.Press(step.add)
		if c.pressure.Load() != step.want || c.Crowded() {
			t.Errorf("%+v: %d, crowded %v", step, c.pressure.Load(), c.Crowded())
		}
	}
	c.busy.Store(true)
	c.Press(1)
	if !c.Crowded() {
		t.Error("above twice the workers and not crowded")
	}
	c.busy.Store(false)
	if c.Crowded() || c.pressure.Load() != 0 {
		t.Errorf("a device without requests is crowded, or has pressure %d", c.pressure.Load())
	}
}

// TestStrictFirst: within an operation strict requests come first.
func TestStrictFirst(t *testing.T) {
	c, _ := stopped(2, gpu.SoftConfig{})
	for i := range 4 {
		if !c.Offer(request(gpu.Stage0, i, 0, i >= 2), time.Time{}) {
			t.Fatal("refused")
		}
	}
	for _, want := range []int{2, 3, 0, 1} {
		if r, _ := c.nextRequest(gpu.Stage0, false, math.MaxInt, true); r == nil || r.Block != want {
			t.Errorf("got %+v, want block %d", r, want)
		}
	}
}

// TestCollectEnded: requests of runs that have ended are canceled, and those for a lost device
// fail.
func TestCollectEnded(t *testing.T) {
	c, s := stopped(2, gpu.SoftConfig{Batch: 4})
	for i := range 3 {
		c.Offer(request(gpu.StageN, i, 0, true), time.Time{})
	}
	s.ended = 1
	x := c.nextBatch()
	if len(x.requests) != 2 || x.requests[0].Block != 0 || x.requests[1].Block != 2 {
		t.Errorf("batch %+v", x.requests)
	}
	if got := s.take(); !slices.Equal(got, []result{{1, Canceled}}) {
		t.Errorf("completed %v", got)
	}
	if got := s.places[0]; !slices.Equal(got, []Place{Waiting, OnDevice}) {
		t.Errorf("places %v", got)
	}
	c.Offer(request(gpu.StageN, 3, 0, true), time.Time{})
	c.Lose(errTest)
	if x := c.nextBatch(); x != nil {
		t.Errorf("a batch for a lost device: %+v", x)
	}
	if got := s.take(); !slices.Equal(got, []result{{3, Failed}}) {
		t.Errorf("completed %v", got)
	}
}

// TestPace: the pace follows what the CPU takes, and is unknown before.
func TestPace(t *testing.T) {
	var p pace
	if p.time(1<<20) != 0 {
		t.Error("known beforehand")
	}
	p.learnTime(1<<20, time.Millisecond)
	if got := p.time(2 << 20); got < 1990*time.Microsecond || got > 2*time.Millisecond {
		t.Errorf("%v for twice as much as took 1 ms", got)
	}
	for range 100 {
		p.learnTime(1<<20, 3*time.Millisecond)
	}
	if got := p.time(1 << 20); got < 2900*time.Microsecond || got > 3*time.Millisecond {
		t.Errorf("%v after many times of 3 ms", got)
	}
	p.learnTime(0, time.Hour)
}

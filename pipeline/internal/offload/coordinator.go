package offload

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/pipeline/internal/fifo"
)

// Coordinator stands between the workers of a scheduler and a device. Its exported methods are safe
// for concurrent use.
type Coordinator struct {
	sched   Scheduler
	workers int
	dev     gpu.Device
	info    gpu.Info

	queues [gpu.NumOps]chan *Request // requests that are not strict, by operation
	wake   chan struct{}             // holds one: a request was queued
	ends   chan *batch               // batches that the device has finished

	pressure  atomic.Int64              // see Crowded
	busy      atomic.Bool               // the goroutine runs
	saturated atomic.Bool               // the device has as many batches as it takes
	lost      atomic.Pointer[lostError] // why the device is lost

	pace    [numWork]pace // of the CPU
	trials  [numWork]trial
	starter gpu.Starter  // the device if it starts late, nil otherwise
	missed  atomic.Int64 // ns that workers took for what a device that has not started could do

	// passed counts, for each queue, the batches since a request waited there and was not taken.
	// Only the goroutine uses it.
	passed [gpu.NumOps][2]int

	spare []*batch // not in use; only the goroutine uses it

	// mu is held to queue a request, so that none arrives after the goroutine has ended or the
	// device is lost.
	mu     sync.Mutex
	strict [gpu.NumOps]fifo.Queue[*Request] // bounded by the blocks in flight
	probes []*probe                         // that wait
	active []*batch                         // on the device, the oldest first
}

// lostError is why the device is lost.
type lostError struct{ error }

// maxDepth bounds the requests of one operation that wait for the device. More would only wait
// longer: a device takes some 16 blocks at a time, and a worker could do a block that waits.
const maxDepth = 16

// New returns a Coordinator for device d and a scheduler of so many workers.
func New(s Scheduler, workers int, d gpu.Device) *Coordinator {
	c := &Coordinator{sched: s, workers: workers, dev: d, info: d.Info()}
	c.wake = make(chan struct{}, 1)
	c.starter, _ = d.(gpu.Starter)
	if c.info.NoTrial {
		for i := range c.trials {
			c.trials[i].setState(proven)
		}
	}
	c.info.Concurrent = max(1, c.info.Concurrent)
	if c.info.Timeout <= 0 {
		c.info.Timeout = gpu.DefaultTimeout
	}
	c.ends = make(chan *batch, c.info.Concurrent)
	// A run with fewer blocks than two for each worker has no more requests than blocks, so the
	// depth does not depend on their number.
	depth := max(1, min(2*workers, maxDepth))
	for op := range c.queues {
		c.queues[op] = make(chan *Request, depth)
	}
	return c
}

// Device returns the device.
func (c *Coordinator) Device() gpu.Device { return c.dev }

// Offer queues a request for the device without blocking. If it returns false, the request remains
// the caller's: the queue is full, the device is lost or the run was closed. A strict request does
// not fail for lack of room. Start is when the worker began to prepare the request, for Counters.
func (c *Coordinator) Offer(r *Request, start time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	// Counters are out of bounds once the request is queued: its run may have ended.
	if r.Counters != nil {
		r.Counters.Handoff.Add(int64(time.Since(start)))
	}
	if c.sched.Closed(r) { // Withdraw may have come before this request
		return false
	}
	if c.lost.Load() != nil {
		if r.Counters != nil {
			r.Counters.Lost.Add(1)
		}
		if !r.Strict {
			c.Press(1)
		}
		return false
	}
	if r.Strict {
		c.pushStrict(r)
	} else if !c.pushAuto(r) {
		return false
	}
	c.serve()
	return true
}

// serve makes the goroutine look at the queues. The caller holds c.mu.
func (c *Coordinator) serve() {
	if !c.busy.Load() {
		c.busy.Store(true)
		go c.serveRequests()
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// pushStrict queues a strict request. It leaves the pressure alone, which is a signal for requests
// of Auto. The caller holds c.mu.
func (c *Coordinator) pushStrict(r *Request) {
	q := &c.strict[r.GPU.Op]
	if r.Counters != nil {
		r.queued = time.Now()
		if c.saturated.Load() || q.Len() > 0 {
			r.Counters.StrictWaiting.Add(1)
		}
	}
	c.sched.Moved(r, Waiting)
	q.Push(r)
}

// pushAuto queues a request that is not strict, if there is room. The caller holds c.mu.
func (c *Coordinator) pushAuto(r *Request) bool {
	q := c.queues[r.GPU.Op]
	if len(q) == cap(q) { // only the holder of c.mu sends
		c.Press(2)
		if r.Counters != nil {
			r.Counters.Full.Add(1)
		}
		return false
	}
	c.Press(-1)
	c.sched.Moved(r, Waiting)
	q <- r
	return true
}

// serveRequests serves requests until there are none.
func (c *Coordinator) serveRequests() {
	var ended time.Time // the end of the last batch
	timer := time.NewTimer(c.info.Timeout)
	defer timer.Stop()
	for {
		for len(c.active) < c.info.Concurrent {
			x := c.nextBatch()
			if x == nil {
				break
			}
			c.beginBatch(x)
		}
		if len(c.active) == 0 {
			c.saturated.Store(false)
			if c.stopServing() {
				return
			}
			continue
		}
		c.saturated.Store(len(c.active) == c.info.Concurrent)
		late, reclaim := c.deadline(c.active[0].start, ended), c.reclaimLate(c.active)
		timer.Reset(time.Until(earlier(late, reclaim)))
		x, timeUp := c.awaitEvent(timer.C)
		if timeUp && !time.Now().Before(late) {
			if c.active[0].taken.Load() {
				x = <-c.ends // it has ended and is about to report that
			} else {
				waited := time.Since(c.active[0].start).Round(time.Millisecond)
				c.Lose(fmt.Errorf("no answer from device %s within %v", c.info.Name, waited))
				c.giveUpAll() // do not wait for each of the others
			}
		}
		if x != nil {
			c.judge(x, ended)
			ended = time.Now()
			c.removeBatches(x)
			c.releaseBatch(x)
		}
	}
}

// beginBatch starts a batch. Requests of runs that were closed before Withdraw could find the batch
// are dropped here.
func (c *Coordinator) beginBatch(x *batch) {
	var own []*Request
	c.mu.Lock()
	c.active = append(c.active, x)
	for i, r := range x.requests {
		if c.sched.Closed(r) {
			x.turns[i].taken.Store(true)
			own = append(own, r)
		}
	}
	c.mu.Unlock()
	go x.main()
	for _, r := range own {
		c.sched.Complete(r, Dropped)
	}
}

// removeBatches takes batches from those on the device.
func (c *Coordinator) removeBatches(list ...*batch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.active = slices.DeleteFunc(c.active, func(x *batch) bool { return slices.Contains(list, x) })
}

// giveUpAll takes all batches away from a device that does not answer.
func (c *Coordinator) giveUpAll() {
	var list []*batch
	for _, x := range c.active {
		if c.giveUp(x) {
			list = append(list, x)
		}
	}
	c.removeBatches(list...)
}

// awaitEvent waits for the end of a batch, a new request or the timer. If a batch has ended and the
// time is up, the batch comes first: a late batch is still late the next time.
func (c *Coordinator) awaitEvent(timer <-chan time.Time) (end *batch, timeUp bool) {
	select {
	case end = <-c.ends:
	case <-c.wake:
	case <-timer:
		select {
		case end = <-c.ends:
		default:
			timeUp = true
		}
	}
	return end, timeUp
}

// giveUp takes a batch away from a device that does not answer. It returns false if the batch has
// ended: then its end is still to be received.
func (c *Coordinator) giveUp(x *batch) bool {
	if x.taken.Swap(true) {
		return false
	}
	for i, r := range x.requests {
		if !x.turns[i].taken.Swap(true) {
			c.sched.Complete(r, Abandoned)
		}
	}
	return true
}

// deadline returns when the oldest batch is late. A device may run the active batches one after the
// other, in any order. Each finished batch extends the deadline of the others, up to Concurrent
// times Timeout.
func (c *Coordinator) deadline(start, ended time.Time) time.Time {
	n := time.Duration(c.info.Concurrent)
	last := start.Add(min(c.info.Timeout, math.MaxInt64/n) * n)
	if ended.Before(start) {
		ended = start
	}
	if next := ended.Add(c.info.Timeout); next.Before(last) {
		return next
	}
	return last
}

// stopServing ends the goroutine unless a request waits.
func (c *Coordinator) stopServing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.probes) > 0 {
		return false
	}
	for op := range c.queues {
		if len(c.queues[op]) > 0 || c.strict[op].Len() > 0 {
			return false
		}
	}
	c.busy.Store(false)
	return true
}

// Withdraw takes back all requests for the blocks that match selects, so that their run does not
// wait for the device. Those that wait are completed as Canceled, those on the device as Dropped.
func (c *Coordinator) Withdraw(match func(block any) bool) {
	var waiting, dropped []*Request
	selects := func(r *Request) bool { return match(r.Block) }
	c.mu.Lock()
	for op := range gpu.Op(gpu.NumOps) {
		waiting = append(waiting, c.drainQueue(op, selects)...)
		q := &c.strict[op]
		for range q.Len() {
			if r := q.Pop(); selects(r) {
				waiting = append(waiting, r)
			} else {
				q.Push(r)
			}
		}
	}
	for _, x := range c.active {
		for i := range x.turns {
			if t := &x.turns[i]; match(t.block) && !t.taken.Swap(true) {
				dropped = append(dropped, x.requests[i])
			}
		}
	}
	c.mu.Unlock()
	for _, r := range waiting {
		c.sched.Complete(r, Canceled)
	}
	for _, r := range dropped {
		c.sched.Complete(r, Dropped)
	}
}

// drainQueue takes requests from the queue of Auto for one operation. The caller holds c.mu.
func (c *Coordinator) drainQueue(op gpu.Op, match func(*Request) bool) (own []*Request) {
	for range len(c.queues[op]) {
		select {
		case r := <-c.queues[op]:
			if match(r) {
				own = append(own, r)
			} else {
				c.queues[op] <- r // has room: only the holder of c.mu sends
			}
		default: // the goroutine and idle workers receive as well
		}
	}
	return own
}

// Lose marks the device as lost. Only the first error counts.
func (c *Coordinator) Lose(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost.CompareAndSwap(nil, &lostError{err})
}

// ErrWrong is the error of a device whose result is not what was asked for.
var ErrWrong = errors.New("wrong result")

// Distrust marks the device as lost because a worker found its result of a stage wrong.
func (c *Coordinator) Distrust(stage string, block int64) {
	c.Lose(fmt.Errorf("device %s: %w: %s of block %d", c.info.Name, ErrWrong, stage, block))
}

// Err returns why the device is lost, nil if it is not.
func (c *Coordinator) Err() error {
	if e := c.lost.Load(); e != nil {
		return e.error
	}
	return nil
}

// Status is a snapshot of a Coordinator, for tests and diagnosis.
type Status struct {
	Waiting   [gpu.NumOps]int // requests that wait, by operation
	Depth     int             // most requests of one operation that wait and are not strict
	Pressure  int64           // the back-pressure score
	Busy      bool            // there are requests
	Saturated bool            // the device has as many batches as it takes
}

// Status returns a snapshot.
func (c *Coordinator) Status() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Status{
		Depth:     cap(c.queues[0]),
		Pressure:  c.pressure.Load(),
		Busy:      c.busy.Load(),
		Saturated: c.saturated.Load(),
	}
	for op := range c.queues {
		s.Waiting[op] = len(c.queues[op]) + c.strict[op].Len()
	}
	return s
}

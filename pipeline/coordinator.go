package pipeline

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gopz/compress/gpu"
)

// coordinator stands between the workers and a device: a goroutine that collects what the workers hand over into batches, and gives
// the blocks back with what the device has made of them. It runs only while there are requests.
type coordinator struct {
	sched *Scheduler
	dev   gpu.Device
	info  gpu.Info

	reqs [gpu.NumOps]chan *Block
	wake chan struct{} // holds one: there is something new
	ends chan *batch   // batches that are done

	pressure  atomic.Int64 // see crowded
	busy      atomic.Bool  // the goroutine runs
	saturated atomic.Bool  // the device has as many batches as it takes
	lost      atomic.Pointer[lostError]

	pace  [gpu.NumOps]pace // of the CPU
	holds bool             // nothing that the device is at is taken back; for tests

	passed [gpu.NumOps][2]int // of each queue: batches made since something waited in it and was not taken. Only the goroutine touches it

	mu     sync.Mutex       // held for sending, so that no request comes after the goroutine has ended or the device is lost
	strict [gpu.NumOps]fifo // requests that must not go elsewhere; the blocks in flight bound them
	spare  []*batch         // not in use
}

// lostError is why the device is lost.
type lostError struct{ error }

func (e *lostError) Unwrap() error { return e.error }

// maxDepth is how many requests of a kind wait for the device at the most. More would only be further from the front: the device
// takes some 16 blocks at a time, and a block that waits could be on a worker.
const maxDepth = 16

func newCoordinator(s *Scheduler, d gpu.Device) *coordinator {
	c := &coordinator{sched: s, dev: d, info: d.Info(), wake: make(chan struct{}, 1)}
	c.info.Concurrent = max(1, c.info.Concurrent)
	if c.info.Patience <= 0 {
		c.info.Patience = gpu.DefaultPatience
	}
	c.ends = make(chan *batch, c.info.Concurrent)
	// A run of fewer blocks than two for each worker has no more requests than blocks, so that the depth need not depend on their number.
	depth := max(1, min(2*s.workers, maxDepth))
	for op := range c.reqs {
		c.reqs[op] = make(chan *Block, depth)
	}
	return c
}

// offer sends a block that has its request to the device, without waiting. If the channel is full or closed it reports false and
// the block remains the worker's. With strict set the block waits apart from the others, where there is always room.
func (c *coordinator) offer(b *Block, op gpu.Op, strict bool, t offerTimer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t.made()
	switch {
	case b.run.canceled.Load(): // withdraw has been here
		return false
	case c.lost.Load() != nil:
		c.press(1)
		t.refused(true)
		return false
	case len(c.reqs[op]) < cap(c.reqs[op]): // nobody else sends
		c.press(-1)
	default:
		c.press(2)
		t.refused(false)
		if !strict {
			return false
		}
	}
	b.setState(stateRequested)
	if strict {
		c.strict[op].push(b)
	} else {
		c.reqs[op] <- b
	}
	if !c.busy.Load() {
		c.busy.Store(true)
		go c.main()
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return true
}

// press adds to the pressure, which is never below 0.
func (c *coordinator) press(n int64) {
	for {
		p := c.pressure.Load()
		if c.pressure.CompareAndSwap(p, max(0, p+n)) {
			return
		}
	}
}

// crowded reports whether pressure is so high that blocks without a strict assignment should not be offered to the device.
// A full channel adds 2 to the pressure, a closed one 1, a request that is taken removes 1. Once the device has nothing
// left to do pressure begins again at 0: else nothing that is offered could ever lower it.
func (c *coordinator) crowded() bool {
	if c.pressure.Load() <= int64(2*c.sched.workers) {
		return false
	}
	if !c.busy.Load() && c.lost.Load() == nil {
		c.pressure.Store(0)
		return false
	}
	return true
}

// batch is a number of requests on their way through the device.
type batch struct {
	c      *coordinator
	op     gpu.Op
	blocks []*Block
	reqs   []*gpu.Request
	given  time.Time
	taken  atomic.Bool // by the goroutine that runs it, or by the coordinator, which gives the device up
	main   func()      // the method work, made once
	turns  []turn      // of the blocks
	raw    int         // bytes of content of all
	slow   int         // the first block that may still be taken back; see rescue
}

// turn is a block's in a batch. What is known of it stands here, since the block may be elsewhere before the batch is back.
type turn struct {
	taken atomic.Bool // the block, by the goroutine that runs the batch, or by the coordinator
	fixed bool        // it has to wait for the device
}

// main serves requests until there are none.
func (c *coordinator) main() {
	var active []*batch
	var ended time.Time // when the last batch did
	timer := time.NewTimer(c.info.Patience)
	defer timer.Stop()
	for {
		for len(active) < c.info.Concurrent {
			x := c.gather()
			if x == nil {
				break
			}
			active = append(active, x)
			go x.main()
		}
		if len(active) == 0 {
			c.saturated.Store(false)
			if c.stop() {
				return
			}
			continue
		}
		c.saturated.Store(len(active) == c.info.Concurrent)
		late, rescue := c.deadline(active[0].given, ended), c.rescue(active)
		timer.Reset(time.Until(earlier(late, rescue)))
		x, up := c.event(timer.C)
		if up && !time.Now().Before(late) {
			if active[0].taken.Load() {
				x = <-c.ends // it has come back, and is about to say so
			} else {
				c.lose(fmt.Errorf("no answer from device %s within %v", c.info.Name, time.Since(active[0].given).Round(time.Millisecond)))
				active = slices.DeleteFunc(active, c.giveUp) // rather than wait for each of the others
			}
		}
		if x != nil {
			ended = time.Now()
			active = slices.DeleteFunc(active, func(a *batch) bool { return a == x })
			c.recycle(x)
		}
	}
}

// event waits for the next thing to happen: a batch that ends, time that is up, or something else, of which there is nothing to say. A batch that has ended while the time
// ran out comes first: what is late is so the next time as well.
func (c *coordinator) event(timeUp <-chan time.Time) (end *batch, late bool) {
	select {
	case end = <-c.ends:
	case <-c.wake:
	case <-timeUp:
		select {
		case end = <-c.ends:
		default:
			late = true
		}
	}
	return end, late
}

// giveUp takes a batch away from a device that does not answer, or is gone. It reports false if the batch has come back: then its end is still to be received.
func (c *coordinator) giveUp(x *batch) bool {
	if x.taken.Swap(true) {
		return false
	}
	for i, b := range x.blocks {
		if !x.turns[i].taken.Swap(true) {
			b.abandon()
			c.fail(b)
		}
	}
	return true
}

// deadline is when a batch is late. A device may do those that are under way one after the other, in any order, so that each one that ends gives the others time; but no more than it would take
// to do all of them.
func (c *coordinator) deadline(given, ended time.Time) time.Time {
	last := given.Add(min(c.info.Patience, math.MaxInt64/time.Duration(c.info.Concurrent)) * time.Duration(c.info.Concurrent))
	if ended.Before(given) {
		ended = given
	}
	if next := ended.Add(c.info.Patience); next.Before(last) {
		return next
	}
	return last
}

// stop ends the coordinator, unless something has come in.
func (c *coordinator) stop() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for op := range c.reqs {
		if len(c.reqs[op]) > 0 || c.strict[op].size > 0 {
			return false
		}
	}
	c.busy.Store(false)
	return true
}

// reclaim gives a worker that has nothing else to do a block that waits while the device is busy. Without that a
// device that is slower than the workers would hold up all: the block that comes next in the output would stand in its queue.
func (c *coordinator) reclaim() *Block {
	if c == nil || !c.saturated.Load() {
		return nil
	}
	for op := range c.reqs {
		select {
		case b := <-c.reqs[op]:
			b.setState(stateReclaimed)
			b.run.reclaimed()
			return b
		default:
		}
	}
	return nil
}

// withdraw ends the requests of a run that is canceled as far as the device has not begun with them.
func (c *coordinator) withdraw(r *Run) {
	var own []*Block
	c.mu.Lock()
	for op := range c.reqs {
		for range len(c.reqs[op]) {
			select {
			case b := <-c.reqs[op]:
				if b.run == r {
					own = append(own, b)
				} else {
					c.reqs[op] <- b // nobody else sends
				}
			default: // the coordinator and idle workers take as well
			}
		}
		q := &c.strict[op]
		for range q.size {
			if b := q.pop(); b.run == r {
				own = append(own, b)
			} else {
				q.push(b)
			}
		}
	}
	c.mu.Unlock()
	for _, b := range own {
		b.Err = ErrCanceled
		c.sched.complete(nil, b, over)
	}
}

func (c *coordinator) newBatch(op gpu.Op) *batch {
	var x *batch
	if n := len(c.spare); n > 0 {
		x, c.spare = c.spare[n-1], c.spare[:n-1]
	} else {
		x = &batch{c: c}
		x.main = x.work
	}
	x.op = op
	return x
}

// recycle keeps a batch for the next time.
func (c *coordinator) recycle(x *batch) {
	clear(x.blocks)
	clear(x.reqs)
	x.blocks, x.reqs, x.slow = x.blocks[:0], x.reqs[:0], 0
	x.taken.Store(false)
	c.spare = append(c.spare, x)
}

// work takes a batch through the device and gives its blocks back.
func (x *batch) work() {
	c := x.c
	err := x.run()
	if x.taken.Swap(true) {
		return // too late: the blocks are elsewhere
	}
	if err != nil {
		c.lose(err)
	}
	took := time.Since(x.given)
	for i, b := range x.blocks {
		if x.turns[i].taken.Swap(true) {
			continue // a worker has it
		}
		if err != nil {
			c.fail(b)
		} else {
			b.setState(stateReturned)
			b.trip = trip{len(x.blocks), x.given, took}
			c.sched.complete(nil, b, again)
		}
	}
	c.ends <- x
}

// run is Device.Run; a panic in it is an error.
func (x *batch) run() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Stage: "device " + x.c.info.Name, Value: v, Stack: debug.Stack()}
		}
	}()
	return x.c.dev.Run(x.op, x.reqs)
}

// fail sends a block back to the CPU that the device has not done.
func (c *coordinator) fail(b *Block) {
	b.setState(stateReclaimed)
	b.use = useNone
	b.run.returned(nil)
	c.sched.complete(nil, b, again)
}

// lose gives the device up.
func (c *coordinator) lose(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost.CompareAndSwap(nil, &lostError{err})
}

// DeviceError is why the scheduler's device is not used any more, nil as long as it is.
func (s *Scheduler) DeviceError() error {
	if c := s.device.Load(); c != nil {
		if e := c.lost.Load(); e != nil {
			return errors.Unwrap(e)
		}
	}
	return nil
}

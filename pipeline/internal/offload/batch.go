package offload

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/gopz/compress/gpu"
)

// batch is a number of requests that run on the device together.
type batch struct {
	c        *Coordinator
	op       gpu.Op
	requests []*Request
	work     []*gpu.Request // of requests
	turns    []turn         // of requests
	start    time.Time
	size     int         // bytes of content of all requests
	taken    atomic.Bool // by the goroutine that runs it, or by giveUp
	main     func()      // the method runBatch, bound once: a go statement with arguments allocates
	late     int         // the first request that reclaimLate has not looked at

	kind  work   // of the first request
	mixed bool   // other requests are of another kind
	autos int    // requests of Auto
	probe *probe // what the batch tries, or nil
	err   error  // of the device
}

// turn decides who completes a request of a batch. A turn outlives the request: the block may reuse
// the request before the batch ends.
type turn struct {
	taken atomic.Bool // by the goroutine that runs the batch, giveUp, reclaimLate or Withdraw
	fixed bool        // reclaimLate leaves it to the device
	block any         // of the request
}

// nextBatch makes a batch of requests that wait. Overdue requests come first, then those of later
// stages, so that blocks in progress finish before others begin. Probes, which are small and rare,
// come before all of them. It returns nil if no request waits.
func (c *Coordinator) nextBatch() *batch {
	if x := c.nextProbe(); x != nil {
		return x
	}
	if op, autoFirst, ok := c.overdue(); ok {
		if x := c.collectBatch(op, autoFirst); x != nil {
			return x
		}
	}
	for op := range gpu.Op(gpu.NumOps) {
		if x := c.collectBatch(op, false); x != nil {
			return x
		}
	}
	return nil
}

// collectBatch makes a batch of the requests of one operation. Requests that are not strict come
// first or last. It returns nil if there are none.
func (c *Coordinator) collectBatch(op gpu.Op, autoFirst bool) *batch {
	x := c.newBatch(op)
	var took [2]bool
	limits := &c.info.Ops[op]
	window := c.autoWindow(op)
	for most := max(1, limits.Batch); len(x.requests) < most; {
		room := math.MaxInt
		if limits.Bytes > 0 && len(x.requests) > 0 {
			room = limits.Bytes - x.size
		}
		r, queue := c.nextRequest(op, autoFirst, room, x.autos < window)
		if r == nil {
			break
		}
		took[queue] = true
		switch {
		case c.sched.Ended(r):
			c.sched.Complete(r, Canceled)
		case c.lost.Load() != nil:
			c.sched.Complete(r, Failed)
		default:
			if r.Strict && r.Counters != nil {
				r.Counters.StrictWait.Add(int64(time.Since(r.queued)))
			}
			c.sched.Moved(r, OnDevice)
			x.addRequest(r)
		}
	}
	if len(x.requests) == 0 {
		c.releaseBatch(x)
		return nil
	}
	c.countPassed(op, took)
	x.start = time.Now()
	x.setTurns()
	return x
}

// autoWindow returns the most requests of Auto that a batch of an operation may have.
func (c *Coordinator) autoWindow(op gpu.Op) int {
	n := c.trials[op].mostRequests()
	if op == gpu.StageN {
		n = min(n, c.trials[decodeWork].mostRequests())
	}
	return n
}

// addRequest adds a request to a batch.
func (x *batch) addRequest(r *Request) {
	kind := workOf(r.GPU)
	if len(x.requests) == 0 {
		x.kind = kind
	} else if kind != x.kind {
		x.mixed = true
	}
	if !r.Strict {
		x.autos++
	}
	x.requests = append(x.requests, r)
	x.work = append(x.work, r.GPU)
	x.size += r.GPU.Size
}

// Indices of the two queues of an operation.
const (
	strictQueue = iota
	autoQueue
)

// nextRequest takes a request for a block of at most room bytes from the queues of an operation:
// the oldest strict request, then the oldest of the others, or the other way round. It takes none
// of the others unless auto is set. It also returns the queue's index.
func (c *Coordinator) nextRequest(op gpu.Op, autoFirst bool, room int, auto bool) (r *Request, queue int) {
	if autoFirst && auto {
		if r = c.nextAuto(op, room); r != nil {
			return r, autoQueue
		}
	}
	c.mu.Lock()
	if r = c.strict[op].Peek(); r != nil && r.GPU.Size <= room {
		c.strict[op].Pop()
	} else {
		r = nil
	}
	c.mu.Unlock()
	if r != nil || !auto {
		return r, strictQueue
	}
	return c.nextAuto(op, room), autoQueue
}

// nextAuto takes a request that is not strict. A channel does not show the size of its next
// element, so there must be room for the largest block.
func (c *Coordinator) nextAuto(op gpu.Op, room int) *Request {
	if room < c.info.Ops[op].MaxSize {
		return nil
	}
	select {
	case r := <-c.queues[op]:
		return r
	default:
		return nil
	}
}

// maxPassed is the number of batches that may pass over a queue in which a request waits. With 16
// blocks a batch that is more than 16 workers have in flight, so the requests of one run keep their
// order. The limit bounds how long a run that never pauses can hold up another one.
const maxPassed = 8

// overdue returns the queue that was passed over most often, if that is too often. There are six
// queues: the first request of a queue is passed over by maxPassed batches, and by at most four
// more if other queues are overdue as well.
func (c *Coordinator) overdue() (op gpu.Op, autoFirst, ok bool) {
	most := maxPassed - 1
	for i := range c.passed {
		for queue, n := range c.passed[i] {
			if n > most {
				most, op, autoFirst, ok = n, gpu.Op(i), queue == autoQueue, true
			}
		}
	}
	return op, autoFirst, ok
}

// countPassed notes which queues of op a batch took requests from, and that it passed over the
// others.
func (c *Coordinator) countPassed(op gpu.Op, took [2]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.passed {
		for queue, waiting := range [2]int{c.strict[i].Len(), len(c.queues[i])} {
			n := &c.passed[i][queue]
			if waiting == 0 || gpu.Op(i) == op && took[queue] {
				*n = 0
			} else {
				*n++
			}
		}
	}
}

func (c *Coordinator) newBatch(op gpu.Op) *batch {
	var x *batch
	if n := len(c.spare); n > 0 {
		x, c.spare = c.spare[n-1], c.spare[:n-1]
	} else {
		x = &batch{c: c}
		x.main = x.runBatch
	}
	x.op = op
	return x
}

// releaseBatch keeps a batch for newBatch.
func (c *Coordinator) releaseBatch(x *batch) {
	clear(x.requests)
	clear(x.work)
	x.requests, x.work, x.turns, x.late, x.size = x.requests[:0], x.work[:0], x.turns[:0], 0, 0
	x.kind, x.mixed, x.autos, x.probe, x.err = 0, false, 0, nil, nil
	x.taken.Store(false)
	c.spare = append(c.spare, x)
}

// setTurns prepares the turns of a new batch.
func (x *batch) setTurns() {
	if cap(x.turns) < len(x.requests) {
		x.turns = make([]turn, max(len(x.requests), x.c.info.Ops[x.op].Batch))
	}
	x.turns = x.turns[:len(x.requests)]
	for i, r := range x.requests {
		x.turns[i].taken.Store(false)
		x.turns[i].fixed, x.turns[i].block = r.Strict, r.Block
	}
}

// runBatch runs a batch on the device and completes its requests.
func (x *batch) runBatch() {
	c := x.c
	err := x.runDevice()
	if x.taken.Swap(true) {
		return // giveUp has completed the requests
	}
	x.err = err
	if err != nil {
		c.Lose(err)
	}
	took := time.Since(x.start)
	for i, r := range x.requests {
		if x.turns[i].taken.Swap(true) {
			continue // it was reclaimed or dropped
		}
		if err != nil {
			c.sched.Complete(r, Failed)
		} else {
			r.Trip = Trip{len(x.requests), x.start, took}
			c.sched.Complete(r, Finished)
		}
	}
	c.ends <- x
}

// runDevice is Device.Run with a panic turned into an error.
func (x *batch) runDevice() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = x.c.sched.PanicError("device "+x.c.info.Name, v)
		}
	}()
	return x.c.dev.Run(x.op, x.work)
}

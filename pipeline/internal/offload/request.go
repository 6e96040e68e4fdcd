package offload

import (
	"sync/atomic"
	"time"

	"github.com/gopz/compress/gpu"
)

// Demand says how much a run wants a device to do an operation.
type Demand uint8

const (
	Never  Demand = iota // workers do it
	IfPays               // the device does it if that pays and as long as the device keeps up
	Always               // the device does whatever it can, however long blocks have to wait
)

// Request takes one block to the device and back. The scheduler keeps one for each block and fills
// it in before Offer. From a successful Offer until Scheduler.Complete or Coordinator.Reclaim
// returns it, it belongs to the Coordinator.
type Request struct {
	Block    any          // the scheduler's block; the Coordinator does not look at it
	GPU      *gpu.Request // the work
	Strict   bool         // workers do not reclaim it, and the queues always have room for it
	Counters *Counters    // of the block's run; nil if statistics are off

	Trip Trip // result, with outcome Finished

	queued time.Time // when a strict request joined its queue; zero if statistics are off
}

// Trip says how the device did a request.
type Trip struct {
	Batch int           // requests in the batch
	Start time.Time     // of the batch
	Took  time.Duration // by the batch
}

// Counters are the statistics that the Coordinator keeps for a run.
type Counters struct {
	Handoff       atomic.Int64 // ns from the start that Offer got to its decision
	StrictWaiting atomic.Int64 // strict requests that found the device busy
	StrictWait    atomic.Int64 // ns that strict requests waited for their batch
	Full          atomic.Int64 // other requests that found the queue of the device full
	Lost          atomic.Int64 // requests that found the device lost
}

// Place says where an accepted request is.
type Place uint8

const (
	Waiting  Place = iota // in a queue of the Coordinator
	OnDevice              // in a batch
)

// Outcome says what became of a request.
type Outcome uint8

const (
	// Finished: the device ran the request. GPU.Err or its results await verification.
	Finished Outcome = iota
	// Failed: the device is lost and has not done the request. It does not touch its memory any
	// more.
	Failed
	// Abandoned: the device was given up. It may use the request and all memory in it for as long
	// as it likes.
	Abandoned
	// Reclaimed: an idle worker takes over. As with Abandoned, the memory remains the device's.
	Reclaimed
	// Declined: the device is too slow for Auto, and has not begun.
	Declined
	// Canceled: the run ended before the device began.
	Canceled
	// Dropped: the run was closed while the device worked. As with Abandoned, the memory remains
	// the device's.
	Dropped
)

// Scheduler is what the Coordinator needs from the owner of the blocks. All methods are safe for
// concurrent use. The Coordinator holds a lock of its own while it calls Closed and Moved, so these
// must not call back.
type Scheduler interface {
	// Moved notes where a request is, before any other goroutine can find it there.
	Moved(r *Request, to Place)
	// Complete takes back the block of an accepted request.
	Complete(r *Request, out Outcome)
	// Closed reports whether the run of the block was closed.
	Closed(r *Request) bool
	// Ended reports whether the run of the block was closed or its context has ended.
	Ended(r *Request) bool
	// IdleWorkers returns the number of workers that have nothing to do.
	IdleWorkers() int
	// PanicError returns the error for a panic of the device. Its caller is the deferred function
	// that recovered value.
	PanicError(stage string, value any) error
}

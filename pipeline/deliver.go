package pipeline

import (
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/ldm"
)

// The way of a block out of the scheduler: from its run back to the caller, in the order of Submit.

// Pending returns the number of blocks that were submitted and that Next has not returned.
func (r *Run) Pending() int { return r.out.Len() }

// Taken returns the number of blocks that are not free: those submitted and those that the caller
// has.
func (r *Run) Taken() int { return r.made - len(r.free) }

// Next returns the oldest block submitted once it is done, failed or not. It returns nil if no
// block is out. If the block is not done yet, Next waits, or returns nil if wait is false. If the
// context of the run ends first, Next returns nil and an error that is both the context's error and
// its cause.
func (r *Run) Next(wait bool) (*Block, error) {
	b := r.out.Peek()
	if b == nil {
		return nil, nil
	}
	if wait {
		select {
		case <-b.done:
		case <-r.done:
			return nil, errs.Cause(r.cfg.Context)
		}
	} else {
		select {
		case <-b.done:
		default:
			return nil, nil
		}
	}
	r.out.Pop()
	b.setState(stateDelivered)
	return b, nil
}

// Put frees a block from Get or Next. Src keeps its memory for Grow, unless it is the caller's or a
// device may still read it. What else the caller has set, but for Raw, Kind, Sum and Tag, becomes
// zero.
func (r *Run) Put(b *Block) {
	b.setState(stateFree)
	if b.srcRetired || b.CallerOwned {
		b.Src, b.srcRetired = nil, false
	}
	b.CallerOwned, b.Window, b.Into, b.Serial = false, 0, nil, nil
	b.History, b.Flushed, b.Last, b.Offset = nil, false, false, 0
	b.work = work{dst: b.dst}
	if b.refers {
		b.refers, b.encoded, b.list = false, nil, ldm.List{}
	}
	b.releaseOwn()
	r.free = append(r.free, b)
}

package blockcache

// Read-ahead: while blocks are read in order, the next ones are loaded before callers ask for them.
// The entries themselves say what is read in order, so any number of callers may read at different
// places.

// Values of Entry.tail in place of an offset.
const (
	none  = -1 // the block was not read in order from its beginning
	ended = -2 // the block was read to its end
)

const (
	maxAhead    = 2  // blocks that are loaded ahead of a caller
	maxPatience = 16 // blocks in order that read-ahead waits for after it was in vain
)

// A Reading is a call that reads blocks one after the other. The zero value is for a new call.
type Reading struct {
	inner   bool // the call has read a block
	ordered bool // the call continues an earlier one
}

// Reads notes that a call is about to read the bytes from … to−1 of a block, and end says that this
// is its end. loads is what Get returned. The caller holds the entry. If calls read blocks in
// order, Reads begins to load the next ones. If the call has begun a load elsewhere, Reads cancels
// loads that nobody has asked for.
func (f *File[V]) Reads(e *Entry[V], from, to int, end, loads bool, call *Reading) {
	tail := int64(to)
	if end {
		tail = ended
	}
	if from > 0 && !loads {
		if call.ordered = e.tail.CompareAndSwap(int64(from), tail); !call.ordered {
			e.tail.Store(none)
		}
		call.inner = true
		return
	}
	c := f.cache
	c.mu.Lock()
	defer c.mu.Unlock()
	e.run = 0
	var before *Entry[V]
	if e.block > 0 {
		before = f.table[e.block-1].Load()
	}
	switch {
	case from > 0:
		if call.ordered = e.tail.Load() == int64(from); !call.ordered {
			tail = none
		}
	case before != nil && before.tail.Load() == ended:
		if !call.inner {
			call.ordered = true
		}
		if call.ordered {
			e.run = before.run + 1
		}
	}
	call.inner = true
	e.tail.Store(tail)
	if loads && !call.ordered {
		f.cancelAhead()
	}
	if n := e.run - f.patience + 1; n > 0 {
		f.loadAhead(e.block+1, e.block+1+int64(min(n, maxAhead)))
	}
}

// loadAhead begins to load those of the blocks first … last−1 that are not there, as far as there
// are slots.
func (f *File[V]) loadAhead(first, last int64) {
	last = min(last, f.src.Blocks())
	for block := first; block < last && !f.closed.Load(); {
		if f.live(block) != nil {
			block++
			continue
		}
		s, again := f.takeSlot(false)
		if again {
			continue
		}
		if s == nil {
			return
		}
		e := f.beginLoad(block, s)
		e.ahead, e.early = true, true
		f.load(e, false)
		f.releaseLocked(e)
		block++
	}
}

// cancelAhead cancels loads that nobody has asked for and that are not done.
func (f *File[V]) cancelAhead() {
	for i := 0; i < len(f.attached); {
		e := f.attached[i]
		if e.ahead && e.holds.Load() == 0 && e.loading && !e.slot.ready() {
			f.cancelLoad(e)
			i = 0
			continue
		}
		i++
	}
}

// lowerAhead notes that a block was loaded ahead in vain.
func (f *File[V]) lowerAhead() { f.patience = min(2*f.patience, maxPatience) }

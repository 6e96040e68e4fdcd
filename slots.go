package compress

import (
	"sync"

	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/pipeline"
)

// slots is the memory of a ReaderAt: a fixed number of slots, each of which decompresses one block, keeps it while
// somebody reads it, and then until the slot is needed for another. It is cache, limit and single flight in one: a block
// is in one slot at most, and who comes second shares it.
//
// Whoever holds no slot may wait for one; whoever holds some may not. Waiting for a slot's block needs nobody else's help,
// so nobody waits for ever.
type slots struct {
	mu      sync.Mutex
	free    sync.Cond
	all     []*slot
	limit   int
	byBlock map[int64]*slot
	clock   int64
	waiting int
	closed  bool
}

type slot struct {
	// Of slots.mu.
	block int64 // number in the file; −1 if the slot holds none
	refs  int
	used  int64 // clock at the last use

	mu sync.Mutex
	runner
	pipe   uint8
	checks bool
	blk    *pipeline.Block
	check  frameCheck
	busy   bool   // the block is with the workers
	buf    []byte // its header and payload
	data   []byte // its content
	err    error
}

func (c *slots) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

func (c *slots) init(limit int) {
	c.limit = limit
	c.free.L = &c.mu
	c.byBlock = make(map[int64]*slot)
}

// stats adds up the statistics of all slots.
func (c *slots) stats() (sum SchedulerStats) {
	c.mu.Lock()
	all := c.all[:len(c.all):len(c.all)]
	c.mu.Unlock()
	for _, s := range all {
		s.mu.Lock()
		t := s.statistics()
		s.mu.Unlock()
		sum.Add(&t)
	}
	return sum
}

// get returns the slot of a block, to be given back with put, and has the block decompressed if it was not there.
// If there is no slot to be had, it waits for one, or, without wait, returns nil.
func (r *ReaderAt) get(block int64, wait bool) (*slot, error) {
	c := &r.slots
	c.mu.Lock()
	for {
		if c.closed {
			c.mu.Unlock()
			return nil, ErrClosed
		}
		if s := c.byBlock[block]; s != nil {
			c.hold(s)
			c.mu.Unlock()
			return s, nil
		}
		// Those who hold slots already step back behind those who wait for their first.
		if wait || c.waiting == 0 {
			if s := c.victim(); s != nil {
				if s.block >= 0 {
					delete(c.byBlock, s.block)
				}
				s.block = block
				c.byBlock[block] = s
				c.hold(s)
				s.mu.Lock() // nobody has it, but for statistics
				c.mu.Unlock()
				r.fill(s, block)
				return s, nil
			}
		}
		if !wait {
			c.mu.Unlock()
			return nil, nil
		}
		c.waiting++
		c.free.Wait()
		c.waiting--
	}
}

// fill loads a locked slot, and unlocks it. If the reader underneath panics it gives the slot back.
func (r *ReaderAt) fill(s *slot, block int64) {
	done := false
	defer func() {
		if !done {
			s.data, s.err = nil, errPanicked
		}
		s.mu.Unlock()
		if !done {
			r.slots.put(s)
		}
	}()
	r.load(s, block)
	done = true
}

func (c *slots) hold(s *slot) {
	c.clock++
	s.used = c.clock
	s.refs++
}

// victim returns a slot that nobody uses: a new one, or the one least recently used.
func (c *slots) victim() *slot {
	var old *slot
	for _, s := range c.all {
		if s.refs == 0 && (s.block < 0 || old == nil || s.used < old.used) {
			if old = s; s.block < 0 {
				return s
			}
		}
	}
	if len(c.all) < c.limit {
		old = &slot{block: -1}
		c.all = append(c.all, old)
	}
	return old
}

// put gives a slot back.
func (c *slots) put(s *slot) {
	c.mu.Lock()
	s.refs--
	stop := false
	if s.refs == 0 {
		if s.err != nil { // it may go better the next time
			delete(c.byBlock, s.block)
			s.block = -1
		}
		stop = c.closed
		// One that waits may find its block loaded by another and not need the slot: wake them all.
		c.free.Broadcast()
	}
	c.mu.Unlock()
	if stop {
		s.end()
	}
}

// end ends the run of a slot that nobody uses any more, and frees its memory. Its statistics stay.
func (s *slot) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop()
	s.blk, s.buf, s.data = nil, nil, nil
}

// close ends the runs of all slots, those in use when they are given back.
func (c *slots) close() {
	c.mu.Lock()
	c.closed = true
	var idle []*slot
	for _, s := range c.all {
		if s.refs == 0 {
			idle = append(idle, s)
		}
	}
	c.byBlock = nil
	c.free.Broadcast()
	c.mu.Unlock()
	for _, s := range idle {
		s.end()
	}
}

// load reads a block's payload and gives it to the workers. What goes wrong is found by wait.
func (r *ReaderAt) load(s *slot, block int64) {
	s.settle(r, -1) // of a block that nobody has waited for
	s.data, s.err = nil, nil
	if s.blk != nil && s.blk.SrcRetired() {
		s.stop()
		s.buf = nil
	}
	b := &r.index.blocks[block]
	st, number := r.index.streamOf(block)
	if n := int(b.size()); cap(s.buf) < n {
		s.buf = make([]byte, min(ceilPow2(n), max(pzfile.BlockHeaderSize+st.hdr.BlockSize, r.index.frame)))
	}
	p := s.buf[:b.size()]
	if s.err = readAt(r.src, p, b.offset); s.err != nil {
		if e, ok := s.err.(*Error); ok {
			e.Stream, e.Block = st.id, number
		}
		return
	}
	if b.kind == frameKind {
		sums := st.hdr.Checks && r.opt.checks
		if s.err = s.check.verify(p, b, number, sums); s.err != nil {
			return
		}
		sum := b.sum
		if !sums {
			sum = 1 // the frame's own check is compared
		}
		r.begin(s, st, number, p, pipeline.Coded, int(b.raw), sum)
		return
	}
	e, sum, err := pzfile.ParseBlockHeader(p, &st.hdr, number)
	if err != nil || e != (pzfile.Entry{Kind: b.kind, Payload: int(b.payload), Raw: int(b.raw)}) {
		kind, detail := ErrCorrupt, "header differs from the index"
		if err == pzfile.ErrChecksum {
			kind, detail = ErrChecksum, err.Error()
		}
		s.err = &Error{Kind: kind, Stream: st.id, Block: number, Offset: b.offset, Detail: detail}
		return
	}
	r.begin(s, st, number, p[pzfile.BlockHeaderSize:], pipeline.Kind(e.Kind), e.Raw, sum)
}

// begin gives a block of a stream to the workers.
func (r *ReaderAt) begin(s *slot, st *stream, number int64, payload []byte, kind pipeline.Kind, raw int, sum uint32) {
	if s.run == nil || s.pipe != st.hdr.Pipeline || s.checks != st.hdr.Checks {
		s.start(r.sched, r.opt.config(pipeline.Decompress, st.pipeline(), st.hdr.Checks && r.opt.checks, 1))
		s.pipe, s.checks, s.blk = st.hdr.Pipeline, st.hdr.Checks, s.run.Get()
	}
	if !r.opt.checks {
		sum = 0
	}
	s.blk.Src, s.blk.Kind, s.blk.Raw, s.blk.Sum = payload, kind, raw, sum
	s.busy = true
	s.run.Number(number)
	s.run.Submit(s.blk)
}

// wait returns the content of the slot's block, valid until the slot is given back. Any of those who hold the slot may
// call it.
func (r *ReaderAt) wait(s *slot) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle(r, s.block)
	return s.data, s.err
}

// settle takes the slot's block back from the workers if they have it. block is its number, for the error.
func (s *slot) settle(r *ReaderAt, block int64) {
	if !s.busy {
		return
	}
	s.busy = false
	b, err := s.run.Next(true)
	if err == nil && b.Err != nil && block >= 0 {
		st, number := r.index.streamOf(block)
		err = blockError(pipeline.Decompress, b.Err, r.opt.ctx, st.id, number, r.index.blocks[block].offset)
	}
	if err != nil {
		if b == nil {
			s.stop() // canceled: the block is still out
		}
		s.data, s.err = nil, err
		return
	}
	s.data = b.Out()
	s.rest()
}

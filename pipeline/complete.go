package pipeline

import "time"

// The end of a piece of work. A block that is done retires, and one that the device returns is queued
// for a worker to go on with. In the same critical section the worker takes its next block, or passes
// its place on to a worker that has paused.

// outcome says what became of a block that a worker has run.
type outcome uint8

const (
	handedOff outcome = iota // the device has it
	chained                  // it waits in the chain of its run
	finished                 // it is done or has failed
)

// takeBlock returns the first block of a worker that has been started, nil if others were faster.
func (s *Scheduler) takeBlock(w *worker) *Block {
	t := s.beginClock(w, nil)
	s.mu.Lock()
	t.locked()
	n := s.nextFor(w, nil, t.now)
	s.mu.Unlock()
	n.passOn()
	if n.block != nil {
		t.chargeRun(n.block.run)
	}
	return n.block
}

// completeBlock ends the work of w on a block, and returns its next one, nil for none. Without one w
// is parked before the caller of the run learns that the block is done: a block submitted in its
// place finds this worker free. So there are never more workers, and workspaces, than blocks in
// flight.
func (s *Scheduler) completeBlock(w *worker, b *Block, out outcome) *Block {
	t := s.beginClock(w, b)
	var extra *payload
	if out == finished {
		b.setState(stateDone)
		extra = w.keepPayload(b)
	}
	s.mu.Lock()
	t.locked()
	if out == finished {
		s.retire(b, extra)
	}
	n := s.nextFor(w, b, t.now)
	s.mu.Unlock()
	n.passOn()
	switch {
	case out == finished:
		t.chargeRun(b.run)
		b.done <- struct{}{} // holds one: never blocks
	case n.block != nil:
		t.chargeRun(n.block.run)
	}
	return n.block
}

// completeAlone ends the work of a caller's goroutine on a block.
func (w *worker) completeAlone(b *Block) {
	if b.isSerial() && !b.passed {
		b.run.chain.endTurn(b.turn)
	}
	b.setState(stateDone)
	w.keepPayload(b) // it came from w
	b.done <- struct{}{}
}

// resumeBlock queues a block that has come back from the device, for a worker.
func (s *Scheduler) resumeBlock(b *Block) {
	s.mu.Lock()
	b.run.share.resumed.Push(b)
	s.enqueue(b.run.share)
	w := s.recruit()
	s.mu.Unlock()
	w.start()
}

// cancelBlock ends a block that was with the device when its run ended.
func (s *Scheduler) cancelBlock(b *Block) {
	b.Err = ErrCanceled
	b.setState(stateDone)
	extra := b.payload
	b.payload = nil
	var w *worker
	s.mu.Lock()
	if s.retire(b, extra) {
		w = s.recruit()
	}
	s.mu.Unlock()
	w.start()
	b.done <- struct{}{}
}

// keepPayload takes the payload from a block that is done, for the next one of w. If w has one, it
// returns that of the block.
func (w *worker) keepPayload(b *Block) (extra *payload) {
	p := b.payload
	b.payload = nil
	if w.ws.payload != nil {
		return p
	}
	w.ws.payload = p
	return nil
}

// retire keeps the payload of a block that is done, if it is not nil, and ends the turn of a serial
// block. It reports whether it has queued the block whose turn comes next. The caller holds s.mu.
func (s *Scheduler) retire(b *Block, p *payload) (queued bool) {
	if p != nil && s.runs > 0 {
		s.payloads = append(s.payloads, p)
	}
	return b.isSerial() && !b.passed && s.queueNext(b)
}

// succession is what a worker, or its place, goes on with.
type succession struct {
	block  *Block     // nil if the worker is parked
	paused *worker    // that gets the place
	drop   *workspace // of a parked worker that no run needs
}

// nextFor charges w for block b, if it had one, and gives it the next. Without one w is parked, and
// a worker that has paused gets its place. The caller holds s.mu.
func (s *Scheduler) nextFor(w *worker, b *Block, now time.Time) (n succession) {
	if b != nil {
		s.charge(w, now)
	}
	w.since = now
	if w.slot == noSlot { // its place has another worker
		n.drop = s.park(w)
		return n
	}
	n.block, n.paused = s.pop()
	if n.block != nil {
		s.equip(w)
		return n
	}
	if n.paused != nil {
		n.paused.slot = w.slot
	} else {
		s.leave(w.slot)
	}
	n.drop = s.park(w)
	return n
}

// passOn does what needs no lock. A parked worker may be running again: it must not be used from here
// on.
func (n *succession) passOn() {
	if n.drop != nil {
		spare.Put(n.drop)
	}
	if n.paused != nil {
		n.paused.resume <- struct{}{} // holds one: never blocks
	}
}

package pipeline

// The end of the work on a block. A worker retires a block that is done and takes its next one in
// the same critical section. A caller's goroutine needs no lock, and the device has no next block.

// outcome says what became of a block that a worker has run.
type outcome uint8

const (
	handedOff outcome = iota // the device has it
	chained                  // it waits in the chain of its run
	finished                 // it is done or has failed
)

// completeBlock ends the work of w on a block, and returns its next one, nil for none. Without one
// w is parked before the caller of the run learns that the block is done: a block submitted in its
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
		s.retireBlock(b, extra)
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
	s.enqueueShare(b.run.share)
	w := s.recruit()
	s.mu.Unlock()
	w.startWorker()
}

// cancelBlock ends a block that was with the device when its run ended.
func (s *Scheduler) cancelBlock(b *Block) {
	b.Err = ErrCanceled
	b.setState(stateDone)
	extra := b.payload
	b.payload = nil
	var w *worker
	s.mu.Lock()
	if s.retireBlock(b, extra) {
		w = s.recruit()
	}
	s.mu.Unlock()
	w.startWorker()
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

// retireBlock keeps the payload of a block that is done, if it is not nil, and ends the turn of a
// serial block. It reports whether it has queued the block whose turn comes next. The caller holds
// s.mu.
func (s *Scheduler) retireBlock(b *Block, p *payload) (queued bool) {
	if p != nil && s.runs > 0 {
		s.payloads = append(s.payloads, p)
	}
	return b.isSerial() && !b.passed && s.queueNext(b)
}

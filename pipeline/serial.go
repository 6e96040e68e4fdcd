package pipeline

import "fmt"

// A serial block is decoded with the state that the serial block before it has left: a part of a
// Deflate stream depends on the window and on the bits in front of it, a part of a frame of zstd on
// the window and on repeat offsets. docs/PART.md follows such parts. The serial blocks of a run
// pass through the stages that are marked as ordered one after the other. They pass through the
// other stages at any time. So a stage before can decode ahead what does not depend on the state,
// and a stage behind can complete what it left open.
//
// A worker that comes to an ordered stage before the block's turn leaves the block in the chain and
// takes other work. The worker that ends an ordered stage queues the block whose turn comes next.
// The state passes from worker to worker under the lock of the Scheduler.
//
// All blocks of a run with references to earlier blocks are serial as well; see references.go.

// Serial decodes a block that depends on the serial blocks before it in its run. Workers call
// Prepare, Decode and Finish once each, in this order. Calls of Decode come one after the other, in
// the order of Submit; a call may use what the one before it has left. All other calls may come at
// the same time as those of other blocks, on any goroutines.
//
// src is Block.Src. checkpoint is to be called every few milliseconds. It may pause the call. If
// the run ends, checkpoint panics, and the block ends with ErrCanceled.
type Serial interface {
	// Prepare may decode ahead what does not depend on the blocks before.
	Prepare(src []byte, checkpoint func())
	// Decode goes on where the block before has stopped. From then on the size of the content is
	// final.
	Decode(src []byte, checkpoint func())
	// Finish completes the content.
	Finish(src []byte, checkpoint func())
	// Content returns the content. It has its final size behind Decode.
	Content() []byte
}

// chain has the serial blocks of a run that wait for the one before. The Scheduler's lock guards
// it. A caller's goroutine in Run.Do needs no lock, for no other block of the run is out then.
type chain struct {
	turn int64 // of the block that may enter the ordered stage, or has
	// waiting has the blocks that came too early, by their turns. A block that has ended before its
	// turn has nil.
	waiting map[int64]*Block
}

// isSerial reports whether b has to keep the order in ordered stages.
func (b *Block) isSerial() bool { return b.Serial != nil || b.run.cfg.Window > 0 }

// enterBlock reports whether b may enter the ordered stage. If not, b waits.
func (c *chain) enterBlock(b *Block) bool {
	if b.turn == c.turn {
		return true
	}
	if c.waiting == nil {
		c.waiting = make(map[int64]*Block)
	}
	c.waiting[b.turn] = b
	return false
}

// endTurn ends the turn of a block, which may have come or not. It returns the block to queue, nil
// if none waits for the turn that comes next.
func (c *chain) endTurn(turn int64) (next *Block) {
	if turn != c.turn {
		if c.waiting == nil {
			c.waiting = make(map[int64]*Block)
		}
		c.waiting[turn] = nil
		return nil
	}
	for ended := true; ended; {
		c.turn++
		next, ended = c.waiting[c.turn]
		if ended {
			delete(c.waiting, c.turn)
			ended = next == nil
		}
	}
	return next
}

// takeTurn reports whether the turn of b has come. If not, b is in the chain, and another worker
// may have it already.
func (w *worker) takeTurn(b *Block) (ok bool, err error) {
	if w.slot == callerSlot {
		return b.run.chain.enterBlock(b), nil
	}
	s := w.sched
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.run.canceled.Load() {
		return true, ErrCanceled // withdraw may have emptied the chain already
	}
	if b.run.chain.enterBlock(b) {
		return true, nil
	}
	b.setState(stateChained)
	return false, nil
}

// passTurn ends the turn of b and queues the block whose turn comes next.
func (w *worker) passTurn(b *Block) {
	b.passed = true
	if w.slot == callerSlot {
		b.run.chain.endTurn(b.turn)
		return
	}
	s := w.sched
	s.mu.Lock()
	var recruit *worker
	if s.queueNext(b) {
		recruit = s.recruit()
	}
	s.mu.Unlock()
	recruit.startWorker()
}

// queueNext ends the turn of b. It queues the block whose turn comes next if that waits, and
// reports whether it did. The caller holds s.mu.
func (s *Scheduler) queueNext(b *Block) bool {
	next := b.run.chain.endTurn(b.turn)
	if next != nil {
		b.run.share.resumed.Push(next)
		s.enqueueShare(b.run.share)
	}
	return next != nil
}

// serialStages returns the stages that decode serial blocks.
func serialStages(ahead, ordered, rest string) []stage {
	step := func(name string, f func(s Serial, src []byte, checkpoint func())) stage {
		return stage{name: name, ordered: name == ordered, run: func(ws *workspace, b *Block) error {
			if b.Serial == nil {
				return fmt.Errorf("%w: a block without a decoder", ErrPayload)
			}
			f(b.Serial, b.src, ws.check)
			if name != ahead {
				b.out = b.Serial.Content()
				b.raw, b.Raw = len(b.out), len(b.out)
			}
			return nil
		}}
	}
	return []stage{step(ahead, Serial.Prepare), step(ordered, Serial.Decode), step(rest, Serial.Finish)}
}

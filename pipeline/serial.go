package pipeline

import (
	"fmt"

	"github.com/gopz/compress/pipeline/internal/fifo"
)

// A serial block is decoded with the state that the serial block before it has left: a part of a
// Deflate stream depends on the window and on the bits in front of it. The blocks of a run that
// have a Serial.Decoder form a chain. One of them is in the queue of the Scheduler or with a
// worker. The others wait in the Run. The worker that finishes a block queues the next one in the
// critical section that retires the first, so the state passes from worker to worker under the
// lock of the Scheduler.

// chain has the serial blocks of a run that wait for the one before. The Scheduler's lock guards it.
type chain struct {
	busy    bool // a serial block of the run is queued or with a worker
	waiting fifo.Queue[*Block]
}

// isSerial reports whether b must wait for the serial block before it.
func (b *Block) isSerial() bool { return b.Serial.Decoder != nil }

// enter reports whether b can be queued at once. If not, b waits for its predecessor.
func (c *chain) enter(b *Block) bool {
	if c.busy {
		c.waiting.Push(b)
		return false
	}
	c.busy = true
	return true
}

// leave returns the block to queue after the one that is finished, nil if none waits.
func (c *chain) leave() *Block {
	next := c.waiting.Pop()
	c.busy = next != nil
	return next
}

// serialStage returns a stage that decodes serial blocks.
func serialStage(name string) stage {
	return stage{name: name, run: func(_ *workspace, b *Block) error {
		s := &b.Serial
		if s.Decoder == nil {
			return fmt.Errorf("%w: a block without a decoder", ErrPayload)
		}
		b.Src = s.Decoder.Decode(s, b.Src)
		b.Raw = len(s.Content())
		return nil
	}}
}

package ldm

import "fmt"

// A Window keeps own contents for a decoder that reads a stream from the front. Get and the methods
// of a Buffer may be called at any time; the other methods are for one goroutine at a time.
type Window struct {
	history history
	arena   *arena
	next    int64 // number of the block that comes next
}

// WindowMemory returns the memory in bytes of the own contents in a window, and of those of so many
// blocks in flight.
func WindowMemory(window int64, blockSize, slack, inFlight int) int64 {
	return arenaMemory(window, blockSize+slack, inFlight)
}

// NewWindow returns a Window. Buffers have slack bytes behind their content.
func NewWindow(window int64, blockSize, slack int) *Window {
	return &Window{arena: newArena(window, blockSize, slack, firstOfWindow), history: history{window: window}}
}

// Get returns a Buffer of n bytes. The caller releases it.
func (w *Window) Get(n int) *Buffer { return w.arena.takeBuffer(n) }

// AddBlock adds the block with that number in its stream: own content, nil for none. Block 0, and
// one that does not follow the last, empties the window.
func (w *Window) AddBlock(number int64, own *Buffer) {
	if number != w.next || number == 0 {
		w.history.release()
	}
	w.history.addBlock(own)
	w.next = number + 1
}

// Sources appends the own contents of the blocks that l names, before the block with that number is
// added. The caller releases them. If one is not in the window, it returns an error.
func (w *Window) Sources(to []*Buffer, number int64, l *List) ([]*Buffer, error) {
	for _, d := range l.Distances() {
		b := w.history.own(int(d))
		if b == nil || len(b.P) == 0 || number != w.next || int64(d) > number {
			for _, b := range to {
				b.Release()
			}
			return to[:0], fmt.Errorf("%w: block %d is not in the window, or empty", errList, number-int64(d))
		}
		b.Hold()
		to = append(to, b)
	}
	return to, nil
}

// Release empties the window and frees its memory.
func (w *Window) Release() {
	w.history.release()
	w.next = 0
	w.arena.release()
}

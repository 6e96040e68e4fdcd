package container

import "time"

// Decoding ahead takes more processor time than decoding in order, and goroutines wait for one
// another. Where other programs use the processors, both cost more than they gain. A worker then
// has less processor time than time has passed.

const (
	// busyShare is the least share of a processor with which decoding ahead pays, in percent.
	busyShare = 75

	// leastWatched is the shortest piece of work that says anything.
	leastWatched = 200 * time.Microsecond

	// sharedMost is how many more pieces of work must have shared a processor than have had one for
	// the machine to count as busy.
	sharedMost = 4

	// A machine counts as busy for busyFirst, and each time in a row twice as long, up to busyLast.
	busyFirst = 250 * time.Millisecond
	busyLast  = 8 * time.Second
)

// Busyness says whether the machine is busy. The zero value says that it is not.
type Busyness struct {
	shared int // pieces of work that have shared a processor, less those that have had one
	until  time.Time
	next   time.Duration // how long the machine counts as busy the next time
}

// Lasts reports whether the machine counts as busy.
func (b *Busyness) Lasts() bool { return !b.until.IsZero() && time.Now().Before(b.until) }

// Note takes note of a piece of work that has ended: shared says that it has shared a processor,
// and ok that this is known.
func (b *Busyness) Note(shared, ok bool) {
	switch {
	case !ok:
	case !shared:
		b.shared = max(b.shared-1, 0)
		if b.shared == 0 {
			b.next = 0
		}
	case b.shared+1 < sharedMost:
		b.shared++
	default:
		b.shared = sharedMost / 2 // so that half as many are enough the next time
		b.next = min(max(2*b.next, busyFirst), busyLast)
		b.until = time.Now().Add(b.next)
	}
}

// A Stopwatch measures a piece of work of one goroutine.
type Stopwatch struct {
	wall      time.Time
	processor time.Duration
}

// StartWatch starts a Stopwatch.
func StartWatch() Stopwatch { return Stopwatch{time.Now(), threadTime()} }

// Shared reports whether the work has shared a processor. ok is false if that is unknown.
func (w *Stopwatch) Shared() (shared, ok bool) {
	processor, wall := threadTime()-w.processor, time.Since(w.wall)
	if w.processor == 0 || wall < leastWatched || processor <= 0 || processor > wall+wall/8 {
		return false, false // the last two: the goroutine has changed threads
	}
	return processor*100 < wall*busyShare, true
}

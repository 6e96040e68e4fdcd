package zstfile

import (
	"github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/zstframe"
)

// A ring has the content of the last parts, and with it the window. It grows with the content.
// Content goes to the buffer from the front to the end, and then from the front again, over what
// is neither in the window nor with the caller any more. A small window moves along to the front.
// A larger one stays where it is: matches that begin there are copied by slower code.
//
// Positions count the content since reset, whatever the buffer.
type ring struct {
	buf  []byte
	most int // size of the buffer in bytes, while parts are no larger than their Spec says
	left int // content of the frame that is still to come, in bytes, or more

	at   int // where the next content goes
	base int // of the frame in buf: there is no more of it in front
	next int64
	lap  int64 // position at buf[0] as it was written last

	before int    // end of the content behind at, from the time before at was at the front
	ended  int64  // position there
	older  []byte // what the executor has of it, up to its end; nil for none

	begun int64   // position of the frame
	floor int64   // position of the first content that went to buf
	held  []int64 // positions of parts that the caller may still have, a circle
	parts int64   // so far

	first int   // firstBuffer
	moved int64 // maxMoved
}

const (
	// firstBuffer is the size in bytes of the buffer for short content. It grows by ringGrowth
	// until it has 1/ringTrust of its final size.
	firstBuffer = 512 << 10
	ringGrowth  = 4
	ringTrust   = 32
	// maxMoved is the largest window in bytes that moves to the front of the buffer.
	maxMoved = 1 << 20
)

// reset begins a file. The caller has no part any more.
func (r *ring) reset() {
	*r = ring{buf: r.buf, held: r.held[:0], first: firstBuffer, moved: maxMoved}
}

// beginFrame begins a frame. There may be so many parts in flight, with the one that is decoded.
// most is the size of the buffer that the window and they take. content is that of the frame in
// bytes, −1 if it is unknown.
func (r *ring) beginFrame(inFlight, most int, content int64) {
	if n := len(r.held); n != inFlight {
		oldest := r.next
		for _, at := range r.held {
			oldest = min(oldest, at)
		}
		r.held = r.held[:0]
		for range inFlight {
			r.held = append(r.held, oldest)
		}
	}
	r.most, r.left = most, most
	if content >= 0 && content < int64(most) {
		r.left = int(content)
	}
	r.begun, r.base, r.older = r.next, r.at, nil
	if len(r.buf) > most {
		r.buf, r.at, r.base, r.before = nil, 0, 0, 0
		r.lap, r.floor = r.next, r.next
	}
}

// beginPart makes room for a part of at most n bytes, and returns dst and at for its first block.
func (r *ring) beginPart(n int, window int64, x *zstd.Executor) (dst []byte, at int) {
	window = min(window, r.next-r.begun)
	i := int(r.parts % int64(len(r.held)))
	r.held[i] = r.next
	r.parts++
	oldest := r.held[int(r.parts%int64(len(r.held)))] // the next one to be replaced
	keep := max(oldest, r.floor)
	if !r.fits(n, window, keep) && !r.wrap(n, window, keep, x) {
		r.grow(n, window, x)
	}
	dst = r.buf[r.base : r.at+n]
	if r.next-window < r.lap {
		// What the new content overwrites is out of the window.
		from := max(r.at+n, r.before-int(r.ended-r.begun))
		r.older = r.buf[min(from, r.before):r.before]
		x.SetBefore(r.older)
	} else {
		r.dropOlder(x)
	}
	return dst, r.at - r.base
}

// endPart ends the part that begins at dst[from] and ends at dst[to].
func (r *ring) endPart(from, to int) {
	r.at += to - from
	r.next += int64(to - from)
	if r.left < r.most {
		r.left = max(0, r.left-(to-from))
	}
}

// fits reports whether n bytes have room where the last content ends. keep is the position of the
// oldest content that the caller may have.
func (r *ring) fits(n int, window, keep int64) bool {
	end := r.at + n
	if r.next-window < r.lap {
		keep = min(keep, r.next-window)
	}
	lost := r.ended - int64(max(0, r.before-end)) // end of what the part overwrites
	return end <= len(r.buf) && (r.before <= r.at || lost <= keep)
}

// wrap goes on at the front of the buffer. It returns false if there is no room, as it is where a
// part of the window is behind at.
func (r *ring) wrap(n int, window, keep int64, x *zstd.Executor) bool {
	moved, old := 0, r.at
	if window <= r.moved {
		moved = int(window)
	}
	if moved == 0 {
		keep = min(keep, r.next-window)
	}
	if end := moved + n; end > len(r.buf) || end > old || r.next-int64(old-end) > keep {
		return false
	}
	r.before, r.ended = old, r.next
	r.restart(copy(r.buf, r.buf[old-moved:old]), x)
	return true
}

// restart makes at the end of the frame's content, of which there are n bytes at the front.
func (r *ring) restart(n int, x *zstd.Executor) {
	r.at, r.base, r.lap = n, 0, r.next-int64(n)
	r.dropOlder(x)
}

// dropOlder takes the content behind at from the executor. A dictionary stays in reach.
func (r *ring) dropOlder(x *zstd.Executor) {
	if r.older != nil {
		r.older = nil
		x.SetBefore(nil)
	}
}

// grow replaces the buffer by a larger one, which the window moves to.
func (r *ring) grow(n int, window int64, x *zstd.Executor) {
	size := r.most
	if len(r.buf) <= r.most/ringTrust {
		size = min(max(r.first, ringGrowth*len(r.buf)), r.most)
	}
	size = max(min(size, int(window)+r.left+zstframe.MaxBlock), int(window)+n)
	buf := make([]byte, size)
	have := min(int(window), r.at-r.base)
	if older := int(window) - have; older > 0 {
		copy(buf, r.buf[r.before-older:r.before])
	}
	copy(buf[int(window)-have:], r.buf[r.at-have:r.at])
	r.buf, r.before, r.floor = buf, 0, r.next
	r.restart(int(window), x)
}

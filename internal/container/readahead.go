package container

import (
	"io"
	"runtime"
	"sync"

	"github.com/gopz/compress/internal/errs"
)

// ReadAhead reads a source on a goroutine of its own, up to a number of bytes ahead of what Read
// has returned. The goroutine starts with the first Read. It ends when the source does, or after
// Close, or when the ReadAhead is dropped; a read of the source that is under way then ends first.
//
// Read and Close are for one goroutine at a time.
type ReadAhead struct {
	a       *aheadOf
	started bool
}

// aheadOf is what the goroutine of a ReadAhead has.
type aheadOf struct {
	src   io.Reader
	limit int64

	mu     sync.Mutex
	change sync.Cond // of what follows, which mu guards
	pieces []aheadPiece
	size   int64 // bytes in pieces
	spare  []byte
	piece  int   // bytes of the next piece
	err    error // what follows the pieces
	panic  any   // what a read of the source has panicked with
	closed bool
}

// An aheadPiece is memory of which the bytes from … to−1 have not been returned yet. The goroutine
// may read into what follows.
type aheadPiece struct {
	p        []byte
	from, to int
}

// The first piece of a ReadAhead has leastPiece bytes, and each one twice as many as the one
// before, up to mostPiece.
const (
	leastPiece = 4 << 10
	mostPiece  = 64 << 10
)

// MaxReadAhead is the most that may be read ahead, in bytes.
const MaxReadAhead = 1 << 30

// NewReadAhead returns a ReadAhead that reads up to limit bytes ahead.
func NewReadAhead(src io.Reader, limit int64) *ReadAhead {
	a := &aheadOf{src: src, limit: limit, piece: leastPiece}
	a.change.L = &a.mu
	r := &ReadAhead{a: a}
	runtime.AddCleanup(r, (*aheadOf).close, a)
	return r
}

// Read returns what has been read. It waits until there is something.
func (r *ReadAhead) Read(p []byte) (n int, err error) {
	a := r.a
	a.mu.Lock()
	defer a.mu.Unlock()
	if !r.started {
		r.started = true
		go a.run()
	}
	for a.size == 0 && a.err == nil && !a.closed {
		a.change.Wait()
	}
	switch {
	case a.closed:
		return 0, errs.Closed
	case a.size > 0:
	case a.panic != nil:
		panic(a.panic)
	default:
		return 0, a.err
	}
	for n < len(p) && a.size > 0 {
		q := &a.pieces[0]
		m := copy(p[n:], q.p[q.from:q.to])
		n, q.from, a.size = n+m, q.from+m, a.size-int64(m)
		if q.from == len(q.p) {
			a.spare = q.p
			a.pieces = a.pieces[1:]
		}
	}
	a.change.Signal()
	return n, nil
}

// Ready reports whether Read would not wait.
func (r *ReadAhead) Ready() bool {
	a := r.a
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.size > 0 || a.err != nil || a.closed
}

// Close drops what has been read ahead, and ends the goroutine. It does not wait for it.
func (r *ReadAhead) Close() { r.a.close() }

func (a *aheadOf) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed, a.pieces, a.size, a.spare = true, nil, 0, nil
	a.change.Signal()
}

// run reads the source to its end.
func (a *aheadOf) run() {
	ended := false
	defer func() {
		if !ended { // by a panic, or by runtime.Goexit
			a.end(errs.Panicked, recover())
		}
	}()
	var progress ReadProgress
	for p := a.room(); p != nil; p = a.room() {
		n, err := a.src.Read(p)
		if n < 0 || n > len(p) {
			n, err = 0, errs.BadCount
		}
		a.add(n)
		if err = progress.Check(n, err); err != nil {
			a.end(err, nil)
			break
		}
	}
	ended = true
}

// room waits until there is room for more, and returns it. It is nil after Close.
func (a *aheadOf) room() []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.size >= a.limit && !a.closed {
		a.change.Wait()
	}
	if a.closed {
		return nil
	}
	n := len(a.pieces)
	if n == 0 || a.pieces[n-1].to == len(a.pieces[n-1].p) {
		p := a.spare
		a.spare = nil
		if p == nil {
			p = make([]byte, a.piece)
			a.piece = min(2*a.piece, mostPiece)
		}
		a.pieces = append(a.pieces, aheadPiece{p: p})
		n++
	}
	q := &a.pieces[n-1]
	return q.p[q.to:min(int64(len(q.p)), int64(q.to)+a.limit-a.size)] // limit is at most MaxReadAhead
}

// add adds n bytes that have been read into the room.
func (a *aheadOf) add(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || n == 0 {
		return
	}
	a.pieces[len(a.pieces)-1].to += n
	a.size += int64(n)
	a.change.Signal()
}

// end notes what follows what has been read.
func (a *aheadOf) end(err error, panicked any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err, a.panic = err, panicked
	a.change.Signal()
}

package gpu

import (
	"errors"
	"sync"
	"sync/atomic"
)

// Lazy is a device that starts in the background once there is work for it, so that nobody waits for that and small jobs are spared it. Until it is
// up it accepts nothing. Its methods may be called from any goroutine.
type Lazy struct {
	promise Info
	open    func() (Device, error)
	after   int64
	asked   atomic.Int64
	dev     atomic.Pointer[Device]

	mu     sync.Mutex
	closed bool
	err    error
}

// NewLazy returns a device that calls open, once, when it has been asked for the after-th time whether it accepts a request. The device that open
// returns does at least what promise says, but may refuse requests.
func NewLazy(promise Info, after int, open func() (Device, error)) *Lazy {
	return &Lazy{promise: promise, after: int64(max(after, 1)), open: open}
}

// Info is the promise, with the name of the device as soon as that is up.
func (l *Lazy) Info() Info {
	info := l.promise
	if d := l.dev.Load(); d != nil {
		info.Name = (*d).Info().Name
	}
	return info
}

// StartError is why the device could not be started, nil if it could, or has not been yet.
func (l *Lazy) StartError() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func (l *Lazy) Accepts(r *Request) bool {
	if d := l.dev.Load(); d != nil {
		return (*d).Accepts(r)
	}
	if l.asked.Load() < l.after && l.asked.Add(1) == l.after {
		go l.start()
	}
	return false
}

// start ends by itself, whatever becomes of l.
func (l *Lazy) start() {
	d, err := l.open()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil:
		l.err = err
	case l.closed:
		d.Close()
	default:
		l.dev.Store(&d)
	}
}

var errNotUp = errors.New("gpu: device not started")

func (l *Lazy) Run(op Op, batch []*Request) error {
	if d := l.dev.Load(); d != nil {
		return (*d).Run(op, batch)
	}
	return errNotUp
}

// Close does not wait for a start that is under way: what that opens it closes as well.
func (l *Lazy) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	if d := l.dev.Load(); d != nil {
		return (*d).Close()
	}
	return nil
}

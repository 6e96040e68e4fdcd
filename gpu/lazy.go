package gpu

import (
	"errors"
	"sync"
	"sync/atomic"
)

// Lazy is a device that starts in the background once there is work for it. Small jobs end before
// it starts, and no caller waits for the start. Until then it accepts no request. Its methods may
// be called from any goroutine.
type Lazy struct {
	base  Info
	open  func() (Device, error)
	after int64
	asked atomic.Int64 // calls of Accepts
	dev   atomic.Pointer[Device]

	mu     sync.Mutex
	closed bool
	err    error
}

// NewLazy returns a device that calls open once, in the after-th call of Accepts. The opened device
// must support at least what base says, but may refuse single requests.
func NewLazy(base Info, after int, open func() (Device, error)) *Lazy {
	return &Lazy{base: base, after: int64(max(after, 1)), open: open}
}

// Info returns base, with the name of the device once it has started.
func (l *Lazy) Info() Info {
	info := l.base
	if d := l.dev.Load(); d != nil {
		info.Name = (*d).Info().Name
	}
	return info
}

// StartError returns the error of open. It is nil if the device has started, or has not been
// started yet.
func (l *Lazy) StartError() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Accepts reports whether the started device can run a request. The call that reaches the number
// given to NewLazy starts the device.
func (l *Lazy) Accepts(r *Request) bool {
	if d := l.dev.Load(); d != nil {
		return (*d).Accepts(r)
	}
	if l.asked.Load() < l.after && l.asked.Add(1) == l.after {
		go l.start()
	}
	return false
}

// start opens the device. It closes the device again if l was closed in the meantime.
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

var errNotStarted = errors.New("gpu: device not started")

// Run runs a batch on the started device.
func (l *Lazy) Run(op Op, batch []*Request) error {
	if d := l.dev.Load(); d != nil {
		return (*d).Run(op, batch)
	}
	return errNotStarted
}

// Close closes the device. It does not wait for a start in progress, which closes what it opens.
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

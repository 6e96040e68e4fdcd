package gpu

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Starter is a device that does nothing before Start. The scheduler calls Start once the workers
// have spent seconds on work that the device could have done.
type Starter interface {
	Device
	// Start starts the device in the background. It returns at once, and may be called often.
	Start()
}

// StartTimer is a device that knows how its start went.
type StartTimer interface {
	Device
	// StartTime returns how long the start took, 0 while the device has not started.
	StartTime() time.Duration
	// StartError returns why the start failed, nil if it did not or has not ended.
	StartError() error
}

// Lazy is a device that starts in the background when Start is called. Small jobs end before that,
// and no caller waits for the start. Until then it accepts no request. Its methods may be called
// from any goroutine.
type Lazy struct {
	base  Info
	open  func() (Device, error)
	begun atomic.Bool
	dev   atomic.Pointer[Device]

	mu     sync.Mutex
	closed bool
	err    error
	took   time.Duration // by open
}

// NewLazy returns a device that calls open once, in the background. The opened device must support
// at least what base says, but may refuse single requests.
func NewLazy(base Info, open func() (Device, error)) *Lazy { return &Lazy{base: base, open: open} }

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

// StartTime returns how long the start took. It is 0 until the start has ended.
func (l *Lazy) StartTime() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.took
}

// Start starts the device in the background. Only the first call does anything.
func (l *Lazy) Start() {
	if !l.begun.Swap(true) {
		go l.openDevice()
	}
}

// openDevice opens the device. It closes the device again if l was closed in the meantime.
func (l *Lazy) openDevice() {
	begin := time.Now()
	d, err := l.openSafely()
	l.mu.Lock()
	l.took, l.err = max(time.Since(begin), 1), err
	closed := l.closed
	if err == nil && !closed {
		l.dev.Store(&d)
	}
	l.mu.Unlock()
	if err == nil && closed {
		d.Close()
	}
}

// openSafely is open with a panic turned into an error.
func (l *Lazy) openSafely() (d Device, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("gpu: panic at the start: %v", v)
		}
	}()
	return l.open()
}

// Accepts reports whether the started device can run a request.
func (l *Lazy) Accepts(r *Request) bool {
	d := l.dev.Load()
	return d != nil && (*d).Accepts(r)
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
	closed := l.closed
	l.closed = true
	d := l.dev.Load()
	l.mu.Unlock()
	if closed || d == nil {
		return nil
	}
	return (*d).Close()
}

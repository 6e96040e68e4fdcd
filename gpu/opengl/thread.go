//go:build opengl && cgo && linux

package opengl

import (
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/gopz/compress/gpu/internal/host"
)

// thread is an OS thread that makes all calls of a context, because OpenGL finds the context by the
// thread.
type thread struct {
	calls   chan call
	stopped chan struct{} // closed by stop
	quit    chan struct{} // closed by end
	done    chan struct{} // closed when the thread has ended
	once    sync.Once
}

type call struct {
	f      func() error
	result chan error // buffered
}

// closeTimeout bounds how long end waits for a call of the driver.
const closeTimeout = 5 * time.Second

var errStartTimeout = errors.New("opengl: the driver does not start in time")

// newThread starts a thread that calls begin first and, if that succeeds, finally at its end. If
// begin takes longer than timeout, newThread returns errStartTimeout, and the thread ends after
// begin.
func newThread(begin func() error, finally func(), timeout time.Duration) (*thread, error) {
	t := &thread{
		calls:   make(chan call),
		stopped: make(chan struct{}),
		quit:    make(chan struct{}),
		done:    make(chan struct{}),
	}
	begun := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		defer close(t.done)
		err := begin()
		begun <- err
		if err != nil {
			return
		}
		defer finally()
		for {
			select {
			case c := <-t.calls:
				c.result <- c.f()
			case <-t.quit:
				return
			}
		}
	}()
	late := time.NewTimer(timeout)
	defer late.Stop()
	select {
	case err := <-begun:
		if err != nil {
			<-t.done
			return nil, err
		}
		return t, nil
	case <-late.C:
		close(t.quit)
		return nil, errStartTimeout
	}
}

// do calls f on the thread. If the thread is stopped meanwhile, do returns host.ErrClosed although
// f may still run.
func (t *thread) do(f func() error) error {
	c := call{f, make(chan error, 1)}
	select {
	case <-t.stopped:
		return host.ErrClosed
	default:
	}
	select {
	case t.calls <- c:
	case <-t.stopped:
		return host.ErrClosed
	}
	select {
	case err := <-c.result:
		return err
	case <-t.stopped:
		return host.ErrClosed
	}
}

// stop makes all calls of do return.
func (t *thread) stop() { t.once.Do(func() { close(t.stopped) }) }

// close ends the thread and waits for it. It leaves a thread that hangs in the driver after
// closeTimeout. It is called once.
func (t *thread) close() {
	t.stop()
	close(t.quit)
	select {
	case <-t.done:
	case <-time.After(closeTimeout):
	}
}

//go:build opengl && cgo && linux

package opengl

import (
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/gopz/compress/gpu/internal/host"
)

// thread is a thread of the system on which everything of a context is done: OpenGL knows the context by the thread.
type thread struct {
	calls   chan call
	stopped chan struct{} // closed by stop
	quit    chan struct{} // closed by end
	done    chan struct{} // closed when the thread has ended
	once    sync.Once
}

type call struct {
	f      func() error
	result chan error // has room for it
}

// closePatience is how long a driver that does not come back is waited for when its device is closed.
const closePatience = 5 * time.Second

var errStart = errors.New("opengl: the driver does not start")

// newThread starts a thread that calls begin first and, if that succeeds, finally at its end. If begin takes longer than patience the error is errStart, and the thread ends as soon
// as begin does.
func newThread(begin func() error, finally func(), patience time.Duration) (*thread, error) {
	t := &thread{calls: make(chan call), stopped: make(chan struct{}), quit: make(chan struct{}), done: make(chan struct{})}
	begun := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine, and what the driver has left on it
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
	late := time.NewTimer(patience)
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
		return nil, errStart
	}
}

// do has f called by the thread. If the thread is stopped meanwhile do does not wait for it; f may still run then.
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

// stop makes calls of do return.
func (t *thread) stop() { t.once.Do(func() { close(t.stopped) }) }

// end ends the thread, once. One that hangs in the driver is left to itself after a while.
func (t *thread) end() {
	t.stop()
	close(t.quit)
	select {
	case <-t.done:
	case <-time.After(closePatience):
	}
}

//go:build opengl && cgo && linux

package opengl

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/gpu/gputest"
	"github.com/gopz/compress/gpu/internal/host"
)

// TestConforms: the device passes what all devices must.
func TestConforms(t *testing.T) { gputest.Run(t, openTest) }

func TestAllocs(t *testing.T) { gputest.Allocs(t, openTest) }

// openTest opens the device to test.
func openTest(c gputest.Config) (gpu.Device, error) {
	d, err := open(number(), host.Config{Fault: c.Fault})
	if err != nil {
		return nil, fmt.Errorf("%w; on Debian and Ubuntu: apt-get install libegl1 libgl1-mesa-dri", err)
	}
	return d, nil
}

// number is that of the device to test: the best one's, or what PZ_GPU says.
func number() (n int) {
	if v := os.Getenv("PZ_GPU"); v != "" {
		if _, err := fmt.Sscan(v, &n); err != nil {
			panic(err)
		}
	}
	return n
}

// testDriver returns a driver and a queue of it, which are closed with the test.
func testDriver(t *testing.T) (*driver, host.Queue) {
	t.Helper()
	d, err := openDriver(number())
	if err != nil {
		gputest.Missing(t, err)
	}
	q, err := d.Queue()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.Close()
		if d.Held() != 0 {
			t.Errorf("%d objects are left", d.Held())
		}
	})
	return d, q
}

// TestWays: each way that EGL has is one to the same kernels.
func TestWays(t *testing.T) {
	list, last := ways()
	works := 0
	for _, w := range append(list, last) {
		d, err := start(w)
		if err != nil {
			t.Log(err)
			continue
		}
		works++
		t.Logf("%v: %+v, robust %v", w, d.adapter, d.context.robust)
		dev, err := host.New(d, host.Config{Kind: gpu.Software})
		if err != nil {
			t.Fatal(err)
		}
		t.Run(fmt.Sprint(w), func(t *testing.T) {
			if encoding, decoding := gputest.Large(t, dev); !errors.Is(encoding, host.ErrTooLarge) || !errors.Is(decoding, host.ErrTooLarge) {
				t.Error(encoding, decoding)
			}
		})
		dev.Close()
	}
	if works == 0 {
		gputest.Missing(t, errors.New("no context"))
	}
	if _, err := start(way{1, 1000}); err == nil {
		t.Error("there are 1001 devices")
	}
}

// What the driver complains about is an error of the call, and of no later one.
func TestComplaints(t *testing.T) {
	d, q := testDriver(t)
	if _, err := q.Upload(d.binding + 256); err == nil || !strings.Contains(err.Error(), "do not fit") {
		t.Error(err)
	}
	err := d.do(func() error {
		_, err := d.buffer(-1, nil, 0)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "error 0x") {
		t.Error(err)
	}
	err = d.do(func() error {
		_, err := d.buffer(1<<50, nil, d.queues[0].up.usage)
		return err
	})
	if !errors.Is(err, errMemory) {
		t.Errorf("a buffer of 1 PiB: %v", err)
	}
	// As a driver reports the loss of a context.
	d.do(func() error { d.resets = func() uint32 { return 0x8255 }; return nil })
	p, err := q.Upload(256)
	if !errors.Is(err, errLost) || p != nil {
		t.Error(err)
	}
	d.do(func() error { d.resets = nil; return nil })
	if p, err = q.Upload(256); err != nil || len(p) != 256 {
		t.Error(err)
	}
}

// TestLostSubmission: a context that is lost before a submission, or while it is waited for, is an error of that.
func TestLostSubmission(t *testing.T) {
	d, q := testDriver(t)
	for after := range 4 {
		calls := 0
		d.do(func() error {
			d.resets = func() uint32 {
				if calls++; calls > after+2 {
					return 0x8253
				}
				return 0
			}
			return nil
		})
		_, err := q.Upload(256)
		if err == nil {
			err = q.Submit(&host.Submission{Up: 256, Rooms: []host.Room{{Buffer: host.Out, Size: 256}}, Fetch: []host.Stretch{{Size: 256}}})
		}
		if after < 1 && !errors.Is(err, errLost) {
			t.Errorf("after %d: %v", after, err)
		}
		d.do(func() error { d.resets = nil; return nil })
		if _, err := q.Upload(256); err != nil {
			t.Error(err)
		}
	}
}

// TestThread: a driver that hangs does not hang those who wait for it, or close it.
func TestThread(t *testing.T) {
	ended := false
	th, err := newThread(func() error { return nil }, func() { ended = true })
	if err != nil {
		t.Fatal(err)
	}
	hang, result := make(chan bool), make(chan error)
	go func() { result <- th.do(func() error { hang <- true; <-hang; return nil }) }()
	<-hang
	go func() { result <- th.do(func() error { return nil }) }()
	time.Sleep(time.Millisecond)
	th.stop()
	for range 2 {
		if err := <-result; !errors.Is(err, host.ErrClosed) {
			t.Error(err)
		}
	}
	close(hang)
	th.end()
	if err := th.do(nil); !errors.Is(err, host.ErrClosed) || !ended {
		t.Error(err, ended)
	}
	want := errors.New("test")
	if _, err := newThread(func() error { return want }, nil); err != want {
		t.Error(err)
	}
}

// TestLongLoops: where a driver leaves loops after so many turns, as llvmpipe does, nothing wrong comes of it.
func TestLongLoops(t *testing.T) {
	for _, all := range []bool{false, true} {
		d, err := open(number(), host.Config{AllLoops: all})
		if err != nil {
			gputest.Missing(t, err)
		}
		software := d.Info().Patience > 0
		encoding, decoding := gputest.Large(t, d)
		for _, err := range []error{encoding, decoding} {
			if software && !all && !errors.Is(err, host.ErrTooLarge) || !software && err != nil {
				t.Errorf("all loops %v: %v", all, err)
			}
		}
		d.Close()
	}
}

func TestUnknown(t *testing.T) {
	if _, err := List(); err != nil {
		gputest.Missing(t, err)
	}
	for _, n := range []int{-1, 99} {
		if _, err := Open(n); err == nil {
			t.Errorf("there is a GPU number %d", n)
		}
	}
}

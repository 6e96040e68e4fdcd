//go:build webgpu && cgo

package webgpu

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/cogentcore/webgpu/wgpu"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/gpu/gputest"
	"github.com/gopz/compress/gpu/internal/host"
)

// TestConforms: the device passes what all devices must.
func TestConforms(t *testing.T) { gputest.Run(t, openTest) }

func TestAllocs(t *testing.T) { gputest.Allocs(t, openTest) }

// openTest opens the device to test.
func openTest(c gputest.Config) (gpu.Device, error) {
	d, err := open(nth(adapterNumber()), host.Config{Fault: c.Fault})
	if err != nil {
		return nil, fmt.Errorf("%w; on Debian and Ubuntu: apt-get install mesa-vulkan-drivers libvulkan1", err)
	}
	return d, nil
}

// adapterNumber is that of the device to test: the best one's, or what PZ_GPU says.
func adapterNumber() (n int) {
	if v := os.Getenv("PZ_GPU"); v != "" {
		if _, err := fmt.Sscan(v, &n); err != nil {
			panic(err)
		}
	}
	return n
}

// testDriver returns a driver and a queue of it, which are closed with the test.
func testDriver(t *testing.T) (*driver, *queue) {
	t.Helper()
	d, _, err := openDriver(nth(adapterNumber()))
	if err != nil {
		gputest.Missing(t, err)
	}
	q := newQueue(d)
	t.Cleanup(func() {
		q.Close()
		d.Close()
		if d.Held() != 0 {
			t.Errorf("%d objects are left", d.Held())
		}
	})
	return d, q
}

// The bridge takes the binding's pointers from these places.
func TestLayout(t *testing.T) {
	if unsafe.Sizeof(wgpu.Instance{}) != unsafe.Sizeof(bindingInstance{}) || unsafe.Sizeof(wgpu.CommandEncoder{}) != unsafe.Sizeof(bindingEncoder{}) || unsafe.Sizeof(wgpu.Device{}) != unsafe.Sizeof(bindingDevice{}) || unsafe.Sizeof(wgpu.Buffer{}) != unsafe.Sizeof(bindingBuffer{}) {
		t.Fatal("the binding's types have changed")
	}
	d, _ := testDriver(t)
	err := d.locked(func() error {
		b, err := d.dev.CreateBuffer(&wgpu.BufferDescriptor{Usage: wgpu.BufferUsageCopyDst, Size: 16})
		if err != nil {
			return err
		}
		defer b.Release()
		if own := (*bindingBuffer)(unsafe.Pointer(b)); own.device != (*bindingDevice)(unsafe.Pointer(d.dev)).ref || own.ref == nil {
			t.Error("the binding's buffers have changed")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// What the device complains about is an error, and not the end of the program.
func TestComplaints(t *testing.T) {
	d, q := testDriver(t)
	err := d.locked(func() error {
		_, err := d.dev.CreateBuffer(&wgpu.BufferDescriptor{Usage: wgpu.BufferUsageCopyDst, Size: 1 << 50})
		return err
	})
	if err == nil {
		t.Error("a buffer of 1 PiB")
	}
	if _, err := q.Upload(d.maxBuffer + 256); err == nil || !strings.Contains(err.Error(), "do not fit") {
		t.Error(err)
	}
}

// TestLongLoops: where a driver leaves loops after so many turns, as llvmpipe does, nothing wrong comes of it.
func TestLongLoops(t *testing.T) {
	for _, all := range []bool{false, true} {
		d, err := open(nth(adapterNumber()), host.Config{UnlimitedLoops: all})
		if err != nil {
			gputest.Missing(t, err)
		}
		software := d.Info().Timeout > 0
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
	for _, n := range []int{-1, 99} {
		if _, err := (gpuDriver{}).Open(n); err == nil {
			t.Errorf("there is a GPU number %d", n)
		}
	}
}

//go:build webgpu && cgo

package webgpu

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/cogentcore/webgpu/wgpu"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/gpu/internal/gputest"
	"github.com/gopz/compress/gpu/internal/host"
)

// TestConforms runs the conformance suite.
func TestConforms(t *testing.T) { gputest.Run(t, openTest) }

// TestAllocs checks that larger batches allocate no more.
func TestAllocs(t *testing.T) { gputest.Allocs(t, openTest) }

// TestTimes checks the times of the device's clock.
func TestTimes(t *testing.T) { gputest.Times(t, openTest) }

// openTest opens the device under test.
func openTest(c gputest.Config) (gpu.Device, error) {
	d, err := open(nth(adapterNumber()), host.Config{})
	if err != nil {
		return nil, fmt.Errorf("%w; on Debian and Ubuntu: "+
			"apt-get install mesa-vulkan-drivers libvulkan1", err)
	}
	d.SetFault(c.Fault)
	return d, nil
}

// adapterNumber returns the number of the adapter under test: 0, or the value of PZ_GPU.
func adapterNumber() (n int) {
	if v := os.Getenv("PZ_GPU"); v != "" {
		if _, err := fmt.Sscan(v, &n); err != nil {
			panic(err)
		}
	}
	return n
}

// testDriver returns a driver and a queue, and closes them at the end of the test.
func testDriver(t *testing.T) (*driver, *queue) {
	t.Helper()
	d, _, err := openDriver(nth(adapterNumber()))
	if err != nil {
		gputest.Missing(t, err)
	}
	q := d.newQueue()
	t.Cleanup(func() {
		d.Close()
		if d.Held() != 0 {
			t.Errorf("%d objects are held after Close", d.Held())
		}
	})
	return d, q
}

// TestLayout checks that the binding's types have the layouts that bridge.go expects.
func TestLayout(t *testing.T) {
	if unsafe.Sizeof(wgpu.Instance{}) != unsafe.Sizeof(bindingInstance{}) ||
		unsafe.Sizeof(wgpu.CommandEncoder{}) != unsafe.Sizeof(bindingEncoder{}) ||
		unsafe.Sizeof(wgpu.Adapter{}) != unsafe.Sizeof(bindingAdapter{}) ||
		unsafe.Sizeof(wgpu.Queue{}) != unsafe.Sizeof(bindingQueue{}) ||
		unsafe.Sizeof(wgpu.QuerySet{}) != unsafe.Sizeof(bindingQuerySet{}) ||
		unsafe.Sizeof(wgpu.CommandBuffer{}) != unsafe.Sizeof(bindingCommands{}) ||
		unsafe.Sizeof(wgpu.ComputePassEncoder{}) != unsafe.Sizeof(bindingEncoder{}) ||
		unsafe.Sizeof(wgpu.Device{}) != unsafe.Sizeof(bindingDevice{}) ||
		unsafe.Sizeof(wgpu.Buffer{}) != unsafe.Sizeof(bindingBuffer{}) {
		t.Fatal("a type of the binding has another size")
	}
	d, _ := testDriver(t)
	err := d.locked(func() error {
		b, err := d.dev.CreateBuffer(&wgpu.BufferDescriptor{Usage: wgpu.BufferUsageCopyDst, Size: 16})
		if err != nil {
			return err
		}
		defer b.Release()
		device := (*bindingDevice)(unsafe.Pointer(d.dev)).ref
		if own := (*bindingBuffer)(unsafe.Pointer(b)); own.device != device || own.ref == nil {
			t.Error("the binding's Buffer has another layout")
		}
		if q := (*bindingQueue)(unsafe.Pointer(d.queue)); q.device != device || q.ref == nil {
			t.Error("the binding's Queue has another layout")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestDeviceErrors checks that errors of the device are returned and do not end the program.
func TestDeviceErrors(t *testing.T) {
	d, q := testDriver(t)
	err := d.locked(func() error {
		_, err := d.dev.CreateBuffer(&wgpu.BufferDescriptor{Usage: wgpu.BufferUsageCopyDst, Size: 1 << 50})
		return err
	})
	if err == nil {
		t.Error("the device creates a buffer of 1 PiB")
	}
	if _, err := q.Upload(d.maxBuffer + 256); err == nil || !strings.Contains(err.Error(), "do not fit") {
		t.Errorf("Upload of more than a buffer: error %v", err)
	}
}

// TestUnknown checks that numbers without an adapter are errors.
func TestUnknown(t *testing.T) {
	for _, n := range []int{-1, 99} {
		if _, err := (gpuDriver{}).Open(n); err == nil {
			t.Errorf("Open(%d) succeeds", n)
		}
	}
}

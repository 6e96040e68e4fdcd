//go:build webgpu && cgo

package webgpu

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/cogentcore/webgpu/wgpu"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/gpu/gputest"
	"github.com/gopz/compress/lz77"
)

var shared struct {
	once sync.Once
	d    *Device
	err  error
}

// device returns the device that the tests of this package share.
func device(t testing.TB) *Device {
	t.Helper()
	shared.once.Do(func() { shared.d, shared.err = openNumber(gputest.Config{}) })
	if shared.err != nil {
		gputest.Missing(t, shared.err)
	}
	return shared.d
}

// TestConforms: the device passes what all devices must.
func TestConforms(t *testing.T) { gputest.Run(t, openTest) }

func TestAllocs(t *testing.T) { gputest.Allocs(t, openTest) }

// openTest opens the device to test.
func openTest(c gputest.Config) (gpu.Device, error) {
	d, err := openNumber(c)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// openNumber opens the best device, or the one whose number is in PZ_GPU.
func openNumber(c gputest.Config) (*Device, error) {
	n := 0
	if v := os.Getenv("PZ_GPU"); v != "" {
		if _, err := fmt.Sscan(v, &n); err != nil {
			return nil, err
		}
	}
	d, err := open(n)
	if err != nil {
		return nil, fmt.Errorf("%w; on Debian and Ubuntu: apt-get install mesa-vulkan-drivers libvulkan1", err)
	}
	d.fault = c.Fault
	return d, nil
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.d != nil {
		shared.d.Close()
	}
	os.Exit(code)
}

// The bridge takes the binding's pointers from these places.
func TestLayout(t *testing.T) {
	if unsafe.Sizeof(wgpu.Instance{}) != unsafe.Sizeof(bindingInstance{}) || unsafe.Sizeof(wgpu.CommandEncoder{}) != unsafe.Sizeof(bindingEncoder{}) || unsafe.Sizeof(wgpu.Device{}) != unsafe.Sizeof(bindingDevice{}) || unsafe.Sizeof(wgpu.Buffer{}) != unsafe.Sizeof(bindingBuffer{}) {
		t.Fatal("the binding's types have changed")
	}
	d := device(t)
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
	d := device(t)
	err := d.locked(func() error {
		_, err := d.dev.CreateBuffer(&wgpu.BufferDescriptor{Usage: wgpu.BufferUsageCopyDst, Size: 1 << 50})
		return err
	})
	if err == nil {
		t.Error("a buffer of 1 PiB")
	}
	s := <-d.slots
	defer func() { d.slots <- s }()
	var b buffer
	if err := d.locked(func() error { return s.room(&b, d.binding+1) }); err == nil || !strings.Contains(err.Error(), "do not fit") {
		t.Error(err)
	}
}

// TestLongLoops: where a driver leaves loops after so many turns, as llvmpipe does, nothing wrong comes of it.
func TestLongLoops(t *testing.T) {
	d, err := openNumber(gputest.Config{})
	if err != nil {
		gputest.Missing(t, err)
	}
	defer d.Close()
	for _, loops := range []int{d.loops, 0} { // as it is set, and without that
		d.loops = loops
		encoding, decoding := gputest.Large(t, d)
		for _, err := range []error{encoding, decoding} {
			if loops > 0 && !errors.Is(err, errTooLarge) || loops == 0 && d.adapter.Kind != Software && err != nil {
				t.Errorf("at most %d loops: %v", loops, err)
			}
		}
	}
}

func TestUnknown(t *testing.T) {
	d := device(t)
	for _, r := range []*gpu.Request{
		{Op: gpu.Fused, Params: &lz77.Levels[6]},
		{Op: gpu.Stage0, Params: &lz77.Levels[1]},
		{Op: gpu.Stage0, Params: &lz77.Levels[6], Src: make([]byte, maxMatch+1)},
	} {
		if d.Accepts(r) {
			t.Errorf("%v is accepted", r.Op)
		}
	}
	if _, err := Open(99); err == nil {
		t.Error("there are 100 GPUs")
	}
}

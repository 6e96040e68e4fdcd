//go:build opengl && cgo && linux

package opengl

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/gpu/internal/gputest"
	"github.com/gopz/compress/gpu/internal/host"
	"github.com/gopz/compress/lzseq"
)

// TestConforms runs the conformance suite.
func TestConforms(t *testing.T) { gputest.Run(t, openTest) }

// TestAllocs checks that larger batches allocate no more.
func TestAllocs(t *testing.T) { gputest.Allocs(t, openTest) }

// TestTimes checks the times of the device's clock.
func TestTimes(t *testing.T) { gputest.Times(t, openTest) }

// openTest opens the device under test.
func openTest(c gputest.Config) (gpu.Device, error) {
	d, err := open(number(), host.Config{})
	if err != nil {
		return nil, fmt.Errorf("%w; on Debian and Ubuntu: apt-get install libegl1 libgl1-mesa-dri", err)
	}
	d.SetFault(c.Fault)
	return d, nil
}

// number returns the number of the adapter under test: 0, or the value of PZ_GPU.
func number() (n int) {
	if v := os.Getenv("PZ_GPU"); v != "" {
		if _, err := fmt.Sscan(v, &n); err != nil {
			panic(err)
		}
	}
	return n
}

// testDriver returns a driver and a queue, and closes them at the end of the test.
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
			t.Errorf("%d objects are held after Close", d.Held())
		}
	})
	return d, q
}

// TestNeeded checks that a program with this package starts without libEGL and libGL.
func TestNeeded(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := f.ImportedLibraries()
	if err != nil || len(list) == 0 {
		t.Fatalf("libraries %v, error %v", list, err)
	}
	for _, name := range list {
		if strings.HasPrefix(name, "libEGL") || strings.HasPrefix(name, "libGL") {
			t.Errorf("the program needs %s at its start", name)
		}
	}
}

// TestDisplays checks that a device works on every display of EGL, and that every listed adapter
// opens.
func TestDisplays(t *testing.T) {
	list, last, err := displays()
	if err != nil {
		t.Fatal(err)
	}
	works := 0
	for _, disp := range append(list, last) {
		d, err := start(disp, startTimeout)
		if err != nil {
			t.Log(disp, err)
			continue
		}
		if disp != last {
			works++
		}
		t.Run(fmt.Sprint(disp), func(t *testing.T) {
			t.Logf("%+v, robust %v", d.adapter, d.context.robust)
			dev, err := newDevice(d, host.Config{})
			if err != nil {
				t.Fatal(err)
			}
			defer dev.Close()
			gputest.Smoke(t, dev)
		})
	}
	all, err := listAdapters()
	if err != nil {
		gputest.Missing(t, err)
	}
	if n := max(works, 1); len(all) > n || len(all) < n-1 {
		t.Errorf("%d adapters on %d displays", len(all), works)
	}
	for n, a := range all {
		d, err := openDriver(n)
		if err != nil || d.adapter != a {
			t.Fatalf("adapter %d is not %v: error %v", n, a, err)
		}
		d.Close()
	}
	if best, err := openBest(); (err == nil) != (all[0].Kind != gpu.Software) {
		t.Errorf("openBest: error %v; the first adapter is %v", err, all[0].Kind)
	} else if err == nil {
		best.Close()
	}
	if _, err := start(display{1, 1000}, startTimeout); err == nil {
		t.Error("start succeeds for device 1000")
	}
}

// TestDeviceErrors checks that an error of the driver is returned by the call that causes it.
func TestDeviceErrors(t *testing.T) {
	d, q := testDriver(t)
	if _, err := q.Upload(d.maxBuffer + 256); err == nil || !strings.Contains(err.Error(), "do not fit") {
		t.Errorf("Upload of more than a buffer: error %v", err)
	}
	err := d.do(func() error {
		_, err := d.buffer(-1, nil, 0)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "error 0x") {
		t.Errorf("buffer of -1 bytes: error %v", err)
	}
	err = d.do(func() error {
		_, err := d.buffer(math.MaxInt&^255, nil, d.queues[0].up.usage)
		return err
	})
	if !errors.Is(err, host.ErrMemory) {
		t.Errorf("buffer of all memory: error %v", err)
	}
	if p, err := q.Upload(256); err != nil || len(p) != 256 {
		t.Errorf("Upload after errors: %d bytes, error %v", len(p), err)
	}
}

// losesAt makes the driver report a lost context in the n-th check from now on, once. asked counts
// the checks.
func (d *driver) losesAt(n int) (asked *int) {
	asked = new(int)
	d.thread.do(func() error {
		d.resets = func() uint32 {
			*asked++
			if *asked == n {
				return 0x8255 // UNKNOWN_CONTEXT_RESET
			}
			return 0
		}
		return nil
	})
	return asked
}

// TestLostSubmission checks that a context lost at any point of a submission is an error of that
// call and of all later ones, although the driver reports the loss once.
func TestLostSubmission(t *testing.T) {
	s := &host.Submission{
		UploadSize: 256,
		Reserve:    []host.BufferSize{{Buffer: host.Out, Size: 256}},
		Downloads:  []host.Range{{Buffer: host.Out, Size: 256}},
	}
	submit := func(q host.Queue) error {
		if _, err := q.Upload(256); err != nil {
			return err
		}
		if err := q.Submit(s); err != nil {
			return err
		}
		return q.Downloaded(func([]byte) {})
	}
	// The driver is checked when the upload is mapped, for the submission, at least once for its
	// end, and when the downloads are mapped.
	const least = 4
	for n := 1; n <= least+1; n++ {
		d, q := testDriver(t)
		if err := submit(q); err != nil { // allocates the buffers
			t.Fatal(err)
		}
		asked := d.losesAt(n)
		err := submit(q)
		if *asked < n { // the last round
			if err != nil || n <= least {
				t.Errorf("%d checks: error %v", *asked, err)
			}
			continue
		}
		if !errors.Is(err, errLost) {
			t.Errorf("lost in check %d: error %v", n, err)
		}
		if err := submit(q); !errors.Is(err, errLost) {
			t.Errorf("after the loss: error %v, want %v", err, errLost)
		}
		if err := q.Submit(s); !errors.Is(err, errLost) {
			t.Errorf("after the loss: error %v, want %v", err, errLost)
		}
		if _, err := d.Queue(); !errors.Is(err, errLost) {
			t.Errorf("after the loss: error %v, want %v", err, errLost)
		}
	}
}

// TestLostContext checks that a device on a lost context returns errors.
func TestLostContext(t *testing.T) {
	d, err := openDriver(number())
	if err != nil {
		gputest.Missing(t, err)
	}
	dev, err := newDevice(d, host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	gputest.Smoke(t, dev)
	d.losesAt(1)
	for range 2 {
		r := &gpu.Request{
			Op: gpu.StageN, Size: 50_000, Layout: lzseq.Repeat,
			Streams: &lzseq.Streams{Lits: bytes.Repeat([]byte("abcdefg"), 7000)},
		}
		if err := dev.Run(gpu.StageN, []*gpu.Request{r}); !errors.Is(err, errLost) {
			t.Errorf("Run: error %v, want %v", err, errLost)
		}
	}
}

// TestThread checks that a call that hangs in the driver blocks neither other calls nor end.
func TestThread(t *testing.T) {
	ended := false
	th, err := newThread(func() error { return nil }, func() { ended = true }, time.Minute)
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
			t.Errorf("call after stop: error %v", err)
		}
	}
	close(hang)
	th.close()
	if err := th.do(nil); !errors.Is(err, host.ErrClosed) || !ended {
		t.Errorf("call after end: error %v; finally was called: %v", err, ended)
	}
	want := errors.New("test")
	if _, err := newThread(func() error { return want }, nil, time.Minute); err != want {
		t.Errorf("newThread: error %v, want %v", err, want)
	}
}

// TestLateStart checks that newThread does not wait for a driver that hangs in its start, and that
// the driver frees its resources if it starts later.
func TestLateStart(t *testing.T) {
	for _, result := range []error{nil, errors.New("test")} {
		hang, ended := make(chan bool), make(chan bool)
		begin := func() error { <-hang; return result }
		th, err := newThread(begin, func() { close(ended) }, 10*time.Millisecond)
		if th != nil || !errors.Is(err, errStartTimeout) {
			t.Fatal(err)
		}
		close(hang)
		if result == nil {
			<-ended
		}
	}
}

// TestProbe checks that an adapter that leaves loops early is of kind Software.
func TestProbe(t *testing.T) {
	d, err := openDriver(number())
	if err != nil {
		gputest.Missing(t, err)
	}
	defer d.Close()
	all := false
	err = d.do(func() (err error) {
		all, err = d.longLoops()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if kind := d.adapter.Kind; kind != gpu.Software && !all {
		t.Errorf("longLoops is %v, kind %v", all, kind)
	}
}

// TestSoftware checks isSoftware with names of real drivers.
func TestSoftware(t *testing.T) {
	for name, want := range map[string]bool{
		"llvmpipe (LLVM 15.0.6, 256 bits)":         true,
		"virgl (LLVMPIPE (LLVM 15.0.6, 256 bits))": true,
		"softpipe":                              true,
		"Mesa Software Rasterizer":              true,
		"D3D12 (Microsoft Basic Render Driver)": true,
		"zink Vulkan 1.3(llvmpipe (LLVM 15.0.6, 256 bits) (MESA_LLVMPIPE))": true,
		"Google SwiftShader":                                 true,
		"SWR (LLVM 10.0.0, 256 bits)":                        true,
		"NVIDIA H100 PCIe/PCIe/SSE2":                         false,
		"AMD Radeon RX 6800 (navi21, LLVM 15.0.6, DRM 3.49)": false,
		"Mesa Intel(R) UHD Graphics 630 (CFL GT2)":           false,
		"virgl (AMD Radeon)":                                 false,
		"D3D12 (NVIDIA GeForce RTX 3080)":                    false,
		"":                                                   false,
	} {
		if isSoftware(name) != want {
			t.Errorf("isSoftware(%q) is not %v", name, want)
		}
	}
}

// TestUnknown checks that numbers without an adapter are errors.
func TestUnknown(t *testing.T) {
	if _, err := listAdapters(); err != nil {
		gputest.Missing(t, err)
	}
	for _, n := range []int{-1, 99} {
		if _, err := (gpuDriver{}).Open(n); err == nil {
			t.Errorf("Open(%d) succeeds", n)
		}
	}
}

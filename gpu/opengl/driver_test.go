//go:build opengl && cgo && linux

package opengl

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/gpu/gputest"
	"github.com/gopz/compress/gpu/internal/host"
	"github.com/gopz/compress/lzseq"
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

// TestWays: each way that EGL has is one to the same results, and each adapter of the list opens.
func TestWays(t *testing.T) {
	list, last, err := ways()
	if err != nil {
		t.Fatal(err)
	}
	works := 0
	for _, w := range append(list, last) {
		d, err := start(w, startPatience)
		if err != nil {
			t.Log(w, err)
			continue
		}
		if w != last {
			works++
		}
		t.Run(fmt.Sprint(w), func(t *testing.T) {
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
		t.Errorf("%d adapters, %d ways", len(all), works)
	}
	for n, a := range all {
		d, err := openDriver(n)
		if err != nil || d.adapter != a {
			t.Fatalf("%d is not %v: %v", n, a, err)
		}
		d.Close()
	}
	if best, err := openBest(); (err == nil) != (all[0].Kind != gpu.Software) {
		t.Error(err)
	} else if err == nil {
		best.Close()
	}
	if _, err := start(way{1, 1000}, startPatience); err == nil {
		t.Error("there are 1001 devices")
	}
}

// What the driver complains about is an error of the call, and of no later one.
func TestComplaints(t *testing.T) {
	d, q := testDriver(t)
	if _, err := q.Upload(d.maxBuffer + 256); err == nil || !strings.Contains(err.Error(), "do not fit") {
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
		_, err := d.buffer(math.MaxInt&^255, nil, d.queues[0].up.usage)
		return err
	})
	if !errors.Is(err, errMemory) {
		t.Errorf("a buffer of all memory: %v", err)
	}
	if p, err := q.Upload(256); err != nil || len(p) != 256 {
		t.Error(err)
	}
}

// losesAt has the driver lose its context when it is asked for that the n-th time from now on, and tell so that one time.
func (d *driver) losesAt(n int) (asked *int) {
	asked = new(int)
	d.thread.do(func() error {
		d.resets = func() uint32 {
			if *asked++; *asked == n {
				return 0x8255 // UNKNOWN_CONTEXT_RESET
			}
			return 0
		}
		return nil
	})
	return asked
}

// TestLostSubmission: a context that is lost before a submission, in it, or while it is waited for, is an error of that call and of all later ones, though the
// driver tells of the loss once only.
func TestLostSubmission(t *testing.T) {
	s := &host.Submission{UploadSize: 256, Reserve: []host.BufferSize{{Buffer: host.Out, Size: 256}}, Downloads: []host.Range{{Buffer: host.Out, Size: 256}}}
	submit := func(q host.Queue) error {
		if _, err := q.Upload(256); err != nil {
			return err
		}
		if err := q.Submit(s); err != nil {
			return err
		}
		return q.Downloaded(func([]byte) {})
	}
	// The driver is asked when the upload is mapped, for the submission, for the answer, which may not be there at once, and when what was fetched is mapped.
	const least = 4
	for n := 1; n <= least+1; n++ {
		d, q := testDriver(t)
		if err := submit(q); err != nil { // buffers are there from now on
			t.Fatal(err)
		}
		asked := d.losesAt(n)
		err := submit(q)
		if *asked < n { // the last one
			if err != nil || n <= least {
				t.Errorf("asked %d times: %v", *asked, err)
			}
			continue
		}
		if !errors.Is(err, errLost) {
			t.Errorf("lost when asked for the %d. time: %v", n, err)
		}
		if err := submit(q); !errors.Is(err, errLost) {
			t.Error("afterwards: ", err)
		}
		if err := q.Submit(s); !errors.Is(err, errLost) {
			t.Error("afterwards: ", err)
		}
		if _, err := d.Queue(); !errors.Is(err, errLost) {
			t.Error("afterwards: ", err)
		}
	}
}

// TestLostContext: what the kernels have left of a context that is lost does not count.
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
		r := &gpu.Request{Op: gpu.StageN, Size: 50_000, Layout: lzseq.Repeat, Streams: &lzseq.Streams{Lits: bytes.Repeat([]byte("abcdefg"), 7000)}}
		if err := dev.Run(gpu.StageN, []*gpu.Request{r}); !errors.Is(err, errLost) {
			t.Error(err)
		}
	}
}

// TestThread: a driver that hangs does not hang those who wait for it, or close it.
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
			t.Error(err)
		}
	}
	close(hang)
	th.end()
	if err := th.do(nil); !errors.Is(err, host.ErrClosed) || !ended {
		t.Error(err, ended)
	}
	want := errors.New("test")
	if _, err := newThread(func() error { return want }, nil, time.Minute); err != want {
		t.Error(err)
	}
}

// TestLateStart: a driver that does not start is not waited for, and frees everything if it does so after all.
func TestLateStart(t *testing.T) {
	for _, result := range []error{nil, errors.New("test")} {
		hang, ended := make(chan bool), make(chan bool)
		th, err := newThread(func() error { <-hang; return result }, func() { close(ended) }, 10*time.Millisecond)
		if th != nil || !errors.Is(err, errStart) {
			t.Fatal(err)
		}
		close(hang)
		if result == nil {
			<-ended
		}
	}
}

// TestProbe: what the probe says of loops is what becomes of long ones, and it is a GPU only if they turn to their end.
func TestProbe(t *testing.T) {
	d, err := openDriver(number())
	if err != nil {
		gputest.Missing(t, err)
	}
	all, kind := false, d.adapter.Kind
	err = d.do(func() (err error) {
		all, err = d.longLoops()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	dev, err := newDevice(d, host.Config{UnlimitedLoops: true})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	encoding, decoding := gputest.Large(t, dev)
	if right := encoding == nil && decoding == nil; right != all || kind != gpu.Software && !all {
		t.Errorf("loops turn to their end: %v, they say; kind %v; %v, %v", all, kind, encoding, decoding)
	}
}

func TestSoftware(t *testing.T) {
	for name, want := range map[string]bool{
		"llvmpipe (LLVM 15.0.6, 256 bits)": true, "virgl (LLVMPIPE (LLVM 15.0.6, 256 bits))": true, "softpipe": true, "Mesa Software Rasterizer": true,
		"D3D12 (Microsoft Basic Render Driver)": true, "zink Vulkan 1.3(llvmpipe (LLVM 15.0.6, 256 bits) (MESA_LLVMPIPE))": true, "Google SwiftShader": true, "SWR (LLVM 10.0.0, 256 bits)": true,
		"NVIDIA H100 PCIe/PCIe/SSE2": false, "AMD Radeon RX 6800 (navi21, LLVM 15.0.6, DRM 3.49)": false, "Mesa Intel(R) UHD Graphics 630 (CFL GT2)": false,
		"virgl (AMD Radeon)": false, "D3D12 (NVIDIA GeForce RTX 3080)": false, "": false,
	} {
		if isSoftware(name) != want {
			t.Errorf("%q: not %v", name, want)
		}
	}
}

// TestLongLoops: where a driver leaves loops after so many turns, as llvmpipe does, nothing wrong comes of it.
func TestLongLoops(t *testing.T) {
	for _, all := range []bool{false, true} {
		d, err := open(number(), host.Config{UnlimitedLoops: all})
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
	if _, err := listAdapters(); err != nil {
		gputest.Missing(t, err)
	}
	for _, n := range []int{-1, 99} {
		if _, err := (gpuDriver{}).Open(n); err == nil {
			t.Errorf("there is a GPU number %d", n)
		}
	}
}

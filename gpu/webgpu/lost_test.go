//go:build webgpu && cgo

package webgpu

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/cogentcore/webgpu/wgpu"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/gpu/internal/gputest"
	"github.com/gopz/compress/gpu/internal/host"
	"github.com/gopz/compress/internal/testenv"
)

// openLosable opens a device and its driver.
func openLosable(t *testing.T) (*host.Device, *driver) {
	t.Helper()
	d, a, err := openDriver(nth(adapterNumber()))
	if err != nil {
		gputest.Missing(t, err)
	}
	dev, err := host.New(d, host.Config{Name: a.Name, Kind: a.Kind})
	if err != nil {
		t.Fatal(err)
	}
	return dev, d
}

// TestLostDevice checks that every call on a lost device fails, and that Close returns.
func TestLostDevice(t *testing.T) {
	dev, d := openLosable(t)
	defer dev.Close()
	gputest.Smoke(t, dev)
	d.lose()
	for _, kind := range []string{"encode", "decode", "match", "fused"} {
		for range 3 { // on both queues
			if err := gputest.Try(dev, kind, 40_000); !errors.Is(err, errLost) {
				t.Errorf("%s: error %v, want %v", kind, err, errLost)
			}
		}
	}
}

// TestLostInFlight checks that calls return when the library reports the loss of a device at work,
// and that Close frees what the device has finished.
func TestLostInFlight(t *testing.T) {
	for round := range 4 {
		dev, d := openLosable(t)
		var wg sync.WaitGroup
		started := make(chan bool, 2)
		for range 2 {
			wg.Go(func() {
				for i := 0; ; i++ {
					if i == 2 {
						started <- true
					}
					if err := gputest.Try(dev, "match", 40_000); err != nil {
						if i < 2 || !errors.Is(err, errLost) {
							t.Errorf("batch %d: error %v, want %v", i, err, errLost)
						}
						if i < 2 {
							started <- true
						}
						return
					}
				}
			})
		}
		<-started
		<-started
		time.Sleep(time.Duration(round) * 7 * time.Millisecond)
		d.lose()
		wg.Wait()
		dev.Close()
		for end := time.Now().Add(2 * lostWait); d.Held() != 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d objects are held after Close", d.Held())
			}
		}
	}
}

// TestPanic makes the library panic, as it does if the driver reports a loss within a submission.
// The error of the call and of all later ones must be errLost, and another device must work.
func TestPanic(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a panic of the library ends the program on this system")
	}
	panics := map[string]func(d *driver) error{
		"map": func(d *driver) error {
			b, err := d.buffer(wgpu.BufferUsageMapRead|wgpu.BufferUsageCopyDst, 256, false)
			if err != nil {
				return err
			}
			_, err = d.mappedRange(b, 256)
			return err
		},
		"submission": func(d *driver) error {
			usage := wgpu.BufferUsageCopySrc | wgpu.BufferUsageCopyDst
			mapped, err := d.buffer(usage, 256, true)
			if err != nil {
				return err
			}
			other, err := d.buffer(usage, 256, false)
			if err != nil {
				return err
			}
			enc, err := d.dev.CreateCommandEncoder(nil)
			if err != nil {
				return err
			}
			recordCopy(enc, mapped, 0, other, 0, 256)
			commands, err := enc.Finish(nil)
			if err != nil {
				return err
			}
			return d.submit(commands)
		},
	}
	for name, f := range panics {
		for range 3 { // a thread that has panicked panics again
			dev, d := openLosable(t)
			if err := f(d); !errors.Is(err, errLost) || !d.broken.Load() {
				t.Fatalf("%s: error %v; the library panicked: %v", name, err, d.broken.Load())
			}
			for range 3 {
				if err := gputest.Try(dev, "decode", 40_000); !errors.Is(err, errLost) {
					t.Errorf("%s: later error %v, want %v", name, err, errLost)
				}
			}
			if err := dev.Close(); err != nil {
				t.Error(err)
			}
			if err := dev.Run(gpu.StageN, nil); !errors.Is(err, host.ErrClosed) {
				t.Errorf("%s: after Close: error %v", name, err)
			}
		}
	}
	dev, _ := openLosable(t)
	defer dev.Close()
	gputest.Smoke(t, dev)
}

// TestVulkanLoss lets a Vulkan layer report the loss of the device, in a submission or while
// kernels run. Without a guard the library ends the program then.
func TestVulkanLoss(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the library ends the program on this system")
	}
	gcc := testenv.Tool(t, "gcc")
	dir := t.TempDir()
	manifest, err := os.ReadFile("testdata/lose.json")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "lose.json"), manifest, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	build := exec.Command(gcc, "-Wall", "-shared", "-fPIC", "-o", filepath.Join(dir, "lose.so"),
		"testdata/lose.c")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Setenv("VK_LAYER_PATH", dir)
	t.Setenv("VK_INSTANCE_LAYERS", "VK_LAYER_PZ_lose")
	for _, where := range []string{"submit", "wait"} {
		for at := 2; at <= 5; at++ {
			t.Setenv("PZ_LOSE_IN", where)
			t.Setenv("PZ_LOSE_AT", strconv.Itoa(at))
			dev, _ := openLosable(t)
			good := 0
			for ; good < 20 && err == nil; good++ {
				err = gputest.Try(dev, []string{"match", "encode"}[good%2], 40_000)
			}
			if !errors.Is(err, errLost) {
				t.Errorf("%s %d: error %v after %d batches, want %v", where, at, err, good, errLost)
			}
			err = nil
			for range 2 {
				if err := gputest.Try(dev, "decode", 40_000); !errors.Is(err, errLost) {
					t.Errorf("%s %d: later error %v, want %v", where, at, err, errLost)
				}
			}
			dev.Close()
		}
	}
}

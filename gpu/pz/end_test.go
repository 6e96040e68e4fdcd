package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// TestEnds starts devices and ends them at random moments: while they start, compile kernels, work,
// or work on blocks that were given up. In a child process the library closes some devices, and the
// process ends with others at work. In others the command ends, by itself or by a signal. A crash
// of a child fails the test.
func TestEnds(t *testing.T) {
	testenv.Slow(t)
	children := 2
	if testenv.All() {
		children = 34
	}
	for _, device := range append(drivers(t), "soft") {
		t.Run(device, func(t *testing.T) {
			t.Parallel() // they mostly sleep
			if list := pz(t, "", "--list-gpus").out; device != "soft" &&
				!strings.Contains("\n"+list, "\n"+device+":0\t") {
				missing(t, device)
			}
			for i := range children {
				wait := 0
				if i%2 == 1 && (device == "webgpu" || testenv.All()) {
					wait = 6 // wgpu frees a device that is dropped after 5 s, whatever it does
				}
				cmd := exec.Command(os.Args[0], device, fmt.Sprint(i), fmt.Sprint(wait))
				cmd.Env = append(os.Environ(), "PZ_TEST_CHILD=ends", "NODEVICE_SELECT=1")
				out, err := cmd.CombinedOutput()
				t.Logf("child %d: %s", i, out)
				if err != nil {
					t.Fatalf("child %d: %v", i, err)
				}
			}
			testCommandEnds(t, device, 2*children)
		})
	}
}

// testCommandEnds ends the command by a signal at a random moment.
func testCommandEnds(t *testing.T, device string, times int) {
	src := t.TempDir() + "/src"
	if err := os.WriteFile(src, corpus.ByName("text").Make(3<<20), 0o666); err != nil {
		t.Fatal(err)
	}
	pz(t, "", "-5", "-qc", "--backend", "auto", "--gpu-device", device, src).want(t, exitOK)
	rnd := rand.New(rand.NewPCG(1, 2))
	for range times {
		backend := []string{"gpu", "gpu,cpu", "cpu,gpu", "fused"}[rnd.IntN(4)]
		moment := randomMoment(rnd)
		cmd := exec.Command(os.Args[0], "-5", "-qc", "-B1M",
			"--backend", backend, "--gpu-device", device, src)
		cmd.Env = append(os.Environ(), "PZ_TEST_CHILD=1", "PZ_LEVEL=", "PZ_THREADS=")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(moment)
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
		// A signal before the command handles it ends the process itself.
		st := cmd.ProcessState.Sys().(syscall.WaitStatus)
		code := cmd.ProcessState.ExitCode()
		if code != exitOK && code != 128+15 && st.Signal() != syscall.SIGTERM {
			t.Errorf("%s, ended after %v: %v", backend, moment, cmd.ProcessState)
		}
	}
}

// randomMoment returns up to 0.3 s, and up to 1 s at times. Software adapters start in 0.1 s, and
// work for a second on a mebibyte.
func randomMoment(rnd *rand.Rand) time.Duration {
	most := 300 * time.Millisecond
	if rnd.IntN(5) == 0 {
		most = time.Second
	}
	return time.Duration(rnd.Int64N(int64(most)))
}

// endChild is a process that closes devices of one driver at random moments, and then ends at
// another one, some seconds later. Its arguments are the device, a seed and these seconds.
func endChild(args []string) {
	var n uint64
	var wait int
	fmt.Sscan(args[1], &n)
	fmt.Sscan(args[2], &wait)
	device := args[0]
	rnd := rand.New(rand.NewPCG(n, 3))
	longest := time.Duration(0)
	const closes = 5
	for range closes {
		d, stop := startWork(device, rnd)
		time.Sleep(randomMoment(rnd))
		if rnd.IntN(2) == 0 {
			stop() // the device works on blocks that were given up
			time.Sleep(time.Duration(rnd.IntN(30)) * time.Millisecond)
		}
		begin := time.Now()
		d.Close()
		longest = max(longest, time.Since(begin))
		stop()
	}
	startWork(device, rnd)
	time.Sleep(randomMoment(rnd))
	time.Sleep(time.Duration(wait) * time.Second)
	fmt.Printf("%d times closed, in up to %v", closes, longest.Round(time.Millisecond))
	os.Exit(0)
}

// startWork starts a device, and goroutines that use it until stop is called.
func startWork(device string, rnd *rand.Rand) (d gpu.Device, stop func()) {
	lazy, err := gpu.OpenLazy(device)
	if err != nil {
		panic(err)
	}
	lazy.Start()
	d = lazy
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	backends := [][2]gpu.Backend{
		{gpu.BackendGPU, gpu.BackendCPU}, {gpu.BackendCPU, gpu.BackendGPU},
		{gpu.BackendFused, gpu.BackendFused},
	}[rnd.IntN(3)]
	block := 64 << 10 << rnd.IntN(6)
	content := corpus.ByName("text").Make(max(block, 1<<20))
	go func() {
		defer close(ended)
		for lazy.StartTime() == 0 && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		if err := lazy.StartError(); err != nil {
			panic(err)
		}
		s := compress.NewScheduler(2)
		for ctx.Err() == nil {
			w, err := compress.NewWriter(io.Discard, compress.WithScheduler(s), compress.WithContext(ctx),
				compress.WithLevel(5), compress.WithBlockSize(block),
				compress.WithDevice(d, backends[0], backends[1]))
			if err != nil { // the device was closed before it started
				return
			}
			w.Write(content)
			w.Close()
		}
	}()
	return d, func() { cancel(); <-ended }
}

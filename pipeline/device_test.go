package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/corpus"
)

var errTest = errors.New("test")

// withSoft returns a scheduler with statistics and a software device.
func withSoft(t testing.TB, workers int, cfg gpu.SoftConfig) *Scheduler {
	t.Helper()
	s := NewScheduler(workers)
	s.EnableStats(true)
	d := gpu.NewSoft(Host, cfg)
	if err := s.SetDevice(d); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return s
}

// deviceContent returns content of many coded blocks, and of a few other ones.
func deviceContent() []byte {
	if brief() {
		return corpus.ByName("mixed").Make(20*deviceBlock + 9)
	}
	p := corpus.ByName("mixed").Make(50 * deviceBlock)
	p = append(p, make([]byte, 3*deviceBlock)...)
	return append(p, corpus.ByName("text").Make(7*deviceBlock+123)...)
}

const deviceBlock = 3 << 10

var forWorkers = []int{1, 2, 16}

func onBackend(s Stats, backend gpu.Backend) (blocks int64) {
	for _, x := range s.Stages {
		if x.Backend == backend && x.Stage != "check" && x.Stage != "verify" {
			blocks += x.Blocks
		}
	}
	return blocks
}

// sameAsCPU sends content both ways through a scheduler with a device. Payloads must be those of
// the CPU.
func sameAsCPU(t *testing.T, s *Scheduler, p *Pipeline, level int, assign Assignment) {
	t.Helper()
	src := deviceContent()
	want, err := compressAll(NewScheduler(2), p, level, deviceBlock, src)
	if err != nil {
		t.Fatal(err)
	}
	got, err := compressAll(s, p, level, deviceBlock, src, assign)
	if err != nil {
		t.Fatal(err)
	}
	equal := func(a, b encoded) bool {
		return bytes.Equal(a.payload, b.payload) && a.raw == b.raw && a.kind == b.kind && a.sum == b.sum
	}
	if !slices.EqualFunc(got, want, equal) {
		t.Error("the device's blocks differ from the CPU's")
	}
	back, err := decompressAll(s, p, got, assign)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(back, src) {
		t.Error("content differs")
	}
}

// assignments are all that an option can choose.
var assignments = []Assignment{
	{Auto, Auto}, {Auto, CPU}, {Auto, GPU},
	{CPU, Auto}, {CPU, CPU}, {CPU, GPU},
	{GPU, Auto}, {GPU, CPU}, {GPU, GPU},
	{Fused, Fused},
}

// offered are those that offer blocks to the device, without the mixed ones of Auto.
var offered = []Assignment{{GPU, GPU}, {Fused, Fused}, {Auto, Auto}, {GPU, CPU}, {CPU, GPU}}

// TestAssignmentsInterchangeable: output is the same for all assignments, and stages run where they
// are assigned. The device gets whole blocks only with Fused for both stages, or Auto for both.
func TestAssignmentsInterchangeable(t *testing.T) {
	base := runtime.NumGoroutine()
	forEachPipeline(t, func(t *testing.T, p *Pipeline) {
		for _, workers := range forWorkers {
			for _, fused := range []bool{false, true} {
				for _, level := range []int{1, 5} {
					if brief() && (level == 1) != (p.Name == "lzr") {
						continue
					}
					for _, assign := range assignments {
						cfg := gpu.SoftConfig{Batch: 3, Concurrent: 1 + workers%2}
						if !fused {
							cfg.Ops = []gpu.Op{gpu.Stage0, gpu.StageN}
						}
						s := withSoft(t, workers, cfg)
						sameAsCPU(t, s, p, level, assign)
						checkPlaces(t, s.Stats(), assign, fused && p.fused != nil)
					}
				}
			}
		}
	})
	settled(t, base)
}

// checkPlaces checks where stages ran. Fused says that the device can do whole blocks of the
// pipeline.
func checkPlaces(t *testing.T, st Stats, assign Assignment, fused bool) {
	t.Helper()
	if n := onBackend(st, GPU); n == 0 && assign.Strict() {
		t.Errorf("%v: nothing ran on the device", assign)
	}
	whole := fused && assign == (Assignment{Fused, Fused})
	seen := false
	for _, x := range st.Stages {
		switch x.Stage {
		case "fused":
			seen = true
			if !whole && assign != (Assignment{Auto, Auto}) {
				t.Errorf("%v: the device did whole blocks", assign)
			}
		case "lz77", "rans":
			on := assign.Entropy
			if x.Stage == "lz77" {
				on = assign.Match
			}
			elsewhere := on != Auto && x.Backend != on && (on != Fused || x.Backend != GPU)
			if elsewhere || whole && x.Op == Compress {
				t.Errorf("%v: %s ran on %v", assign, x.Stage, x.Backend)
			}
		}
	}
	if whole && !seen {
		t.Errorf("%v: the device did no whole block", assign)
	}
}

// TestDeviceFails: requests that the device fails at are done by the CPU, and the device stays.
func TestDeviceFails(t *testing.T) {
	base := runtime.NumGoroutine()
	for _, workers := range forWorkers {
		for _, assign := range offered {
			s := withSoft(t, workers, gpu.SoftConfig{FailBlock: func(r *gpu.Request) error {
				if r.Block%2 == 1 {
					return errTest
				}
				return nil
			}})
			sameAsCPU(t, s, ByName("lzseqr"), 5, assign)
			st := s.Stats()
			asked := assign != Assignment{Auto, Auto} // else the workers may have been faster
			if asked && st.Failed == 0 || st.Failed != st.Returned || s.DeviceError() != nil {
				t.Errorf("%v: %d failed, %d returned, %v", assign, st.Failed, st.Returned, s.DeviceError())
			}
		}
	}
	settled(t, base)
}

// TestDeviceLost: when a device is lost in the middle of a run, no block is.
func TestDeviceLost(t *testing.T) {
	base := runtime.NumGoroutine()
	for _, workers := range forWorkers {
		for _, assign := range offered {
			for after := range int64(4) {
				s := withSoft(t, workers, gpu.SoftConfig{Batch: 2, Concurrent: 2, LostAfter: after + 1})
				sameAsCPU(t, s, ByName("lzr"), 5, assign)
				// On their own the workers may be done before the device is lost.
				st, err := s.Stats(), s.DeviceError()
				if assign.Match != Auto && (!errors.Is(err, gpu.ErrLost) || st.Returned == 0) {
					t.Errorf("%v: %v, %d returned", assign, err, st.Returned)
				}
			}
		}
	}
	settled(t, base)
}

// TestDeviceStalls: a device that does not answer is given up, and keeps the memory that it may
// still touch.
func TestDeviceStalls(t *testing.T) {
	base := runtime.NumGoroutine()
	for _, workers := range forWorkers {
		for _, assign := range offered {
			s := NewScheduler(workers)
			s.EnableStats(true)
			d := gpu.NewSoft(Host, gpu.SoftConfig{
				Batch: 2, Concurrent: 2, StallAfter: 2, Timeout: 30 * time.Millisecond,
			})
			if err := s.SetDevice(d); err != nil {
				t.Fatal(err)
			}
			sameAsCPU(t, s, ByName("lzseqr"), 5, assign)
			if st := s.Stats(); assign.Match != Auto && (s.DeviceError() == nil || st.Returned == 0) {
				t.Errorf("%v: %v, %d returned", assign, s.DeviceError(), st.Returned)
			}
			d.Close()
		}
	}
	settled(t, base)
}

// TestCancelWithDevice: closing a run after any number of blocks leaves no goroutine.
func TestCancelWithDevice(t *testing.T) {
	base := runtime.NumGoroutine()
	src := corpus.ByName("text").Make(deviceBlock)
	for _, workers := range forWorkers {
		for after := range 13 {
			s := withSoft(t, workers, gpu.SoftConfig{Batch: 3})
			r := s.Start(Config{
				Pipeline: ByName("lzseqr"), Op: Compress, Level: 5, InFlight: 12,
				Assign: Assignment{GPU, GPU},
			})
			for range 12 {
				b := r.Get()
				copy(b.Grow(len(src)), src)
				r.Submit(b)
			}
			for range after {
				b, _ := r.Next(true)
				if b == nil {
					break
				}
				if b.Err != nil {
					t.Fatal(b.Err)
				}
			}
			r.Close()
		}
	}
	settled(t, base)
}

// TestCheckAssignment: Check fails if the device cannot do what a strict assignment asks for.
func TestCheckAssignment(t *testing.T) {
	cfg := Config{
		Pipeline: ByName("lzseqr"), Op: Compress, Level: 5, BlockSize: 1 << 20, Assign: Assignment{GPU, CPU},
	}
	if err := NewScheduler(1).Check(cfg); !errors.Is(err, errNoDevice) {
		t.Error("no device:", err)
	}
	s := withSoft(t, 1, gpu.SoftConfig{Ops: []gpu.Op{gpu.StageN}, MinSize: 1 << 16, MaxSize: 1 << 20})
	if err := s.Check(cfg); !errors.Is(err, errCannot) {
		t.Error("stage:", err)
	}
	cfg.Assign = Assignment{Auto, GPU}
	for size, ok := range map[int]bool{1 << 15: false, 1 << 16: true, 1 << 20: true, 1 << 21: false} {
		cfg.BlockSize = size
		if err := s.Check(cfg); (err == nil) != ok {
			t.Errorf("size %d: %v", size, err)
		}
	}
	if err := s.SetDevice(gpu.NewSoft(Host, gpu.SoftConfig{})); !errors.Is(err, errDevice) {
		t.Error("second device:", err)
	}
	// Fused asks for both stages, as GPU does, and for no more.
	for _, x := range []struct {
		only []gpu.Op
		ok   bool
	}{
		{[]gpu.Op{gpu.Stage0, gpu.StageN}, true},
		{[]gpu.Op{gpu.StageN, gpu.Fused}, false},
		{[]gpu.Op{gpu.Stage0, gpu.Fused}, false},
		{nil, true},
	} {
		s := withSoft(t, 1, gpu.SoftConfig{Ops: x.only})
		for _, b := range []gpu.Backend{GPU, Fused} {
			cfg.BlockSize, cfg.Assign = 1<<20, Assignment{b, b}
			if err := s.Check(cfg); (err == nil) != x.ok || err != nil && !errors.Is(err, errCannot) {
				t.Errorf("%v on a device that does %v: %v", b, x.only, err)
			}
		}
	}
}

// TestPays: MinAuto keeps smaller blocks of Auto away from the device, and no others. MinAutoDecode
// does so when decoding. Computing takes no time of the bubble's clock, so that no idle worker
// reclaims what the device has.
func TestPays(t *testing.T) {
	p := ByName("lzseqr")
	blocks, err := compressAll(NewScheduler(2), p, 5, deviceBlock, deviceContent())
	if err != nil {
		t.Fatal(err)
	}
	for _, pays := range []int{0, deviceBlock, deviceBlock + 1, math.MaxInt} {
		for _, backend := range []gpu.Backend{Auto, GPU, Fused} {
			synctest.Test(t, func(t *testing.T) {
				s := withSoft(t, 2, gpu.SoftConfig{MinAuto: pays, MinAutoDecode: math.MaxInt})
				sameAsCPU(t, s, p, 5, Assignment{backend, backend})
				n, want := onBackend(s.Stats(), GPU), backend != Auto || pays <= deviceBlock
				if (n > 0) != want {
					t.Errorf("from %d bytes on, %v: %d blocks on the device", pays, backend, n)
				}
				s = withSoft(t, 2, gpu.SoftConfig{MinAuto: math.MaxInt, MinAutoDecode: pays})
				if _, err := decompressAll(s, p, blocks, Assignment{backend, backend}); err != nil {
					t.Fatal(err)
				}
				if n := onBackend(s.Stats(), GPU); (n > 0) != want {
					t.Errorf("decoding from %d bytes on, %v: %d blocks on the device", pays, backend, n)
				}
			})
		}
	}
}

func ExampleStats() {
	s := Stats{Compute: 99 * time.Second, QueueWait: time.Second}
	fmt.Println(s.OverheadPct())
	// Output: 1
}

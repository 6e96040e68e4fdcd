package gputest_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/gpu/internal/gputest"
	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/pipeline"
)

// TestSoftConforms: the software device, which is made of the CPU's code, passes the conformance
// suite.
func TestSoftConforms(t *testing.T) {
	configs := []gpu.SoftConfig{{Batch: 7, Concurrent: 3}}
	if testenv.All() && !testenv.Race {
		configs = append(configs, gpu.SoftConfig{})
	}
	for _, cfg := range configs {
		gputest.Run(t, func(c gputest.Config) (gpu.Device, error) {
			cfg.Fault = c.Fault
			return gpu.NewSoft(pipeline.Host, cfg), nil
		})
	}
}

// broken lists devices with one defect each, and the test of the conformance suite that must notice
// it.
var broken = map[string]struct {
	notices string
	device  func(c gputest.Config) gpu.Device
}{
	"payload": {"EncodeDecode", spoiled(func(r *gpu.Request) error {
		if r.Op == gpu.StageN && !r.Decode && len(r.Streams.Lits) == 16384+33 {
			r.Dst[len(r.Dst)-1] ^= 1
		}
		return nil
	})},
	"layout": {"EncodeDecode", spoiled(func(r *gpu.Request) error {
		if r.Decode && len(r.Src) > 30_000 {
			r.Layout = nil
		}
		return nil
	})},
	"sequences": {"Match", spoiled(func(r *gpu.Request) error {
		if r.Op == gpu.Stage0 && len(r.Src) == 2048+16 {
			r.Candidates[0] = 0
			r.Candidates[1000] += 1 << finder.CandidateOffsetBits
		}
		return nil
	})},
	"far": {"HostileMatch", spoiled(func(r *gpu.Request) error {
		if r.Op == gpu.Stage0 && r.Limits.MaxOffset == 32 {
			r.Limits.MaxOffset = 33
			defer func() { r.Limits.MaxOffset = 32 }()
			return pipeline.Host(r)
		}
		return nil
	})},
	"fused": {"Fused", spoiled(func(r *gpu.Request) error {
		if r.Op == gpu.Fused {
			r.Dst = append(r.Dst, 0)
		}
		return nil
	})},
	"damage": {"HostileWork", spoiled(func(r *gpu.Request) error { r.Err = nil; return nil })},
	"batch": {"Batches", func(c gputest.Config) gpu.Device {
		soft := gpu.NewSoft(pipeline.Host, gpu.SoftConfig{Batch: 5, Fault: c.Fault})
		return &faulty{soft, func(d gpu.Device, op gpu.Op, batch []*gpu.Request) error {
			if len(batch) == 5 {
				batch = batch[:4]
			}
			return d.Run(op, batch)
		}}
	}},
	"loss": {"Lost", func(c gputest.Config) gpu.Device {
		soft := gpu.NewSoft(pipeline.Host, gpu.SoftConfig{})
		return &faulty{soft, func(d gpu.Device, op gpu.Op, batch []*gpu.Request) error {
			return d.Run(op, batch)
		}}
	}},
	"goroutine": {"Release", func(c gputest.Config) gpu.Device {
		go func() { select {} }()
		return gpu.NewSoft(pipeline.Host, gpu.SoftConfig{Fault: c.Fault})
	}},
}

// spoiled returns a device whose results spoil changes. The result of spoil is the request's error
// if it has none.
func spoiled(spoil func(*gpu.Request) error) func(gputest.Config) gpu.Device {
	return func(c gputest.Config) gpu.Device {
		soft := gpu.NewSoft(pipeline.Host, gpu.SoftConfig{Batch: 9, Fault: c.Fault})
		return &faulty{soft, func(d gpu.Device, op gpu.Op, batch []*gpu.Request) error {
			err := d.Run(op, batch)
			for _, r := range batch {
				e := spoil(r)
				if r.Err == nil {
					r.Err = e
				}
			}
			return err
		}}
	}
}

type faulty struct {
	gpu.Device
	run func(d gpu.Device, op gpu.Op, batch []*gpu.Request) error
}

func (f *faulty) Run(op gpu.Op, batch []*gpu.Request) error { return f.run(f.Device, op, batch) }

// TestBroken runs the conformance suite on a broken device, for TestSuiteCatches.
func TestBroken(t *testing.T) {
	b, ok := broken[os.Getenv("PZ_TEST_BROKEN")]
	if !ok {
		t.Skip("run by TestSuiteCatches")
	}
	gputest.Run(t, func(c gputest.Config) (gpu.Device, error) { return b.device(c), nil })
}

// TestSuiteCatches: the conformance suite, which devices outside this module run as well, notices
// each defect.
func TestSuiteCatches(t *testing.T) {
	testenv.Long(t)
	for name, b := range broken {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := "^TestBroken$/^(work|" + b.notices + ")$/^" + b.notices + "$"
			cmd := exec.Command(os.Args[0], "-test.run", run, "-test.short", "-test.timeout", "1m")
			cmd.Env = append(os.Environ(), "PZ_TEST_BROKEN="+name)
			out, err := cmd.CombinedOutput()
			if exit := new(exec.ExitError); !errors.As(err, &exit) {
				t.Fatalf("the suite passes: %v\n%s", err, out)
			}
			s := string(out)
			if !strings.Contains(s, "--- FAIL: TestBroken/") || !strings.Contains(s, "/"+b.notices+" (") {
				t.Errorf("%s does not notice:\n%s", b.notices, s)
			}
		})
	}
}

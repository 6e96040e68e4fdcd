package pipeline

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/gpu/gputest"
	"github.com/gopz/compress/lz77"
)

// TestSoftConforms: the software device, which is made of the CPU's code, passes what all devices
// must.
func TestSoftConforms(t *testing.T) {
	for _, cfg := range []gpu.SoftConfig{{}, {Batch: 7, Concurrent: 3}} {
		gputest.Run(t, func(c gputest.Config) (gpu.Device, error) {
			cfg.Fault = c.Fault
			return gpu.NewSoft(Host, cfg), nil
		})
	}
}

// broken are devices that do something wrong, and the tests that must notice: the suite is worth as
// much as it finds.
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
			r.Candidates[0], r.Candidates[1000] = 0, r.Candidates[1000]+1<<lz77.CandidateOffsetBits
		}
		return nil
	})},
	"far": {"HostileMatch", spoiled(func(r *gpu.Request) error {
		if r.Op == gpu.Stage0 && r.Limits.MaxOffset == 32 {
			r.Limits.MaxOffset = 33
			defer func() { r.Limits.MaxOffset = 32 }()
			return Host(r)
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
		return &faulty{Device: gpu.NewSoft(Host, gpu.SoftConfig{Batch: 5, Fault: c.Fault}), run: func(d gpu.Device, op gpu.Op, batch []*gpu.Request) error {
			if len(batch) == 5 {
				batch = batch[:4]
			}
			return d.Run(op, batch)
		}}
	}},
	"loss": {"Lost", func(c gputest.Config) gpu.Device {
		return &faulty{Device: gpu.NewSoft(Host, gpu.SoftConfig{}), run: func(d gpu.Device, op gpu.Op, batch []*gpu.Request) error {
			return d.Run(op, batch)
		}}
	}},
	"goroutine": {"Release", func(c gputest.Config) gpu.Device {
		go func() { select {} }()
		return gpu.NewSoft(Host, gpu.SoftConfig{Fault: c.Fault})
	}},
}

// spoiled is a device whose results another function has changed; what that function returns is the
// request's error if there was none.
func spoiled(spoil func(*gpu.Request) error) func(gputest.Config) gpu.Device {
	return func(c gputest.Config) gpu.Device {
		return &faulty{Device: gpu.NewSoft(Host, gpu.SoftConfig{Batch: 9, Fault: c.Fault}), run: func(d gpu.Device, op gpu.Op, batch []*gpu.Request) error {
			err := d.Run(op, batch)
			for _, r := range batch {
				if e := spoil(r); r.Err == nil {
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

// TestBroken runs the suite on a broken device, for TestSuiteCatches.
func TestBroken(t *testing.T) {
	b, ok := broken[os.Getenv("PZ_TEST_BROKEN")]
	if !ok {
		t.Skip("run by TestSuiteCatches")
	}
	gputest.Run(t, func(c gputest.Config) (gpu.Device, error) { return b.device(c), nil })
}

func TestSuiteCatches(t *testing.T) {
	for name, b := range broken {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], "-test.run", "^TestBroken$/^(work|"+b.notices+")$/^"+b.notices+"$", "-test.short", "-test.timeout", "1m")
			cmd.Env = append(os.Environ(), "PZ_TEST_BROKEN="+name)
			out, err := cmd.CombinedOutput()
			if exit := new(exec.ExitError); !errors.As(err, &exit) {
				t.Fatalf("the suite passes: %v\n%s", err, out)
			}
			if s := string(out); !strings.Contains(s, "--- FAIL: TestBroken/") || !strings.Contains(s, "/"+b.notices+" (") {
				t.Errorf("%s does not notice:\n%s", b.notices, s)
			}
		})
	}
}

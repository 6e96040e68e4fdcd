// Package gputest is the conformance suite for every [gpu.Device]. It compares each kind of request
// with the CPU's code: sizes around limits, batches of all sizes, hostile input, loss of the
// device, concurrent use, and the release of all resources. A device runs it from one test:
//
//	gputest.Run(t, func(c gputest.Config) (gpu.Device, error) { … })
//
// Without PZ_TEST=all, each test runs a part of its cases, for software adapters. [RunSmall] runs
// fewer and smaller ones.
package gputest

import (
	"testing"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/testenv"
)

// Config configures the device that a test opens.
type Config struct {
	// Fault, if set, must be called before every submission, from any goroutine. Run must return
	// its error, which simulates the loss of the device.
	Fault func() error
}

// Open opens a device; the suite closes it. If Open returns an error, the tests are skipped, or
// fail if the environment variable CI is set. The error says what to install.
type Open func(Config) (gpu.Device, error)

// amount says how many cases a test runs.
type amount uint8

const (
	few amount = iota // for an interpreter of kernels
	some
	all
)

// Run runs the suite. It opens several devices, one after the other.
func Run(t *testing.T, open Open) { suite(t, open, some) }

// RunSmall runs the suite with small contents, for a device that is a thousand times slower than a
// GPU. With PZ_TEST=all it runs what Run does without.
func RunSmall(t *testing.T, open Open) { suite(t, open, few) }

func suite(t *testing.T, open Open, n amount) {
	if testenv.All() {
		n++
	}
	t.Run("work", func(t *testing.T) {
		d := open.device(t, Config{})
		defer d.Close()
		t.Run("Info", func(t *testing.T) { testInfo(t, d) })
		t.Run("EncodeDecode", func(t *testing.T) { testEncodeDecode(t, d, n) })
		t.Run("Match", func(t *testing.T) { testMatch(t, d, n) })
		t.Run("Fused", func(t *testing.T) { testFused(t, d, n) })
		t.Run("Large", func(t *testing.T) { testLarge(t, d, n) })
		t.Run("Batches", func(t *testing.T) { testBatches(t, d, n) })
		t.Run("HostileDecode", func(t *testing.T) { testHostileDecode(t, d, n) })
		t.Run("HostileWork", func(t *testing.T) { testHostileWork(t, d) })
		t.Run("HostileMatch", func(t *testing.T) { testHostileMatch(t, d, n) })
		t.Run("HostileFused", func(t *testing.T) { testHostileFused(t, d) })
	})
	t.Run("Lost", func(t *testing.T) { testLost(t, open, n) })
	t.Run("ManyAtOnce", func(t *testing.T) { testManyAtOnce(t, open, n) })
	t.Run("Release", func(t *testing.T) { testRelease(t, open) })
}

// device opens a device.
func (open Open) device(t testing.TB, c Config) gpu.Device {
	t.Helper()
	d, err := open(c)
	if err != nil {
		Missing(t, err)
	}
	return d
}

// Missing skips a test for which there is no device, or fails it if CI is set.
func Missing(t testing.TB, err error) {
	t.Helper()
	testenv.Missing(t, err.Error())
}

// require skips a test if the device does not support op.
func require(t *testing.T, d gpu.Device, op gpu.Op) {
	t.Helper()
	if d.Info().Ops[op].Batch == 0 {
		t.Skipf("the device does not support %v", op)
	}
}

// run runs a batch, which must succeed.
func run(t *testing.T, d gpu.Device, batch []*gpu.Request) {
	t.Helper()
	if err := d.Run(batch[0].Op, batch); err != nil {
		t.Fatal(err)
	}
}

// testInfo checks that Info is consistent, and that unsupported kinds of requests fail.
func testInfo(t *testing.T, d gpu.Device) {
	info := d.Info()
	if info.Name == "" || info.Concurrent < 1 || info.Timeout < 0 || d.Info() != info {
		t.Errorf("Info() = %+v, or it changes", info)
	}
	for op := range gpu.Op(gpu.NumOps) {
		l := info.Ops[op]
		if l.Batch == 0 {
			if err := d.Run(op, []*gpu.Request{{Op: op}}); err == nil {
				t.Errorf("Run succeeds for %v, which Info does not list", op)
			}
			continue
		}
		if l.Batch < 0 || l.Bytes < 0 || l.MinSize < 0 || l.MaxSize < max(l.MinSize, 1<<20) ||
			l.MinAuto < 0 || l.MinAutoDecode < 0 {
			t.Errorf("limits of %v are out of range: %+v", op, l)
		}
	}
	if err := d.Run(gpu.NumOps, []*gpu.Request{{Op: gpu.NumOps}}); err == nil {
		// A software device may set the error of each request.
		r := &gpu.Request{Op: gpu.NumOps}
		if d.Run(gpu.NumOps, []*gpu.Request{r}) == nil && r.Err == nil {
			t.Error("Run succeeds for an unknown kind of request")
		}
	}
}

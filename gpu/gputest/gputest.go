// Package gputest is what every [gpu.Device] has to pass: each operation against the CPU's code, with sizes around the edges, batches from one request to the limit,
// hostile input, loss, concurrent use, and the release of everything. A new kind of device gets it for one line in a test:
//
//	gputest.Run(t, func(c gputest.Config) (gpu.Device, error) { … })
//
// In short mode there is less of everything, for devices that software plays.
package gputest

import (
	"os"
	"testing"

	"github.com/gopz/compress/gpu"
)

// Config is what a test wants of the device that it opens.
type Config struct {
	// Fault, if set, is to be asked before everything that is submitted to the device, from any goroutine. Its error plays the loss of the device: it must come out of
	// the call of Run, as itself or wrapped.
	Fault func() error
}

// Open opens a device, which the suite closes. An error says that there is none, and what to install: the tests are then passed over, but where the environment
// variable CI is set they fail.
type Open func(Config) (gpu.Device, error)

// Run runs the suite. It opens several devices, one after the other.
func Run(t *testing.T, open Open) {
	t.Run("work", func(t *testing.T) {
		d := open.device(t, Config{})
		defer d.Close()
		t.Run("Info", func(t *testing.T) { testInfo(t, d) })
		t.Run("EncodeDecode", func(t *testing.T) { testEncodeDecode(t, d) })
		t.Run("Match", func(t *testing.T) { testMatch(t, d) })
		t.Run("Fused", func(t *testing.T) { testFused(t, d) })
		t.Run("Large", func(t *testing.T) { testLarge(t, d) })
		t.Run("Batches", func(t *testing.T) { testBatches(t, d) })
		t.Run("HostileDecode", func(t *testing.T) { testHostileDecode(t, d) })
		t.Run("HostileWork", func(t *testing.T) { testHostileWork(t, d) })
		t.Run("HostileMatch", func(t *testing.T) { testHostileMatch(t, d) })
		t.Run("HostileFused", func(t *testing.T) { testHostileFused(t, d) })
	})
	t.Run("Lost", func(t *testing.T) { testLost(t, open) })
	t.Run("ManyAtOnce", func(t *testing.T) { testManyAtOnce(t, open) })
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

// Missing ends a test for which there is no device.
func Missing(t testing.TB, err error) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(err)
	}
	t.Skip(err)
}

// does passes a test over if the device does not do op.
func does(t *testing.T, d gpu.Device, op gpu.Op) {
	t.Helper()
	if d.Info().Ops[op].Batch == 0 {
		t.Skipf("%v is not done", op)
	}
}

// run has a batch done, which must succeed.
func run(t *testing.T, d gpu.Device, batch []*gpu.Request) {
	t.Helper()
	if err := d.Run(batch[0].Op, batch); err != nil {
		t.Fatal(err)
	}
}

func testInfo(t *testing.T, d gpu.Device) {
	info := d.Info()
	if info.Name == "" || info.Concurrent < 1 || info.Timeout < 0 || d.Info() != info {
		t.Errorf("%+v", info)
	}
	for op := range gpu.Op(gpu.NumOps) {
		l := info.Ops[op]
		if l.Batch == 0 {
			if err := d.Run(op, []*gpu.Request{{Op: op}}); err == nil {
				t.Errorf("%v is done", op)
			}
			continue
		}
		if l.Batch < 0 || l.Bytes < 0 || l.MinSize < 0 || l.MaxSize < max(l.MinSize, 1<<20) || l.MinAuto < 0 || l.MinAutoDecode < 0 {
			t.Errorf("%v: %+v", op, l)
		}
	}
	if err := d.Run(gpu.NumOps, []*gpu.Request{{Op: gpu.NumOps}}); err == nil {
		// A device in software may say so in each request.
		r := &gpu.Request{Op: gpu.NumOps}
		if d.Run(gpu.NumOps, []*gpu.Request{r}) == nil && r.Err == nil {
			t.Error("an operation that there is not is done")
		}
	}
}

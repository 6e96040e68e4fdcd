package bbtest

import (
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/pipeline"
)

// DeviceScheduler returns a scheduler with statistics, and a software device for WithDevice. The
// end of the test closes the device.
func DeviceScheduler(
	t testing.TB, workers int, cfg gpu.SoftConfig,
) (*compress.Scheduler, gpu.Device) {
	t.Helper()
	s := compress.NewScheduler(workers)
	s.EnableStats(true)
	d := gpu.NewSoft(pipeline.Host, cfg)
	t.Cleanup(func() { d.Close() })
	return s, d
}

// RanOn returns the number of stages of blocks that ran on a backend.
func RanOn(s compress.Stats, on gpu.Backend) (n int64) {
	for _, x := range s.Stages {
		if x.Backend == on && x.Name != "check" && x.Name != "verify" {
			n += x.Blocks
		}
	}
	return n
}

// WrongDevice flips a bit in each result of encoding or decoding.
type WrongDevice struct {
	gpu.Device
	Decode bool
}

func (d WrongDevice) Run(op gpu.Op, batch []*gpu.Request) error {
	err := d.Device.Run(op, batch)
	for _, r := range batch {
		p := r.Dst
		if r.Decode {
			p = r.Streams.Lits
		}
		if r.Decode == d.Decode {
			p[len(p)/2] ^= 1
		}
	}
	return err
}

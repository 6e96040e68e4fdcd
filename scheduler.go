package compress

import (
	"sync"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/pipeline"
)

// Scheduler is a pool of workers that any number of Writers and Readers may share, from any goroutines, and a device if it is
// given one. It has goroutines only while there is work, and need not be closed. The zero value stands for the one that all share without
// options.
type Scheduler struct{ s *pipeline.Scheduler }

var sharedScheduler = sync.OnceValue(func() *pipeline.Scheduler { return pipeline.NewScheduler(0) })

// NewScheduler returns a scheduler of that many workers, [MaxConcurrency] at most; 0 or less means GOMAXPROCS.
func NewScheduler(workers int) *Scheduler { return &Scheduler{pipeline.NewScheduler(workers)} }

func (s *Scheduler) get() *pipeline.Scheduler {
	if s == nil || s.s == nil {
		return sharedScheduler()
	}
	return s.s
}

// Workers is the number of blocks that are worked on at the same time, not counting those that a device has.
func (s *Scheduler) Workers() int { return s.get().Workers() }

// SetDevice gives the scheduler a device, for all that use the scheduler from then on. There can be one: a second one, or nil, is an [ErrDevice]. It remains the
// caller's to close, after everything that may use it.
//
// A device that fails costs time and no data: its blocks go back to the workers. [Scheduler.DeviceError] tells.
func (s *Scheduler) SetDevice(d gpu.Device) error {
	if err := s.get().SetDevice(d); err != nil {
		return &Error{Kind: ErrDevice, Block: -1, Offset: -1, Err: err}
	}
	return nil
}

// DeviceError is why the scheduler has given its device up, nil if it has not.
func (s *Scheduler) DeviceError() error { return s.get().DeviceError() }

// EnableStats switches statistics on or off, for Writers and Readers that begin or are Reset from then on. They are off at first, and cost nothing
// then.
func (s *Scheduler) EnableStats(on bool) { s.get().EnableStats(on) }

// Stats returns the statistics of all that has ended, since the beginning or the last ResetStats. A Writer or Reader ends
// when it is closed or Reset, comes to the end of its input, fails, or is garbage.
func (s *Scheduler) Stats() SchedulerStats { return s.get().Stats() }

// ResetStats forgets what has ended.
func (s *Scheduler) ResetStats() { s.get().ResetStats() }

// SchedulerStats says where the time went.
type SchedulerStats = pipeline.Stats

// StageStats is what one stage did on one backend.
type StageStats = pipeline.StageStats

// StageEvent is a stage that ran.
type StageEvent = pipeline.Event

// Backend says where a stage runs.
type Backend = pipeline.Backend

const (
	Auto  = pipeline.Auto  // on the device, as long as it keeps up
	CPU   = pipeline.CPU   // never on the device
	GPU   = pipeline.GPU   // on the device, however long blocks have to wait; only what it cannot do, or fails at, is the CPU's
	Fused = pipeline.Fused // so, and a whole block in one request where device and level allow it; for both stages together
)

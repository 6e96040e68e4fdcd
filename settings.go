package compress

import (
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/pipeline"
)

// smallBlock is how far a known content size lowers the block size, in bytes. Below it the memory
// saved is not worth a different header.
const smallBlock = 64 << 10

// newOptions applies opts to the defaults.
func newOptions(opts []Option) (options, error) {
	o := options{
		level:       DefaultLevel,
		pipe:        pipeline.ByName(DefaultPipeline),
		contentSize: -1,
	}
	o.limits.MaxDecoded, o.limits.Checks = -1, true
	for _, opt := range opts {
		if opt == nil {
			continue
		}
		if err := opt(&o); err != nil {
			return o, err
		}
	}
	if o.assign.Strict() && o.device() == nil {
		return o, errs.New(ErrDevice, "the scheduler has no device")
	}
	if o.blockSize == 0 {
		o.blockSize = o.pipe.BlockSize(o.level)
	}
	return o, nil
}

// newWriterOptions is newOptions for compression: it also fixes the block size.
func newWriterOptions(opts []Option) (options, error) {
	o, err := newOptions(opts)
	if err != nil {
		return o, err
	}
	if most := o.pipe.MaxBlock; most > 0 && o.blockSize > most {
		return o, errs.BadOption("blocks of pipeline %s have at most %d bytes, not %d", o.pipe.Name, most, o.blockSize)
	}
	if o.contentSize >= 0 && o.contentSize < int64(o.blockSize) {
		o.blockSize = min(o.blockSize, max(smallBlock, ceilPow2(int(o.contentSize))))
	}
	return o, nil
}

// scheduler returns the scheduler that the options ask for: a new one if it is to be private.
func (o *options) scheduler() *pipeline.Scheduler {
	switch {
	case o.sched != nil && o.sched.s != nil:
		return o.sched.s
	case o.workers > 0:
		return pipeline.NewScheduler(o.workers)
	}
	return sharedScheduler()
}

// workerCount returns the number of workers of that scheduler.
func (o *options) workerCount() int {
	if o.sched == nil && o.workers > 0 {
		return o.workers
	}
	return o.scheduler().Workers()
}

// config returns the configuration of a run in one direction.
func (o *options) config(op pipeline.Op, p *pipeline.Pipeline, checks bool, inFlight int) pipeline.Config {
	return pipeline.Config{
		Pipeline: p, Op: op, Level: o.level, Tuning: o.tuning, InFlight: inFlight, Checks: checks,
		Context: o.limits.Context, Assign: o.assign, Trace: o.trace,
	}
}

// device returns the device that blocks may go to, nil if there is none.
func (o *options) device() gpu.Device {
	if o.sched == nil && o.workers > 0 || o.assign.Match == CPU && o.assign.Entropy == CPU {
		return nil
	}
	return o.scheduler().Device()
}

// checkBackend reports whether s can do what [WithBackend] demands, for blocks of that size.
func (o *options) checkBackend(
	s *pipeline.Scheduler, op pipeline.Op, p *pipeline.Pipeline, checks bool, blockSize int,
) error {
	if p == nil || !o.assign.Strict() {
		return nil
	}
	if err := s.Check(o.config(op, p, checks, 0), blockSize); err != nil {
		return errs.Wrap(ErrDevice, err)
	}
	return nil
}

// isShared reports whether the options bind a run to nothing of the caller's, so that it can be
// kept for other calls.
func (o *options) isShared() bool {
	return o.limits.Context == nil && o.sched == nil && o.workers == 0 && o.trace == nil &&
		o.assign == pipeline.Assignment{}
}

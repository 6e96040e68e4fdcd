package compress

import (
	"github.com/gopz/compress/pipeline"
)

// A stream holds the run of a Writer, a Reader or an entry of a ReaderAt's cache. The run outlives
// a Close, so that the buffers of its blocks serve the next Reset.
type stream struct {
	run     *pipeline.Run
	earlier SchedulerStats // of runs before this one
}

// statistics returns the sum of the statistics of all runs.
func (s *stream) statistics() SchedulerStats {
	var sum SchedulerStats
	sum.Add(&s.earlier)
	if s.run != nil {
		t := s.run.Stats()
		sum.Add(&t)
	}
	return sum
}

// start begins a run in place of the one there may be.
func (s *stream) start(sched *pipeline.Scheduler, cfg pipeline.Config) {
	s.stop()
	s.run = sched.Start(cfg)
}

// stop closes the run, if there is one, and waits for its blocks that workers have begun.
func (s *stream) stop() {
	if s.run != nil {
		s.run.Close()
		t := s.run.Stats()
		s.earlier.Add(&t)
		s.run = nil
	}
}

// rest lets other runs have the workers' scratch memory until the next Reset.
func (s *stream) rest() {
	if s.run != nil {
		s.run.Rest()
	}
}

// pending returns the number of blocks submitted and not returned.
func (s *stream) pending() int {
	if s.run == nil {
		return 0
	}
	return s.run.Pending()
}

// recycle keeps the run if all its blocks are free, and closes it otherwise: blocks may be in
// flight, or lost to a panic of the caller's code.
func (s *stream) recycle() {
	if s.run != nil && s.run.Taken() > 0 {
		s.stop()
	}
}

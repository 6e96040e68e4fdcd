package compress

import (
	"io"

	"github.com/gopz/compress/pipeline"
)

// runner holds the run of a Writer or Reader through the scheduler. It outlives a Close, so that the blocks' buffers are
// there for the next Reset.
type runner struct {
	run   *pipeline.Run
	stats SchedulerStats // of runs before this one
}

// statistics adds up what all runs have done so far.
func (r *runner) statistics() SchedulerStats {
	var s SchedulerStats
	s.Add(&r.stats)
	if r.run != nil {
		t := r.run.Stats()
		s.Add(&t)
	}
	return s
}

// start begins a run in place of the one there may be.
func (r *runner) start(s *pipeline.Scheduler, cfg pipeline.Config) {
	r.stop()
	r.run = s.Start(cfg)
}

// stop closes the run, if there is one, and waits for blocks that are being worked on.
func (r *runner) stop() {
	if r.run != nil {
		r.run.Close()
		t := r.run.Stats()
		r.stats.Add(&t)
		r.run = nil
	}
}

// rest lets others have the workers' scratch memory until the owner is Reset.
func (r *runner) rest() {
	if r.run != nil {
		r.run.Rest()
	}
}

// pending is the number of blocks that have been submitted and not taken back.
func (r *runner) pending() int {
	if r.run == nil {
		return 0
	}
	return r.run.Pending()
}

// free sees to it that all blocks of the run are free, or there is no run. Blocks may be on their way, and one is lost where a method of the caller's panics.
func (r *runner) free() {
	if r.run != nil && r.run.Taken() > 0 {
		r.stop()
	}
}

// maxEmptyReads is how many reads in a row may give nothing before io.ErrNoProgress; that of package bufio.
const maxEmptyReads = 100

// readFull reads until p is full. Unlike io.ReadFull it gives up on a reader that does nothing, and says plain io.EOF at
// the end of the input, however much was read.
func readFull(r io.Reader, p []byte) (n int, err error) {
	empty := 0
	for n < len(p) {
		m, err := r.Read(p[n:])
		if m < 0 || m > len(p)-n {
			return n, errBadCount
		}
		n += m
		switch {
		case n == len(p):
			return n, nil
		case err != nil:
			return n, err
		case m > 0:
			empty = 0
		default:
			if empty++; empty == maxEmptyReads {
				return n, io.ErrNoProgress
			}
		}
	}
	return n, nil
}

// writeFull writes p and makes sure that a count that is too small comes with an error.
func writeFull(w io.Writer, p []byte) (int, error) {
	n, err := w.Write(p)
	if n < 0 || n > len(p) {
		return 0, errBadCount
	}
	if n < len(p) && err == nil {
		err = io.ErrShortWrite
	}
	return n, err
}

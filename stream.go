package compress

import (
	"github.com/gopz/compress/internal/ldm"
	"github.com/gopz/compress/pipeline"
)

// A stream holds the run of a Writer, a Reader or an entry of a ReaderAt's cache. The run outlives
// a Close, so that the buffers of its blocks serve the next Reset.
type stream struct {
	run     *pipeline.Run
	earlier SchedulerStats // of runs before this one

	finder *ldm.Finder // of the run of a Writer with WithLongDistance, else nil
	window *ldm.Window // of the run of a Reader, if blocks refer to earlier ones, else nil
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

// smallContent is where content begins to be worth a worker, in bytes. A worker of a busy scheduler
// may be tens of milliseconds in coming, and a goroutine takes some µs to start. So the goroutine of
// the caller codes a block of less content itself if it would wait for that block anyway:
//
//   - AppendEncode, if the whole content is small
//   - Flush and Close of a Writer, if no other block is in flight
//   - a Reader and AppendDecode, for the first smallContent bytes of the content, and for a block
//     behind which reading on may block, if no other block is in flight
//
// A stream of many small blocks keeps its parallelism. The content of a part of a .gz file is not
// known in advance. Such a part counts as small if its input is.
const smallContent = 64 << 10

// submit gives a block with size bytes of content to the run. With waits set the caller waits for the
// block next. Then the caller's goroutine codes the block itself if it is small.
func (s *stream) submit(b *pipeline.Block, size int, waits bool) {
	if waits && size < smallContent && s.run.Pending() == 0 {
		s.run.Do(b)
	} else {
		s.run.Submit(b)
	}
}

// start begins a run in place of the run before. It keeps that run's free blocks if it can.
func (s *stream) start(sched *pipeline.Scheduler, cfg pipeline.Config) {
	if s.run != nil && s.run.Reset(sched, cfg) {
		return
	}
	s.stop()
	s.run = sched.Start(cfg)
}

// unbind drops what the run refers to, until the next start. If blocks are in flight, it closes the
// run.
func (s *stream) unbind() {
	if s.recycle(); s.run != nil {
		s.run.Unbind()
	}
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

// releaseScratch lets other runs have the workers' scratch memory until the next Reset.
func (s *stream) releaseScratch() {
	if s.run != nil {
		s.run.ReleaseScratch()
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

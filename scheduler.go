package compress

import (
	"sync"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/pipeline"
	"github.com/gopz/compress/simd"
)

// Scheduler is a pool of workers that any number of Writers and Readers may share, from any
// goroutines, with a device if it is given one. It has goroutines only while there is work, and
// need not be closed. The zero value stands for the scheduler that the whole process shares.
type Scheduler struct{ s *pipeline.Scheduler }

var sharedScheduler = sync.OnceValue(func() *pipeline.Scheduler { return pipeline.NewScheduler(0) })

// NewScheduler returns a scheduler with that many workers, at most [MaxConcurrency]. 0 or less means
// GOMAXPROCS.
func NewScheduler(workers int) *Scheduler { return &Scheduler{pipeline.NewScheduler(workers)} }

func (s *Scheduler) get() *pipeline.Scheduler {
	if s == nil || s.s == nil {
		return sharedScheduler()
	}
	return s.s
}

// Workers returns the number of blocks that are worked on at the same time, not counting those on
// a device.
func (s *Scheduler) Workers() int { return s.get().Workers() }

// SetDevice gives the scheduler a device, for Writers and Readers that begin from then on. A
// scheduler has at most one device: for a second one, or for nil, the error is [ErrDevice]. The
// caller closes the device after everything that may use it has ended.
//
// A device that fails costs time and no data: its blocks go back to the workers, and
// [Scheduler.DeviceStatus] has the error.
func (s *Scheduler) SetDevice(d gpu.Device) error {
	if err := s.get().SetDevice(d); err != nil {
		return errs.Wrap(ErrDevice, err)
	}
	return nil
}

// DeviceStatus describes the scheduler's device: its Name; StartTime, how long its start took, and
// StartErr, why it failed; TooSlow, the work that [BackendAuto] leaves to the workers because the
// device is slower; and Err, why it was lost. Package pipeline documents the fields.
type DeviceStatus = pipeline.DeviceStatus

// DeviceStatus returns the status of the scheduler's device, and false if it has none.
func (s *Scheduler) DeviceStatus() (DeviceStatus, bool) { return s.get().DeviceStatus() }

// EnableStats switches statistics on or off, for Writers and Readers that begin or are Reset from
// then on. They are off at first, and cost nothing then.
func (s *Scheduler) EnableStats(on bool) { s.get().EnableStats(on) }

// Stats returns the statistics of everything that has ended since the beginning or the last
// ResetStats. A Writer or Reader ends when it is closed or Reset, reaches the end of its input,
// fails, or is garbage-collected.
func (s *Scheduler) Stats() SchedulerStats { return s.get().Stats() }

// ResetStats sets the statistics to zero.
func (s *Scheduler) ResetStats() { s.get().ResetStats() }

// SchedulerStats says where the time went. Times of workers add up over the workers. Its fields
// are:
//
//	Runs          int64         // Writers, Readers and ReaderAts' cache entries that have ended; 1 for
//	                            // one that has not
//	Total         time.Duration // from a run's first block to its end
//	Compute       time.Duration // in stages and checks
//	QueueWait     time.Duration // without a block during the run, or waiting for the lock
//	QueueAdmin    time.Duration // holding the lock
//	Handoff       time.Duration // preparing and sending requests to the device
//	Pauses        int64         // stages that made way for other Writers and Readers
//	Paused        time.Duration // the sum of these pauses; no worker waits meanwhile
//	StrictWaiting int64         // requests of BackendGPU and BackendFused that found the device busy
//	StrictWait    time.Duration // how long requests of BackendGPU and BackendFused waited for it
//	QueueFull     int64         // requests of BackendAuto that found the device's queue full
//	DeviceLost    int64         // requests that found the device lost
//	Failed        int64         // requests that the device failed at
//	Wrong         int64         // those of Failed with a wrong result
//	Reclaimed     int64         // blocks that an idle worker took back from the device
//	Returned      int64         // blocks that the device failed at, or lost
//	Stages        []StageStats
//
// Its methods are Add(*SchedulerStats), and Tracked, Overhead (both time.Duration) and OverheadPct
// (float64, 0 … 100): all time accounted for, and the part of it that scheduling took.
type SchedulerStats = pipeline.Stats

// StageStats says what one stage did on one backend. Its fields are Op, Stage (its name), Backend
// (BackendCPU or BackendGPU), Blocks, Bytes (of content) and Time.
type StageStats = pipeline.StageStats

// StageEvent is one execution of a stage. Its fields are Op, Block (its number), Bytes (of
// content), Stage (its name), Backend (BackendCPU or BackendGPU), Worker (from 0; −1 for the device,
// −2 for the goroutine of the caller), Batch (blocks in the device's batch), Start, Took, and First (the
// first step of a block). Package pipeline documents them as Event.
type StageEvent = pipeline.Event

// Backend says where a stage runs.
type Backend = pipeline.Backend

// The backends.
const (
	BackendAuto  = pipeline.Auto  // on the device if that saves CPU work and the device keeps up
	BackendCPU   = pipeline.CPU   // never on the device
	BackendGPU   = pipeline.GPU   // on the device, however long blocks have to wait
	BackendFused = pipeline.Fused // as BackendGPU; a whole block in one request where the device can
)

// Kernels returns the name of the instructions that the inner loops use on this machine:
// "portable" for plain Go, "avx2", "avx512" or "neon". Results do not depend on it. The environment
// variable PZ_SIMD can name a lower tier than the best one; the build tag noasm leaves only
// "portable".
func Kernels() string { return simd.Tier() }

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

// smallContent is where content begins to be worth a worker, in bytes. A worker of a busy scheduler
// may be tens of milliseconds in coming, and a goroutine takes some µs to start. So the goroutine of
// the caller codes a block of less content itself if it would wait for that block anyway:
//
//   - AppendEncode, if the whole content is small
//   - Flush and Close of a Writer, if no other block is in flight
//   - a Reader and AppendDecode, for the first smallContent bytes of the content, and for a block
//     behind which reading on may block, if no other block is in flight
//   - ReadAt, Read and WriteTo of a ReaderAt, for the first block that they load
//
// A stream of many small blocks keeps its parallelism. The content of a part of a .gz file is not
// known in advance. Such a part counts as small if its input is.
const smallContent = 64 << 10

// submitBlock gives a block with size bytes of content to the run. With waits set the caller waits for
// the block next. Then the caller's goroutine codes the block itself if it is small.
func (s *stream) submitBlock(b *pipeline.Block, size int, waits bool) {
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
	s.recycle()
	if s.run != nil {
		s.run.Release()
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

package compress

import (
	"slices"
	"sync"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/blockcache"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/pipeline"
)

// Scheduler is a pool of workers that any number of Writers and Readers may share, from any
// goroutines, with a device if [WithDevice] gives it one. It has goroutines only while there is
// work, and need not be closed. The zero value stands for the scheduler that the whole process
// shares.
type Scheduler struct{ s *pipeline.Scheduler }

var sharedScheduler = sync.OnceValue(func() *pipeline.Scheduler { return pipeline.NewScheduler(0) })

// NewScheduler returns a scheduler with that many workers, at most 1,024. 0 or less means
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

// DeviceStatus returns the status of the scheduler's device, and false if it has none.
func (s *Scheduler) DeviceStatus() (gpu.Status, bool) { return s.get().DeviceStatus() }

// EnableStats switches statistics on or off, for Writers and Readers that begin or are Reset from
// then on. They are off at first, and cost nothing then. new(Scheduler).EnableStats(true) is for
// all that share the scheduler of the whole process.
func (s *Scheduler) EnableStats(on bool) { s.get().EnableStats(on) }

// Stats returns the statistics of everything that has ended since the beginning or the last
// ResetStats. A Writer or Reader ends when it is closed or Reset, reaches the end of its input,
// fails, or is garbage-collected.
func (s *Scheduler) Stats() Stats { return statsOf(s.get().Stats()) }

// ResetStats sets the statistics to zero.
func (s *Scheduler) ResetStats() { s.get().ResetStats() }

// Stats says where the time went. Times of workers add up over the workers.
type Stats struct {
	// Runs counts the Writers, Readers and loaders of ReaderAts that have ended. It is 1 for one
	// that has not.
	Runs  int64
	Total time.Duration // from the first block to the end

	Compute    time.Duration // in stages and checks
	QueueWait  time.Duration // without a block during the work, or waiting for the lock
	QueueAdmin time.Duration // holding the lock
	Handoff    time.Duration // preparing and sending requests to the device

	Pauses int64         // stages that made way for other Writers and Readers
	Paused time.Duration // the sum of these pauses; no worker waits meanwhile

	StrictWaiting int64         // requests of BackendGPU and BackendFused that found the device busy
	StrictWait    time.Duration // how long requests of BackendGPU and BackendFused waited for it

	QueueFull  int64 // requests of BackendAuto that found the device's queue full
	DeviceLost int64 // requests that found the device lost
	Failed     int64 // requests that the device failed at
	Wrong      int64 // those of Failed with a wrong result
	Reclaimed  int64 // blocks that an idle worker took back from the device
	Returned   int64 // blocks that the device failed at, or lost

	Stages []Stage // one for each stage, direction and backend
}

// Stage is one execution of a stage on one block, as [WithTrace] reports it, or, in [Stats], the
// sum of all. The fields behind Time are those of one execution, and zero in a sum.
type Stage struct {
	// Name is that of a stage, such as "lz77" or "rans", or "check" for checks and copies, "tune"
	// for choosing settings, "ahead" for what a helper does, "fused" for a whole block on a device,
	// or "verify" for checking a device's results. docs/TELEMETRY.md lists all.
	Name    string
	Op      string        // "compress" or "decompress"
	Backend gpu.Backend   // BackendCPU or BackendGPU
	Blocks  int64         // with "ahead", pieces of 64 or 128 KiB
	Bytes   int64         // of content
	Time    time.Duration // on a device, of the whole batch

	Block  int64     // number of the block in its stream, from 0
	Worker int       // from 0; −1 for the device, −2 for the goroutine of the caller
	Batch  int       // blocks in the device's batch; 1 for the CPU
	First  bool      // it is the first step of the block
	Start  time.Time // when it began
}

// Add adds t to s.
func (s *Stats) Add(t *Stats) {
	s.Runs += t.Runs
	s.Total += t.Total
	s.Compute += t.Compute
	s.QueueWait += t.QueueWait
	s.QueueAdmin += t.QueueAdmin
	s.Handoff += t.Handoff
	s.Pauses += t.Pauses
	s.Paused += t.Paused
	s.StrictWaiting += t.StrictWaiting
	s.StrictWait += t.StrictWait
	s.QueueFull += t.QueueFull
	s.DeviceLost += t.DeviceLost
	s.Failed += t.Failed
	s.Wrong += t.Wrong
	s.Reclaimed += t.Reclaimed
	s.Returned += t.Returned
	for _, x := range t.Stages {
		same := func(y Stage) bool { return y.Name == x.Name && y.Op == x.Op && y.Backend == x.Backend }
		i := slices.IndexFunc(s.Stages, same)
		if i < 0 {
			s.Stages = append(s.Stages, x)
			continue
		}
		y := &s.Stages[i]
		y.Blocks += x.Blocks
		y.Bytes += x.Bytes
		y.Time += x.Time
	}
}

// Tracked returns all time of workers that is accounted for: Compute and Overhead.
func (s *Stats) Tracked() time.Duration { return s.Compute + s.Overhead() }

// Overhead returns the time that scheduling took: QueueWait, QueueAdmin and Handoff.
func (s *Stats) Overhead() time.Duration { return s.QueueWait + s.QueueAdmin + s.Handoff }

// OverheadPct returns Overhead in per cent of Tracked, 0 … 100.
func (s *Stats) OverheadPct() float64 {
	if s.Tracked() == 0 {
		return 0
	}
	return 100 * float64(s.Overhead()) / float64(s.Tracked())
}

// statsOf converts the statistics of package pipeline.
func statsOf(t pipeline.Stats) Stats {
	s := Stats{
		Runs: t.Runs, Total: t.Total, Compute: t.Compute, QueueWait: t.QueueWait,
		QueueAdmin: t.QueueAdmin, Handoff: t.Handoff, Pauses: t.Pauses, Paused: t.Paused,
		StrictWaiting: t.StrictWaiting, StrictWait: t.StrictWait, QueueFull: t.QueueFull,
		DeviceLost: t.DeviceLost, Failed: t.Failed, Wrong: t.Wrong, Reclaimed: t.Reclaimed,
		Returned: t.Returned,
	}
	for _, x := range t.Stages {
		s.Stages = append(s.Stages, Stage{
			Name: x.Stage, Op: x.Op.String(), Backend: x.Backend, Blocks: x.Blocks, Bytes: x.Bytes,
			Time: x.Time,
		})
	}
	return s
}

// tracer returns the function of WithTrace for package pipeline, nil if there is none.
func (o *options) tracer() func(pipeline.Event) {
	trace := o.trace
	if trace == nil {
		return nil
	}
	return func(e pipeline.Event) {
		trace(Stage{
			Name: e.Stage, Op: e.Op.String(), Backend: e.Backend, Blocks: 1, Bytes: int64(e.Bytes),
			Time: e.Took, Block: e.Block, Worker: e.Worker, Batch: e.Batch, First: e.First, Start: e.Start,
		})
	}
}

// Dictionary is content that both sides know in advance. Each block of .pz and each frame of .zst
// is compressed as if that content were in front of it, so that small files compress well: see
// [WithDictionary]. A Dictionary does not change, and several goroutines may use it at the same
// time. Use one for all files: it keeps match finders that hold its content already.
type Dictionary struct{ d *pipeline.Dictionary }

// NewDictionary parses a dictionary of zstd, as "pz --train" or "zstd --train" makes them (RFC
// 8878, section 5). Bytes without the magic number of such a dictionary are content alone, and have
// the ID 0. NewDictionary copies the bytes. It returns [ErrCorrupt] for a damaged or empty
// dictionary, and for one of more than 32 MiB.
func NewDictionary(p []byte) (*Dictionary, error) {
	d, err := pipeline.NewDictionary(slices.Clone(p))
	if err != nil {
		return nil, errs.Wrap(ErrCorrupt, err)
	}
	return &Dictionary{d}, nil
}

// ID returns the number by which .pz streams and .zst frames name the dictionary. It is 0 for
// content alone. Streams of .pz then name the dictionary by the CRC-32C of that content, and frames
// not at all.
func (d *Dictionary) ID() uint32 { return d.d.ID() }

// zstDictionary returns the dictionary for package zstfile, nil for none.
func (o *options) zstDictionary() zstfile.Dictionary {
	if o.dict == nil {
		return nil
	}
	return o.dict
}

// defaultCache is how many bytes of content a ReaderAt without WithCache keeps. It is more if
// blocks are so large that those being decompressed take more, and less if WithMaxMemory leaves
// less.
const defaultCache = 64 << 20

// A Cache keeps content of blocks for any number of ReaderAts, from any goroutines. The blocks that
// were used most often and last stay. Reading a file once from the front does not displace them.
// Give it to [NewReaderAt] with [WithCache].
type Cache struct {
	c *blockcache.Cache[blockContent]
}

// NewCache returns a Cache for so many bytes of content. It never holds more, also while blocks are
// being decompressed. Blocks that do not fit stay in the memory of their ReaderAt, which
// [WithMaxMemory] limits. The Cache frees the blocks of a ReaderAt when that is closed; those of
// one that is dropped without Close stay until others need the room.
func NewCache(bytes int64) *Cache { return &Cache{blockcache.New[blockContent](bytes)} }

// Hits returns how many requests found their block in the cache or being decompressed. A call of
// ReadAt is one request for each block that it touches. Methods may be called from any goroutines.
func (c *Cache) Hits() int64 { return c.stats().Hits }

// Misses returns how many requests began to decompress their block.
func (c *Cache) Misses() int64 { return c.stats().Misses }

// Bytes returns the bytes of content in the cache now.
func (c *Cache) Bytes() int64 { return c.stats().Bytes }

func (c *Cache) stats() (s blockcache.Stats) {
	if c.c != nil {
		s = c.c.Stats()
	}
	return s
}

// A stream holds the run of a Writer, a Reader or an entry of a ReaderAt's cache. The run outlives
// a Close, so that the buffers of its blocks serve the next Reset.
type stream struct {
	run     *pipeline.Run
	earlier pipeline.Stats // of runs before this one
}

// statistics returns the sum of the statistics of all runs.
func (s *stream) statistics() pipeline.Stats {
	var sum pipeline.Stats
	sum.Add(&s.earlier)
	if s.run != nil {
		t := s.run.Stats()
		sum.Add(&t)
	}
	return sum
}

// smallContent is where content begins to be worth a worker, in bytes. A worker of a busy scheduler
// may be tens of milliseconds in coming, and a goroutine takes some µs to start. So the goroutine
// of the caller codes a block of less content itself if it would wait for that block anyway:
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

// submitBlock gives a block with size bytes of content to the run. With waits set the caller waits
// for the block next. Then the caller's goroutine codes the block itself if it is small.
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

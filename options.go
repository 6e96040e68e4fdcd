package compress

import (
	"context"
	"math"
	"math/bits"
	"strings"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/pipeline"
)

const (
	MinLevel = 1 // fastest
	MaxLevel = 9 // densest

	// DefaultLevel lies before the knee of the curve: by the table of docs/generated/frontier.md twice the time makes the file some 8% smaller up to level 5, from there on 3%. By the commands of
	// README, level 4 on two threads takes less time than zstd -3, level 5 more, and has blocks of twice the size to share out.
	DefaultLevel = 4

	MinBlockSize = pzfile.MinBlockSize // 4 KiB
	MaxBlockSize = pzfile.MaxBlockSize // 64 MiB

	// MaxConcurrency is the most workers that a scheduler has.
	MaxConcurrency = pipeline.MaxWorkers

	// DefaultPipeline is the pipeline of a Writer that is not told another.
	DefaultPipeline = "lzseqr"

	// DefaultReaderMemory is the limit of a Reader or ReaderAt without [WithMaxMemory], in bytes. It is
	// enough for several blocks of the largest size, and keeps a few hostile bytes from claiming a machine.
	DefaultReaderMemory = 1 << 30
)

// An Option changes how a Writer, Reader or ReaderAt, AppendEncode, AppendDecode or Recover works. One that does not apply,
// such as a level for a Reader, is ignored if it is valid, so that one list can serve both directions. One that is out of its range makes the constructor fail with
// [ErrOption]. Of two options that say the same thing the later one counts.
type Option func(*options) error

type options struct {
	level       int
	pipe        *pipeline.Pipeline
	sched       *Scheduler // nil: by workers
	workers     int        // 0: the shared scheduler
	blockSize   int        // 0: the level's
	ctx         context.Context
	maxMemory   int64 // 0: the direction's default
	maxDecoded  int64 // −1: no limit
	contentSize int64 // −1: not known
	progress    func(Progress)
	tuning      Tuning
	checks      bool
	zeroFill    bool
	assign      pipeline.Assignment
	trace       func(StageEvent)
	name        string // of WithName, in the form that package gzfile wants
	modTime     uint32
}

// Progress is how far a Writer or Reader has come.
type Progress struct {
	Content    int64 // bytes of content that have passed
	Compressed int64 // bytes of compressed data they stand for, headers included
	Total      int64 // bytes of content there will be; −1 if that is not known
	Blocks     int64 // blocks that have passed
}

// WithLevel sets the level, from [MinLevel] (fastest) to [MaxLevel] (densest). Readers need none.
func WithLevel(level int) Option {
	return func(o *options) error {
		if level < MinLevel || level > MaxLevel {
			return optionError("level %d is not in %d … %d", level, MinLevel, MaxLevel)
		}
		o.level = level
		return nil
	}
}

// Tuning says whether a Writer chooses settings anew for each block; see [WithTuning].
type Tuning = pipeline.Tuning

const (
	TuneFixed = pipeline.TuneFixed // the level's settings for all blocks; the default
	TuneAuto  = pipeline.TuneAuto  // by statistics of a small sample of the block
	TuneTrial = pipeline.TuneTrial // by compressing a larger sample in several ways
)

// WithTuning lets a Writer depart from its level's settings where the content of a block is better served by others: by how matches are looked for, by literals alone
// where matches do not pay, and with pipeline lzseqr at levels 5 and 6 by contexts of literals, which take longer to code and to decode. Neither the size of blocks nor memory for restoring
// changes, and every Reader can read the result. It depends on the content alone, and is the same wherever and with however many workers it is made. docs/TUNING.md says what the
// two ways bring, and what they cost.
func WithTuning(t Tuning) Option {
	return func(o *options) error {
		if t > TuneTrial {
			return optionError("no such tuning: %v", t)
		}
		o.tuning = t
		return nil
	}
}

// WithPipeline chooses how a Writer compresses, by one of the names that [Pipelines] lists. Readers find out by themselves.
func WithPipeline(name string) Option {
	return func(o *options) error {
		p := pipeline.ByName(name)
		if p == nil {
			return optionError("no pipeline is called %q", name)
		}
		o.pipe = p
		return nil
	}
}

// WithConcurrency sets how many blocks are worked on at the same time. 0, the default, is for the
// scheduler that all share, of GOMAXPROCS workers; any other number, up to [MaxConcurrency], gives each Writer or Reader one of its own, with
// so many workers: for a pool of Writers that is that many times as much. [WithScheduler] is for those that are to share.
// At levels that choose among matches by price (7 to 9, deflate 8 and 9) a worker without a block helps another one.
// The output does not depend on it.
func WithConcurrency(n int) Option {
	return func(o *options) error {
		if n < 0 || n > MaxConcurrency {
			return optionError("concurrency %d is not in 0 … %d", n, MaxConcurrency)
		}
		o.workers, o.sched = n, nil
		return nil
	}
}

// WithScheduler makes all that get the same scheduler share its workers. Nil is for the default one.
func WithScheduler(s *Scheduler) Option {
	return func(o *options) error {
		o.workers, o.sched = 0, s
		return nil
	}
}

// WithBlockSize sets the size of the blocks a Writer cuts, in bytes: a power of two from [MinBlockSize] to [MaxBlockSize],
// or 0 for the level's own. Larger blocks usually compress better, and take more memory on both sides.
func WithBlockSize(size int) Option {
	return func(o *options) error {
		if size != 0 && (size < MinBlockSize || size > MaxBlockSize || size&(size-1) != 0) {
			return optionError("block size %d is not a power of two in %d … %d", size, MinBlockSize, MaxBlockSize)
		}
		o.blockSize = size
		return nil
	}
}

// WithContext lets ctx end the work: calls made or waiting for workers after it is done return its cause, as soon as the blocks
// that workers have begun are finished, which takes seconds at the highest levels, and those that a device is at, which may take
// the device's Timeout for each batch that it may have. A call that the underlying reader or writer holds up is
// not interrupted. The context outlives a Reset.
func WithContext(ctx context.Context) Option {
	return func(o *options) error {
		o.ctx = ctx
		return nil
	}
}

// WithMaxMemory limits the memory for blocks and workers, in bytes; 0 is the default: no limit for a Writer,
// [DefaultReaderMemory] for a Reader or ReaderAt. To stay below it fewer blocks are worked on at the same time; if it is
// too little for one, the error is [ErrMemory]. The index that a Writer keeps is not counted: see
// [WriterMemory].
func WithMaxMemory(bytes int64) Option {
	return func(o *options) error {
		if bytes < 0 {
			return optionError("memory limit %d is negative", bytes)
		}
		o.maxMemory = bytes
		return nil
	}
}

// WithMaxDecodedSize makes decoding fail with [ErrTooLarge] before it gives out more than that many bytes. Without it
// there is no limit; 0 allows empty content only.
func WithMaxDecodedSize(bytes int64) Option {
	return func(o *options) error {
		if bytes < 0 {
			return optionError("decoded size limit %d is negative", bytes)
		}
		o.maxDecoded = bytes
		return nil
	}
}

// WithProgress has f called, in the caller's own calls and on its goroutine, after every block that passes.
func WithProgress(f func(Progress)) Option {
	return func(o *options) error {
		o.progress = f
		return nil
	}
}

// WithChecksum(false) makes a Writer leave out the checks of the content, and a Reader not compare them. Headers and index
// keep theirs. The default is true.
func WithChecksum(on bool) Option {
	return func(o *options) error {
		o.checks = on
		return nil
	}
}

// WithContentSize tells a Writer how many bytes will be written, so that the header can say so; −1 is for not known, the
// default. If it turns out otherwise, Write or Close fails with [ErrContentSize]. It outlives a Reset.
func WithContentSize(bytes int64) Option {
	return func(o *options) error {
		if bytes < -1 {
			return optionError("content size %d is negative", bytes)
		}
		o.contentSize = bytes
		return nil
	}
}

// WithName gives a Writer the name and the time of the file whose content it gets, for formats that keep them, which is
// .gz: without directories, and the time in whole seconds from 1970 to 2106. A name that is too long is left out, as is a
// time that does not fit; a name with a zero byte or a slash in it is an error.
func WithName(name string, modTime time.Time) Option {
	return func(o *options) error {
		if strings.ContainsAny(name, "\x00/") {
			return optionError("%q is not the name of a file", name)
		}
		o.name, o.modTime = gzfile.FromLatin1([]byte(name)), 0
		if t := modTime.Unix(); !modTime.IsZero() && t > 0 && t <= math.MaxUint32 {
			o.modTime = uint32(t)
		}
		return nil
	}
}

// WithZeroFill makes [Recover] write zeros in place of content that is lost, so that what follows it keeps its place.
func WithZeroFill(on bool) Option {
	return func(o *options) error {
		o.zeroFill = on
		return nil
	}
}

// WithBackend chooses where the two stages run that a device can do: match, which is finding matches and parsing when compressing, and
// entropy, which is entropy coding, or decoding when decompressing. The default is [Auto] for both; without a device in the
// scheduler that means the CPU. The output does not depend on it. [GPU] is an [ErrDevice] if there is no device, or if it does not do the stage at that level, or with
// blocks of that size; single blocks that it does not do, or fails at, are the CPU's. A stage that no device knows, as entropy coding of .gz and .zst, is the CPU's whatever
// is chosen. [Fused] is for both stages together and, where the device does not do them in one request, the same as [GPU].
func WithBackend(match, entropy Backend) Option {
	return func(o *options) error {
		switch {
		case match > Fused || entropy > Fused:
			return optionError("no such backend: %v, %v", match, entropy)
		case (match == Fused) != (entropy == Fused):
			return optionError("backend fused is for both stages together, not %v, %v", match, entropy)
		}
		o.assign = pipeline.Assignment{Match: match, Entropy: entropy}
		return nil
	}
}

// WithTrace has f called after every stage of every block. The calls come from any goroutines, several at the same time, and hold up
// the work while they last.
func WithTrace(f func(StageEvent)) Option {
	return func(o *options) error {
		o.trace = f
		return nil
	}
}

func newOptions(opts []Option) (options, error) {
	o := options{
		level:       DefaultLevel,
		pipe:        pipeline.ByName(DefaultPipeline),
		maxDecoded:  -1,
		contentSize: -1,
		checks:      true,
	}
	for _, opt := range opts {
		if opt == nil {
			continue
		}
		if err := opt(&o); err != nil {
			return o, err
		}
	}
	if o.assign.Strict() && o.device() == nil {
		return o, &Error{Kind: ErrDevice, Block: -1, Offset: -1, Detail: "the scheduler has no device"}
	}
	if o.blockSize == 0 {
		o.blockSize = o.pipe.BlockSize(o.level)
	}
	return o, nil
}

// newWriterOptions is newOptions for those who cut blocks.
func newWriterOptions(opts []Option) (options, error) {
	o, err := newOptions(opts)
	if err != nil {
		return o, err
	}
	if most := o.pipe.MaxBlock; most > 0 && o.blockSize > most {
		return o, optionError("blocks of pipeline %s have %d bytes at most, not %d", o.pipe.Name, most, o.blockSize)
	}
	if o.contentSize >= 0 && o.contentSize < int64(o.blockSize) {
		o.blockSize = min(o.blockSize, max(smallBlock, ceilPow2(int(o.contentSize))))
	}
	return o, nil
}

// smallBlock is how far a known content size lowers the block size. Below it the memory saved is not worth headers that
// differ.
const smallBlock = 64 << 10

func ceilPow2(n int) int {
	if n <= 1 {
		return 1
	}
	return 1 << bits.Len(uint(n-1))
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

// workerCount is the number of workers of that scheduler.
func (o *options) workerCount() int {
	if o.sched == nil && o.workers > 0 {
		return o.workers
	}
	return o.scheduler().Workers()
}

// config describes a run of blocks in one direction.
func (o *options) config(op pipeline.Op, p *pipeline.Pipeline, checks bool, inFlight int) pipeline.Config {
	return pipeline.Config{Pipeline: p, Op: op, Level: o.level, Tuning: o.tuning, InFlight: inFlight, Checks: checks, Context: o.ctx, Assign: o.assign, Trace: o.trace}
}

// device returns the device that blocks may be given to, nil if there is none.
func (o *options) device() gpu.Device {
	if o.sched == nil && o.workers > 0 || o.assign.Match == CPU && o.assign.Entropy == CPU {
		return nil
	}
	return o.scheduler().Device()
}

// check reports whether s can do what the options insist on, for blocks of that size. With no pipeline it can.
func (o *options) check(s *pipeline.Scheduler, op pipeline.Op, p *pipeline.Pipeline, checks bool, blockSize int) error {
	if p == nil || !o.assign.Strict() {
		return nil
	}
	if err := s.Check(o.config(op, p, checks, 0), blockSize); err != nil {
		return &Error{Kind: ErrDevice, Block: -1, Offset: -1, Err: err}
	}
	return nil
}

// canceled returns the cause if the context has ended.
func (o *options) canceled() error {
	if o.ctx == nil || o.ctx.Err() == nil {
		return nil
	}
	return context.Cause(o.ctx)
}

var formatNames = [...]string{pipeline.PZ: "pz", pipeline.GZ: "gz", pipeline.ZST: "zst"}

// PipelineInfo describes one way to compress.
type PipelineInfo struct {
	Name   string // for WithPipeline
	Doc    string // one line for people
	Format string // of the files: "pz", "gz" or "zst"
}

// Pipelines lists the ways to compress.
func Pipelines() []PipelineInfo {
	var list []PipelineInfo
	for _, p := range pipeline.Pipelines() {
		list = append(list, PipelineInfo{Name: p.Name, Doc: p.Doc, Format: formatNames[p.Format]})
	}
	return list
}

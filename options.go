package compress

import (
	"context"
	"io"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/pipeline"
)

// Limits and defaults of options.
const (
	MinLevel = 1 // fastest
	MaxLevel = 9 // densest

	// DefaultLevel is the level of a Writer of .pz or .zst without [WithLevel]. It balances ratio
	// and speed; see docs/generated/frontier.md.
	DefaultLevel = 4
	// DefaultGzipLevel is that of a Writer of .gz. Files are about as large as those of gzip -6, or
	// smaller.
	DefaultGzipLevel = 6

	MinBlockSize = pzfile.MinBlockSize // 4 KiB
	MaxBlockSize = pzfile.MaxBlockSize // 64 MiB

	// MaxConcurrency is the largest number of workers of a scheduler: 1024.
	MaxConcurrency = pipeline.MaxWorkers

	// DefaultPipeline is the pipeline of a Writer without [WithFormat] or [WithPipeline].
	DefaultPipeline = "lzseqr"

	// DefaultReaderMemory is the memory limit of a Reader or ReaderAt without [WithMaxMemory]: 1
	// GiB. It suffices for several blocks of the largest size, and keeps a few hostile bytes from
	// claiming a machine.
	DefaultReaderMemory = container.DefaultMemory
)

// An Option changes how a Writer, Reader or ReaderAt, AppendEncode, AppendDecode or Recover works.
// An option that does not apply, such as a level for a Reader, is ignored if it is valid, so that
// one list can serve both directions. An option out of its range makes the constructor fail with
// [ErrOption]. Of two options that set the same thing, the later one counts.
type Option func(*options) error

type options struct {
	level                  int // 0: the pipeline's default
	pipe                   *pipeline.Pipeline
	sched                  *Scheduler          // nil: as workers says
	workers                int                 // of a private scheduler; 0 is for the shared one
	private                *pipeline.Scheduler // see scheduler
	blockSize              int                 // 0: the level's
	limits                 container.Limits
	contentSize            int64 // −1: unknown
	progress               func(Progress)
	position               *atomic.Int64 // of WithPosition; nil is none
	tuning                 Tuning
	rsyncable, singleFrame bool
	streamLimit            int64 // content after which a stream ends, in bytes; 0 if none does
	window                 int64 // of WithLongDistance; 0 is none
	dict                   *pipeline.Dictionary
	zeroFill               bool
	assign                 pipeline.Assignment
	trace                  func(StageEvent)
	name                   string // of WithName, as package gzfile wants it
	modTime                uint32
	index                  io.ReaderAt // of WithIndex; nil is none
	indexSize              int64
	cache                  *Cache // of WithCache; nil is one of its own
}

// Progress says how far a Writer or Reader has come.
type Progress struct {
	Content    int64 // bytes of content that have passed
	Compressed int64 // bytes of compressed data that hold them, headers included
	Total      int64 // bytes of content there will be, −1 if unknown
	Blocks     int64 // blocks that have passed
}

// WithLevel sets the level of a Writer, from [MinLevel] (fastest) to [MaxLevel] (densest). The
// default depends on the format: [DefaultLevel] or [DefaultGzipLevel].
func WithLevel(level int) Option {
	return func(o *options) error {
		if level < MinLevel || level > MaxLevel {
			return errs.BadOption("level %d is not in %d … %d", level, MinLevel, MaxLevel)
		}
		o.level = level
		return nil
	}
}

// Format is a file format: [PZ], [Gzip] or [Zstd]. Its String method returns the file name
// extension: "pz", "gz" or "zst".
type Format = container.Format

// The formats.
const (
	PZ   = container.PZ   // .pz, the format of this package; see docs/FORMAT.md
	Gzip = container.Gzip // .gz, RFC 1952: one member, which every gzip reads
	Zstd = container.Zstd // .zst, RFC 8878: a frame for each block, and a seek table
)

// DetectFormat returns the format of data that begins with p, from its magic number. Four bytes
// are enough. ok is false if they are of no known format.
func DetectFormat(p []byte) (f Format, ok bool) {
	f, ok, _ = container.Detect(p)
	return f, ok
}

// WithFormat sets the format that a Writer writes; the default is [PZ]. It chooses the format's
// default pipeline. [WithPipeline] sets the same thing; the later of the two counts. Readers detect
// the format themselves.
func WithFormat(f Format) Option {
	return func(o *options) error {
		if o.pipe = pipeline.Default(f); o.pipe == nil {
			return errs.BadOption("unknown format %d; valid formats: PZ, Gzip, Zstd", f)
		}
		return nil
	}
}

// WithPipeline chooses how a Writer compresses, and thereby the format, by one of the names that
// [Pipelines] lists. Most programs need only [WithFormat].
func WithPipeline(name string) Option {
	return func(o *options) error {
		p := pipeline.ByName(name)
		if p == nil {
			var valid []string
			for _, p := range pipeline.Pipelines() {
				valid = append(valid, p.Name)
			}
			return errs.BadOption("unknown pipeline %q; valid names: %s", name, strings.Join(valid, ", "))
		}
		o.pipe = p
		return nil
	}
}

// Tuning says whether a Writer chooses settings anew for each block; see [WithTuning].
type Tuning = pipeline.Tuning

// The ways of tuning.
const (
	TuneFixed = pipeline.TuneFixed // the level's settings for all blocks; the default
	TuneAuto  = pipeline.TuneAuto  // by statistics of a small sample of the block
	TuneTrial = pipeline.TuneTrial // by compressing a larger sample in several ways
	// TuneLiterals uses no matches, whatever the level. In .gz that leaves Huffman codes alone.
	TuneLiterals = pipeline.TuneLiterals
)

// WithTuning lets a Writer depart from its level's settings for blocks whose content is better
// served by others. It may change how matches are searched, use no matches at all, or, with
// pipeline lzseqr at level 5, code literals by context, which is slower both ways.
//
// Block size, memory for decompression and compatibility stay the same. The output depends only on
// content and options. docs/TUNING.md says what each way brings and costs.
func WithTuning(t Tuning) Option {
	return func(o *options) error {
		if t > TuneLiterals {
			return errs.BadOption(
				"unknown tuning %d; valid values: TuneFixed, TuneAuto, TuneTrial, TuneLiterals", t)
		}
		o.tuning = t
		return nil
	}
}

// WithConcurrency sets how many blocks are worked on at the same time. 0, the default, means the
// scheduler that the whole process shares, with GOMAXPROCS workers. Any other number up to
// [MaxConcurrency] gives each Writer or Reader a scheduler of its own with so many workers. Use
// [WithScheduler] to share one among several of them.
//
// From level 8 on a worker without a block helps another one. The output does not depend
// on the number of workers.
func WithConcurrency(n int) Option {
	return func(o *options) error {
		if n < 0 || n > MaxConcurrency {
			return errs.BadOption("concurrency %d is not in 0 … %d", n, MaxConcurrency)
		}
		o.workers, o.sched = n, nil
		return nil
	}
}

// WithScheduler makes all that get the same scheduler share its workers. Nil is the scheduler that
// the whole process shares.
func WithScheduler(s *Scheduler) Option {
	return func(o *options) error {
		o.workers, o.sched = 0, s
		return nil
	}
}

// WithBlockSize sets the size in bytes of the blocks that a Writer cuts: a power of two from
// [MinBlockSize] to [MaxBlockSize], for .zst to 8 MiB, or 0 for the level's own. Larger blocks
// usually compress better, take more memory in both directions, and make random access read more.
func WithBlockSize(size int) Option {
	return func(o *options) error {
		if size != 0 && (size < MinBlockSize || size > MaxBlockSize || size&(size-1) != 0) {
			return errs.BadOption("block size %d is not a power of two in %d … %d",
				size, MinBlockSize, MaxBlockSize)
		}
		o.blockSize = size
		return nil
	}
}

// WithRsyncable makes a Writer end blocks where the content says so. A local edit of the content
// then changes the compressed data only nearby: rsync, backups and stores of known pieces find the
// rest unchanged. Blocks have half of the block size on average and a quarter of it at least. The
// default of [WithBlockSize] is 128 KiB for .gz, and 1 MiB for .zst and .pz. A .pz edit that
// changes the number of blocks also changes 4 bytes of each later block.
func WithRsyncable(on bool) Option {
	return func(o *options) error {
		o.rsyncable = on
		return nil
	}
}

// WithContext lets ctx end the work. Once ctx is done, calls return its cause. Calls that wait for
// workers return as soon as the workers reach a checkpoint, at most a few milliseconds of work
// later, and do not wait for a device. A call that the underlying reader or writer holds up is not
// interrupted. The context outlives a Reset.
func WithContext(ctx context.Context) Option {
	return func(o *options) error {
		o.limits.Context = ctx
		return nil
	}
}

// WithMaxMemory limits the memory for blocks and workers, in bytes. 0 is the default: no limit for
// a Writer, [DefaultReaderMemory] for a Reader or ReaderAt. To stay below the limit fewer blocks
// are worked on at the same time; if it is too little for one, the error is [ErrMemory]. The index
// that a Writer keeps is not counted: see [WriterMemory].
func WithMaxMemory(bytes int64) Option {
	return func(o *options) error {
		if bytes < 0 {
			return errs.BadOption("memory limit %d is negative", bytes)
		}
		o.limits.MaxMemory = bytes
		return nil
	}
}

// WithMemoryTarget keeps the memory for blocks and workers below so many bytes where that is
// possible: fewer blocks are worked on at the same time. Unlike [WithMaxMemory] it is never an error:
// a block that takes more is worked on alone. 0 is the default: no target. Both options may be given.
func WithMemoryTarget(bytes int64) Option {
	return func(o *options) error {
		if bytes < 0 {
			return errs.BadOption("memory target %d is negative", bytes)
		}
		o.limits.Target = bytes
		return nil
	}
}

// WithMaxDecodedSize makes decompression fail with [ErrTooLarge] before it returns more than so
// many bytes. Without it there is no limit; 0 allows empty content only.
func WithMaxDecodedSize(bytes int64) Option {
	return func(o *options) error {
		if bytes < 0 {
			return errs.BadOption("decoded size limit %d is negative", bytes)
		}
		o.limits.MaxDecoded = bytes
		return nil
	}
}

// WithProgress has f called after every block written or returned, inside the caller's own calls
// and on its goroutine. f must not use the Writer or Reader except for Stats. A Reader knows
// Progress.Total only if the header states it.
func WithProgress(f func(Progress)) Option {
	return func(o *options) error {
		o.progress = f
		return nil
	}
}

// WithChecksum(false) makes a Writer leave out the checks of the content, and a Reader not compare
// them. Headers and index keep theirs. The default is true.
func WithChecksum(on bool) Option {
	return func(o *options) error {
		o.limits.Checks = on
		return nil
	}
}

// WithContentSize tells a Writer how many bytes will be written, so that the header can say so; −1,
// the default, means unknown. If the content has another size, Write or Close fails with
// [ErrContentSize]. The size outlives a Reset.
func WithContentSize(bytes int64) Option {
	return func(o *options) error {
		if bytes < -1 {
			return errs.BadOption("content size %d is negative", bytes)
		}
		o.contentSize = bytes
		return nil
	}
}

// WithName gives a Writer the name and the modification time of the file that it compresses, for
// formats that store them, which is .gz. The name has no directories; the time has whole seconds
// from 1970 to 2106. A name of more than 65,536 bytes is left out, as is a time out of range. A
// name with a zero byte or a slash is an error.
func WithName(name string, modTime time.Time) Option {
	return func(o *options) error {
		if strings.ContainsAny(name, "\x00/") {
			return errs.BadOption("%q is not the name of a file", name)
		}
		o.name, o.modTime = gzfile.FromLatin1([]byte(name)), 0
		if t := modTime.Unix(); !modTime.IsZero() && t > 0 && t <= math.MaxUint32 {
			o.modTime = uint32(t)
		}
		return nil
	}
}

// WithIndex gives [NewReaderAt] and [ReadInfo] an index of a .gz file that was made before: size
// bytes that src holds. Then they do not decompress the file. The format is that of indexed_gzip,
// gztool or bgzip; an index may be incomplete. Files of other formats than .gz do not need it, and
// it is ignored. A nil src is no index. [WithMaxMemory] counts the index.
//
// An index that cannot be used is an [*Error] with [PartIndex]. If it is damaged or belongs to
// another file, that wraps [ErrCorrupt]; if it is cut short, [ErrTruncated]; if its format is
// unknown, [ErrFormat] or [ErrVersion]. The index must fit the size of the file, the beginning of
// the file, and what follows the last checkpoint. If it does not fit elsewhere, reading the block
// fails with ErrCorrupt. The formats have no checks of the content: [ReaderAt] verifies only the
// check of a member that lies in one block as a whole. The windows of indexed_gzip's format have no
// checks either, so damage to them may change content without an error.
func WithIndex(src io.ReaderAt, size int64) Option {
	return func(o *options) error {
		if size < 0 {
			return errs.BadOption("index size %d is negative", size)
		}
		o.index, o.indexSize = src, size
		return nil
	}
}

// WithZeroFill makes [Recover] write zeros in place of lost content, so that what follows keeps
// its place.
func WithZeroFill(on bool) Option {
	return func(o *options) error {
		o.zeroFill = on
		return nil
	}
}

// WithBackend chooses where the two stages run that a device can do. match is finding matches and
// parsing, in compression. entropy is entropy coding in compression, and decoding in
// decompression. The default is [BackendAuto] for both. The output does not depend on the backend.
//
// [BackendGPU] fails with [ErrDevice] if there is no device, or if it does not do the stage at that
// level or with blocks of that size. The CPU still does single blocks that the device rejects or
// fails at, and stages that no device knows, such as the entropy coding of .gz and .zst.
// [BackendFused] is for both stages together. Where the device does not do them in one request, it
// means [BackendGPU].
func WithBackend(match, entropy Backend) Option {
	return func(o *options) error {
		switch {
		case match > BackendFused || entropy > BackendFused:
			return errs.BadOption("unknown backend: %v, %v", match, entropy)
		case (match == BackendFused) != (entropy == BackendFused):
			return errs.BadOption("backend fused is for both stages together, not %v, %v", match, entropy)
		}
		o.assign = pipeline.Assignment{Match: match, Entropy: entropy}
		return nil
	}
}

// WithTrace has f called after every stage of every block, from any goroutine and from several at
// the same time. The calls hold up the work.
func WithTrace(f func(StageEvent)) Option {
	return func(o *options) error {
		o.trace = f
		return nil
	}
}

// PipelineInfo describes one way to compress.
type PipelineInfo struct {
	Name   string // for WithPipeline
	Doc    string // one line for people
	Format Format // of the files
}

// Pipelines lists the ways to compress.
func Pipelines() []PipelineInfo {
	var list []PipelineInfo
	for _, p := range pipeline.Pipelines() {
		list = append(list, PipelineInfo{Name: p.Name, Doc: p.Doc, Format: p.Format})
	}
	return list
}

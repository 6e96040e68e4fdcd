package compress

import (
	"context"
	"io"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/blockcache"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/hook"
	"github.com/gopz/compress/internal/ldm"
	"github.com/gopz/compress/internal/zstframe"
	"github.com/gopz/compress/pipeline"
)

// A WriterOption changes how a [Writer], [AppendEncode] or a [Plan] compresses. Of two options that
// set the same thing, the later one counts. A nil option does nothing. Values out of their range
// and options that contradict each other make the constructor fail with [ErrOption]; none is
// ignored.
type WriterOption interface {
	setWriter(o *options) error
}

// A ReaderOption changes how a [Reader], [ReaderAt], [AppendDecode], [ReadInfo] or [Recover]
// decompresses. The rules of [WriterOption] hold. Those that only some of the five know are an
// [ErrOption] for the others.
type ReaderOption interface {
	setReader(o *options) error
}

// An Option works in both directions. NewWriter takes no slice of Options: keep those for both
// directions as a []WriterOption and a []ReaderOption.
type Option interface {
	WriterOption
	ReaderOption
}

type (
	option       func(o *options) error // an Option
	writerOption func(o *options) error // a WriterOption
	readerOption func(o *options) error // a ReaderOption
)

func (f option) setWriter(o *options) error       { return f(o) }
func (f option) setReader(o *options) error       { return f(o) }
func (f writerOption) setWriter(o *options) error { return f(o) }
func (f readerOption) setReader(o *options) error { return f(o) }

type options struct {
	level       int // 0: the pipeline's default
	format      Format
	fast        bool               // of WithFastDecoding
	pipe        *pipeline.Pipeline // what format and fast select
	sched       *Scheduler         // nil: as workers says
	workers     int                // of a private scheduler; 0 is for the shared one
	private     *pipeline.Scheduler
	dev         gpu.Device // of WithDevice; nil is none
	assign      pipeline.Assignment
	blockSize   int // 0: the level's
	limits      container.Limits
	contentSize int64 // −1: unknown
	tuning      pipeline.Tuning
	rsyncable   bool
	seekable    bool         // WithSeekable is given
	frames      bool         // each block of .zst is a frame
	frameWindow int          // of bridge.FrameWindow, in bytes; 0 is for the level's
	planned     bool         // for a Plan
	streamSize  int64        // content after which a stream ends, in bytes; 0 if none does
	endStream   func() error // called behind such a stream
	window      int64        // of WithLongDistance; 0 is none
	dict        *pipeline.Dictionary
	name        string // of WithName, as package gzfile wants it
	modTime     uint32

	onlyZstd  bool  // readers take any input for .zst, by bridge.OnlyZstd
	readAhead int64 // bytes; 0 is none
	zeroFill  bool
	index     io.ReaderAt // of WithIndex; nil is none
	indexSize int64
	cache     *Cache // of WithCache; nil is one of its own

	progress func(Progress)
	// unverified is that of bridge.Unverified, or nil.
	unverified func(partly bool) (ends bool)
	trace      func(Stage)
	position   *atomic.Int64 // of the content compressed; nil is none
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
func WithLevel(level int) WriterOption {
	return writerOption(func(o *options) error {
		if level < MinLevel || level > MaxLevel {
			return errs.BadOption("level %d is not in %d … %d", level, MinLevel, MaxLevel)
		}
		o.level = level
		return nil
	})
}

// WithFormat sets the format that a Writer writes; the default is [PZ]. Readers detect the format
// themselves.
func WithFormat(f Format) WriterOption {
	return writerOption(func(o *options) error {
		if pipeline.Default(f) == nil {
			return errs.BadOption("unknown format %d; valid formats: PZ, Gzip, Zstd", f)
		}
		o.format, o.pipe = f, nil
		return nil
	})
}

// WithFastDecoding makes .pz files that restore faster, most of all at low levels, and are larger.
// With another format than [PZ] it is an [ErrOption].
func WithFastDecoding(on bool) WriterOption {
	return writerOption(func(o *options) error {
		o.fast = on
		return nil
	})
}

// Tuning says whether a Writer chooses settings anew for each block; see [WithTuning].
type Tuning uint8

// The ways of tuning.
const (
	TuneFixed Tuning = iota // the level's settings for all blocks; the default
	TuneAuto                // by statistics of a small sample of the block
	TuneTrial               // by compressing a larger sample in several ways
)

// WithTuning lets a Writer depart from its level's settings for blocks whose content is better
// served by others. It may change how matches are searched, use no matches at all, or, in .pz at
// level 5, code literals by context, which is slower both ways.
//
// Block size, memory for decompression and compatibility stay the same. The output depends only on
// content and options. docs/TUNING.md says what each way brings and costs.
func WithTuning(t Tuning) WriterOption {
	return writerOption(func(o *options) error {
		if t > TuneTrial {
			return errs.BadOption("unknown tuning %d; valid values: TuneFixed, TuneAuto, TuneTrial", t)
		}
		o.tuning = pipeline.Tuning(t)
		return nil
	})
}

// WithConcurrency sets how many blocks are worked on at the same time. 0, the default, means the
// scheduler that the whole process shares, with GOMAXPROCS workers. Any other number up to
// 1,024 gives each Writer or Reader a scheduler of its own with so many workers. [WithScheduler]
// shares one among several of them; the two options exclude each other.
//
// From level 8 on a worker without a block helps another one. The output does not depend
// on the number of workers.
func WithConcurrency(n int) Option {
	return option(func(o *options) error {
		if n < 0 || n > pipeline.MaxWorkers {
			return errs.BadOption("concurrency %d is not in 0 … %d", n, pipeline.MaxWorkers)
		}
		o.workers = n
		return nil
	})
}

// WithScheduler makes a Writer or Reader use the workers of s, which any others may use too. Nil is
// the scheduler that the whole process shares.
func WithScheduler(s *Scheduler) Option {
	return option(func(o *options) error {
		o.sched = s
		return nil
	})
}

// WithBlockSize sets the size in bytes of the blocks that a Writer cuts: a power of two from
// [MinBlockSize] to [MaxBlockSize], for .zst to 8 MiB, or 0 for the level's own. Larger blocks
// usually compress better, take more memory in both directions, and make random access read more.
func WithBlockSize(size int) WriterOption {
	return writerOption(func(o *options) error { return o.setSize(size) })
}

// setSize sets the block size.
func (o *options) setSize(size int) error {
	if size != 0 && (size < MinBlockSize || size > MaxBlockSize || size&(size-1) != 0) {
		return errs.BadOption("block size %d is not a power of two in %d … %d",
			size, MinBlockSize, MaxBlockSize)
	}
	o.blockSize = size
	return nil
}

// WithSeekable makes a Writer of .zst write a frame for each block, and a seek table behind them if
// there are several. A [ReaderAt] then reads at random, and damage costs one frame. Without this
// option a .zst file is one frame, and damage costs all of the content behind it. Files of several
// frames are larger. The zstd command and most libraries read all frames, but some stop behind the
// first one without an error.
//
// WithSeekable also sets the block size, as [WithBlockSize] does; the last of the two options
// counts. For .pz, which always has an index, it does no more than that. .gz excludes it.
func WithSeekable(size int) WriterOption {
	return writerOption(func(o *options) error {
		o.seekable, o.frames = true, true
		return o.setSize(size)
	})
}

// WithRsyncable makes a Writer end blocks where the content says so. A local edit of the content
// then changes the compressed data only nearby: rsync, backups and stores of known pieces find the
// rest unchanged. Blocks have half of the block size on average and a quarter of it at least. The
// default of [WithBlockSize] is 128 KiB for .gz, and 1 MiB for .zst and .pz. A .pz edit that
// changes the number of blocks also changes 4 bytes of each later block.
func WithRsyncable(on bool) WriterOption {
	return writerOption(func(o *options) error {
		o.rsyncable = on
		return nil
	})
}

// WithContext lets ctx end the work. Once ctx is done, calls return an error that wraps ctx.Err()
// and the cause of ctx. Calls that wait for workers return as soon as the workers reach a
// checkpoint, at most a few milliseconds of work later, and do not wait for a device. A call that
// the underlying reader or writer holds up is not interrupted. The context outlives a Reset, so a
// Writer or Reader whose context is done cannot be used again.
func WithContext(ctx context.Context) Option {
	return option(func(o *options) error {
		o.limits.Context = ctx
		return nil
	})
}

// WithMaxMemory limits the memory for blocks and workers, in bytes. 0 is the default: no limit for
// a Writer, [DefaultReaderMemory] for a Reader or ReaderAt. To stay below the limit fewer blocks
// are worked on at the same time; if it is too little for one, the error is [ErrMemory]. NewWriter
// and NewReaderAt return that error. A Reader returns it from Read, because the file says how large
// its blocks are. The index that a Writer keeps is not counted: see [WriterMemory].
func WithMaxMemory(bytes int64) Option {
	return option(func(o *options) error {
		if bytes < 0 {
			return errs.BadOption("memory limit %d is negative", bytes)
		}
		o.limits.MaxMemory = bytes
		return nil
	})
}

// WithMaxDecodedSize makes decompression fail with [ErrTooLarge] before it returns more than so
// many bytes. Without it there is no limit; 0 allows empty content only.
func WithMaxDecodedSize(bytes int64) ReaderOption {
	return readerOption(func(o *options) error {
		if bytes < 0 {
			return errs.BadOption("decoded size limit %d is negative", bytes)
		}
		o.limits.MaxDecoded = bytes
		return nil
	})
}

// WithReadAhead makes a Reader read its source on a goroutine of its own, up to so many bytes
// ahead, 1 GiB at most. Then workers decompress what has come while the source waits for more: use
// it for network connections and for other sources that the Reader cannot ask whether a read would
// wait. Regular files and data in memory are read as without it. 0, the default, is for none; 4 MiB
// or more keep the workers busy. [WithMaxMemory] does not count the bytes.
//
// At most one Read of the source is under way when a method of the Reader returns. Close and Reset
// do not wait for it. So after Close or Reset the source must not be read again; closing it ends
// the goroutine. A Reader that is dropped reads no more either. A panic of the source reaches the
// caller of Read.
func WithReadAhead(bytes int64) ReaderOption {
	return readerOption(func(o *options) error {
		if bytes < 0 || bytes > container.MaxReadAhead {
			return errs.BadOption("read-ahead of %d bytes is not in 0 … %d", bytes, container.MaxReadAhead)
		}
		o.readAhead = bytes
		return nil
	})
}

// WithProgress has f called after every block written or returned, inside the caller's own calls
// and on its goroutine. f must not use the Writer or Reader except for Stats. A Reader knows
// Progress.Total only if the header states it. A ReaderAt calls f in Read and WriteTo, and not in
// ReadAt. For [Recover] and [ReadInfo], which report blocks and damage themselves, the option is an
// [ErrOption].
func WithProgress(f func(Progress)) Option {
	return option(func(o *options) error {
		o.progress = f
		return nil
	})
}

// WithChecksum(false) makes a Writer leave out the checks of the content, and a Reader not compare
// them. Headers and index keep theirs. The default is true. A .gz file always has a check, so a
// Writer of .gz fails with [ErrOption].
func WithChecksum(on bool) Option {
	return option(func(o *options) error {
		o.limits.Checks = on
		return nil
	})
}

// WithContentSize tells a Writer how many bytes will be written, so that the header can say so; −1,
// the default, means unknown. If the content has another size, Write or Close fails with
// [ErrContentSize]. The size outlives a Reset.
func WithContentSize(bytes int64) WriterOption {
	return writerOption(func(o *options) error {
		if bytes < -1 {
			return errs.BadOption("content size %d is negative", bytes)
		}
		o.contentSize = bytes
		return nil
	})
}

// WithName gives a Writer of .gz the name and the modification time of the file that it compresses.
// Other formats store neither: the error is [ErrOption]. The name has no directories; the time has
// whole seconds from 1970 to 2106. A name of more than 65,536 bytes is left out, as is a time out
// of range. A name with a zero byte or a slash is an error.
func WithName(name string, modTime time.Time) WriterOption {
	return writerOption(func(o *options) error {
		if strings.ContainsAny(name, "\x00/") {
			return errs.BadOption("%q is not the name of a file", name)
		}
		o.name, o.modTime = gzfile.FromLatin1([]byte(name)), 0
		if t := modTime.Unix(); !modTime.IsZero() && t > 0 && t <= math.MaxUint32 {
			o.modTime = uint32(t)
		}
		return nil
	})
}

// WithIndex gives [NewReaderAt] and [ReadInfo] an index of a .gz file that was made before: size
// bytes that src holds. Then they do not decompress the file. The format is that of indexed_gzip,
// gztool or bgzip; an index may be incomplete. A nil src is no index. For files of other formats,
// which need none, an index is an [ErrOption]. [WithMaxMemory] counts the index.
//
// An index that cannot be used is an [*Error] with [PartIndex]. If it is damaged or belongs to
// another file, that wraps [ErrCorrupt]; if it is cut short, [ErrTruncated]; if its format is
// unknown, [ErrFormat] or [ErrVersion]. The index must fit the size of the file, the beginning of
// the file, and what follows the last checkpoint. If it does not fit elsewhere, reading the block
// fails with ErrCorrupt. The formats have no checks of the content: [ReaderAt] verifies only the
// check of a member that lies in one block as a whole. The windows of indexed_gzip's format have no
// checks either, so damage to them may change content without an error.
func WithIndex(src io.ReaderAt, size int64) ReaderOption {
	return readerOption(func(o *options) error {
		if size < 0 {
			return errs.BadOption("index size %d is negative", size)
		}
		o.index, o.indexSize = src, size
		return nil
	})
}

// WithZeroFill makes [Recover] and [ReaderAt.Recover] write zeros in place of lost content, so that
// what follows keeps its place.
func WithZeroFill(on bool) ReaderOption {
	return readerOption(func(o *options) error {
		o.zeroFill = on
		return nil
	})
}

// WithLongDistance lets the blocks of a .pz or .zst file repeat parts of earlier blocks, up to
// window bytes back: a power of two from [MinWindow] to [MaxWindow], and at least the block size.
// 0, the default, is for none. It pays for content that repeats over longer distances than a block:
// several versions of a tree of files, images of disks.
//
// A Writer takes up to 1.5 times the window of memory in addition, and more if a block is larger
// than a 32nd of the window. A Reader of .pz takes 1.4 times the window, of .zst the window.
// [WriterMemory] and [ReaderMemory] count it. If the size of the content is known, the window is no
// larger than that. Blocks are compressed and decompressed in parallel all the same.
//
// In .pz, content that is itself such a repeat does not count for the distance. Damage to a block
// also costs what later blocks repeat of it. To read a block, a ReaderAt decompresses up to eight
// others. In .zst, the window is that of the frame, as of zstd --long. Other readers may need an
// option for windows of more than 8 MiB (RFC 8878), and zstd needs one for more than 128 MiB.
//
// [WithRsyncable], [NewPlan], .gz, and .zst with [WithSeekable] have no such matches: the error is
// [ErrOption]. docs/notes/long-distance.md has figures.
func WithLongDistance(window int64) WriterOption {
	return writerOption(func(o *options) error {
		if window != 0 && !ldm.ValidWindow(window) {
			return errs.BadOption("window %d is not a power of two in %d … %d",
				window, int64(MinWindow), int64(MaxWindow))
		}
		o.window = window
		return nil
	})
}

// WithDictionary makes a Writer of .pz or .zst compress with a dictionary, and readers decompress
// with it. Nil stands for no dictionary. The header of a stream or frame names the dictionary. If
// it names one, readers without that one return [ErrDictionary]. [ReadInfo] needs none.
//
// Use it for files of one kind, each below about 100 KB. Matches reach the last 8 MiB of the
// dictionary. A device gets no blocks with a dictionary. [WriterMemory] counts the memory of match
// finders that hold the dictionary. A Writer of .gz fails with [ErrOption]; readers of .gz ignore
// the dictionary. A Writer with [WithLongDistance] fails with [ErrOption] too.
//
// Readers decompress a .pz stream that names no dictionary without one. They decompress such a .zst
// frame with the dictionary, because its writer may have left the ID out. If the writer had another
// dictionary, a reader returns [ErrCorrupt]. It returns wrong content if the frame has no checksum
// or [WithChecksum] turns checking off.
//
// In .zst the first block of a frame uses the content and the tables of the dictionary. Blocks that
// continue a frame behind a [Writer.Flush] do not use the content.
func WithDictionary(d *Dictionary) Option {
	return option(func(o *options) error {
		if d != nil && d.d == nil {
			return errs.BadOption("a Dictionary that was made without NewDictionary")
		}
		o.dict = nil
		if d != nil {
			o.dict = d.d
		}
		return nil
	})
}

// WithCache has a ReaderAt keep blocks in c, which other ReaderAts may share. Without it, or with
// nil, a ReaderAt has a Cache of 64 MiB of its own, which [WithMaxMemory] counts. A Cache that was
// made without [NewCache] is an [ErrOption].
func WithCache(c *Cache) ReaderOption {
	return readerOption(func(o *options) error {
		if c != nil && c.c == nil {
			return errs.BadOption("a Cache that was made without NewCache")
		}
		o.cache = c
		return nil
	})
}

// WithDevice lets a device do stages of blocks: [gpu.Open] opens one. match says where matches are
// found and parsed, in compression. entropy says where entropy coding runs in compression, and
// decoding in decompression. Without a device all stages run on the CPU. The output does not depend
// on the device.
//
// The device belongs to the scheduler of the Writer or Reader from then on: the one of the whole
// process, unless [WithScheduler] or [WithConcurrency] says otherwise. A scheduler has one device
// for good, also after the device was closed; another one is an error that wraps [gpu.ErrDevice].
// Writers and Readers without WithDevice do not use it. The caller closes the device after
// everything that may use it has ended. A device that fails costs time and no data: its blocks go
// back to the workers, and [Scheduler.DeviceStatus] has the error.
//
// [gpu.BackendGPU] fails with gpu.ErrDevice if d is nil, or if it does not do the stage at that
// level or with blocks of that size. The CPU still does single blocks that the device rejects or
// fails at, and stages that no device knows, such as the entropy coding of .gz and .zst.
// [gpu.BackendFused] is for both stages together. Where the device does not do them in one request,
// it means BackendGPU.
func WithDevice(d gpu.Device, match, entropy gpu.Backend) Option {
	return option(func(o *options) error {
		switch {
		case match > gpu.BackendFused || entropy > gpu.BackendFused:
			return errs.BadOption("unknown backend: %v, %v", match, entropy)
		case (match == gpu.BackendFused) != (entropy == gpu.BackendFused):
			return errs.BadOption("backend fused is for both stages together, not %v, %v", match, entropy)
		}
		o.dev, o.assign = d, pipeline.Assignment{Match: match, Entropy: entropy}
		return nil
	})
}

// WithTrace has f called after every stage of every block, from any goroutine and from several at
// the same time. The calls hold up the work. See docs/TELEMETRY.md.
func WithTrace(f func(Stage)) Option {
	return option(func(o *options) error {
		o.trace = f
		return nil
	})
}

// Package bridge documents these.
func init() {
	hook.MemoryTarget = func(bytes int64) any {
		return option(func(o *options) error {
			if bytes < 0 {
				return errs.BadOption("memory target %d is negative", bytes)
			}
			o.limits.Target = bytes
			return nil
		})
	}
	hook.Position = func(n *atomic.Int64) any {
		return writerOption(func(o *options) error {
			o.position = n
			return nil
		})
	}
	hook.Streams = func(size int64, end func() error) any {
		return writerOption(func(o *options) error {
			if size < 1<<20 {
				return errs.BadOption("streams of %d bytes: it must be at least 1 MiB", size)
			}
			o.streamSize, o.endStream = size, end
			return nil
		})
	}
	hook.BadSection = func(saw func()) any {
		return option(func(o *options) error {
			o.limits.BadSection = saw
			return nil
		})
	}
	hook.Unverified = func(ends func(partly bool) bool) any {
		return option(func(o *options) error {
			o.unverified = ends
			return nil
		})
	}
	hook.Literals = func() any {
		return writerOption(func(o *options) error {
			o.tuning = pipeline.TuneLiterals
			return nil
		})
	}
	hook.Frames = func() any {
		return writerOption(func(o *options) error {
			o.frames = true
			return nil
		})
	}
	hook.FrameWindow = func(window int) any {
		return writerOption(func(o *options) error {
			most := pipeline.Default(Zstd).MaxBlock
			if window < zstframe.MinWindow || window > most || window&(window-1) != 0 {
				return errs.BadOption("window of a frame of %d bytes", window)
			}
			o.frameWindow = window
			return nil
		})
	}
	hook.OnlyZstd = func(window int64) any {
		return readerOption(func(o *options) error {
			o.onlyZstd, o.limits.MaxWindow = true, window
			return nil
		})
	}
	hook.Pipeline = func(name string) any {
		return writerOption(func(o *options) error {
			o.pipe = pipeline.ByName(name)
			if o.pipe == nil {
				return errs.BadOption("unknown pipeline %q", name)
			}
			o.format = o.pipe.Format
			return nil
		})
	}
	hook.KeepTogether = func(w any, size int64) { w.(*Writer).keepTogether(size) }
	hook.Resume = func(r any, open hook.Open) { r.(*Reader).resume(open) }
	hook.DecodedLimit = func(r any) int64 { return r.(*ReaderAt).opt.limits.MaxDecoded }
	hook.CacheStats = func(c any) blockcache.Stats { return c.(*Cache).stats() }
}

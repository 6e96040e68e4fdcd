// Package compress compresses data in parallel to the .pz format, or to .gz and .zst files that
// every other tool reads, and decompresses all of these.
//
// A [Writer] compresses a stream, a [Reader] decompresses one, and a [ReaderAt] decompresses any
// part of a file through its index. [AppendEncode] and [AppendDecode] work on content in memory,
// and [Recover] saves the intact parts of a damaged file. Options such as [WithLevel] change how
// they work; the defaults balance speed and density.
//
// # Concurrency
//
// Content is cut into blocks, which the workers of a scheduler compress or decompress at the same
// time. The whole process shares one scheduler of GOMAXPROCS workers, unless [WithConcurrency] or
// [WithScheduler] says otherwise. Output is deterministic: it depends on content, options and the
// places of calls of [Writer.Flush], never on the number of workers or on how Write cuts the
// content. Workers are goroutines only while there is work; no Writer or Reader has goroutines of
// its own. The underlying writer or reader is used only inside the caller's own calls, on the
// caller's goroutine; [WithReadAhead] alone reads on another one.
//
// # Memory
//
// The number of blocks in flight, and with it the memory, is bounded. [WriterMemory] and
// [ReaderMemory] return the bound, and [WithMaxMemory] sets a limit. If a header announces much
// content, a Reader first allocates 64 KiB or as many bytes as it has read, whichever is more.
// Untrusted input can still decompress to a thousand times its size and more: use
// [WithMaxDecodedSize] for it.
//
// # Formats
//
// [WithFormat] chooses the format that is written. Readers detect it. Streams of one format may be
// concatenated in a file; formats may not be mixed, and anything else behind the data is an
// [ErrTrailing] after the content, or behind .zst data an [ErrCorrupt].
//
// Blocks of .pz are decompressed in parallel, and so are frames of .zst. Single large frames of
// .zst and members of .gz, of any writer, are too, if they come from memory, a file or a pipe, or
// with [WithReadAhead] from anywhere. Of other inputs a Reader decompresses in parallel what one
// read of the source has returned. A [ReaderAt] needs an index, which .pz files have, or a seek
// table, which .zst files may have; a .zst file of one frame that states its size, up to 32 MiB,
// needs none. Of a .gz file it makes an index first, unless [WithIndex] gives it one. [ReadInfo]
// describes any file.
//
// Small .pz and .zst files of the same kind become less than half as large with a [Dictionary],
// which both sides need: see [WithDictionary].
//
// A [Plan] compresses pieces of one file apart, for instance on different machines.
//
// # Errors
//
// Any damage to a .pz file is detected, down to a single bit, unless it was written without checks.
// In .gz and .zst files with checks, damage to the content is detected. These formats do not number
// their members and frames, so that missing ones go unnoticed. Only a seek table shows that frames
// are missing. A Writer adds one to a .zst file of several frames.
//
// Errors about input are of type [*Error], which says in which stream and block and at which byte
// something is wrong. Tell them apart with [errors.Is]: [ErrFormat], [ErrCorrupt], [ErrTruncated]
// and so on. A Reader returns all content in front of the damage first.
package compress

import (
	"context"
	"errors"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/ldm"
	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/pipeline"
)

// Format is a file format: [PZ], [Gzip] or [Zstd]. Its String method returns the file name
// extension: "pz", "gz" or "zst".
type Format = container.Format

// The formats.
const (
	PZ   = container.PZ   // .pz, the format of this package; see docs/FORMAT.md
	Gzip = container.Gzip // .gz, RFC 1952: one member, which every gzip reads
	Zstd = container.Zstd // .zst, RFC 8878: one frame, unless WithSeekable is given
)

// DetectFormat returns the format of data that begins with p, from its magic number. Four bytes
// are enough. ok is false if they are of no known format.
func DetectFormat(p []byte) (f Format, ok bool) {
	f, ok, _ = container.Detect(p)
	return f, ok
}

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

	// DefaultReaderMemory is the memory limit in bytes of a Reader or ReaderAt without
	// [WithMaxMemory]: 1 GiB. It suffices for several blocks of the largest size, and keeps a few
	// hostile bytes from claiming a machine.
	DefaultReaderMemory = container.DefaultMemory
)

// Windows of [WithLongDistance].
const (
	MinWindow = ldm.MinWindow // 1 MiB
	MaxWindow = ldm.MaxWindow // 2 GiB
)

// Errors to compare with through [errors.Is]. What the package returns about its input is an
// [*Error] that wraps one of them. Errors of the underlying reader or writer are returned as they
// are. The error after a context has ended wraps both the context's error and its cause.
var (
	// ErrFormat: the input is in no format that the package knows.
	ErrFormat = errs.Format
	// ErrVersion: the format is known, but the input needs something that this version of the
	// package does not support.
	ErrVersion = errs.Version
	// ErrDictionary: a .pz stream or a .zst frame names a dictionary, and [WithDictionary] gives
	// none or another one. Wraps ErrVersion.
	ErrDictionary = errs.Dictionary
	// ErrCorrupt: the input is damaged. Damage may also show as ErrTruncated and, in the first
	// bytes, as ErrFormat or ErrVersion.
	ErrCorrupt = errs.Corrupt
	// ErrChecksum: a check does not match its content. Wraps ErrCorrupt. Most damage shows before a
	// check is compared, and is plain ErrCorrupt.
	ErrChecksum = errs.Checksum
	// ErrTrailing: a .pz or .gz file is complete, and other data follows it, even if that is
	// compressed data in another format. All content has been returned and verified. If the other
	// data is the damaged beginning of another stream, its content is missing. In .zst files such
	// data cannot be told from a damaged frame and is plain ErrCorrupt. Wraps ErrCorrupt.
	ErrTrailing = errs.Trailing
	// ErrTruncated: the input is empty or ends too early. Wraps [io.ErrUnexpectedEOF].
	ErrTruncated = errs.Truncated
	// ErrMemory: the work cannot be done within [WithMaxMemory].
	ErrMemory = errs.Memory
	// ErrTooLarge: the content is larger than [WithMaxDecodedSize].
	ErrTooLarge = errs.TooLarge
	// ErrNoIndex: a [ReaderAt] was asked for a .zst file without a seek table and with frames that
	// state no size or a large one. A [Reader] can read it, and [WithSeekable] makes a Writer write
	// another kind. Or [Recover] finds no blocks in a file.
	ErrNoIndex = errs.NoIndex
	// ErrClosed: the Writer, Reader or ReaderAt is closed. Wraps [os.ErrClosed].
	ErrClosed = errs.Closed
	// ErrOption: an option is out of its range, or contradicts another one.
	ErrOption = errs.Option
	// ErrContentSize: the content is not as long as [WithContentSize] announced. Wraps ErrOption.
	ErrContentSize = errs.ContentSize
	// ErrInternal: a bug in this package, caught before it did harm.
	ErrInternal = errs.Internal
)

// Error says what is wrong with an input or option, and where. Its fields are:
//
//	Kind   error  // one of the errors above, for instance ErrCorrupt
//	Part   Part   // the part of the file that is wrong; PartUnknown if none can be named
//	Stream int    // number of the stream, .gz member or .zst file in the input, from 0
//	Block  int64  // number of the block or frame in its stream, from 0; −1 if it is about none
//	Offset int64  // byte offset in the compressed input of what is wrong; −1 if unknown. In
//	              // a .zst file it is where the block begins, or where a short frame begins
//	Detail string // a sentence for people; may be empty
//	Err    error  // the error of a lower layer; may be nil
//	Memory int64  // for ErrMemory: the least limit in bytes that would do; 0 if unknown
//
// errors.Is and errors.As find both Kind and Err.
type Error = errs.Error

// Part names the part of a file that an [Error] is about.
type Part = errs.Part

// The parts of a file.
const (
	PartUnknown = errs.PartUnknown
	PartHeader  = errs.PartHeader // the header of a stream, member or frame
	PartBlock   = errs.PartBlock  // a block: its header or its payload
	PartIndex   = errs.PartIndex  // the index of a .pz stream or .gz file, or the seek table of a .zst file
	PartStray   = errs.PartStray  // bytes between the parts, which belong to none
)

var (
	errNegative = errors.New("compress: negative offset")
	errWhence   = errors.New("compress: invalid whence")

	// errNoBlock is for a run that has lost its blocks.
	errNoBlock error = errs.New(ErrInternal, "no block is free, and none is in flight")
)

// blockError turns the scheduler's error about a block into an error of this package.
func blockError(op pipeline.Op, err error, ctx context.Context, stream int, block, offset int64) error {
	e := &Error{
		Kind: ErrCorrupt, Part: PartBlock, Stream: stream, Block: block, Offset: offset, Err: err,
	}
	var panicked *pipeline.PanicError
	switch {
	case errors.Is(err, pipeline.ErrCanceled):
		if ctx != nil && ctx.Err() != nil {
			return errs.Cause(ctx)
		}
		return ErrClosed
	case op == pipeline.Compress, errors.As(err, &panicked):
		e.Kind = ErrInternal
	case errors.Is(err, pipeline.ErrChecksum):
		e.Kind, e.Err = ErrChecksum, nil
	}
	return e
}

package compress

import (
	"context"
	"errors"

	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/pipeline"
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
	// ErrDictionary: a .pz stream or a .zst frame names a dictionary, and [WithDictionary] gives none
	// or another one. Wraps ErrVersion.
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
	// ErrNoIndex: a [ReaderAt] was asked for a .zst file without a seek table. A [Reader] can read
	// it. Or [Recover] finds no blocks in a file.
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
//	Offset int64  // byte offset in the compressed input of what is wrong; −1 if unknown
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

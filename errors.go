package compress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gopz/compress/pipeline"
)

// Errors to compare with through [errors.Is]. What the package returns about its input is an [*Error] that wraps one of them.
// Errors of the underlying reader or writer, and the cause of a context that ended, are returned as they are.
var (
	// ErrFormat: the input is of no format that the package knows.
	ErrFormat error = &sentinel{msg: "not .pz, .gz or .zst data"}
	// ErrVersion: the format is known, and the input needs something that this version of the package does not know, a dictionary
	// for instance.
	ErrVersion error = &sentinel{msg: "unsupported version"}
	// ErrCorrupt: the input is damaged.
	ErrCorrupt error = &sentinel{msg: "corrupt input"}
	// ErrChecksum: a check does not match what it covers. It is an ErrCorrupt as well, and that is what to ask for damage: most damage shows before a check does.
	ErrChecksum error = &sentinel{msg: "checksum mismatch", also: ErrCorrupt}
	// ErrTrailing: .pz or .gz data is whole, and something else follows it, even if that is compressed data of another format. It is an ErrCorrupt as
	// well. All content has been given out before it, and verified; but if it is the beginning of more compressed data that is damaged, content
	// is missing. Behind a frame of .zst, where it could be one of very many, it is not told from damage: ErrCorrupt alone.
	ErrTrailing error = &sentinel{msg: "data after the end of the compressed data", also: ErrCorrupt}
	// ErrTruncated: the input ends too early; an empty input does. It is an [io.ErrUnexpectedEOF] as well.
	ErrTruncated error = &sentinel{msg: "input is cut short", also: io.ErrUnexpectedEOF}
	// ErrMemory: the work cannot be done within [WithMaxMemory].
	ErrMemory error = &sentinel{msg: "memory limit exceeded"}
	// ErrTooLarge: the content is larger than [WithMaxDecodedSize].
	ErrTooLarge error = &sentinel{msg: "content is larger than allowed"}
	// ErrNoIndex: there is no index, or seek table, in a file that a [ReaderAt] is asked for. A [Reader] reads it.
	ErrNoIndex error = &sentinel{msg: "no index"}
	// ErrClosed: the Writer, Reader or ReaderAt was closed before.
	ErrClosed error = &sentinel{msg: "already closed"}
	// ErrOption: an option is out of its range.
	ErrOption error = &sentinel{msg: "invalid option"}
	// ErrContentSize: what was written is not as long as [WithContentSize] said. It is an ErrOption as well.
	ErrContentSize error = &sentinel{msg: "content size differs from the one announced", also: ErrOption}
	// ErrDevice: there is no device that could do what [WithBackend] asks for.
	ErrDevice error = &sentinel{msg: "no device for this"}
	// ErrInternal: a bug in this package, caught before it did harm.
	ErrInternal error = &sentinel{msg: "internal error"}
)

// errBadCount is for a reader or writer that says it has moved more than it was given.
var errBadCount = errors.New("compress: invalid count from the underlying reader or writer")

// errPanicked is for a Reader or Writer that was left by a panic.
var errPanicked = errors.New("compress: of no use before a Reset, because the underlying reader or writer, or a callback, panicked")

// errNoBlock is for a run that has lost its blocks.
var errNoBlock error = &Error{Kind: ErrInternal, Block: -1, Offset: -1, Detail: "no block is free, and none is on its way"}

// sentinel is an error that may be another one, too.
type sentinel struct {
	msg  string
	also error
}

func (e *sentinel) Error() string { return "compress: " + e.msg }
func (e *sentinel) Unwrap() error { return e.also }

// Error says what is wrong, and where.
type Error struct {
	Kind   error  // one of the errors above, ErrCorrupt for instance
	Stream int    // streams of a file are counted from 0
	Block  int64  // blocks of a stream are counted from 0; −1 if it is not about a block
	Offset int64  // in the compressed input, in bytes: of the block or the field that is wrong; −1 if there is none
	Detail string // a sentence for people; empty if Kind says it all
	Err    error  // what a lower layer said; may be nil
	Memory int64  // for ErrMemory: the least limit that will do for this, in bytes; 0 if that is not known
}

func (e *Error) Error() string {
	var s strings.Builder
	s.WriteString("compress: ")
	if e.Stream > 0 {
		fmt.Fprintf(&s, "stream %d, ", e.Stream)
	}
	if e.Block >= 0 {
		fmt.Fprintf(&s, "block %d ", e.Block)
	}
	if e.Offset >= 0 {
		fmt.Fprintf(&s, "at byte %d", e.Offset)
	}
	head := strings.TrimRight(s.String(), ", ")
	if !strings.HasSuffix(head, ":") {
		head += ":"
	}
	switch {
	case e.Detail != "" && e.Err != nil:
		return head + " " + e.Detail + ": " + e.Err.Error()
	case e.Detail != "":
		return head + " " + e.Detail
	case e.Err != nil:
		return head + " " + e.Err.Error()
	}
	if e.Kind == nil {
		return head + " unknown error"
	}
	return head + " " + strings.TrimPrefix(e.Kind.Error(), "compress: ")
}

// Unwrap lets errors.Is and errors.As find both the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

func optionError(format string, args ...any) error {
	return &Error{Kind: ErrOption, Block: -1, Offset: -1, Detail: fmt.Sprintf(format, args...)}
}

// blockError turns what the scheduler says about a block into an error of this package.
func blockError(op pipeline.Op, err error, ctx context.Context, stream int, block, offset int64) error {
	e := &Error{Kind: ErrCorrupt, Stream: stream, Block: block, Offset: offset, Err: err}
	var panicked *pipeline.PanicError
	switch {
	case errors.Is(err, pipeline.ErrCanceled):
		if ctx != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return ErrClosed
	case op == pipeline.Compress, errors.As(err, &panicked):
		e.Kind = ErrInternal
	case errors.Is(err, pipeline.ErrChecksum):
		e.Kind, e.Err = ErrChecksum, nil
	}
	return e
}

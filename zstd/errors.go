package zstd

import (
	"errors"

	"github.com/gopz/compress"
	codec "github.com/gopz/compress/internal/codec/zstd"
)

// Errors to compare with through [errors.Is]. Their conditions are those of klauspost/compress.
// Other damage is an error that wraps [compress.ErrCorrupt]. Input that ends too early is
// [io.ErrUnexpectedEOF].
var (
	// ErrReservedBlockType: a block has the type that RFC 8878 reserves.
	ErrReservedBlockType = errors.New("zstd: reserved type of a block")

	// ErrCompressedSizeTooBig: a compressed block is larger than its content may be.
	ErrCompressedSizeTooBig = errors.New("zstd: compressed block larger than allowed")

	// ErrBlockTooSmall: a compressed block ends before its parts do.
	ErrBlockTooSmall = errors.New("zstd: compressed block cut short")

	// ErrUnexpectedBlockSize: bytes follow the last part of a compressed block.
	ErrUnexpectedBlockSize = errors.New("zstd: bytes behind the last part of a block")

	// ErrMagicMismatch: the input is no frame, or a dictionary does not begin like one.
	ErrMagicMismatch = errors.New("zstd: magic number mismatch")

	// ErrWindowSizeExceeded: a frame needs a larger window than [WithDecoderMaxWindow] or
	// [WithDecoderMaxMemory] allows, or a block has more content than the window of its frame.
	ErrWindowSizeExceeded = errors.New("zstd: window larger than allowed")

	// ErrWindowSizeTooSmall is not returned: the window of a frame is never below [MinWindowSize].
	ErrWindowSizeTooSmall = errors.New("zstd: window too small")

	// ErrDecoderSizeExceeded: the content is larger than [WithDecoderMaxMemory] or
	// [WithDecodeAllCapLimit] allows.
	ErrDecoderSizeExceeded = errors.New("zstd: content larger than the limit")

	// ErrUnknownDictionary: a frame needs a dictionary that the Decoder does not have.
	ErrUnknownDictionary = errors.New("zstd: unknown dictionary")

	// ErrFrameSizeExceeded: a frame has more content than its header states.
	ErrFrameSizeExceeded = errors.New("zstd: more content than the frame header states")

	// ErrFrameSizeMismatch: a frame has less content than its header states.
	ErrFrameSizeMismatch = errors.New("zstd: less content than the frame header states")

	// ErrCRCMismatch: the checksum of a frame does not match its content.
	ErrCRCMismatch = errors.New("zstd: checksum mismatch")

	// ErrDecoderClosed: the Decoder was closed.
	ErrDecoderClosed = errors.New("zstd: decoder used after Close")

	// ErrEncoderClosed: the stream of the Encoder was closed. Reset begins another one.
	ErrEncoderClosed = errors.New("zstd: encoder used after Close")

	// ErrDecoderNilInput: the Decoder has no source.
	ErrDecoderNilInput = errors.New("zstd: decoder has no source")
)

var (
	errReserved  = corruptError("reserved bit in a frame header")
	errBlockSize = corruptError("block with more content than a block may have")

	errNoWriter = errors.New("zstd: encoder has no writer")
)

// A corruptError is damage that has no value of its own above. It wraps compress.ErrCorrupt.
type corruptError string

func (e corruptError) Error() string { return "zstd: corrupt input: " + string(e) }

func (e corruptError) Unwrap() error { return compress.ErrCorrupt }

// sentinels are the errors of blocks that have a value above.
var sentinels = map[error]error{
	codec.ErrShortBlock:    ErrBlockTooSmall,
	codec.ErrShortLiterals: ErrBlockTooSmall,
	codec.ErrLongBlock:     ErrUnexpectedBlockSize,
	codec.ErrManyLiterals:  ErrWindowSizeExceeded,
	codec.ErrNoRoom:        errBlockSize,
}

// blockError returns the error of a block that the codec has rejected.
func blockError(err error) error {
	if e, ok := sentinels[err]; ok {
		return e
	}
	if e, ok := err.(codec.CorruptError); ok {
		return corruptError(e)
	}
	return err
}

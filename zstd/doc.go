// Package zstd reads and writes .zst data (RFC 8878). Its names, behaviour and errors are those of
// github.com/klauspost/compress/zstd, so a program changes over by changing the import.
//
// # Writing
//
// An [Encoder] writes a stream as one frame. Workers compress it in parts of half a window or less,
// each with the end of the content in front of it, as far as the level says. The Encoder takes
// memory as content comes, up to a window, and none before the first Write. [Encoder.EncodeAll]
// writes one frame that states the size of its content. The output depends on content, options and
// calls of Flush alone.
//
// The tables of match finders belong to the workers that the process shares, or that the Encoder
// has with [WithEncoderConcurrency]. The caller's goroutine compresses small content, and then no
// other one starts.
//
// # Reading
//
// A [Decoder] decodes on the caller's goroutine, and takes memory as content comes, up to the
// window of a frame. [Decoder.DecodeAll] decodes straight to the caller's memory.
//
// If the source of a stream is a *[bytes.Reader], *[strings.Reader] or *[os.File] with 1 MiB or
// more, and the Decoder has no dictionary, workers decode the stream, several parts at once. The
// Decoder then takes up to 64 MiB. At most one Decoder for every four processors does that at a
// time, and at least one. Content and errors do not depend on it. If something is wrong with the
// input, the Decoder goes back in the source and decodes again. So pass a file itself, not a
// bufio.Reader of it. The workers are those that the process shares, or the Decoder's own with
// [WithDecoderConcurrency], and with 1 there are none.
//
// # Levels
//
// Each of the four speeds is a level of the root package: the first one whose output is on average
// no larger than that of klauspost/compress v1.20.3 at the same speed. Sizes are in parts of that:
// on average of generated content of twelve kinds, and of 16 MiB of a mix of them. Random bytes
// that repeat far back are not among them: they are larger. docs/notes/zstd-package.md has the
// table.
//
//	speed                   level   average   mix
//	SpeedFastest            1       0.98      0.96
//	SpeedDefault            3       0.98      0.95
//	SpeedBetterCompression  4       0.98      0.95
//	SpeedBestCompression    5       0.99      0.98
//
// For smaller output use a higher level of the root package, which writes one frame as well.
//
// # Differences
//
//   - Compressed bytes differ, as they do between versions of klauspost/compress.
//   - The window is 8 MiB at most. [WithWindowSize] takes larger ones, which then stand for that.
//   - Some options have no effect; their comments say so. All have the ranges that they have there.
//   - Frames of up to 1 KiB from EncodeAll are single segments, so that they state their size.
//   - Texts of errors differ. Damage inside of a block that has no error value there wraps
//     [compress.ErrCorrupt]. So do bits of a code that run out, where there it is
//     [io.ErrUnexpectedEOF].
//   - [Encoder.ReadFrom] can go on behind an error of its source. Write without a writer is an
//     error, where there it panics.
//   - A Decoder never allocates for content on the word of a header alone.
//   - Reset reads nothing. There it decodes small sources that are in memory.
//   - [TrainDict] is ours: package dict of klauspost/compress has BuildZstdDict.
//   - [BuildDict] needs an ID. Repeat offsets are always 1, 4 and 8.
//
// # Left out
//
//   - SnappyConverter, ErrSnappyCorrupt, ErrSnappyTooLarge and ErrSnappyUnsupported: klauspost has
//     deprecated the converter. Decode Snappy data and compress it with an Encoder.
//   - LitEncoder of what [InspectDictionary] returns: its type is one of klauspost/compress.
package zstd

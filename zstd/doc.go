// Package zstd reads and writes .zst data (RFC 8878). Its names, behaviour and errors are those of
// github.com/klauspost/compress/zstd, so a program changes over by changing the import.
//
// # Writing
//
// An [Encoder] writes a stream as one frame. It compresses the stream in parts of half a window,
// each with the content in front of it as its window. It takes memory for a window as content
// comes, and none before the first Write. [Encoder.EncodeAll] writes one frame that states the size
// of its content. The output depends on content, options and calls of Flush alone.
//
// The tables of match finders belong to the workers that the process shares, or that the Encoder
// has with [WithEncoderConcurrency]. The caller's goroutine compresses small content, and then no
// other one starts.
//
// # Reading
//
// A [Decoder] decodes on the caller's goroutine. A stream takes memory for the window of its frame
// as content comes.
//
// # Levels
//
// Each of the four speeds is a level of the root package: the lowest level whose output is on
// average no larger than that of klauspost/compress v1.20.3 at this speed. [SpeedBestCompression]
// would share a level with [SpeedBetterCompression], and is a higher one. The table has the sizes
// beside those of klauspost/compress, of generated content and of 16 MiB of a mix of it.
// docs/notes/zstd-package.md has more.
//
//	speed                   level   size on average   size of the mix
//	SpeedFastest            1       98%               96%
//	SpeedDefault            3       100%              95%
//	SpeedBetterCompression  5       94%               93%
//	SpeedBestCompression    7       98%               97%
//
// # Differences
//
//   - Compressed bytes differ, as they do between versions of klauspost/compress.
//   - The window is 8 MiB at most. [WithWindowSize] takes larger ones, which then stand for that.
//   - Some options have no effect; their comments say so. All have the ranges that they have there.
//   - Frames of up to 1 KiB from EncodeAll are single segments, so that they state their size.
//   - Texts of errors differ. Damage inside of a block that has no error value there wraps
//     [compress.ErrCorrupt].
//   - [Encoder.ReadFrom] can go on behind an error of its source. Write without a writer is an
//     error, where there it panics.
//   - A Decoder never allocates for content on the word of a header alone.
//   - A source that has all its data in memory is read as any other, and not decoded by Reset.
//   - [BuildDict] needs an ID. Repeat offsets are always 1, 4 and 8.
//
// # Left out
//
//   - SnappyConverter, ErrSnappyCorrupt, ErrSnappyTooLarge and ErrSnappyUnsupported: klauspost has
//     deprecated the converter. Decode Snappy data and compress it with an Encoder.
//   - LitEncoder of what [InspectDictionary] returns: its type is one of klauspost/compress.
package zstd

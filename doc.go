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
// places of calls of [Writer.Flush], never on the number of workers or on how Write cuts the content.
// Workers are goroutines only while there is work; no Writer or Reader has goroutines of its own.
// The underlying writer or reader is used only inside the caller's own calls, on the caller's
// goroutine.
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
// Blocks of .pz are decompressed in parallel, and so are frames of .zst that state the size of their
// content, if that is at most 32 MiB. Large .gz members of any writer are too, if they come from
// memory, a file or a pipe. Other frames and inputs are decompressed from front to back. A [ReaderAt]
// needs an index, which .pz files have, or a seek table, which .zst files may have; a
// .zst file of one frame that states its size, up to 32 MiB, needs none. Of a .gz file it
// makes an index first, unless [WithIndex] gives it one. [ReadInfo] describes any file.
//
// Small .pz and .zst files of the same kind become less than half as large with a [Dictionary], which
// both sides need: see [WithDictionary].
//
// A [Plan] compresses pieces of one file apart, for instance on different machines.
//
// # Errors
//
// Any damage to a .pz file is detected, down to a single bit, unless it was written without checks.
// In .gz and .zst files with checks, damage to the content is detected. These formats do not number
// their members and frames, so that missing ones go unnoticed. Only a seek table shows that frames
// are missing. A Writer adds one to every .zst file.
//
// Errors about input are of type [*Error], which says in which stream and block and at which byte
// something is wrong. Tell them apart with [errors.Is]: [ErrFormat], [ErrCorrupt], [ErrTruncated]
// and so on. A Reader returns all content in front of the damage first.
package compress

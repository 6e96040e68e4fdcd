// Package compress compresses data in parallel to the .pz format, or to .gz and .zst files that everybody can read, and decompresses all of these.
//
// A [Writer] compresses a stream, a [Reader] decompresses one, and a [ReaderAt] decompresses any part of a file through
// its index. [AppendEncode] and [AppendDecode] do the same for content in memory, and [Recover] saves what is intact of
// a damaged file. Options such as [WithLevel] change how they work; without any the result is a good balance of speed
// and density.
//
// # Concurrency
//
// Content is cut into blocks, which the workers of a scheduler compress or decompress at the same time. Unless
// [WithConcurrency] or [WithScheduler] says otherwise, everything in the process shares one scheduler of GOMAXPROCS
// workers. The output depends on content and options alone, never on the number of workers or on how the content was
// written. Workers are goroutines only as long as there is work; no type of this package has goroutines of its own. The
// underlying writer or reader is used only inside of the caller's own calls, on the caller's goroutine.
//
// # Memory
//
// The number of blocks in flight, and with it the memory, is bounded: [WriterMemory] and [ReaderMemory] say how much it
// is at most, and [WithMaxMemory] sets a limit. A Reader never allocates much on the word of a header alone. Input that is not
// trusted can still decompress to a thousand times its size and more: [WithMaxDecodedSize] is for that.
//
// # Formats
//
// [WithPipeline] chooses the format that is written. Reading needs no choice: the first bytes tell. Several .pz streams, members of .gz or frames
// of .zst may follow one another in a file, but not one format another, or anything else: that is [ErrTrailing], after the content, or behind .zst plain [ErrCorrupt]. Blocks of .pz are decompressed in parallel, and
// so are frames of .zst that say how much content they have, 32 MiB at most. Other frames, and .gz, are decompressed from front to back. A ReaderAt
// needs an index, which .pz files and .zst files with a seek table have; [ReadInfo] describes any file.
//
// # Errors
//
// Any damage to a .pz file, down to a single bit, is noticed unless it was written without checks. What changes the content of .gz and .zst is
// noticed if they have checks, but for whole members or frames that are gone: these formats do not number them. In .zst a seek table behind the frames shows it, which
// a Writer always writes; a file that is cut off between two frames, table and all, is a shorter file, and whole. Errors about input are
// of type [*Error], which says in which stream and block and at which byte something is wrong, and are told apart with
// [errors.Is]: [ErrFormat], [ErrCorrupt], [ErrTruncated] and so on. A Reader gives out all content in front of the damage
// first.
package compress

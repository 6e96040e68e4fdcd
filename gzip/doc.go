// Package gzip reads and writes .gz data (RFC 1952). Its names, behaviour and errors are those of
// Go's compress/gzip, so a program changes over by changing the import.
//
// # Writing
//
// Except at [NoCompression] a [Writer] compresses through a [compress.Writer]. It cuts the content
// into blocks of 1 MiB, and the workers of the scheduler that the process shares compress several
// blocks at once. Matches reach across blocks. [Writer.SetOptions] chooses another scheduler or
// other limits. The output does not depend on the number of workers.
//
// The caller's goroutine compresses content of less than 64 KiB itself at Flush and Close. Then
// no goroutine starts. The caller's goroutine also does all work of [NoCompression], which is
// copying. The underlying writer is used only inside the Writer's methods.
//
// A Writer keeps the blocks in flight: two for each worker, and about 2.3 MiB for each block. With
// less content than a block it keeps little more than twice that content. The tables of match
// finders belong to the workers, not to the Writer. So a new Writer takes a few KiB where one of
// compress/gzip takes 800 KB.
//
// # Reading
//
// A [Reader] reads the source only inside its methods. It decodes the first 256 KiB of input on the
// caller's goroutine, and starts no other. For that it takes up to 96 KiB for window and content,
// 20 KiB for tables, and 16 KiB of input if the source is no [io.ByteReader].
//
// If the source is a *[bytes.Reader], *[bytes.Buffer], *[strings.Reader] or *[os.File], the workers
// of the shared scheduler decode what follows, several parts at once. The Reader then takes up to
// 128 MiB. At most one Reader for every four workers decodes so, and at least one. Others go on
// alone, and try again after each MiB of input. Content, errors and their order do not depend on
// that. Workers end by themselves when a Reader is dropped without Close. Decoding in parallel
// takes more processor time than decoding in order. Where other programs use the processors, a
// Reader on Linux notices that it does not pay, and goes on alone for a while.
// [Reader.SetOptions] chooses another scheduler, or one worker.
//
// Content of other sources is decoded on the caller's goroutine. The Reader cannot ask a network
// connection whether a read would wait. It cannot give input back to a [bufio.Reader]. So pass a
// file itself, not a bufio.Reader of it. [NewReaderN], and SetOptions with
// [compress.WithReadAhead], start a goroutine that reads any source ahead. Then the workers decode
// its content too.
//
// A source that is an io.ByteReader is left right behind the last member. For *[bufio.Reader],
// *[bytes.Buffer], *[bytes.Reader] and *[strings.Reader] that costs nothing. Other ByteReaders are
// read eight bytes at a time: a trailer has as many, so no read reaches beyond the member.
//
// # Differences
//
//   - Compressed bytes differ from those of compress/gzip, as they do between versions of Go.
//   - [StatelessCompression], which compress/gzip does not have, is a level.
//   - Level 6 is the default, as there. It takes about half of the time or less.
//   - Flush without new content writes nothing behind the header.
//   - Of a stream that is cut short a Reader may return a few bytes more.
//   - It may return the end of the content before it knows that it is the end. The next Read then
//     returns io.EOF or the error.
//   - The offset in a [flate.CorruptInputError] may differ by a few bytes.
//   - With SetOptions a Writer or a Reader gets workers of its own.
//   - Writer and Reader have no method ReadFrom or WriteTo either. A type that embeds one and
//     overrides Write or Read would lose calls to them.
package gzip

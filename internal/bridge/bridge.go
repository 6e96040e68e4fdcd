// Package bridge has abilities of package compress for packages of this module alone. They are too
// special to be promised.
package bridge

import (
	"io"
	"sync/atomic"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blockcache"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/hook"
	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/internal/zstframe"
	"github.com/gopz/compress/pipeline"
)

// MemoryTarget keeps the memory for blocks and workers below so many bytes where that is possible:
// fewer blocks are worked on at the same time. Unlike [compress.WithMaxMemory] it is never an
// error: a block that takes more is worked on alone. 0 is for no target. Both options may be given.
func MemoryTarget(bytes int64) compress.Option {
	return hook.MemoryTarget(bytes).(compress.Option)
}

// Position has a Writer add to n how many bytes of content it has compressed. A large block counts
// part by part while it is compressed, so n grows evenly between two calls of the function of
// [compress.WithProgress]. When a block is written, n counts all of it. The sum goes on after
// Reset. Any goroutines may read n. Blocks on a device count when they are done.
func Position(n *atomic.Int64) compress.WriterOption {
	return hook.Position(n).(compress.WriterOption)
}

// Streams makes a Writer begin another stream of .pz, or of .zst frames with their seek table, as
// soon as a stream has size bytes of content and there is more. The parts of the file then stand
// for themselves, as package parity needs them. After each stream but the last one the Writer calls
// end. size is at least 1 MiB.
func Streams(size int64, end func() error) compress.WriterOption {
	return hook.Streams(size, end).(compress.WriterOption)
}

// BadSection has whatever reads a file call saw for each section of parity that is damaged, from
// any goroutine. A Reader looks at all of a section, a ReaderAt and ReadInfo at its ends.
func BadSection(saw func()) compress.ReaderOption {
	return hook.BadSection(saw).(compress.ReaderOption)
}

// Unverified has a Reader of .zst call ends at a damaged frame. partly says that the Reader has
// returned a part of the frame already. Else it is about to do that, and if ends returns true,
// it returns the error in place of content.
func Unverified(ends func(partly bool) bool) compress.ReaderOption {
	return hook.Unverified(ends).(compress.ReaderOption)
}

// Literals makes a Writer use no matches, whatever the level. In .gz that leaves Huffman codes
// alone.
func Literals() compress.WriterOption { return hook.Literals().(compress.WriterOption) }

// FrameWindow makes a Writer of .zst write a frame in which no match reaches further back than
// window bytes: a power of two from 1 KiB to 8 MiB. The block size is the Writer's own.
func FrameWindow(window int) compress.WriterOption {
	return hook.FrameWindow(window).(compress.WriterOption)
}

// OnlyZstd makes a Reader take any input for .zst. A frame whose header states a larger window than
// window bytes is an [compress.ErrMemory].
func OnlyZstd(window int64) compress.ReaderOption {
	return hook.OnlyZstd(window).(compress.ReaderOption)
}

// Pipeline chooses the row of package pipeline's table that a Writer compresses with, and thereby
// the format, by its name.
func Pipeline(name string) compress.WriterOption {
	return hook.Pipeline(name).(compress.WriterOption)
}

// Frames makes a Writer of .zst write each block as a frame, as [compress.WithSeekable] does, and
// does nothing in other formats.
func Frames() compress.WriterOption { return hook.Frames().(compress.WriterOption) }

// Pipelines returns the rows of the table whose names [Pipeline] takes.
func Pipelines() []pipeline.Pipeline { return pipeline.Pipelines() }

// DefaultPipeline is the name of the pipeline of a Writer without options.
var DefaultPipeline = pipeline.Default(compress.PZ).Name

// KeepTogether says that the next size bytes of content will be read together, as those of a file
// in an archive. They begin a block if they do not fit into the rest of the current one, and that
// rest is at most an eighth of a block. So a ReaderAt often needs a block less for them. It does
// nothing where matches reach from block to block, nor with WithRsyncable.
func KeepTogether(w *compress.Writer, size int64) { hook.KeepTogether(w, size) }

// Resume resets a Reader to go on in a .gz file whose beginning another decoder has read.
func Resume(r *compress.Reader, open hook.Open) { hook.Resume(r, open) }

// CacheStats returns the statistics of a Cache so far.
func CacheStats(c *compress.Cache) blockcache.Stats { return hook.CacheStats(c) }

// DecodedLimit returns the limit of [compress.WithMaxDecodedSize] that r has, −1 for none.
func DecodedLimit(r *compress.ReaderAt) int64 { return hook.DecodedLimit(r) }

// ProbeZstd reports what [compress.Recover] can use in a damaged .zst file of size bytes, from its
// first and last bytes. table means that the file ends in a seek table, perhaps a damaged one.
// sized means that its first frame states the size of its content.
func ProbeZstd(src io.ReaderAt, size int64) (table, sized bool) {
	p := make([]byte, min(max(size, 0), zstframe.MaxHeaderSize))
	if container.ReadAt(src, p, 0) == nil {
		h, _, err := zstframe.ParseHeader(p)
		sized = err == nil && h.ContentSize >= 0
	}
	return zstfile.HasSeekTable(src, size), sized
}

// EndsStream reports whether a file of size bytes ends with the footer of a .pz stream of several
// blocks.
func EndsStream(src io.ReaderAt, size int64) bool {
	p := make([]byte, pzfile.FooterSize)
	if size < pzfile.FooterSize || container.ReadAt(src, p, size-pzfile.FooterSize) != nil {
		return false
	}
	_, err := pzfile.ParseFooter(p)
	return err == nil
}

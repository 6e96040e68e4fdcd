// Package index says where everything is in a file that can be read at random: its streams, their
// blocks, and the gaps between them. The formats make such an index; package compress reads
// blocks by it.
package index

import (
	"io"
	"sort"

	"github.com/gopz/compress/internal/container"
)

// File is the index of a .pz file, of a .zst file with a seek table, or of a .gz file with
// checkpoints. The latter two are one stream. Its blocks are frames, or the intervals between
// checkpoints.
type File struct {
	Format   container.Format
	Size     int64 // of the file, in bytes
	Content  int64 // bytes of content
	Streams  []Stream
	Blocks   []Block // of all streams
	MaxFrame int     // bytes of the longest frame of a .zst file, or interval of a .gz file
	Extra    int64   // memory that the format keeps besides, in bytes
}

// Stream is one stream of a File. Salvage makes one of each row of intact blocks.
type Stream struct {
	Pipeline  uint8 // number of the pipeline in .pz; 0 for the one of the format
	BlockSize int   // most content of a block, in bytes
	Checks    bool  // blocks carry checks of their content
	Sources   int   // most earlier blocks that a block may refer to
	Window    int64 // bytes that such references reach back; 0 if there are none

	Dictionary uint32 // number in .pz of the dictionary in front of each block; 0 if there is none

	Offset        int64 // in the file
	Size          int64 // bytes in the file
	ContentOffset int64 // of its content in the content of the file
	Content       int64 // bytes of content
	First         int64 // number in the file of its first block
	Blocks        int64

	ID      int   // number of the stream in the file
	Skipped int64 // number in the stream of its first block here
}

// Frame is the kind of a Block that is a frame of zstd. The kinds of .pz begin at 1.
const Frame container.Kind = 0

// Interval is the kind of a Block that is an interval between checkpoints of a .gz file.
const Interval = container.Coded + 1

// Block is one block of a File.
type Block struct {
	Offset  int64 // of its header in the file
	Content int64 // offset of its content in the content of the file
	Size    int32 // bytes in the file, header included
	Raw     int32 // bytes of content
	Kind    container.Kind
	Short   bool   // a block of .pz with a short header
	Flushed bool   // a block of .pz whose header says that a flush ends it; not set if Short is
	Sum     uint32 // of a frame's content, if the seek table has sums, or of an interval's
}

// ContentEnd returns the offset of the end of the block's content.
func (b *Block) ContentEnd() int64 { return b.Content + int64(b.Raw) }

// Memory of one of each, in bytes.
const (
	StreamMemory = 128
	BlockMemory  = 32
)

// Memory returns the bytes that the index takes once it has so many blocks.
func (f *File) Memory(blocks int64) int64 {
	return f.Extra + StreamMemory*int64(len(f.Streams)) + BlockMemory*blocks
}

// Find returns the number of the block that holds the content at off, which is below f.Content.
func (f *File) Find(off int64) int64 {
	n := sort.Search(len(f.Blocks), func(i int) bool { return f.Blocks[i].Content > off })
	return int64(n) - 1
}

// StreamOf returns the stream that has the block, and the block's number in the stream.
func (f *File) StreamOf(block int64) (st *Stream, number int64) {
	n := sort.Search(len(f.Streams), func(i int) bool { return f.Streams[i].First > block })
	st = &f.Streams[n-1]
	return st, block - st.First + st.Skipped
}

// Earlier returns the number of the block that comes distance blocks before another one in the same
// stream, −1 if it is not there.
func (f *File) Earlier(block int64, distance int64) int64 {
	n := sort.Search(len(f.Streams), func(i int) bool { return f.Streams[i].First > block }) - 1
	id := f.Streams[n].ID
	number := block - f.Streams[n].First + f.Streams[n].Skipped - distance
	for ; n >= 0 && f.Streams[n].ID == id; n-- {
		if st := &f.Streams[n]; number >= st.Skipped && number < st.Skipped+st.Blocks {
			return st.First + number - st.Skipped
		}
	}
	return -1
}

// A Cancelable is an input that returns an error once the context has ended.
type Cancelable struct {
	Src    io.ReaderAt
	Limits *container.Limits
}

// ReadAt is [io.ReaderAt].
func (c Cancelable) ReadAt(p []byte, off int64) (int, error) {
	if err := c.Limits.Canceled(); err != nil {
		return 0, err
	}
	return c.Src.ReadAt(p, off)
}

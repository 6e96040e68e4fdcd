package compress

import (
	"io"

	"github.com/gopz/compress/pipeline"
)

// Info describes a file as its index has it, or, where there is none, as reading it has shown.
type Info struct {
	Format   string // "pz", "gz" or "zst"
	Size     int64  // bytes of the file
	Content  int64  // bytes of content
	Blocks   int64  // in all streams
	Seekable bool   // there is an index, or a seek table, that leads to any place of the content
	Streams  []StreamInfo
}

// StreamInfo describes one stream of a file: of a .pz file, or one member of a .gz file, which is a single block, or all of a .zst file, whose
// blocks are its frames.
type StreamInfo struct {
	Offset        int64  // of its header in the file
	Size          int64  // bytes in the file, from header to footer
	ContentOffset int64  // of its content in that of the file
	Content       int64  // bytes of content
	Blocks        int64  // number of blocks, each of which can be decompressed by itself
	Unchecked     int64  // number of blocks without a check of their content
	Pipeline      string // that wrote it, "lzseqr" for instance; "" if the format does not say, which .gz and .zst do not
	BlockSize     int    // bytes of content in a block at most
	Checks        bool   // all blocks carry checks of their content
}

// BlockInfo describes one block of a .pz file, or a frame of a .zst file.
type BlockInfo struct {
	Stream        int    // number of its stream, from 0
	Number        int64  // in its stream, from 0
	Kind          string // "stored", "fill" or "coded"; "frame" in a .zst file
	Offset        int64  // of its header in the file
	Size          int64  // bytes in the file, header included
	ContentOffset int64  // of its content in that of the file
	Content       int64  // bytes of content
}

// ReadInfo describes the file of the given size, in bytes, that src holds, in any of the formats that a [Reader] knows. Of a .pz file it reads the
// headers of streams and the index, of a .zst file the headers of frames and of what is in them. A .gz file is decompressed, because all it says of its content is
// the size of each member modulo 4 GiB; so are frames of a .zst file that do not say how much content they have. [WithMaxMemory] and [WithMaxDecodedSize] hold as they do for a
// Reader.
//
// With an error comes a description of what is in front of the damage, as far as it is known; with [ErrTrailing] that is everything but what follows
// the compressed data.
func ReadInfo(src io.ReaderAt, size int64, opts ...Option) (Info, error) {
	o, err := newOptions(opts)
	if err != nil {
		return Info{}, err
	}
	if size < 0 {
		return Info{}, optionError("file size %d is negative", size)
	}
	info, err := readInfo(cancelable{src, &o}, size, &o)
	if cerr := o.canceled(); cerr != nil {
		err = cerr
	}
	return info, err
}

func readInfo(src io.ReaderAt, size int64, o *options) (Info, error) {
	var head [sniffSize]byte
	p := head[:min(size, sniffSize)]
	if err := readAt(src, p, 0); err != nil {
		return Info{}, err
	}
	switch format, known, _ := sniff(p); {
	case known && format == pipeline.GZ:
		return readGzipInfo(src, size, o)
	case known:
		return readZstdInfo(src, size, o)
	}
	x, err := readIndex(src, size, o.readerLimit())
	if err != nil {
		return Info{}, err
	}
	if o.maxDecoded >= 0 && x.content > o.maxDecoded {
		return Info{}, tooMuchContent(x.content, o.maxDecoded)
	}
	return x.info(), nil
}

// moreStreams is the error if n streams are more than memory is there for.
func (o *options) moreStreams(n int) error {
	if int64(n)*streamMemory <= o.readerLimit() {
		return nil
	}
	return &Error{Kind: ErrMemory, Block: -1, Offset: -1, Detail: "there are too many members to list them within the memory limit"}
}

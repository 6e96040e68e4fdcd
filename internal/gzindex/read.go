package gzindex

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
)

// ReadAt reads an index of size bytes from r. The first bytes tell the format. limits bounds the
// memory of the index, and may end the work; limits.MaxDecoded and limits.Checks have no effect. A
// nil limits stands for the defaults.
//
// Errors wrap errs.Format, errs.Version, errs.Truncated, errs.Corrupt or errs.Memory, and have the
// offset in the index. Errors of r and of the context are returned as they are. ReadAt does not
// decompress windows: [Unpacker.Unpack] finds damage in them.
func ReadAt(r io.ReaderAt, size int64, limits *container.Limits) (*Index, error) {
	return read(&input{r: sectionOf(r, size), size: size, limits: limits})
}

// ReadLast is ReadAt for a caller who needs no window but that of the last checkpoint. It leaves
// out the windows of GZIDX before that, because they have to be compressed.
func ReadLast(r io.ReaderAt, size int64, limits *container.Limits) (*Index, error) {
	return read(&input{r: sectionOf(r, size), size: size, limits: limits, lastOnly: true})
}

func sectionOf(r io.ReaderAt, size int64) *bufio.Reader {
	return bufio.NewReaderSize(io.NewSectionReader(r, 0, size), 64<<10)
}

// read reads the index in.
func read(in *input) (*Index, error) {
	if in.limits == nil {
		in.limits = new(container.Limits)
	}
	x := &Index{FileSize: Unknown, ContentSize: Unknown}
	head, err := in.peek(16)
	if err != nil {
		return nil, err
	}
	format := readBgzip
	switch {
	case hasPrefix(head, gzidxMagic):
		format = readGZIDX
	case hasPrefix(head, gztoolMagic0), hasPrefix(head, gztoolMagic1):
		format = readGztool
	case len(head) < 8:
		return nil, corrupt(errs.Format, 0, "too short")
	}
	if err := format(in, x); err != nil {
		return nil, err
	}
	head, err = in.peek(1)
	if err != nil {
		return nil, err
	}
	if len(head) > 0 {
		return nil, corrupt(errs.Trailing, in.at, "more bytes than %v has", x.Source)
	}
	// Sizes may have come after the checkpoints.
	if reason := x.check(); reason != "" {
		return nil, corrupt(errs.Corrupt, in.at, "%s", reason)
	}
	return x, nil
}

func hasPrefix(b []byte, magic string) bool {
	return len(b) >= len(magic) && string(b[:len(magic)]) == magic
}

// input reads the fields of an index. The first error is kept in err, and then fields are zero.
type input struct {
	r      *bufio.Reader
	at     int64 // bytes read
	size   int64 // of the index
	limits *container.Limits
	memory int64 // of the index so far, in bytes
	err    error
	buf    [8]byte

	lastOnly bool // no window is needed but the last one
}

// peek returns the next n bytes, fewer at the end of the input.
func (in *input) peek(n int) ([]byte, error) {
	b, err := in.r.Peek(n)
	if err != nil && err != io.EOF {
		return nil, err
	}
	return b, nil
}

// full reads all of p.
func (in *input) full(p []byte) {
	if in.err != nil {
		clear(p)
		return
	}
	n, err := io.ReadFull(in.r, p)
	in.at += int64(n)
	if err != nil {
		clear(p)
		in.err = err
		if errs.IsEnd(err) {
			in.err = corrupt(errs.Truncated, in.at, "cut short")
		}
	}
}

// skip reads n bytes without keeping them.
func (in *input) skip(n int) {
	if in.err != nil {
		return
	}
	n, err := in.r.Discard(n)
	in.at += int64(n)
	in.err = err
	if err == io.EOF {
		in.err = corrupt(errs.Truncated, in.at, "cut short")
	}
}

func (in *input) byte() byte {
	in.full(in.buf[:1])
	return in.buf[0]
}

func (in *input) uint32(order binary.ByteOrder) uint32 {
	in.full(in.buf[:4])
	return order.Uint32(in.buf[:4])
}

func (in *input) uint64(order binary.ByteOrder) uint64 {
	in.full(in.buf[:8])
	return order.Uint64(in.buf[:8])
}

// int63 reads a number that must not exceed limit.
func (in *input) int63(order binary.ByteOrder, limit int64, what string) int64 {
	v := in.uint64(order)
	if v > uint64(limit) {
		in.fail("impossible %s %d", what, v)
		return 0
	}
	return int64(v)
}

// bit returns the place of a checkpoint in bits. It lies bits before the byte at offset.
func (in *input) bit(offset int64, bits uint32) int64 {
	bit := offset*8 - int64(bits)
	if bits > 7 || bit < 0 {
		in.fail("impossible bit offset %d", bits)
		return 0
	}
	return bit
}

// fail keeps an error about what was read last.
func (in *input) fail(format string, args ...any) {
	if in.err == nil {
		in.err = corrupt(errs.Corrupt, in.at, format, args...)
	}
}

// takeMemory accounts for n more bytes of memory.
func (in *input) takeMemory(n int) {
	in.memory += int64(n)
	if in.memory > in.limits.Memory() && in.err == nil {
		err := errs.OutOfMemory(0, "index of a .gz file takes more than %d bytes",
			in.limits.Memory())
		err.Offset, err.Part = in.at, errs.PartIndex
		in.err = err
	}
}

// addCheckpoint appends a checkpoint to x, unless there was an error. It reports whether reading
// goes on.
func (in *input) addCheckpoint(x *Index, c Checkpoint) bool {
	if in.err == nil {
		in.err = in.limits.Canceled()
	}
	// append may hold twice as many checkpoints as there are.
	in.takeMemory(2*checkpointMemory + len(c.Window.zlib))
	if in.err != nil {
		return false
	}
	var before Checkpoint
	if n := len(x.Checkpoints); n > 0 {
		before = x.Checkpoints[n-1]
	}
	if reason := x.checkOne(&c, &before); reason != "" {
		in.fail("checkpoint %d %s", len(x.Checkpoints), reason)
		return false
	}
	x.Checkpoints = append(x.Checkpoints, c)
	return true
}

// ended reports whether the input has no more bytes. It returns true after an error.
func (in *input) ended() bool {
	if in.err != nil {
		return true
	}
	b, err := in.peek(1)
	in.err = err
	return len(b) == 0
}

// maxContent is the largest offset in the content.
const maxContent = math.MaxInt64

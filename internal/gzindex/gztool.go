package gzindex

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/gopz/compress/internal/errs"
)

// gztool's format, which its README describes. Numbers are big-endian, sizes and offsets are in
// bytes.
//
//	8  zero
//	8  "gzipindx" in version 0, "gzipindX" in version 1
//	4  what ends a line: 0 for a line feed, 1 for a carriage return; version 1 only
//	8  number of checkpoints
//	8  the same number; another one if the index is incomplete
//
// Then for each checkpoint:
//
//	8  offset in the content
//	8  offset in the .gz file of the first whole byte
//	4  bits that belong to the checkpoint from the byte before
//	4  size of the window
//	   the window as a zlib stream; none if the size is 0
//	8  number of the line at the checkpoint, from 1; version 1 only
//
// At the end of a complete index:
//
//	8  size of the content
//	8  number of lines; version 1 only
//
// The second number of an incomplete index is the number of checkpoints, or 2⁶⁴−1 if they go on to
// the end of the index.
const (
	gztoolMagic0 = "\x00\x00\x00\x00\x00\x00\x00\x00gzipindx"
	gztoolMagic1 = "\x00\x00\x00\x00\x00\x00\x00\x00gzipindX"
)

// readGztool reads an index of gztool.
func readGztool(in *input, x *Index) error {
	order := binary.BigEndian
	var magic [len(gztoolMagic0)]byte
	in.full(magic[:])
	x.Source = Gztool0
	if string(magic[:]) == gztoolMagic1 {
		x.Source = Gztool1
		if end := in.uint32(order); end > 1 {
			in.fail("impossible end of lines %d", end)
		}
	}
	count, again := in.uint64(order), in.uint64(order)
	complete := count == again
	if !complete {
		count = again
	}
	if complete && count == math.MaxUint64 {
		in.fail("impossible number of checkpoints")
	}
	for i := uint64(0); i < count; i++ {
		if !complete && in.ended() {
			break
		}
		if !in.addCheckpoint(x, in.gztoolPoint(x)) {
			return in.err
		}
	}
	if !complete || in.ended() {
		return in.err // gztool takes the sizes at the end for optional too
	}
	x.ContentSize = in.int63(order, maxContent, "content size")
	if x.Source == Gztool1 {
		in.uint64(order) // number of lines
	}
	return in.err
}

// gztoolPoint reads a checkpoint.
func (in *input) gztoolPoint(x *Index) (c Checkpoint) {
	order := binary.BigEndian
	c.Content = in.int63(order, maxContent, "offset in the content")
	offset := in.int63(order, maxFile, "offset")
	c.Bit = in.bit(offset, in.uint32(order))
	size := in.uint32(order)
	if size > maxPacked {
		in.fail("window of %d bytes; at most %d are possible", size, maxPacked)
	}
	if in.err == nil && size > 0 {
		c.Window.zlib = make([]byte, size)
		in.full(c.Window.zlib)
	}
	if x.Source == Gztool1 {
		in.uint64(order) // number of the line
	}
	return c
}

// writeGztool writes the index in version 0.
func (x *Index) writeGztool(w io.Writer) error {
	if x.ContentSize == Unknown {
		return errs.BadOption("gztool's .gzi needs the size of the content")
	}
	order := binary.BigEndian
	b := append(make([]byte, 0, 64), gztoolMagic0...)
	b = order.AppendUint64(b, uint64(len(x.Checkpoints)))
	b = order.AppendUint64(b, uint64(len(x.Checkpoints)))
	for i := range x.Checkpoints {
		c := &x.Checkpoints[i]
		b = order.AppendUint64(b, uint64(c.Content))
		b = order.AppendUint64(b, uint64(c.Bit+7)>>3)
		b = order.AppendUint32(b, uint32(-c.Bit&7))
		b = order.AppendUint32(b, uint32(len(c.Window.zlib)))
		b = append(b, c.Window.zlib...)
		if _, err := w.Write(b); err != nil {
			return err
		}
		b = b[:0]
	}
	b = order.AppendUint64(b, uint64(x.ContentSize))
	_, err := w.Write(b)
	return err
}

package gzindex

import (
	"encoding/binary"
	"io"

	"github.com/gopz/compress/internal/errs"
)

// bgzip's format, for BGZF files: members with at most 64 KiB of content each. Numbers are
// little-endian, offsets are in bytes. htslib's manual page of bgzip describes it.
//
//	8  number of members that follow
//	8  offset of a member in the file
//	8  offset of its content
//
// The last two fields repeat. The first member of the file, at offset 0, is left out. Nothing but
// the length of the file shows the format.
const bgzipPoint = 16

// readBgzip reads an index of bgzip.
func readBgzip(in *input, x *Index) error {
	order := binary.LittleEndian
	x.Source = Bgzip
	count := in.uint64(order)
	if in.err != nil {
		return in.err
	}
	const most = maxFile / bgzipPoint
	if count > most || in.size != 8+bgzipPoint*int64(count) {
		return corrupt(errs.Format, 0, "neither GZIDX, nor .gzi of gztool or bgzip")
	}
	in.addCheckpoint(x, Checkpoint{Header: true})
	for i := uint64(0); i < count && in.err == nil; i++ {
		c := Checkpoint{Header: true}
		c.Bit = in.int63(order, maxFile, "offset") * 8
		c.Content = in.int63(order, maxContent, "offset in the content")
		in.addCheckpoint(x, c)
	}
	return in.err
}

// writeBgzip writes the index.
func (x *Index) writeBgzip(w io.Writer) error {
	points := x.Checkpoints
	for i := range points {
		if !points[i].Header {
			return errs.BadOption("bgzip's .gzi lists headers of members; checkpoint %d is none", i)
		}
	}
	if len(points) > 0 && points[0].Bit == 0 {
		points = points[1:]
	}
	order := binary.LittleEndian
	if _, err := w.Write(order.AppendUint64(nil, uint64(len(points)))); err != nil {
		return err
	}
	b := make([]byte, 0, bgzipPoint)
	for i := range points {
		b = order.AppendUint64(b[:0], uint64(points[i].Bit)>>3)
		b = order.AppendUint64(b, uint64(points[i].Content))
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

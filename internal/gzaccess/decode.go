package gzaccess

import (
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/gzindex"
)

// slack is room behind the content of an interval in bytes. With it the inflater uses its fast loop
// to the end, and content that is too long shows.
const slack = 512

// decoderMemory is what a Decoder takes in bytes besides the interval and its content: tables of
// two inflaters, and two windows.
const decoderMemory = 192 << 10

// Memory returns how many bytes n Decoders take for intervals of up to size bytes with so much
// content, with the interval and its content.
func Memory(n, size, content int) int64 {
	return int64(n) * (int64(size) + int64(content) + slack + decoderMemory)
}

// A Decoder decodes intervals of a file. It is a [container.SerialDecoder] that decodes a whole
// interval in one call.
type Decoder struct {
	walker walker
	unpack gzindex.Unpacker
	m      *Map
	n      int64
}

// Begin says which interval the next call of Decode decodes. With checks it verifies the content:
// by what Make has found, and by the trailers of members that are complete in the interval.
func (d *Decoder) Begin(m *Map, n int64, checks bool) {
	d.m, d.n = m, n
	d.walker.checks, d.walker.maxDecoded = checks, -1
}

// Prepare implements container.SerialDecoder. An interval depends on none before it.
func (d *Decoder) Prepare(*container.Serial) {}

// Finish implements container.SerialDecoder. Decode leaves nothing open.
func (d *Decoder) Finish(*container.Serial) {}

// Verify implements container.SerialDecoder. Decode compares the checks.
func (d *Decoder) Verify(*container.Serial) {}

// Decode decodes the interval s.Src into s.Buf. An error is in s.Stop, and has the number of the
// interval; the content is then that before the damage.
func (d *Decoder) Decode(s *container.Serial) {
	s.Buf, s.History, s.Stop = s.Buf[:0], 0, nil
	c := &d.m.points[d.n]
	window, err := d.unpack.Unpack(c.Window)
	if err == nil {
		b := &d.m.File.Blocks[d.n]
		size := len(window) + int(b.Raw) + slack
		if cap(s.Buf) < size {
			s.Buf = make([]byte, size)
		}
		s.Buf = s.Buf[:size]
		s.History = copy(s.Buf, window)
		err = d.interval(s, s.Src)
	}
	if e, ok := err.(*errs.Error); ok {
		e.Block = d.n
		if e.Offset < 0 {
			e.Offset = d.m.File.Blocks[d.n].Offset
		}
	}
	s.Stop = err
}

// interval decodes the interval behind the history in s.Buf.
func (d *Decoder) interval(s *container.Serial, src []byte) error {
	w := &d.walker
	b := &d.m.File.Blocks[d.n]
	w.buf, w.to = s.Buf, s.History
	err := w.cross(&d.m.points[d.n], src, &d.m.points, d.n+1)
	to := min(w.to, s.History+int(b.Raw))
	s.Buf = s.Buf[:to]
	s.Total = w.content
	switch {
	case err != nil:
		return err
	case w.to-s.History != int(b.Raw):
		return w.fail(errs.Corrupt, errs.PartBlock, b.Offset, unfit)
	case w.checks && d.m.sums && gzfile.Checksum(0, s.Content()) != b.Sum:
		return w.fail(errs.Checksum, errs.PartBlock, b.Offset, "")
	}
	return nil
}

// unfit says that the content between two checkpoints is not as their offsets say.
const unfit = "the file does not fit its checkpoints"

// cross decodes src, from a checkpoint to checkpoint n of points, or to the end of the file. The
// content before it is buf[:to].
func (w *walker) cross(c *gzindex.Checkpoint, src []byte, points *[]gzindex.Checkpoint, n int64) error {
	w.inflater.StopAtBlock = true
	in := src[w.begin(c, src):]
	for {
		used, e, err := w.step(in)
		if in = in[used:]; err != nil {
			return err
		}
		last := n == int64(len(*points))
		if !last && !(*points)[n].Header && e != starved {
			if end := (*points)[n].Bit; w.bit() >= end {
				if w.bit() > end {
					return w.fail(errs.Corrupt, errs.PartBlock, w.bit()>>3, unfit)
				}
				return nil
			}
		}
		switch {
		case e != starved:
		case w.to == len(w.buf):
			return w.fail(errs.Corrupt, errs.PartBlock, w.at, unfit)
		case last:
			return w.end()
		case w.state != betweenMembers || !(*points)[n].Header:
			return w.fail(errs.Corrupt, errs.PartBlock, w.at, unfit)
		default:
			return nil
		}
	}
}

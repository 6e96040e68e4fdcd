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
// content, with the interval, its content, and a copy of that.
func Memory(n, size, content int) int64 {
	return int64(n) * (int64(size) + 2*int64(content) + slack + decoderMemory)
}

// BufferSize returns the bytes that the Buf of a container.Serial needs for so much content.
func BufferSize(content int) int { return gzfile.SectionWindow + content + slack }

// A Decoder decodes intervals of a file. It is a [container.SerialDecoder] that decodes a whole
// interval in one call.
type Decoder struct {
	decoder gzfile.SectionDecoder
	unpack  gzindex.Unpacker
	m       *Map
	n       int64
	checks  bool
}

// SetInterval says which interval the next call of Decode decodes. With checks it verifies the
// content: by what Make has found, and by the trailers of members that are complete in the
// interval.
func (d *Decoder) SetInterval(m *Map, n int64, checks bool) {
	d.m, d.n, d.checks = m, n, checks
}

// Prepare implements container.SerialDecoder. An interval depends on none before it.
func (d *Decoder) Prepare(*container.Serial) {}

// FinishContent implements container.SerialDecoder. Decode leaves nothing open.
func (d *Decoder) FinishContent(*container.Serial) {}

// Verify implements container.SerialDecoder. Decode compares the checks.
func (d *Decoder) Verify(*container.Serial) {}

// Decode decodes the interval s.Src into s.Buf. An error is in s.Stop, and has the number of the
// interval; the content is then that before the damage.
func (d *Decoder) Decode(s *container.Serial) {
	s.Buf, s.History, s.Stop = s.Buf[:0], 0, nil
	window, err := d.unpack.Unpack(d.m.points[d.n].Window)
	if err == nil {
		err = d.interval(s, window)
	}
	if e, ok := err.(*errs.Error); ok {
		e.Block = d.n
		if e.Offset < 0 {
			e.Offset = d.m.File.Blocks[d.n].Offset
		}
	}
	s.Stop = err
}

// interval decodes the interval behind the window.
func (d *Decoder) interval(s *container.Serial, window []byte) error {
	m, b := d.m, &d.m.File.Blocks[d.n]
	raw := int(b.Raw)
	if size := BufferSize(raw); cap(s.Buf) < size {
		s.Buf = make([]byte, size)
	}
	part := gzfile.Section{
		From: point(&m.points[d.n]), To: gzfile.EndOfFile,
		Src: s.Src, Window: window, Checks: d.checks,
		Buf: s.Buf, Checkpoint: s.Checkpoint,
	}
	if next := d.n + 1; next < int64(len(m.points)) {
		part.To = point(&m.points[next])
	}
	err := d.decoder.Decode(&part)
	size := len(part.Buf) - gzfile.SectionWindow
	s.Buf, s.History = part.Buf[:gzfile.SectionWindow+min(size, raw)], gzfile.SectionWindow
	s.Total = b.Content + int64(size)
	switch {
	case err != nil:
		return err
	case size != raw:
		return d.fail(errs.Corrupt, "the file does not fit its checkpoints")
	case d.checks && m.sums && gzfile.Checksum(0, s.Content()) != b.Sum:
		return d.fail(errs.Checksum, "")
	}
	return nil
}

// fail returns an error about the content of the interval.
func (d *Decoder) fail(kind error, detail string) error {
	return &errs.Error{
		Kind: kind, Part: errs.PartBlock, Block: d.n, Offset: d.m.File.Blocks[d.n].Offset, Detail: detail,
	}
}

// point returns where a checkpoint is in the file.
func point(c *gzindex.Checkpoint) gzfile.Point { return gzfile.Point{Bit: c.Bit, Header: c.Header} }

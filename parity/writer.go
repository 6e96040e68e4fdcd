package parity

import (
	"io"
	"slices"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/section"
)

const (
	// ZoneSize is the usual size of a zone in bytes: the caller ends the zone as soon as it has as
	// many. Larger zones heal longer runs of damage, and take more memory.
	ZoneSize = 64 << 20
	// MaxZone is the most bytes in a zone.
	MaxZone = section.MaxZone

	streamSize = ZoneSize / 4                  // content of a stream in bytes
	fullZone   = ZoneSize + streamSize + 1<<20 // most zones are not larger

	usualSlice  = 16 << 10 // size of slices in zones that are not small
	smallSlices = 128      // about as many slices has a small zone
	smallZone   = smallSlices * usualSlice
)

// Options are those of a Writer.
type Options struct {
	// Percent is how much parity there is: the share of a zone's slices that may be damaged. It is
	// 1 to 100.
	Percent int
	// Format is that of the file, compress.PZ or compress.Zstd.
	Format compress.Format
}

// A Writer copies a file to another writer and adds a section of parity behind each zone. It keeps
// the zone in memory until its section is written. Its output depends only on what is written,
// where zones end, and the options. A Writer is for one goroutine at a time.
type Writer struct {
	dst     io.Writer
	o       Options
	offset  int64  // of the zone in the output
	zone    []byte // so far
	ended   bool   // the zone is complete, its section is not written yet
	section []byte // buffer
	err     error  // of an earlier call
}

// NewWriter returns a Writer to dst. The error wraps compress.ErrOption.
func NewWriter(dst io.Writer, o Options) (*Writer, error) {
	if o.Percent < 1 || o.Percent > 100 {
		return nil, errs.BadOption("parity of %d percent: it must be 1 to 100", o.Percent)
	}
	if o.Format != compress.PZ && o.Format != compress.Zstd {
		return nil, errs.BadOption(".%v files have no parity; .pz and .zst files do", o.Format)
	}
	return &Writer{dst: dst, o: o}, nil
}

// Write writes p at once and adds it to the zone. If the zone would have more than MaxZone bytes,
// Write takes nothing and returns an error that wraps compress.ErrTooLarge.
func (w *Writer) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	if len(p) == 0 {
		return 0, nil
	}
	if w.ended {
		if err := w.writeSection(false); err != nil {
			return 0, err
		}
	}
	if len(p) > MaxZone-len(w.zone) {
		return 0, errs.New(errs.TooLarge, "a zone of parity has at most 256 MiB; call EndZone earlier")
	}
	n, err := w.write(p)
	if size := len(w.zone) + n; size > smallZone && size > cap(w.zone) && size <= fullZone {
		w.zone = slices.Grow(w.zone, fullZone-len(w.zone)) // at once, so that nothing is copied twice
	}
	w.zone = append(w.zone, p[:n]...)
	return n, err
}

// EndZone ends the zone: the next byte begins another one. The caller calls it where the format
// allows a section: behind a stream of .pz, or behind a frame of .zst. The section is written by
// the next Write or Close, for Close marks the last one. EndZone does nothing if the zone is empty.
func (w *Writer) EndZone() error {
	if w.err != nil {
		return w.err
	}
	w.ended = len(w.zone) > 0
	return nil
}

// WriterOption returns an option for a compress.Writer that writes to w. With it that Writer begins
// another stream of .pz, or another seek table of .zst, after each 16 MiB of content, and ends the
// zone behind the first stream that gives it ZoneSize bytes. The caller closes that Writer, then w.
func (w *Writer) WriterOption() compress.WriterOption {
	return bridge.Streams(streamSize, w.endStream)
}

// endStream ends the zone if it has ZoneSize bytes.
func (w *Writer) endStream() error {
	if len(w.zone) < ZoneSize {
		return w.err
	}
	return w.EndZone()
}

// Close ends the zone and writes its section. It does not close the underlying writer. Of a file
// without a byte there is no section.
func (w *Writer) Close() error {
	if w.err != nil {
		if w.err == errs.Closed {
			return nil
		}
		return w.err
	}
	if len(w.zone) > 0 {
		if err := w.writeSection(true); err != nil {
			return err
		}
	}
	w.zone, w.section, w.err = nil, nil, errs.Closed
	return nil
}

// layout returns a zone of size bytes, without its id.
func layout(offset int64, size int, o Options, last bool) section.Zone {
	z := section.Zone{
		Offset: offset, Size: size, Slice: usualSlice, Zstd: o.Format == compress.Zstd, Last: last,
	}
	if size < smallZone {
		const unit = smallSlices * section.SliceUnit
		z.Slice = section.SliceUnit * max(1, (size+unit-1)/unit)
	}
	z.Parity = (z.Slices()*o.Percent + 99) / 100
	return z
}

// writeSection writes the section of the zone and begins the next one.
func (w *Writer) writeSection(last bool) error {
	z := layout(w.offset, len(w.zone), w.o, last)
	w.section = appendSection(w.section[:0], z, cutSlices(w.zone, z.Slice))
	if _, err := w.write(w.section); err != nil {
		return err
	}
	w.offset, w.ended, w.zone = z.EndOffset(), false, w.zone[:0]
	return nil
}

// write writes p. Its error stays.
func (w *Writer) write(p []byte) (int, error) {
	n, err := container.WriteFull(w.dst, p)
	w.err = err
	return n, err
}

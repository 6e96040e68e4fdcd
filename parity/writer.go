package parity

import (
	"io"

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

	usualSlice  = 16 << 10 // size of slices in zones of at least smallSlices of them
	smallSlices = 128      // about as many slices has a smaller zone
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
	zone    buffer // its bytes so far
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
	if len(p) > MaxZone-w.zone.size {
		return 0, errs.New(errs.TooLarge, "a zone of parity has at most 256 MiB; call EndZone earlier")
	}
	n, err := w.write(p)
	w.zone.addBytes(p[:n])
	return n, err
}

// EndZone ends the zone: the next byte begins another one. The caller calls it where the format
// allows a section: behind a stream of .pz, or behind a frame of .zst. The section is written by
// the next Write or Close, for Close marks the last one. EndZone does nothing if the zone is empty.
func (w *Writer) EndZone() error {
	if w.err != nil {
		return w.err
	}
	w.ended = w.zone.size > 0
	return nil
}

// WriterOption returns an option for a compress.Writer that writes to w. With it that Writer begins
// another stream of .pz, or another seek table of .zst, after each 16 MiB of content, and ends the
// zone behind the first stream that gives it ZoneSize bytes. The caller closes that Writer, then w.
func (w *Writer) WriterOption() compress.WriterOption {
	return bridge.Streams(streamSize, w.endStream)
}

// streamSize is the content of a stream in bytes.
const streamSize = ZoneSize / 4

// endStream ends the zone if it has ZoneSize bytes.
func (w *Writer) endStream() error {
	if w.zone.size < ZoneSize {
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
	if w.zone.size > 0 {
		if err := w.writeSection(true); err != nil {
			return err
		}
	}
	w.zone, w.section, w.err = buffer{}, nil, errs.Closed
	return nil
}

// layout returns a zone of size bytes, without its id.
func layout(offset int64, size int, o Options, last bool) section.Zone {
	z := section.Zone{
		Offset: offset, Size: size, Slice: usualSlice, Zstd: o.Format == compress.Zstd, Last: last,
	}
	if size < smallSlices*usualSlice {
		const unit = smallSlices * section.SliceUnit
		z.Slice = section.SliceUnit * max(1, (size+unit-1)/unit)
	}
	z.Parity = (z.Slices()*o.Percent + 99) / 100
	return z
}

// writeSection writes the section of the zone and begins the next one.
func (w *Writer) writeSection(last bool) error {
	z := layout(w.offset, w.zone.size, w.o, last)
	w.section = appendSection(w.section[:0], z, w.zone.slices(z.Slice))
	if _, err := w.write(w.section); err != nil {
		return err
	}
	w.offset, w.ended = z.EndOffset(), false
	w.zone.reset()
	return nil
}

// write writes p. Its error stays.
func (w *Writer) write(p []byte) (int, error) {
	n, err := container.WriteFull(w.dst, p)
	w.err = err
	return n, err
}

// chunkSize is the size of all chunks of a buffer but the last one. Zones that do not fit in one
// have slices that divide it.
const chunkSize = smallSlices * usualSlice

// buffer holds a zone in chunks, so that it grows without a copy of all of it.
type buffer struct {
	chunks [][]byte // those behind the zone are empty
	size   int      // of the zone
}

func (b *buffer) addBytes(p []byte) {
	for len(p) > 0 {
		i := b.size / chunkSize
		if i == len(b.chunks) {
			b.chunks = append(b.chunks, make([]byte, 0, min(i, 1)*chunkSize)) // the first one grows
		}
		n := min(len(p), chunkSize-len(b.chunks[i]))
		b.chunks[i] = append(b.chunks[i], p[:n]...)
		b.size += n
		p = p[n:]
	}
}

// slices returns the slices of the zone, the last one padded.
func (b *buffer) slices(size int) [][]byte {
	var list [][]byte
	for _, c := range b.chunks {
		list = append(list, cutSlices(c, size)...)
	}
	return list
}

// reset makes the buffer empty. It keeps its memory.
func (b *buffer) reset() {
	for i := range b.chunks {
		b.chunks[i] = b.chunks[i][:0]
	}
	b.size = 0
}

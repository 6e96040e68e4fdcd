// Package gzaccess gives random access to .gz files of any writer, by checkpoints.
//
// A [Map] cuts a file into intervals. Each interval begins at a checkpoint: the header of a member
// (RFC 1952), or a Deflate block (RFC 1951) together with the content before it. A [Decoder]
// decodes an interval without the rest of the file. There are three ways to make a Map:
//
//   - [Make] decodes the file from the front, and verifies it (make.go, pass.go). A [Crew] spreads
//     that over workers.
//   - Make reads only headers and trailers of a BGZF file, whose members state their sizes
//     (bgzf.go).
//   - [Use] takes the checkpoints of a sidecar file (use.go).
//
// Package gzfile decodes.
package gzaccess

import (
	"io"
	"math"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/gzindex"
	"github.com/gopz/compress/internal/index"
)

const (
	windowSize = gzindex.WindowSize

	// spacing is the content between two checkpoints that Make aims at, in bytes. Half of it halves
	// the time of a random read, and doubles the memory of the windows.
	spacing = 512 << 10

	// maxPoints is the most memory of checkpoints in bytes, if the limit allows it. Make then drops
	// about every second one. The checkpoints of 1 GB of content take about 10 MB.
	maxPoints = 64 << 20
	// pointsShare is the part of the memory limit that checkpoints may take.
	pointsShare = 8

	// pointMemory is what a checkpoint takes in bytes besides its window: itself, its sum, and its
	// block in the index. Slices grow to twice what they hold.
	pointMemory = 2*(48+4) + index.BlockMemory
)

// A Map says where the intervals of a .gz file are. Goroutines may use it at the same time.
type Map struct {
	// File describes the file as one stream. Its blocks are the intervals: block n goes from
	// checkpoint n to checkpoint n+1, or to the end of the file. Where an interval begins or ends
	// within a byte, the byte counts for both neighbours.
	File index.File

	points []gzindex.Checkpoint
	sums   bool // File.Blocks[n].Sum is known
	thin   bool // checkpoints have been dropped
}

// pointsLimit returns how much memory checkpoints may take, in bytes.
func pointsLimit(limits *container.Limits) int64 {
	return min(maxPoints, limits.Memory()/pointsShare)
}

// newMap makes the Map of a file of size bytes. The checkpoints ascend in Content. sums has a
// CRC-32 of each interval, or is nil.
func newMap(size, content int64, points []gzindex.Checkpoint, sums []uint32) (*Map, error) {
	m := &Map{points: points, sums: sums != nil}
	x := &m.File
	*x = index.File{Format: container.Gzip, Size: size, Content: content}
	x.Blocks = make([]index.Block, len(points))
	st := index.Stream{Size: size, Content: content, Blocks: int64(len(points)), Checks: true}
	for i := range points {
		p := &points[i]
		end, contentEnd := m.intervalEnd(int64(i))
		b := &x.Blocks[i]
		b.Offset, b.Content, b.Kind = p.Bit>>3, p.Content, index.Interval
		length, raw := (end+7)>>3-b.Offset, contentEnd-p.Content
		if max(length, raw) > math.MaxInt32-2*windowSize {
			return nil, errs.OutOfMemory(0, "%d bytes of content without a checkpoint", raw)
		}
		b.Size, b.Raw = int32(length), int32(raw)
		if m.sums {
			b.Sum = sums[i]
		} else if !p.Header {
			st.Checks = false
		}
		x.MaxFrame = max(x.MaxFrame, int(length))
		st.BlockSize = max(st.BlockSize, int(raw))
		x.Extra += pointMemory - index.BlockMemory + int64(p.Window.Size())
	}
	x.Streams = []index.Stream{st}
	return m, nil
}

// intervalEnd returns where interval n ends: the bit in the file, and the offset in the content.
func (m *Map) intervalEnd(n int64) (bit, content int64) {
	if n+1 < int64(len(m.points)) {
		next := &m.points[n+1]
		return next.Bit, next.Content
	}
	return m.File.Size * 8, m.File.Content
}

// Write writes the checkpoints to w in a format of a sidecar file. src is the .gz file. What the
// format cannot hold is errs.Option: bgzip's .gzi is for BGZF files, and has all their members.
func (m *Map) Write(w io.Writer, f gzindex.Format, src io.ReaderAt) error {
	x := gzindex.Index{
		Checkpoints: m.points, FileSize: m.File.Size, ContentSize: m.File.Content,
	}
	if f == gzindex.Bgzip {
		if m.thin {
			return errs.BadOption("bgzip's .gzi has all members, and they did not fit into the memory")
		}
		return x.Write(w, f)
	}
	x.Checkpoints = make([]gzindex.Checkpoint, len(m.points))
	for i, p := range m.points {
		if p.Header {
			size, err := headerSize(src, p.Bit>>3, m.File.Size)
			if err != nil {
				return err
			}
			p.Bit, p.Header = p.Bit+8*size, false
		}
		x.Checkpoints[i] = p
	}
	return x.Write(w, f)
}

// headerSize returns the size in bytes of the member's header at an offset.
func headerSize(src io.ReaderAt, offset, size int64) (int64, error) {
	var skipper gzfile.Skipper
	var buf [64]byte
	for at := offset; ; {
		p := buf[:min(int64(len(buf)), size-at)]
		if len(p) == 0 {
			return 0, errs.At(errs.Truncated, at, "")
		}
		if err := container.ReadAt(src, p, at); err != nil {
			return 0, err
		}
		n, done, err := skipper.Skip(p)
		at += int64(n)
		switch {
		case done:
			return at - offset, nil
		case err != nil:
			return 0, errs.At(gzfile.HeaderKind(err), offset, err.Error())
		}
	}
}

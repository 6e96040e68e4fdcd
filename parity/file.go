package parity

import (
	"bytes"
	"io"
	"slices"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/section"
)

// nowhere is the place of bytes that the source does not have.
const nowhere = -1

// scanChunk is how many bytes are read at once.
const scanChunk = 1 << 20

// file is the file to heal. What cannot be read of it is damage, so its methods return no errors.
type file struct {
	src     io.ReaderAt
	size    int64
	readErr error // of the first part that could not be read
	short   bool  // src ends before size
	budget  int64 // in bytes, for work that copies of packets make
}

// read fills p from place at. It returns the parts that cannot be read, which become zeros.
func (f *file) read(p []byte, at int64) (holes []Range) {
	n, _ := container.ReadAround(f.src, p, at, func(from, to int, err error) error {
		holes = append(holes, Range{at + int64(from), int64(to - from)})
		if f.readErr == nil {
			f.readErr = err
		}
		return nil
	})
	if n < len(p) {
		f.short = true
		clear(p[n:])
		holes = append(holes, Range{at + int64(n), int64(len(p) - n)})
	}
	return holes
}

// overlap reports whether a part overlaps one of holes.
func overlap(holes []Range, at, size int64) bool {
	return slices.ContainsFunc(holes, func(h Range) bool {
		return h.Offset < at+size && at < h.Offset+h.Size
	})
}

// readPart is read for a part that may not be in the file. It reports whether all of it is there.
func (f *file) readPart(p []byte, at int64) bool {
	return at >= 0 && at+int64(len(p)) <= f.size && len(f.read(p, at)) == 0
}

// find returns the first place of a pattern from lo to hi, or nowhere.
func (f *file) find(pattern []byte, lo, hi int64) int64 {
	overlap := int64(len(pattern) - 1)
	buf := make([]byte, max(0, min(hi-lo, scanChunk)))
	for lo+overlap < hi {
		data := buf[:min(hi-lo, int64(len(buf)))]
		f.read(data, lo)
		if i := bytes.Index(data, pattern); i >= 0 {
			return lo + int64(i)
		}
		lo += int64(len(data)) - overlap
	}
	return nowhere
}

// packets calls found for each intact packet from lo to hi, in order. Packets do not overlap.
func (f *file) packets(lo, hi int64, found func(at int64, h *section.Packet)) {
	// A false packet costs the check of its body. All true ones together are no more than the file.
	budget := 2*(hi-lo) + scanChunk
	magic := []byte(section.PacketMagic)
	buf := make([]byte, min(scanChunk+section.PacketHeaderSize+section.MaxSlice, hi-lo))
	for at := lo; at < hi; {
		data := buf[:min(int64(len(buf)), hi-at)]
		holes := f.read(data, at)
		limit := min(scanChunk, len(data))
		i := 0
		for i < limit {
			next := bytes.Index(data[i:min(len(data), limit+len(magic)-1)], magic)
			if next < 0 {
				i = limit
				break
			}
			i += next
			h, ok := section.ParsePacket(data[i:])
			if ok && budget > 0 && !overlap(holes, at+int64(i), int64(h.Length())) {
				budget -= int64(h.Length())
				if _, ok := h.Body(data[i:]); ok {
					budget += int64(h.Length())
					found(at+int64(i), &h)
					i += h.Length()
					continue
				}
			}
			i++
		}
		at += int64(i)
	}
}

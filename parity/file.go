package parity

import (
	"bytes"
	"io"
	"slices"
	"sync"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/section"
)

// nowhere is the place of bytes that the source does not have.
const nowhere = -1

// scanChunk is how many bytes are read at once.
const scanChunk = 1 << 20

// file is the file to heal.
type file struct {
	src  io.ReaderAt
	size int64

	mu      sync.Mutex
	readErr error // of the first part that could not be read
}

// holes are the parts of what was read that could not be read. They are zeros.
type holes []Range

// in reports whether a hole is in a part.
func (h holes) in(at, size int64) bool {
	return slices.ContainsFunc(h, func(r Range) bool { return r.Offset < at+size && at < r.Offset+r.Size })
}

// read fills p from place at, with zeros where the source cannot be read. The error is for a source
// that ends too early.
func (f *file) read(p []byte, at int64) (h holes, err error) {
	n, err := container.ReadAround(f.src, p, at, func(from, to int, err error) error {
		h = append(h, Range{at + int64(from), int64(to - from)})
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.readErr == nil {
			f.readErr = err
		}
		return nil
	})
	if err == nil && n < len(p) {
		err = io.ErrUnexpectedEOF
	}
	return h, err
}

// readPart is read for a part that may not be in the file. ok is false if it is not, or if a part
// of it cannot be read.
func (f *file) readPart(p []byte, at int64) (ok bool, err error) {
	if at < 0 || at+int64(len(p)) > f.size {
		return false, nil
	}
	h, err := f.read(p, at)
	return len(h) == 0 && err == nil, err
}

// find returns the first place of a pattern from lo to hi, or nowhere.
func (f *file) find(pattern []byte, lo, hi int64) (int64, error) {
	overlap := int64(len(pattern) - 1)
	if hi-lo <= overlap {
		return nowhere, nil
	}
	buf := make([]byte, min(hi-lo, scanChunk))
	for lo+overlap < hi {
		data := buf[:min(hi-lo, int64(len(buf)))]
		if _, err := f.read(data, lo); err != nil {
			return nowhere, err
		}
		if i := bytes.Index(data, pattern); i >= 0 {
			return lo + int64(i), nil
		}
		lo += int64(len(data)) - overlap
	}
	return nowhere, nil
}

// packets calls found for each intact packet from lo to hi, in order. Packets do not overlap.
func (f *file) packets(lo, hi int64, found func(at int64, h section.Packet) error) error {
	// A false packet costs the check of its body. All true ones together are no more than the file.
	budget := 2*(hi-lo) + scanChunk
	magic := []byte(section.PacketMagic)
	buf := make([]byte, min(scanChunk+section.PacketHeaderSize+section.MaxSlice, hi-lo))
	for at := lo; at < hi; {
		data := buf[:min(int64(len(buf)), hi-at)]
		holes, err := f.read(data, at)
		if err != nil {
			return err
		}
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
			if !ok {
				i++
				continue
			}
			size := h.Length()
			if budget > 0 && !holes.in(at+int64(i), int64(size)) {
				budget -= int64(size)
				_, ok = h.Body(data[i:])
			} else {
				ok = false
			}
			if !ok {
				i++
				continue
			}
			budget += int64(size)
			if err := found(at+int64(i), h); err != nil {
				return err
			}
			i += size
		}
		at += int64(i)
	}
	return nil
}

// readBody returns the body of a packet at a place, or nil if it is not intact.
func (f *file) readBody(z section.Zone, number int, at int64) ([]byte, error) {
	buf := make([]byte, z.PacketSize(number))
	if ok, err := f.readPart(buf, at); !ok {
		return nil, err
	}
	h, ok := section.ParsePacket(buf)
	if !ok || h.Zone != z || h.Number != number {
		return nil, nil
	}
	body, ok := h.Body(buf)
	if !ok {
		return nil, nil
	}
	return body, nil
}

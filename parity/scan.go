package parity

import (
	"bytes"
	"io"
	"slices"
	"sync"

	"github.com/gopz/compress/internal/container"
)

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

// readExactly is read for bytes that nothing can replace: a part that cannot be read is an error.
func (f *file) readExactly(p []byte, at int64) error {
	return container.ReadAt(f.src, p, at)
}

const scanChunk = 1 << 20 // bytes read at once

// packets calls found for each intact packet from lo to hi, in order. Packets do not overlap.
func (f *file) packets(lo, hi int64, found func(at int64, h packetHeader) error) error {
	// A false packet costs the check of its body. All true ones together are no more than the file.
	budget := 2*(hi-lo) + scanChunk
	buf := make([]byte, min(scanChunk+headerSize+maxSliceSize, hi-lo))
	for at := lo; at < hi; {
		data := buf[:min(int64(len(buf)), hi-at)]
		holes, err := f.read(data, at)
		if err != nil {
			return err
		}
		limit := min(scanChunk, len(data))
		i := 0
		for i < limit {
			next := bytes.Index(data[i:min(len(data), limit+len(magic)-1)], []byte(magic))
			if next < 0 {
				i = limit
				break
			}
			i += next
			h, ok := parsePacketHeader(data[i:])
			if ok {
				body := h.bodySize(h.number)
				ok = i+headerSize+body <= len(data) && budget > 0 &&
					!holes.in(at+int64(i), int64(headerSize+body))
				if ok {
					ok = checksum(data[i+headerSize:][:body]) == h.body
				}
				if ok {
					if err := found(at+int64(i), h); err != nil {
						return err
					}
					i += headerSize + body
					continue
				}
				budget -= int64(body)
			}
			i++
		}
		at += int64(i)
	}
	return nil
}

// findEnd finds where a section ends: behind its footer, if that is left, at most at limit.
func (f *file) findEnd(s *section, limit int64) error {
	if s.hi > 0 {
		return nil
	}
	footer := appendFooter(nil, s.sectionSize())
	expected := s.byLast() + int64(s.size) + s.sectionSize()
	if at := expected - footerSize; at >= s.end && expected <= limit {
		got := make([]byte, footerSize)
		if _, err := f.read(got, at); err != nil {
			return err
		}
		if bytes.Equal(got, footer) {
			s.hi = expected
			return nil
		}
	}
	at, err := f.find(footer, s.end, min(limit, expected+maxSliceSize))
	if err != nil {
		return err
	}
	s.hi = min(limit, expected)
	if at != nowhere {
		s.hi = at + footerSize
	}
	return nil
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

// readSlice reads slice i of a zone that begins at start, padded, and reports whether it is the one
// that the catalog names. It reads nothing at limit or behind it.
func (f *file) readSlice(buf []byte, s *section, catalog []byte, i int, start, limit int64) (
	right bool, err error) {

	at, n := start+int64(i)*int64(s.slice), s.sliceLength(i)
	if at < 0 || at+int64(n) > limit {
		return false, nil
	}
	if h, err := f.read(buf[:n], at); len(h) > 0 || err != nil {
		return false, err
	}
	clear(buf[n:s.slice])
	return entry(buf[:s.slice]) == entryOf(catalog, i), nil
}

// readCatalog returns the catalog of a zone, or nil if too few of its packets are left.
func (f *file) readCatalog(s *section) ([]byte, error) {
	pieces := make([][]byte, 2*s.pieces())
	packets := s.pool.packets
	if s.pool.assumed {
		for i := range s.geometry.packets() {
			packets = append(packets, packet{s.start + s.place(i), i})
		}
	}
	for _, p := range packets {
		i := s.pieceNumber(p.number)
		if i < 0 {
			continue
		}
		body, err := f.readBody(s, p)
		if err != nil {
			return nil, err
		}
		pieces[i] = body
	}
	return joinCatalog(pieces, s.geometry), nil
}

// readBody returns the body of a packet, or nil if the packet is not intact.
func (f *file) readBody(s *section, p packet) ([]byte, error) {
	n := s.bodySize(p.number)
	if p.at+headerSize+int64(n) > f.size {
		return nil, nil
	}
	buf := make([]byte, headerSize+n)
	if h, err := f.read(buf, p.at); len(h) > 0 || err != nil {
		return nil, err
	}
	h, ok := parsePacketHeader(buf)
	body := buf[headerSize:]
	if !ok || h.geometry != s.geometry || h.number != p.number || checksum(body) != h.body {
		return nil, nil
	}
	return body, nil
}

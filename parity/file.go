package parity

import (
	"bytes"
	"io"
	"iter"
	"math/rand/v2"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/section"
)

// nowhere is the place of bytes that the source does not have. No zone begins so far in front.
const nowhere = -1 << 62

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

// read fills p from place at. What cannot be read becomes random bytes, so that no check holds.
func (f *file) read(p []byte, at int64) {
	n, _ := container.ReadAround(f.src, p, at, func(from, to int, err error) error {
		rand.NewChaCha8([32]byte{}).Read(p[from:to])
		if f.readErr == nil {
			f.readErr = err
		}
		return nil
	})
	if n < len(p) {
		f.short = true
		clear(p[n:])
	}
}

// readPart is read for a part that may not be in the file. It reports whether it is.
func (f *file) readPart(p []byte, at int64) bool {
	if at < 0 || at+int64(len(p)) > f.size {
		return false
	}
	f.read(p, at)
	return true
}

// chunks goes through the bytes from lo to hi. Chunks overlap, so that any width bytes are whole in
// one of them.
func (f *file) chunks(lo, hi, width int64) iter.Seq2[int64, []byte] {
	return func(yield func(at int64, data []byte) bool) {
		buf := make([]byte, max(0, min(hi-lo, scanChunk+width)))
		for len(buf) > 0 {
			f.read(buf, lo)
			if !yield(lo, buf) || lo+int64(len(buf)) == hi {
				return
			}
			lo += int64(len(buf)) - width + 1
			buf = buf[:min(int64(len(buf)), hi-lo)]
		}
	}
}

// find returns the first place of a pattern from lo to hi, or nowhere.
func (f *file) find(pattern []byte, lo, hi int64) int64 {
	for at, data := range f.chunks(lo, hi, int64(len(pattern))) {
		if i := bytes.Index(data, pattern); i >= 0 {
			return at + int64(i)
		}
	}
	return nowhere
}

// packets calls found for each intact packet from lo to hi, in order. Packets do not overlap.
func (f *file) packets(lo, hi int64, found func(at int64, h *section.Packet)) {
	// A false packet costs the check of its body. All true ones together are no more than the file.
	budget := 2*(hi-lo) + scanChunk
	at := lo
	for from, data := range f.chunks(lo, hi, section.MaxPacket) {
		end := from + int64(len(data))
		if end < hi {
			end -= section.MaxPacket - 1 // packets behind that are in the next chunk
		}
		for at < end {
			p := data[at-from:]
			i := bytes.Index(p, []byte(section.PacketMagic))
			if i < 0 {
				at = end
				break
			}
			p, at = p[i:], at+int64(i)
			if at >= end {
				break
			}
			size := int64(1)
			if h, ok := section.ParsePacket(p); ok && budget > 0 {
				budget -= int64(h.Length())
				if _, ok := h.Body(p); ok {
					size = int64(h.Length())
					budget += size
					found(at, &h)
				}
			}
			at += size
		}
	}
}

// Package ldm finds long-distance matches: parts of a block that repeat earlier blocks of the
// stream, as layout 4 of docs/FORMAT.md has them.
//
// A reference names own content of an earlier block, that is, what the references of that block
// leave of its content. A [Finder] finds references, a [List] is their encoded form, and a [Window]
// keeps the own contents that a decoder needs.
package ldm

import (
	"math/bits"

	"github.com/gopz/compress/internal/pieces"
)

// LayoutID is the first byte of a payload with references.
const LayoutID = 4

// Limits of the format.
const (
	MinWindow  = 1 << 20 // bytes
	MaxWindow  = 1 << 31
	MaxSources = 64

	maxDistance = 1 << 16 // blocks
	minLength   = 64      // bytes of a reference
)

// Sources is the most sources of a block that a Finder uses, so a block can be read at random by
// decoding 9 blocks. With 4 in place of 8 two versions of a tree of sources take 0.02% more.
const Sources = 8

// WindowLog returns log2 of a window.
func WindowLog(window int64) int { return bits.TrailingZeros64(uint64(window)) }

// ValidWindow reports whether the format has a window of so many bytes.
func ValidWindow(window int64) bool {
	return window >= MinWindow && window <= MaxWindow && window&(window-1) == 0
}

// A Reference says that a part of a block is a part of the own content of a source.
type Reference struct {
	At     int // where the part begins in the content of the block
	Len    int // bytes
	Source int // number of the source in the list, from 0
	Offset int // in the own content of the source
}

// A pacer calls checkpoint, unless that is nil, after each MiB of work in small steps.
type pacer struct {
	checkpoint func()
	done       int // bytes since the last checkpoint
}

// referenceWork is the work to decode a reference or to handle a match, as bytes copied in that
// time.
const referenceWork = 64

// addWork counts so many bytes of work.
func (p *pacer) addWork(n int) {
	if p.done += n; p.done >= checkpointBytes && p.checkpoint != nil {
		p.done = 0
		p.checkpoint()
	}
}

// copy copies src to dst, as work of the pacer.
func (p *pacer) copy(dst, src []byte) {
	pieces.Copy(dst, src, p.checkpoint)
	p.addWork(len(src) + referenceWork)
}

// history is the own contents of the last blocks, as many as fit in a window.
type history struct {
	window int64
	blocks []*Buffer // nil for a block without own content
	passed int       // blocks at the front of the slice that have left the window
	sum    int64     // bytes of the others
}

// own returns the own content of the block at a distance, nil if it has none or is not there.
func (h *history) own(distance int) *Buffer {
	if n := len(h.blocks) - distance; distance > 0 && n >= h.passed {
		return h.blocks[n]
	}
	return nil
}

// bytes returns the own content of the last so many blocks, in bytes.
func (h *history) bytes(blocks int) (n int) {
	for _, b := range h.blocks[len(h.blocks)-blocks:] {
		if b != nil {
			n += len(b.P)
		}
	}
	return n
}

// len returns the number of blocks.
func (h *history) len() int { return len(h.blocks) - h.passed }

// addBlock adds the own content of the next block, and holds it. Nil stands for none.
func (h *history) addBlock(own *Buffer) {
	if h.passed > len(h.blocks)/2 {
		n := copy(h.blocks, h.blocks[h.passed:])
		clear(h.blocks[n:])
		h.blocks, h.passed = h.blocks[:n], 0
	}
	if own != nil {
		own.Hold()
		h.sum += int64(len(own.P))
	}
	h.blocks = append(h.blocks, own)
	for h.sum > h.window || h.len() > maxDistance {
		if old := h.blocks[h.passed]; old != nil {
			h.sum -= int64(len(old.P))
			old.Release()
			h.blocks[h.passed] = nil
		}
		h.passed++
	}
}

// release drops all blocks.
func (h *history) release() {
	for _, b := range h.blocks[h.passed:] {
		if b != nil {
			b.Release()
		}
	}
	clear(h.blocks)
	h.blocks, h.passed, h.sum = h.blocks[:0], 0, 0
}

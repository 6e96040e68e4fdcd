package zstfile

import (
	"github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/zstframe"
)

// A Window has the last content of frames that are decoded block by block, on one goroutine. The
// caller may use the content of a block until it begins the next one. The zero value is ready for
// BeginFrame. It allocates as content comes.
type Window struct {
	ring ring
	size int64 // window of the frame in bytes
	room int   // most content of a block in bytes, with slack
}

// BeginFrame begins a frame that needs size bytes of window, behind other frames or as the first
// one. content is that of the frame in bytes, −1 if it is unknown.
func (w *Window) BeginFrame(size, content int64) {
	if w.ring.first == 0 {
		w.ring.reset()
		w.ring.first = windowFirst
	}
	w.size, w.room = size, int(min(size, zstframe.MaxBlock))+zstd.DecodeSlack
	most := size + int64(w.room)
	if size <= w.ring.moved {
		most += size // the window moves once in so many bytes
	} else {
		most += zstframe.MaxBlock
	}
	w.ring.beginFrame(1, int(most), content)
}

// windowFirst is the first size of a Window in bytes.
const windowFirst = 64 << 10

// BeginBlock returns dst and at for the next block of the frame, with x.
func (w *Window) BeginBlock(x *zstd.Executor) (dst []byte, at int) {
	return w.ring.beginPart(w.room, w.size, x)
}

// EndBlock ends the block whose content is dst[from:to].
func (w *Window) EndBlock(from, to int) { w.ring.endPart(from, to) }

// Memory returns the memory in bytes.
func (w *Window) Memory() int { return len(w.ring.buf) }

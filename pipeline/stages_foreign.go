package pipeline

import (
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// Stages that decode standard formats, whoever wrote them. The payload of a block is a whole frame or member, with everything that belongs to it.
// Without Checks in the run the stages compare what the frame or member itself has, if Block.Sum is not 0. With Checks Block.Sum is the row's
// check of the content, known from somewhere else, and they compare nothing.

// frameSlack is how much room behind the content keeps the decoder from its slower code for the end of a buffer, in bytes.
const frameSlack = 32

// frames decodes frames of zstd.
type frames struct {
	dec    *zstd.Decoder
	ignore bool // checksums
}

// decode decodes the frame src to the size bytes of content it must have, into dst's memory.
func (f *frames) decode(dst, src []byte, size int, check bool) ([]byte, error) {
	if f.dec == nil || f.ignore == check {
		// That the window is within limits is the caller's business: it takes no memory here, where content is in one piece.
		dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecodeAllCapLimit(true),
			zstd.WithDecoderMaxWindow(1<<41), zstd.IgnoreChecksum(!check))
		if err != nil {
			return dst, err
		}
		f.dec, f.ignore = dec, !check
	}
	dst = resize(dst, size+frameSlack)
	p, err := f.dec.DecodeAll(src, dst[:0:size+frameSlack])
	switch {
	case errors.Is(err, zstd.ErrCRCMismatch):
		return dst[:0], ErrChecksum
	case err != nil:
		return dst[:0], fmt.Errorf("%w: %v", ErrPayload, err) // what it wraps may say that the input is cut short, which it is not
	case len(p) != size:
		return dst[:0], fmt.Errorf("%w: %d bytes of content, want %d", ErrPayload, len(p), size)
	}
	return p, nil
}

// frameStage decodes a frame of zstd. It needs no dictionary.
var frameStage = stage{name: "zstd", run: func(ws *workspace, b *Block) (err error) {
	b.dst, err = ws.frames.decode(b.dst, b.Src, b.Raw, b.Sum != 0 && !b.run.cfg.Checks)
	return err
}}

package pipeline

import (
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// Stages that decode standard formats of any encoder. The payload of a block is a whole frame with
// everything that belongs to it.
//
// Without Config.Checks these stages compare the check of the frame itself, unless Block.Sum is 0.
// With Config.Checks Block.Sum is the check of the content from another source, and the stages
// compare nothing.

// frameSlack is the room after the content, in bytes, that keeps klauspost's decoder from its
// slower code for the end of a buffer.
const frameSlack = 32

// frames decodes zstd frames.
type frames struct {
	dec    *zstd.Decoder
	ignore bool // the checksums of frames
}

// decode decodes the frame src, whose content must have size bytes, into dst's memory.
func (f *frames) decode(dst, src []byte, size int, check bool) ([]byte, error) {
	if f.dec == nil || f.ignore == check {
		dec, err := zstd.NewReader(nil,
			zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true),
			zstd.WithDecodeAllCapLimit(true),
			zstd.IgnoreChecksum(!check),
			// The caller limits windows. A window takes no memory here, because the content is in
			// one piece.
			zstd.WithDecoderMaxWindow(1<<41),
		)
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
		// Not wrapped: err may be io.ErrUnexpectedEOF, but the input as a whole is not truncated.
		return dst[:0], fmt.Errorf("%w: %v", ErrPayload, err)
	case len(p) != size:
		return dst[:0], fmt.Errorf("%w: %d bytes of content, want %d", ErrPayload, len(p), size)
	}
	return p, nil
}

// frameStage decodes a zstd frame without a dictionary.
var frameStage = stage{name: "zstd", run: func(ws *workspace, b *Block) (err error) {
	b.dst, err = ws.frames.decode(b.dst, b.Src, b.Raw, b.Sum != 0 && !b.run.cfg.Checks)
	return err
}}

package pipeline

import (
	"errors"
	"fmt"

	"github.com/gopz/compress/internal/codec/zstd"
)

// Stages that decode standard formats of any encoder. The payload of a block is a whole frame with
// everything that belongs to it, or some blocks of a frame.
//
// Without Config.Checks these stages compare the check of the frame itself, unless Block.Sum is 0.
// With Config.Checks Block.Sum is the check of the content from another source, and the stages
// compare nothing.

// frames decodes zstd frames.
type frames struct {
	dec        *zstd.Decoder
	checkpoint func()
}

// decodeFrame decodes the frame src, whose content must have size bytes, into dst. dict is nil for
// none. With an error it returns the content of the blocks that it decoded.
func (f *frames) decodeFrame(dst, src []byte, size int, dict *zstd.Dictionary, check bool) ([]byte, error) {
	if f.dec == nil {
		f.dec = zstd.NewDecoder()
	}
	f.dec.Checkpoint = f.checkpoint
	n, err := f.dec.DecodeFrame(dst, src, dict, check)
	switch {
	case errors.Is(err, zstd.ErrChecksum):
		return dst[:min(n, size)], ErrChecksum
	case err != nil:
		return dst[:min(n, size)], fmt.Errorf("%w: %w", ErrPayload, err)
	case n != size:
		return dst[:min(n, size)], fmt.Errorf("%w: %d bytes of content, want %d", ErrPayload, n, size)
	}
	return dst[:n], nil
}

// frameStages decode a zstd frame, or a part of one. The first stage is for parts alone.
var frameStages = []stage{
	{name: "entropy", run: func(ws *workspace, b *Block) error {
		if b.Serial != nil {
			b.Serial.Prepare(b.src, ws.check)
		}
		return nil
	}},
	{name: "execute", ordered: true, run: func(ws *workspace, b *Block) error {
		if b.Serial == nil {
			return ws.executeFrame(b)
		}
		b.Serial.Decode(b.src, ws.check)
		b.Serial.Finish(b.src, ws.check)
		b.out = b.Serial.Content()
		b.raw, b.Raw = len(b.out), len(b.out)
		return nil
	}},
}

// executeFrame decodes a whole frame.
func (ws *workspace) executeFrame(b *Block) (err error) {
	cfg := &b.run.cfg
	var dst []byte
	if b.Into != nil {
		dst = b.Into[:b.raw]
	} else {
		b.dst = resize(b.dst, b.raw+zstd.DecodeSlack)
		dst = b.dst
	}
	b.out, err = ws.frames.decodeFrame(dst, b.src, b.raw, cfg.Dictionary.zstd(), b.Sum != 0 && !cfg.Checks)
	if err != nil {
		b.Decoded = len(b.out)
	}
	return err
}

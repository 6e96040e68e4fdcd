package pipeline

import (
	"fmt"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/ldm"
	"github.com/gopz/compress/internal/pieces"
	"github.com/gopz/compress/simd"
)

// prepareBlock does what comes before the first stage that codes. It reports whether the block
// needs none of these stages.
func (w *worker) prepareBlock(b *Block) (whole bool, err error) {
	r := b.run
	b.prepared = true
	t := r.beginTimer(w, b, checkStep)
	whole, err = b.precheck(w.ws)
	t.endTimer()
	if whole || err != nil {
		return whole, err
	}
	if r.cfg.Op == Compress && r.cfg.Tuning != TuneFixed && !b.noMatches {
		t := r.beginTimer(w, b, tuneStep)
		w.ws.tune(b)
		t.endTimer()
	}
	if b.use == useAssigned && r.crowded() {
		b.use = useStrict
	}
	return false, nil
}

// precheck does blocks that need no stages, and reports whether the block is one.
func (b *Block) precheck(ws *workspace) (whole bool, err error) {
	if b.run.cfg.Op == Decompress {
		return b.precheckPayload(ws)
	}
	content := b.content()
	b.kind = container.Coded
	pz := b.run.cfg.Pipeline.Format == container.PZ
	switch {
	case b.refers && len(content) == 0:
		b.kind, b.dst = noContent, b.dst[:0] // references make all of it
	case pz && isFill(content, ws.checkpoint):
		b.kind = container.Fill
		b.dst = append(b.dst[:0], content[0])
	case ws.incompressible(b.src, b.Window) && !ws.repeatsDictionary(b):
		b.noMatches = true
		if !pz {
			return false, nil
		}
		b.kind = container.Stored
	default:
		return false, nil
	}
	return true, b.finishWork(ws)
}

// precheckPayload is precheck for decompression.
func (b *Block) precheckPayload(ws *workspace) (whole bool, err error) {
	if err := b.unwrapReferences(ws); err != nil {
		return true, err
	}
	switch {
	case b.kind == container.Stored:
		if len(b.src) != b.raw {
			return true, fmt.Errorf("%w: %d stored bytes for %d", ErrPayload, len(b.src), b.raw)
		}
		if b.Into == nil && b.run.window == nil {
			b.out = b.src
		} else {
			pieces.Copy(b.output(), b.src, ws.check)
		}
	case b.kind == container.Fill:
		if len(b.src) != 1 {
			return true, fmt.Errorf("%w: fill of %d bytes", ErrPayload, len(b.src))
		}
		for left := b.output(); len(left) > 0; ws.checkpoint() {
			var piece []byte
			piece, left = pieces.First(left)
			simd.Fill(piece, b.src[0])
		}
	case b.kind == noContent && b.refers:
		b.output()
	case b.kind == container.Coded:
		return false, nil
	default:
		return true, fmt.Errorf("%w: kind %d", ErrPayload, b.kind)
	}
	return true, b.verifySum(ws)
}

// unwrapReferences takes the references from the front of a payload.
func (b *Block) unwrapReferences(ws *workspace) error {
	most := b.run.cfg.Sources
	if most == 0 || b.kind != container.Coded || len(b.src) == 0 || b.src[0] != ldm.LayoutID {
		return nil
	}
	kind, payload, err := b.list.Parse(b.src[1:], b.raw, most, ws.check)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrPayload, err)
	}
	b.refers, b.src, b.raw, b.kind = true, payload, b.list.Own, kind
	return nil
}

// isFill reports whether p is one byte repeated.
func isFill(p []byte, checkpoint func()) bool {
	return len(p) > 0 && pieces.Equal(p[1:], p[:len(p)-1], checkpoint)
}

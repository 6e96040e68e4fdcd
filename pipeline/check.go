package pipeline

import (
	"fmt"

	"github.com/gopz/compress/internal/pieces"
	"github.com/gopz/compress/simd"
)

// Steps of a block that are not stages have negative numbers in statistics.
const (
	checkStep  = -1 // before the first stage
	finishStep = -2 // after the last stage; counted as "check" as well
	verifyStep = -3 // verifies results of a device
	tuneStep   = -4 // chooses settings
)

// stageName returns the name of a stage or step for statistics.
func (r *Run) stageName(i int) string {
	if i >= 0 && i < len(r.stages) {
		return r.stages[i].name
	}
	switch i {
	case verifyStep:
		return "verify"
	case tuneStep:
		return "tune"
	}
	return "check"
}

// precheck does blocks that need no stages, and reports whether the block is one.
func (b *Block) precheck(ws *workspace) (whole bool, err error) {
	if b.run.cfg.Op == Decompress {
		return b.precheckPayload(ws)
	}
	content := b.content()
	b.Raw = len(content)
	pz := b.run.cfg.Pipeline.Format == PZ
	switch {
	case b.outerSrc != nil && len(content) == 0:
		b.Kind, b.dst = noContent, b.dst[:0] // references make all of it
	case pz && isFill(content, ws.checkpoint):
		b.Kind = Fill
		b.dst = append(b.dst[:0], content[0])
	case ws.incompressible(content):
		b.Kind, b.noMatches = Stored, true
	default:
		b.Kind = Coded
		return false, nil
	}
	if !pz {
		b.Kind = Coded
		return false, nil
	}
	return true, b.finish(ws)
}

// precheckPayload is precheck for decompression.
func (b *Block) precheckPayload(ws *workspace) (whole bool, err error) {
	if err := b.unwrap(ws); err != nil {
		return true, err
	}
	switch {
	case b.Kind == Stored:
		if len(b.Src) != b.Raw {
			return true, fmt.Errorf("%w: %d stored bytes for %d", ErrPayload, len(b.Src), b.Raw)
		}
		if b.Into != nil || b.run.cfg.LongDistance.Window != nil {
			pieces.Copy(b.output(), b.Src, ws.check)
		}
	case b.Kind == Fill:
		if len(b.Src) != 1 {
			return true, fmt.Errorf("%w: fill of %d bytes", ErrPayload, len(b.Src))
		}
		for left := b.output(); len(left) > 0; ws.checkpoint() {
			var piece []byte
			piece, left = pieces.First(left)
			simd.Fill(piece, b.Src[0])
		}
	case b.Kind == noContent && b.outerSrc != nil:
		b.output()
	case b.Kind == Coded:
		return false, nil
	default:
		return true, fmt.Errorf("%w: kind %d", ErrPayload, b.Kind)
	}
	return true, b.verify(ws)
}

// finish computes or compares the check of a block after its last stage.
func (b *Block) finish(ws *workspace) error {
	c := &b.run.cfg
	switch {
	case c.Op == Compress:
		if c.Pipeline.Format == PZ && b.Kind == Coded && len(b.dst)+b.headerRoom() >= len(b.Src) {
			b.Kind = Stored
		}
		b.wrap(ws)
		b.Sum = c.Pipeline.check(ws, b)
		b.restore()
	case c.LongDistance.Window == nil:
		return b.verify(ws)
	}
	return nil
}

// verify compares the check of a block with its content, or own content.
func (b *Block) verify(ws *workspace) error {
	if c := &b.run.cfg; c.Checks && c.Pipeline.check(ws, b) != b.Sum {
		return ErrChecksum
	}
	return nil
}

// headerRoom returns how much longer the header and the index entry of a coded block may be than those
// of a stored one, in bytes. Blocks behind a flush have short headers, if sizes permit.
func (b *Block) headerRoom() int {
	if b.Flushed {
		return 12
	}
	return 0
}

// payloadSum is the check of .pz: CRC32C over the payload, and for a coded block over the content
// too. Many payloads decode to the same content, so the content alone would not show every flipped
// bit.
func payloadSum(ws *workspace, b *Block) uint32 {
	if !b.run.cfg.Checks {
		return 0
	}
	payload, content := b.Src, b.Out()
	switch {
	case b.run.cfg.Op == Compress:
		payload, content = content, payload
	case b.outerSrc != nil:
		payload = b.outerSrc
	}
	sum := ws.sum(0, payload, simd.CRC32C)
	if b.Kind == Coded || b.outerSrc != nil {
		sum = ws.sum(sum, content, simd.CRC32C)
	}
	return sum
}

// sum returns a check continued over p, with checkpoints.
func (ws *workspace) sum(sum uint32, p []byte, add func(sum uint32, p []byte) uint32) uint32 {
	for len(p) > 0 {
		var piece []byte
		piece, p = pieces.First(p)
		sum = add(sum, piece)
		ws.checkpoint()
	}
	return sum
}

// isFill reports whether p is one byte repeated.
func isFill(p []byte, checkpoint func()) bool {
	return len(p) > 0 && pieces.Equal(p[1:], p[:len(p)-1], checkpoint)
}

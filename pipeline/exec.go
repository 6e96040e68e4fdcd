package pipeline

import (
	"bytes"
	"fmt"

	"github.com/gopz/compress/simd"
)

// What is done to a block before its first and after its last stage. For statistics it is one, "check".
const (
	checkStage = -1
	closeStage = -2
	// Looking over what a device has made is one of its own, "verify".
	verifyStage = -3
	// So is choosing settings, "tune".
	tuneStage = -4
)

func (r *Run) stageName(i int) string {
	if i >= 0 && i < len(r.stages) {
		return r.stages[i].name
	}
	switch i {
	case verifyStage:
		return "verify"
	case tuneStage:
		return "tune"
	}
	return "check"
}

// first does what needs no stages. It reports whether that is the whole block.
func (b *Block) first(ws *workspace) (whole bool, err error) {
	if b.run.cfg.Op == Compress {
		content := b.content()
		b.Raw = len(content)
		pz := b.run.cfg.Pipeline.Format == PZ
		switch {
		case pz && isFill(content):
			b.Kind = Fill
			b.dst = append(b.dst[:0], content[0])
		case ws.incompressible(content):
			b.Kind, b.plain = Stored, true
		default:
			b.Kind = Coded
			return false, nil
		}
		if !pz {
			b.Kind = Coded
			return false, nil
		}
		return true, b.last()
	}
	switch b.Kind {
	case Stored:
		if len(b.Src) != b.Raw {
			return true, fmt.Errorf("%w: %d stored bytes for %d", ErrPayload, len(b.Src), b.Raw)
		}
		if b.Into != nil {
			copy(b.Into, b.Src)
			b.placed = true
		}
	case Fill:
		if len(b.Src) != 1 {
			return true, fmt.Errorf("%w: fill of %d bytes", ErrPayload, len(b.Src))
		}
		dst := b.Into
		if b.placed = dst != nil; !b.placed {
			b.dst = resize(b.dst, b.Raw)
			dst = b.dst
		}
		simd.Fill(dst[:b.Raw], b.Src[0])
	case Coded:
		return false, nil
	default:
		return true, fmt.Errorf("%w: kind %d", ErrPayload, b.Kind)
	}
	return true, b.last()
}

// last makes or compares the check of a block that has been through its stages.
func (b *Block) last() error {
	p := b.run.cfg.Pipeline
	if b.run.cfg.Op == Compress {
		if p.Format == PZ && b.Kind == Coded && len(b.dst) >= len(b.Src) {
			b.Kind = Stored
		}
		b.Sum = p.check(b)
		return nil
	}
	if b.run.cfg.Checks && p.check(b) != b.Sum {
		return ErrChecksum
	}
	return nil
}

// payloadSum is the check of .pz: over the payload, and for a coded block over the content too. Many payloads decode to the
// same content, so that the content alone would not show every flipped bit.
func payloadSum(b *Block) uint32 {
	if !b.run.cfg.Checks {
		return 0
	}
	payload, content := b.Src, b.Out()
	if b.run.cfg.Op == Compress {
		payload, content = content, payload
	}
	sum := simd.CRC32C(0, payload)
	if b.Kind == Coded {
		sum = simd.CRC32C(sum, content)
	}
	return sum
}

// isFill reports whether p is one byte repeated.
func isFill(p []byte) bool {
	return len(p) > 0 && bytes.Equal(p[1:], p[:len(p)-1])
}

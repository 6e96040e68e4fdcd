package pipeline

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"runtime/debug"

	"github.com/gopz/compress/simd"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// exec takes a block through all its stages. It reports false if a stage panicked: the workspace is then not to be used again.
func (b *Block) exec(ws *workspace) (ok bool) {
	r := b.run
	if r.ended() {
		b.Err = ErrCanceled
		return true
	}
	defer func() {
		b.payload = nil
		if v := recover(); v != nil {
			b.Err = &PanicError{Stage: r.stageName(b.stage), Value: v, Stack: debug.Stack()}
			ok = false
		}
	}()
	if r.cfg.Op == Compress {
		b.Err = b.compress(ws)
	} else {
		b.Err = b.decompress(ws)
	}
	return true
}

func (r *Run) stageName(i int) string {
	if i < len(r.stages) {
		return r.stages[i].name
	}
	return "check"
}

// runStages runs what is left of the block's stages. The payload between them belongs to the block while they
// run, so that a stage can be given to somebody else with it.
func (b *Block) runStages(ws *workspace) error {
	b.payload = &ws.payload
	for ; b.stage < len(b.run.stages); b.stage++ {
		if err := b.run.stages[b.stage].run(ws, b); err != nil {
			return err
		}
	}
	return nil
}

func (b *Block) compress(ws *workspace) error {
	b.Raw = len(b.Src)
	switch {
	case isFill(b.Src):
		b.Kind = Fill
		b.dst = append(b.dst[:0], b.Src[0])
	case ws.incompressible(b.Src):
		b.Kind = Stored
	default:
		b.Kind = Coded
		if err := b.runStages(ws); err != nil {
			return err
		}
		if len(b.dst) >= len(b.Src) {
			b.Kind = Stored
		}
	}
	b.Sum = b.checksum(b.Src)
	return nil
}

func (b *Block) decompress(ws *workspace) error {
	switch b.Kind {
	case Stored:
		if len(b.Src) != b.Raw {
			return fmt.Errorf("%w: %d stored bytes for %d", ErrPayload, len(b.Src), b.Raw)
		}
	case Fill:
		if len(b.Src) != 1 {
			return fmt.Errorf("%w: fill of %d bytes", ErrPayload, len(b.Src))
		}
		b.dst = resize(b.dst, b.Raw)
		simd.Fill(b.dst, b.Src[0])
	case Coded:
		if err := b.runStages(ws); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%w: kind %d", ErrPayload, b.Kind)
	}
	if b.run.cfg.Checks && b.checksum(b.Out()) != b.Sum {
		return ErrChecksum
	}
	return nil
}

// checksum is the block's content check: over the payload, and for a coded block over the content too. Many payloads decode to the
// same content, so that the content alone would not show every flipped bit.
func (b *Block) checksum(content []byte) uint32 {
	if !b.run.cfg.Checks {
		return 0
	}
	payload := b.Src
	if b.run.cfg.Op == Compress {
		payload = b.Out()
	}
	sum := crc32.Update(0, castagnoli, payload)
	if b.Kind == Coded {
		sum = crc32.Update(sum, castagnoli, content)
	}
	return sum
}

// isFill reports whether p is one byte repeated.
func isFill(p []byte) bool {
	return len(p) > 0 && bytes.Equal(p[1:], p[:len(p)-1])
}

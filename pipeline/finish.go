package pipeline

import (
	"hash/crc32"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/ldm"
	"github.com/gopz/compress/internal/pieces"
	"github.com/gopz/compress/simd"
)

// finishWork completes the result of a block behind its last stage, and computes or compares its
// check.
func (b *Block) finishWork(ws *workspace) error {
	c := &b.run.cfg
	if c.Op == Decompress {
		if c.Window > 0 {
			return nil // the last stage that codes has verified it
		}
		return b.verifySum(ws)
	}
	pz := c.Pipeline.Format == container.PZ
	if pz && b.kind == container.Coded && len(b.dst)+b.headerRoom() >= len(b.src) {
		b.kind = container.Stored
	}
	b.out = b.dst
	if b.kind == container.Stored {
		b.out = b.src
	}
	if b.refers {
		b.wrapReferences(ws)
	}
	b.Kind = uint8(b.kind)
	b.Sum = c.Pipeline.check(ws, b)
	if b.refers {
		b.finder.Release(!b.srcRetired)
		b.srcRetired = false // that was own content
	}
	b.raw = b.Raw
	return nil
}

// verifySum compares the check of a block with its content, or own content.
func (b *Block) verifySum(ws *workspace) error {
	if c := &b.run.cfg; c.Checks && c.Pipeline.check(ws, b) != b.Sum {
		return ErrChecksum
	}
	return nil
}

// headerRoom returns how much longer the header and the index entry of a coded block may be than
// those of a stored one, in bytes. Blocks behind a flush have short headers, if sizes permit.
func (b *Block) headerRoom() int {
	if b.Flushed {
		return 12
	}
	return 0
}

// wrapReferences puts the references in front of the payload.
func (b *Block) wrapReferences(ws *workspace) {
	if b.run.cfg.Checks {
		ldm.SetSum(b.encoded, ws.sum(0, b.Src, simd.CRC32C))
	}
	payload := b.out
	n := len(b.encoded) + 1
	b.dst = slices.Grow(b.dst[:0], n+len(payload))[:n+len(payload)]
	for to := len(payload); to > 0; ws.checkpoint() { // it may overlap, so from its end
		from := max(0, to-pieces.Size)
		copy(b.dst[n+from:], payload[from:to])
		to = from
	}
	b.dst[copy(b.dst, b.encoded)] = byte(b.kind)
	b.out, b.kind = b.dst, container.Coded
}

// payloadSum is the check of .pz: CRC32C over the payload, and for a coded block over the content
// too. Many payloads decode to the same content, so the content alone would not show every flipped
// bit.
func payloadSum(ws *workspace, b *Block) uint32 {
	if !b.run.cfg.Checks {
		return 0
	}
	payload, content := b.Src, b.out
	if b.run.cfg.Op == Compress {
		payload, content = b.out, b.src
	}
	sum := ws.sum(0, payload, simd.CRC32C)
	if b.kind == container.Coded || b.refers {
		sum = ws.sum(sum, content, simd.CRC32C)
	}
	return sum
}

// gzipSum is the CRC32 of the content, which .gz always has.
func gzipSum(ws *workspace, b *Block) uint32 {
	return ws.sum(0, b.content(), func(sum uint32, p []byte) uint32 {
		return crc32.Update(sum, crc32.IEEETable, p)
	})
}

// zstdSum is the check of a frame's content, the low half of its XXH64.
func zstdSum(ws *workspace, b *Block) uint32 {
	if !b.run.cfg.Checks {
		return 0
	}
	content := b.content()
	if h := b.History; h != nil {
		return h.addSum(content, b.Window == 0)
	}
	if b.run.cfg.Op == Decompress {
		content = b.out
	}
	if len(content) <= pieces.Size {
		return uint32(xxhash.Sum64(content))
	}
	d := &ws.digest
	d.Reset()
	for len(content) > 0 {
		var piece []byte
		piece, content = pieces.First(content)
		d.Write(piece)
		ws.checkpoint()
	}
	return uint32(d.Sum64())
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

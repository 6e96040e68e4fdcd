package pipeline

import (
	"fmt"
	"slices"

	"github.com/gopz/compress/internal/ldm"
	"github.com/gopz/compress/internal/pieces"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/simd"
)

// References to earlier blocks. Two stages in front of those that compress find them; see package
// ldm. From there on Src is the own content, so that all stages and devices work on that, and the
// last step restores Src. When decompressing, Src is the payload of the own content. Two stages
// behind the others keep own contents in a window and make the content from them.

// LongDistance says how the blocks of a run refer to earlier ones, for pipelines of .pz.
type LongDistance struct {
	// Finder finds references, for Compress. Nil is for none.
	Finder *ldm.Finder
	// Sources is the most blocks that a block may refer to, for Decompress. 0 is for none.
	Sources int
	// Window keeps own contents, for a Decompress of all blocks of a stream in order. If it is nil and
	// Sources is not 0, the result of a block is its own content, and References has the rest.
	Window *ldm.Window
}

// ordered reports whether blocks pass through a stage in order.
func (f *LongDistance) ordered() bool { return f.Finder != nil || f.Window != nil }

// noContent is the kind of the own content of a block that consists of references.
const noContent Kind = 0

// references is the part of a Block that a run with references needs.
type references struct {
	// outerSrc and outerRaw are Src and Raw of the whole block, while Src and Raw are of its own content.
	// Else outerSrc is nil.
	outerSrc []byte
	outerRaw int
	finder   ldm.Block
	encoded  []byte // list that the payload begins with
	list     ldm.List
	own      *ldm.Buffer   // own content, or the result if there are no references
	sources  []*ldm.Buffer // own contents of the sources
}

// References returns the references of a decompressed block if Out is its own content. They are valid
// until the block is submitted again or freed.
func (b *Block) References() *ldm.List { return &b.list }

// A span is the stages from … to−1.
type span struct{ from, to int }

// referenceStages are the stages of a pipeline for runs with references.
type referenceStages struct{ encode, decode []stage }

func newReferenceStages(p *Pipeline) referenceStages {
	n := len(p.decode) - 1
	last := p.decode[n]
	copyOwn := last.run
	last.run = func(ws *workspace, b *Block) error {
		if err := copyOwn(ws, b); err != nil {
			return err
		}
		return b.verify(ws) // before other blocks use it
	}
	return referenceStages{
		encode: slices.Concat([]stage{sampleStage, referStage}, p.encode),
		decode: slices.Concat(p.decode[:n], []stage{last, windowStage, spliceStage}),
	}
}

// stages returns the stages of a run, and which of them code.
func (c *Config) stages() ([]stage, span) {
	s := c.Pipeline.stages(c.Op)
	n := len(s)
	switch {
	case c.LongDistance.Finder != nil:
		return c.Pipeline.withReferences.encode, span{2, n + 2}
	case c.LongDistance.Window != nil:
		return c.Pipeline.withReferences.decode, span{0, n}
	}
	return s, span{0, n}
}

// sampleStage chooses the positions of a block that the next stage looks up.
var sampleStage = stage{name: "sample", run: func(ws *workspace, b *Block) error {
	b.Raw = len(b.Src)
	b.finder.Prepare(b.Src, isFill(b.Src, ws.check), ws.check)
	return nil
}}

// referStage finds references.
var referStage = stage{name: "refer", ordered: true, run: func(ws *workspace, b *Block) error {
	list, own := b.run.cfg.LongDistance.Finder.Find(&b.finder, b.Src, ws.check)
	if len(list) > 0 {
		b.outerSrc, b.outerRaw, b.encoded = b.Src, b.Raw, list
		b.Src, b.Raw = own, len(own)
	}
	return nil
}}

// wrap puts the references in front of the payload.
func (b *Block) wrap(ws *workspace) {
	if b.outerSrc == nil {
		return
	}
	if b.run.cfg.Checks {
		ldm.SetSum(b.encoded, ws.sum(0, b.outerSrc, simd.CRC32C))
	}
	payload := b.dst
	if b.Kind == Stored {
		payload = b.Src
	}
	n := len(b.encoded) + 1
	b.dst = slices.Grow(b.dst[:0], n+len(payload))[:n+len(payload)]
	for to := len(payload); to > 0; ws.checkpoint() { // it may overlap, so from its end
		from := max(0, to-pieces.Size)
		copy(b.dst[n+from:], payload[from:to])
		to = from
	}
	b.dst[copy(b.dst, b.encoded)] = byte(b.Kind)
	b.Kind = Coded
}

// NewWindow returns a Window for a run with blocks of up to blockSize bytes.
func NewWindow(window int64, blockSize int) *ldm.Window {
	return ldm.NewWindow(window, blockSize, lz77.Slack)
}

// WindowMemory returns the memory that a Window takes besides what Memory returns, in bytes, with so
// many blocks in flight.
func WindowMemory(window int64, blockSize, inFlight int) int64 {
	return ldm.WindowMemory(window, blockSize, lz77.Slack, inFlight)
}

// shared reports whether other blocks may have used the own content of a block.
func (b *Block) shared() bool {
	return b.run.cfg.LongDistance.Window != nil && b.stage >= b.run.coding.to
}

// restore makes Src what it was before references were found or parsed.
func (b *Block) restore() {
	if b.outerSrc == nil {
		return
	}
	b.Src, b.Raw, b.outerSrc = b.outerSrc, b.outerRaw, nil
	if b.run.cfg.Op == Compress {
		b.finder.Release(!b.srcRetired)
		b.srcRetired = false
	}
}

// unwrap takes the references from the front of a payload.
func (b *Block) unwrap(ws *workspace) error {
	most := b.run.cfg.LongDistance.Sources
	if most == 0 || b.Kind != Coded || len(b.Src) == 0 || b.Src[0] != ldm.LayoutID {
		return nil
	}
	kind, payload, err := b.list.Parse(b.Src[1:], b.Raw, most, ws.check)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrPayload, err)
	}
	b.outerSrc, b.outerRaw = b.Src, b.Raw
	b.Src, b.Raw, b.Kind = payload, b.list.Own, kind
	return nil
}

// output returns the memory for the content that a payload decodes to.
func (b *Block) output() []byte {
	switch w := b.run.cfg.LongDistance.Window; {
	case w != nil && (b.outerSrc != nil || b.Kind != Fill):
		if b.own == nil { // else it is done again
			b.own = w.Get(b.Raw)
		}
		return b.own.P
	case b.Into != nil:
		b.inInto = true
		return b.Into[:b.Raw:b.Raw]
	}
	b.dst = resize(b.dst, b.Raw+lz77.Slack)[:b.Raw]
	return b.dst
}

// windowStage adds own content to the window, and holds that of the sources.
var windowStage = stage{name: "window", ordered: true, run: func(_ *workspace, b *Block) (err error) {
	w := b.run.cfg.LongDistance.Window
	if b.outerSrc != nil {
		b.sources, err = w.Sources(b.sources[:0], b.Index, &b.list)
	}
	w.AddBlock(b.Index, b.own)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrPayload, err)
	}
	return nil
}}

// spliceStage makes the content.
var spliceStage = stage{name: "splice", run: func(ws *workspace, b *Block) error {
	if b.outerSrc == nil {
		if b.own != nil && b.Into != nil {
			b.inInto = true
			pieces.Copy(b.Into, b.own.P, ws.check)
		}
		return nil
	}
	b.restore()
	dst := b.Into
	if b.inInto = dst != nil; !b.inInto {
		b.dst = resize(b.dst, b.Raw)
		dst = b.dst
	}
	dst = dst[:b.Raw]
	b.list.Spread(dst, b.own.P, ws.check)
	for i, s := range b.sources {
		if err := b.list.Insert(dst, i, s.P, ws.check); err != nil {
			return fmt.Errorf("%w: %w", ErrPayload, err)
		}
	}
	if b.run.cfg.Checks && ws.sum(0, dst, simd.CRC32C) != b.list.Sum {
		return ErrChecksum
	}
	b.Kind = Coded
	b.releaseOwn()
	return nil
}}

// releaseOwn ends the use of own contents.
func (b *Block) releaseOwn() {
	if b.own != nil {
		b.own.Release()
		b.own = nil
	}
	for _, s := range b.sources {
		s.Release()
	}
	b.sources = b.sources[:0]
}

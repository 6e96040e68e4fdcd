package pipeline

import (
	"fmt"
	"slices"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/ldm"
	"github.com/gopz/compress/internal/pieces"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/simd"
)

// References to earlier blocks. Two stages in front of those that compress find them; see package
// ldm. From there on all stages and devices work on the own content, and the last step puts the
// references in front of its payload. When decompressing, the first step takes them from there. Two
// stages behind the others keep own contents in a window and make the content from them.

// noContent is the kind of the own content of a block that consists of references.
const noContent container.Kind = 0

// references is the part of a Block that a run with references needs.
type references struct {
	refers  bool         // the block has references
	repeats []ldm.Repeat // of a .zst block
	finder  ldm.Block
	encoded []byte // list that the payload begins with
	list    ldm.List
	own     *ldm.Buffer   // own content, or the result if there are no references
	sources []*ldm.Buffer // own contents of the sources
}

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
		return b.verifySum(ws) // before other blocks use it
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
	case c.Window == 0:
		return s, span{0, n}
	case c.Op == Compress:
		return c.Pipeline.withReferences.encode, span{2, n + 2}
	}
	return c.Pipeline.withReferences.decode, span{0, n}
}

// makeWindow gives a run what its references need.
func (r *Run) makeWindow() {
	r.finder, r.window = nil, nil
	c := &r.cfg
	switch {
	case c.Window == 0:
	case !ldm.ValidWindow(c.Window), c.BlockSize <= 0, c.Pipeline.withReferences.encode == nil:
		panic("pipeline: a Config with a Window that has no BlockSize, is out of range or for .gz")
	case c.Op == Compress && c.Pipeline.Format == container.Zstd:
		r.finder = ldm.NewRepeatFinder(c.Window, c.BlockSize)
	case c.Op == Compress:
		r.finder = ldm.NewFinder(c.Window, c.BlockSize)
	default:
		r.window = ldm.NewWindow(c.Window, c.BlockSize, lz77.Slack)
	}
}

// releaseWindow frees the memory of the window. The next block has the number 0.
func (r *Run) releaseWindow() {
	if r.finder != nil {
		r.finder.Release()
	}
	if r.window != nil {
		r.window.Release()
	}
}

// windowMemory returns the memory of a window in bytes with so many blocks in flight.
func (c *Config) windowMemory(inFlight int) int64 {
	switch {
	case c.Window == 0:
		return 0
	case c.Op == Compress:
		return ldm.FinderMemory(c.Window, c.BlockSize, inFlight)
	}
	return ldm.WindowMemory(c.Window, c.BlockSize, lz77.Slack, inFlight)
}

// sampleStage chooses the positions of a block that the next stage looks up.
var sampleStage = stage{name: "sample", run: func(ws *workspace, b *Block) error {
	content := b.content()
	b.finder.Prepare(content, isFill(content, ws.check), ws.check)
	return nil
}}

// repeatStage finds repeats of earlier blocks of a .zst file. zstdStage makes matches of them.
var repeatStage = stage{name: "refer", ordered: true, run: func(ws *workspace, b *Block) error {
	b.repeats = b.run.finder.FindRepeats(b.repeats[:0], &b.finder, b.Index, b.content(), ws.check)
	return nil
}}

// referStage finds references.
var referStage = stage{name: "refer", ordered: true, run: func(ws *workspace, b *Block) error {
	list, own := b.run.finder.Find(&b.finder, b.Index, b.src, ws.check)
	if len(list) > 0 {
		b.refers, b.encoded, b.src, b.raw = true, list, own, len(own)
	}
	return nil
}}

// shared reports whether other blocks may have used the own content of a block.
func (b *Block) shared() bool {
	return b.run.window != nil && b.stage >= b.run.coding.to
}

// output returns the memory for the content that a payload decodes to, which is the result.
func (b *Block) output() []byte {
	switch w := b.run.window; {
	case w != nil && (b.refers || b.kind != container.Fill):
		if b.own == nil { // else it is done again
			b.own = w.Get(b.raw)
		}
		b.out = b.own.P
	case b.Into != nil:
		b.out = b.Into[:b.raw:b.raw]
	default:
		b.dst = resize(b.dst, b.raw+lz77.Slack)[:b.raw]
		b.out = b.dst
	}
	return b.out
}

// windowStage adds own content to the window, and holds that of the sources.
var windowStage = stage{name: "window", ordered: true, run: func(_ *workspace, b *Block) (err error) {
	w := b.run.window
	if b.refers {
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
	if !b.refers {
		if b.own != nil && b.Into != nil {
			b.out = b.Into[:b.raw]
			pieces.Copy(b.out, b.own.P, ws.check)
		}
		return nil
	}
	b.raw = b.Raw
	if b.Into != nil {
		b.out = b.Into[:b.raw]
	} else {
		b.dst = resize(b.dst, b.raw)
		b.out = b.dst
	}
	b.list.Spread(b.out, b.own.P, ws.check)
	for i, s := range b.sources {
		if err := b.list.Insert(b.out, i, s.P, ws.check); err != nil {
			return fmt.Errorf("%w: %w", ErrPayload, err)
		}
	}
	if b.run.cfg.Checks && ws.sum(0, b.out, simd.CRC32C) != b.list.Sum {
		return ErrChecksum
	}
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

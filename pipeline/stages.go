package pipeline

import (
	"fmt"

	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
)

// Stages of the pipelines that write .pz. A coded payload is a layout byte and the streams of the layout, coded together.

// parseStage finds the sequences of a block within the limits of a layout.
func parseStage(l *lzseq.Layout) stage {
	return stage{"lz77", func(ws *workspace, b *Block) error {
		p := b.payload
		p.seqs = ws.matcher.Parse(p.seqs[:0], b.Src, &lz77.Levels[b.run.cfg.Level], l.Limits)
		return nil
	}}
}

// codeStage turns sequences into a payload.
func codeStage(l *lzseq.Layout) stage {
	return stage{"rans", func(ws *workspace, b *Block) error {
		b.payload.streams.Encode(l, b.Src, b.payload.seqs)
		var streams [6][]byte
		n := 0
		for i, s := range b.payload.streams.All() {
			streams[i] = *s
			n += len(*s)
		}
		// Room for all streams as they are: coding hardly ever makes them longer, and a buffer that grows by appending takes more.
		b.dst = append(resize(b.dst, n+n/256+1024)[:0], l.ID)
		b.dst = ws.rans.enc.Append(b.dst, l.Stored, streams[:]...)
		return nil
	}}
}

// decodeStreams takes a payload apart, whichever layout it names.
var decodeStreams = stage{"rans", func(ws *workspace, b *Block) error {
	if len(b.Src) == 0 {
		return fmt.Errorf("%w: empty", ErrPayload)
	}
	p := b.payload
	if p.layout = lzseq.LayoutByID(b.Src[0]); p.layout == nil {
		return fmt.Errorf("%w: unknown layout %d", ErrPayload, b.Src[0])
	}
	streams, limits := p.streams.All(), lzseq.MaxSizes(b.Raw)
	rest, err := ws.rans.dec.Decode(b.Src[1:], limits[:], streams[:]...)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrPayload, err)
	}
	if len(rest) != 0 {
		return fmt.Errorf("%w: %d bytes too many", ErrPayload, len(rest))
	}
	return nil
}}

// copyStage carries out the sequences.
var copyStage = stage{"lz77", func(ws *workspace, b *Block) error {
	b.dst = resize(b.dst, b.Raw+lz77.Slack)[:b.Raw]
	if err := b.payload.streams.Decode(b.payload.layout, b.dst); err != nil {
		return fmt.Errorf("%w: %w", ErrPayload, err)
	}
	return nil
}}

package compress

import (
	"bytes"
	"errors"
	"io"

	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/inflate"
	"github.com/gopz/compress/pipeline"
)

// gzScanner reads a .gz file (RFC 1952): members, one after the other, and perhaps zeros behind them. In errors members are streams.
type gzScanner struct {
	f      *foreign
	member int
	inside bool  // behind the header of a member and before its trailer
	zeros  bool  // there were zeros behind a member
	body   int64 // offset of the member's Deflate stream
	offset int64 // of the member
	sum    uint32
	size   uint32
	dec    *inflate.Decoder
	pipe   *pipeline.Pipeline

	head    gzfile.Skipper
	trailer [gzfile.TrailerSize]byte
}

// gzMemory is what the decoder takes, in bytes: the window and tables.
const gzMemory = 128 << 10

// gzNeed is what a .gz file needs.
func gzNeed(p *pipeline.Pipeline) *need {
	return &need{pipe: p, size: pieceSize, extra: gzMemory, serial: true}
}

func (g *gzScanner) begin(f *foreign) {
	*g = gzScanner{f: f, dec: g.dec, pipe: pipeline.ByName("deflate")}
}

func (g *gzScanner) fail(kind error, off int64, detail string) error {
	return g.f.fail(kind, g.member, -1, off, detail)
}

// broken says what it means that the input ends, or fails.
func (g *gzScanner) broken(err error) error {
	if e, ok := underneath(err); ok {
		return e
	}
	if isEnd(err) {
		return g.fail(ErrTruncated, g.f.in.off(), "")
	}
	return err
}

func (g *gzScanner) next(u *unit) error {
	if !g.inside {
		if err := g.header(); err != nil {
			return err
		}
	}
	*u = unit{
		need:  *gzNeed(g.pipe),
		kind:  pipeline.Stored,
		place: place{stream: g.member, block: -1, offset: g.offset, total: -1},
	}
	return nil
}

// header reads the header of the next member, if there is one.
func (g *gzScanner) header() error {
	br := g.f.in.br
	g.offset = g.f.in.off()
	p, err := br.Peek(1)
	switch {
	case err == io.EOF && g.offset > 0:
		return io.EOF
	case err != nil:
		return g.broken(err)
	case g.offset > 0 && (p[0] == 0 || g.zeros):
		return g.padding()
	}
	g.head = gzfile.Skipper{}
	for {
		if err := g.f.opt.canceled(); err != nil {
			return err
		}
		p, err := br.Peek(max(1, br.Buffered()))
		if len(p) == 0 {
			return g.broken(err)
		}
		n, done, herr := g.head.Skip(p)
		br.Discard(n)
		switch {
		case done:
			return g.enter()
		case herr == nil:
		case errors.Is(herr, gzfile.ErrMagic) && g.member > 0:
			return g.fail(ErrTrailing, g.offset, "")
		case errors.Is(herr, gzfile.ErrMethod):
			return g.fail(ErrVersion, g.offset, herr.Error())
		case errors.Is(herr, gzfile.ErrChecksum):
			return g.fail(ErrChecksum, g.offset, herr.Error())
		default:
			return g.fail(ErrCorrupt, g.offset, herr.Error())
		}
	}
}

// padding passes over zeros behind the last member, which tapes and the like leave. Nothing else may follow.
func (g *gzScanner) padding() error {
	g.zeros = true
	br := g.f.in.br
	p, err := br.Peek(max(1, br.Buffered()))
	for _, c := range p {
		if c != 0 {
			return g.fail(ErrTrailing, g.offset, "")
		}
	}
	br.Discard(len(p))
	switch {
	case err == nil:
		return errStreamEnd
	case err == io.EOF:
		return io.EOF
	}
	return g.broken(err)
}

// enter begins the member whose header has been read.
func (g *gzScanner) enter() error {
	br := g.f.in.br
	g.body = g.f.in.off()
	g.sum, g.size, g.inside = 0, 0, true
	if g.dec == nil {
		g.dec = new(inflate.Decoder)
	}
	if err := g.dec.Reset(br); err != nil {
		return g.fail(ErrInternal, g.offset, err.Error())
	}
	return nil
}

// payload decodes a piece.
func (g *gzScanner) payload(u *unit, p []byte) ([]byte, error) {
	f := g.f
	p = f.piece(p, g.dec)
	if f.opt.checks {
		g.sum = gzfile.Checksum(g.sum, p)
	}
	g.size += uint32(len(p))
	if err := f.stop; err != nil {
		f.stop = g.end(err)
	}
	p = f.limit(u, p)
	if len(p) == 0 {
		if f.stop != nil {
			return p, f.stop
		}
		return p, errStreamEnd
	}
	u.raw = len(p)
	return p, nil
}

// markerSize is more bytes than a decoder has read ahead, the end of a block, and the empty stored block of a flush (RFC 1951, section 3.2.4) take together.
const markerSize = 16

// sure goes by how the decoder gives out content: full windows, and what there is at the mark of a flush, an empty stored block. If that stands right behind a
// full window, then the window was all, and the decoder finds nothing at the mark and goes on. A mark ends with two bytes of ones.
func (g *gzScanner) sure(n int) bool {
	const window = 32 << 10
	br := g.f.in.br
	if !g.inside || (g.size+uint32(n))%window != 0 || br.Buffered() < markerSize {
		return false
	}
	p, _ := br.Peek(markerSize)
	return bytes.IndexByte(p, 0xff) < 0
}

// damaged says what it means that the decoder fails.
func (g *gzScanner) damaged(err error) error {
	if errors.Is(err, ErrInternal) {
		return err
	}
	if at, ok := inflate.Corrupt(err); ok {
		return g.fail(ErrCorrupt, g.body+at, "the Deflate stream is damaged")
	}
	return g.broken(err)
}

// end is for the end of the member's Deflate stream, or what came instead.
func (g *gzScanner) end(err error) error {
	if err != io.EOF {
		return g.damaged(err)
	}
	p := &g.trailer
	if _, err := readFull(g.f.in.br, p[:]); err != nil {
		return g.broken(err)
	}
	at := g.f.in.off() - int64(len(p))
	sum, size := gzfile.ParseTrailer(p[:])
	switch {
	case g.f.opt.checks && sum != g.sum:
		return g.fail(ErrChecksum, at, "")
	case size != g.size:
		return g.fail(ErrCorrupt, at, "the content is not as long as the gzip trailer says")
	}
	g.inside = false
	g.member++
	return nil
}

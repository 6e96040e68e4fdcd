package pipeline

import (
	"cmp"
	"math/bits"
	"sync"

	"github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/optimal"
	"github.com/gopz/compress/internal/pieces"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/simd"
)

// Dictionary is content in front of each block, and what outlasts a block that is compressed with
// it. Blocks of .zst begin with its tables, too. Several goroutines may use it.
type Dictionary struct {
	bytes   []byte // that it was parsed from
	tables  *zstd.Dictionary
	prices  *optimal.IncrementalPrices
	number  func() uint32
	finders [2]sync.Pool // of *dictionaryFinder
}

// Numbers of finders: those for offsets of at most 64 KiB, and for others.
const (
	nearFinder = iota
	farFinder
)

// NewDictionary parses a dictionary of zstd (RFC 8878, section 5). Bytes without the magic number
// of one are content alone. It returns an error for a damaged or empty dictionary, and for one of
// more than 32 MiB. It refers to p, which must not change.
func NewDictionary(p []byte) (*Dictionary, error) {
	z, err := zstd.ParseDictionary(p)
	if err != nil {
		return nil, err
	}
	d := &Dictionary{bytes: p, tables: z, prices: zstd.DictionaryPrices(z)}
	d.number = sync.OnceValue(func() uint32 { return cmp.Or(z.ID(), simd.CRC32C(0, z.Content()), 1) })
	return d, nil
}

// zstd returns the dictionary for a codec, nil for none.
func (d *Dictionary) zstd() *zstd.Dictionary {
	if d == nil {
		return nil
	}
	return d.tables
}

// Bytes returns the bytes that d was made from. The caller must not change them.
func (d *Dictionary) Bytes() []byte { return d.bytes }

// ID returns the number by which frames of .zst name the dictionary, 0 for content alone.
func (d *Dictionary) ID() uint32 { return d.tables.ID() }

// Content returns the content in front of a block. The caller must not change it.
func (d *Dictionary) Content() []byte { return d.tables.Content() }

// Serves reports whether frames of .zst that name the dictionary with a number can be decoded with
// d.
func (d *Dictionary) Serves(id uint32) bool { return d.zstd().Serves(id) }

// Number returns the number by which .pz streams name the dictionary: its ID, or the CRC-32C of its
// content if that is 0. It is 0 for none.
func (d *Dictionary) Number() uint32 {
	if d == nil {
		return 0
	}
	return d.number()
}

// HasDictionary reports whether blocks can have a dictionary.
func (p *Pipeline) HasDictionary() bool { return p.Format != container.Gzip }

// maxReach bounds the part of a dictionary in front of a block, in bytes. It is part of the
// formats.
const maxReach = 8 << 20

// reach returns the end of the dictionary, at most n bytes.
func (d *Dictionary) reach(n int) []byte {
	p := d.Content()
	return p[max(0, len(p)-n):]
}

// behindDictionary returns memory for n bytes of content behind the dictionary's, and where they
// begin.
func (ws *workspace) behindDictionary(b *Block, n int) (p []byte, start int) {
	d := b.run.cfg.Dictionary
	content := d.reach(maxReach)
	start = len(content)
	if ws.dictionary != d || cap(ws.prefixed) < start+n+lz77.Slack {
		ws.dictionary = d
		ws.prefixed = append(resize(ws.prefixed, start+n+lz77.Slack)[:0], content...)
	}
	return ws.prefixed[:start+n], start
}

// maxShortReach bounds the part of a dictionary that short blocks refer to, in bytes. Larger tables
// do not stay in the cache.
const maxShortReach = 1 << 20

// Settings of short blocks with a dictionary, by level: the number of candidates, and the length in
// bytes of a match that is taken at once. docs/notes/dictionaries.md has the figures.
var (
	dictionaryDepth = [MaxLevel + 1]int{0, 4, 6, 8, 16, 16, 16, 24, 32, 64}
	dictionaryNice  = [MaxLevel + 1]int{0, 12, 16, 24, 32, 64, 96, 96, 200, 400}
)

// A dictionaryFinder finds the sequences of short blocks. Its tables have the content of the
// dictionary, so that a block takes no longer than its own content does.
type dictionaryFinder struct {
	finder optimal.Incremental
	params optimal.IncrementalParams
	src    []byte // the content of the dictionary, and room for a block
	start  int    // its size in bytes
}

// shortReach returns the part of the dictionary that short blocks refer to.
func (d *Dictionary) shortReach(l *lz77.Limits) []byte {
	return d.reach(min(maxShortReach, l.MaxOffset-optimal.MaxIncremental))
}

// takeFinder returns a finder for short blocks. The caller puts it into pool.
func (d *Dictionary) takeFinder(l *lz77.Limits) (f *dictionaryFinder, pool *sync.Pool) {
	pool = &d.finders[farFinder]
	if l.MaxOffset < maxShortReach {
		pool = &d.finders[nearFinder]
	}
	if f, _ = pool.Get().(*dictionaryFinder); f == nil {
		content := d.shortReach(l)
		f = &dictionaryFinder{
			params: d.shortParams(l), start: len(content),
			src: append(make([]byte, 0, len(content)+optimal.MaxIncremental), content...),
		}
	}
	return f, pool
}

// shortParams returns the settings of a finder for short blocks, without those of a level or a
// format. Its window has room for the content of the dictionary and a block.
func (d *Dictionary) shortParams(l *lz77.Limits) optimal.IncrementalParams {
	p := zstdShort
	p.ChainLog = uint8(bits.Len(uint(len(d.shortReach(l)) + optimal.MaxIncremental)))
	p.HashLog, p.Prices = p.ChainLog, d.prices
	return p
}

// isShortWithDictionary reports whether the block is short and its run has a dictionary.
func (b *Block) isShortWithDictionary() bool {
	return b.run.cfg.Dictionary != nil && len(b.content()) <= optimal.MaxIncremental
}

// findWithDictionary finds the sequences of a block whose run has a dictionary.
func (ws *workspace) findWithDictionary(b *Block) []lz77.Sequence {
	content, form := b.content(), b.form()
	if !b.isShortWithDictionary() {
		src, start := ws.behindDictionary(b, len(content))
		pieces.Copy(src[start:], content, ws.check)
		return ws.matcher.ParseFrom(b.payload.seqs, src, start, b.params(), form)
	}
	d := b.run.cfg.Dictionary
	f, pool := d.takeFinder(&form.Limits)
	params, repeats := f.params, d.tables.Repeats()
	params.Depth, params.Nice = dictionaryDepth[b.run.cfg.Level], dictionaryNice[b.run.cfg.Level]
	if p := b.run.cfg.Pipeline; p.Format == container.PZ {
		params.MinMatch, params.MinOffset = form.MinMatch, lz77.MinOffset
		params.Repeats = form.Repeats > 0
		repeats = [3]uint32{lz77.InitialRepeat, lz77.InitialRepeat, lz77.InitialRepeat}
	}
	src := append(f.src[:f.start], content...)
	seqs := f.finder.Parse(b.payload.seqs, src, f.start, int64(f.start), repeats, &params)
	f.finder.Forget(src, f.start)
	pool.Put(f)
	return seqs
}

// dictionaryMemory returns the memory in bytes that a worker takes for the dictionary, besides what
// it takes without one.
func (c *Config) dictionaryMemory() int64 {
	d, p := c.Dictionary, c.Pipeline
	if d == nil {
		return 0
	}
	n := len(d.reach(maxReach))
	memory := n + c.BlockSize
	if c.Op == Compress {
		level, short := &p.levels[c.Level], d.shortParams(&p.form.Limits)
		tables := level.Memory(c.BlockSize+n, p.form) - level.Memory(c.BlockSize, p.form)
		memory += tables + short.Memory() + len(d.shortReach(&p.form.Limits)) + optimal.MaxIncremental
	}
	return int64(memory)
}

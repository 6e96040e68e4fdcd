package pipeline

import (
	"math/bits"
	"sync"

	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/zstd"
)

// Dictionary is a dictionary of .zst, and what outlasts a block that is compressed with it. Several
// goroutines may use it.
type Dictionary struct {
	*zstd.Dictionary
	prices  *lz77.IncrementalPrices
	finders sync.Pool // of *dictionaryFinder
}

// NewDictionary parses a dictionary. It refers to p, which must not change.
func NewDictionary(p []byte) (*Dictionary, error) {
	z, err := zstd.ParseDictionary(p)
	if err != nil {
		return nil, err
	}
	d := &Dictionary{Dictionary: z, prices: zstd.DictionaryPrices(z)}
	d.finders.New = func() any { return newDictionaryFinder(d) }
	return d, nil
}

// zstd returns the dictionary for a codec, nil for none.
func (d *Dictionary) zstd() *zstd.Dictionary {
	if d == nil {
		return nil
	}
	return d.Dictionary
}

// HasDictionary reports whether blocks can have a dictionary.
func (p *Pipeline) HasDictionary() bool { return p.Format == Zstd }

// reach returns the end of the dictionary that matches of a finder may reach, at most n bytes.
func (d *Dictionary) reach(n int) []byte {
	p := d.Content()
	return p[max(0, len(p)-n):]
}

// maxShortReach bounds the part of a dictionary that short blocks refer to, in bytes. Larger tables do
// not stay in the cache.
const maxShortReach = 1 << 20

// Settings of short blocks with a dictionary, by level: the number of candidates, and the length in bytes
// of a match that is taken at once. Each step makes 1.2 KB of JSON up to 6% smaller and takes up to twice
// as long; docs/notes/dictionaries.md has the figures.
var (
	dictionaryDepth = [MaxLevel + 1]int{0, 4, 6, 8, 16, 16, 16, 24, 32, 64}
	dictionaryNice  = [MaxLevel + 1]int{0, 12, 16, 24, 32, 64, 96, 96, 200, 400}
)

// A dictionaryFinder finds the sequences of short blocks. Its tables have the content of the
// dictionary, so that a block takes no longer than its own content does.
type dictionaryFinder struct {
	finder lz77.Incremental
	params lz77.IncrementalParams
	src    []byte // the content of the dictionary, and room for a block
	start  int    // its size in bytes
}

func newDictionaryFinder(d *Dictionary) *dictionaryFinder {
	content, params := d.reach(maxShortReach), d.shortParams()
	return &dictionaryFinder{
		params: params, start: len(content),
		src: append(make([]byte, 0, len(content)+lz77.MaxIncremental), content...),
	}
}

// shortParams returns the settings of a finder for short blocks, without Depth. Its window has room for
// the content of the dictionary and a block.
func (d *Dictionary) shortParams() lz77.IncrementalParams {
	p := zstdShort
	p.ChainLog = uint8(bits.Len(uint(len(d.reach(maxShortReach)) + lz77.MaxIncremental)))
	p.HashLog, p.Prices = p.ChainLog, d.prices
	return p
}

// findWithDictionary finds the sequences of a block whose run has a dictionary.
func (ws *workspace) findWithDictionary(b *Block) []lz77.Sequence {
	d, content := b.run.cfg.Dictionary, b.content()
	if len(content) > lz77.MaxIncremental {
		dict := d.reach(zstd.Limits.MaxOffset)
		ws.prefixed = append(append(resize(ws.prefixed, len(dict)+len(content))[:0], dict...), content...)
		return ws.matcher.ParseFrom(b.payload.seqs, ws.prefixed, len(dict), b.params(), *b.limits())
	}
	f := d.finders.Get().(*dictionaryFinder)
	params := f.params
	params.Depth, params.Nice = dictionaryDepth[b.run.cfg.Level], dictionaryNice[b.run.cfg.Level]
	src := append(f.src[:f.start], content...)
	seqs := f.finder.Parse(b.payload.seqs, src, f.start, int64(f.start), d.Repeats(), &params)
	f.finder.Forget(src, f.start)
	d.finders.Put(f)
	return seqs
}

// DictionaryMemory returns the memory in bytes that a worker takes for a dictionary, besides what it
// takes without one.
func (p *Pipeline) DictionaryMemory(d *Dictionary, level, blockSize int) int64 {
	if d == nil {
		return 0
	}
	n := len(d.reach(zstd.Limits.MaxOffset))
	levels := &p.levels[level]
	tables := levels.Memory(blockSize+n, p.limits) - levels.Memory(blockSize, p.limits)
	short := d.shortParams()
	return int64(n + blockSize + tables + short.Memory() + len(d.reach(maxShortReach)) + lz77.MaxIncremental)
}

package zstd

import (
	"slices"

	"github.com/gopz/compress/internal/optimal"
	"github.com/gopz/compress/lz77"
)

// maxCounted is the most bytes of samples that tables are made from.
const maxCounted = 16 << 20

// A sampleCoder compresses samples with a dictionary.
type sampleCoder struct {
	finder optimal.Incremental
	params optimal.IncrementalParams
	dict   *Dictionary
	enc    Encoder
	src    []byte
	seqs   []lz77.Sequence
	out    []byte
}

func newSampleCoder(d *Dictionary) *sampleCoder {
	c := &sampleCoder{dict: d, src: slices.Clip(d.Content())}
	c.enc.Dictionary = d
	c.params = optimal.IncrementalParams{
		HashLog: 17, ChainLog: 17, Depth: 16, Nice: 64, Repeats: true, Prices: DictionaryPrices(d),
	}
	for 1<<c.params.ChainLog < len(c.src)+optimal.MaxIncremental {
		c.params.ChainLog++
	}
	return c
}

// sequences finds the sequences of the beginning of a sample, and returns that too.
func (c *sampleCoder) sequences(sample []byte) (content []byte, seqs []lz77.Sequence) {
	content = sample[:min(len(sample), optimal.MaxIncremental)]
	start := len(c.dict.Content())
	c.src = append(c.src[:start], content...)
	c.seqs = c.finder.Parse(c.seqs[:0], c.src, start, int64(start), c.dict.Repeats(), &c.params)
	c.finder.Forget(c.src, start)
	return content, c.seqs
}

// SampleSize returns the size in bytes of the beginnings of samples, [optimal.MaxIncremental] bytes
// each, compressed with a dictionary. Headers of frames do not count.
func SampleSize(dict []byte, samples [][]byte) (size int, err error) {
	d, err := ParseDictionary(dict)
	if err != nil {
		return 0, err
	}
	c := newSampleCoder(d)
	for _, s := range samples {
		content, seqs := c.sequences(s)
		c.out = c.enc.Append(c.out[:0], content, seqs)
		size += len(c.out)
	}
	return size, nil
}

// CompleteDictionary returns a formatted dictionary: content, and tables that suit the beginnings
// of the samples. content must have at least 8 bytes. It also returns what was counted for the
// tables.
func CompleteDictionary(
	content []byte, samples [][]byte, id uint32,
) (dict []byte, counts *Statistics, err error) {
	d := RawDictionary(content)
	// The second time prices are those of the tables.
	for range 2 {
		c := newSampleCoder(d)
		counts = new(Statistics)
		left := maxCounted
		for _, s := range samples {
			left -= min(len(s), optimal.MaxIncremental)
			if left < 0 {
				break
			}
			content, seqs := c.sequences(s)
			c.enc.Count(counts, content, seqs)
		}
		dict = AppendDictionary(nil, id, content, counts)
		d, err = ParseDictionary(dict)
		if err != nil {
			return nil, nil, err
		}
	}
	return dict, counts, nil
}

// Literals returns the number of literals that were counted.
func (s *Statistics) Literals() (n int) {
	for _, c := range &s.sum.lits {
		n += int(c)
	}
	return n
}

// Sequences returns the number of sequences that were counted.
func (s *Statistics) Sequences() (n int) {
	for _, c := range &s.sum.codes[offsets] {
		n += int(c)
	}
	return n
}

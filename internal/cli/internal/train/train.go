// Package train makes dictionaries of zstd from samples of the files that they are for.
//
// The content of a dictionary is segments of samples. The value of a segment is the number of
// samples that have its strings of 8 bytes, as far as no segment before it has them (as the COVER
// algorithm does; Liao et al., "Effective Construction of Relative Lempel-Ziv Dictionaries", 2016).
// What length of segments is best depends on the samples, so several are tried: each dictionary
// compresses samples that it was not made from. The best one is made again from all samples, with
// tables that suit them.
package train

import (
	"errors"
	"hash/fnv"
	"slices"

	"github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/optimal"
	"github.com/gopz/compress/lz77"
)

const (
	// DefaultSize is the size of a dictionary in bytes that zstd makes if none is given: 110 KiB.
	DefaultSize = 110 << 10
	// MinSize is the least size of a dictionary in bytes.
	MinSize = 1 << 10
	// MaxSample is how much of a sample counts, in bytes.
	MaxSample = 128 << 10
	// MaxSamples is the most bytes of samples that count. Build takes some 200 MiB besides them
	// then.
	MaxSamples = 64 << 20

	// leastSamples is the number of samples with content from which a dictionary is made.
	leastSamples = 8
	// heldOut is one in how many samples the lengths are tried with.
	heldOut = 4
	// leastGain is the part of the size of the samples that a dictionary must save, as a divisor.
	leastGain = 16
	// maxSearched is about the most bytes of samples from which dictionaries are made for a trial.
	maxSearched = 4 << 20
	// maxTried is the most bytes of samples that a length is tried with.
	maxTried = 2 << 20
	// maxCounted is the most bytes of samples that tables are made from.
	maxCounted = 16 << 20
)

// segmentSizes are the lengths of segments that are tried, in bytes.
var segmentSizes = [...]int{64, 128, 256, 512, 1024}

// ErrSamples: there are too few samples, or they have nothing in common.
var ErrSamples = errors.New("too few samples, or samples that have nothing in common")

// Build returns a dictionary of at most size bytes for files like the samples. id is its ID; 0
// stands for one that depends on the content. The result depends on the arguments alone.
func Build(samples [][]byte, size int, id uint32) ([]byte, error) {
	samples = usable(samples)
	if len(samples) < leastSamples || size < MinSize {
		return nil, ErrSamples
	}
	from, tried := split(samples)
	plain, err := cost([]byte{0}, tried) // content of one byte is as good as no dictionary
	if err != nil {
		return nil, err
	}
	best, least := 0, plain-plain/leastGain
	c := newCover(from)
	for _, n := range segmentSizes {
		content := c.content(n, size-headerRoom)
		if len(content) < leastContent {
			continue
		}
		dict, err := finish(content, tried, 1)
		if err != nil {
			return nil, err
		}
		sum, err := cost(dict, tried)
		if err != nil {
			return nil, err
		}
		if sum < least {
			best, least = n, sum
		}
	}
	if best == 0 {
		return nil, ErrSamples
	}
	content := newCover(samples).content(best, size-headerRoom)
	if id == 0 {
		id = idOf(content)
	}
	return finish(content, samples, id)
}

// split returns samples to make dictionaries from, and others to try them with.
func split(samples [][]byte) (from, tried [][]byte) {
	total := 0
	for _, s := range samples {
		total += len(s)
	}
	every := total/maxSearched + 1
	left := maxTried
	for i, s := range samples {
		switch {
		case i%heldOut == heldOut-1:
			if left -= len(s); left >= 0 {
				tried = append(tried, s)
			}
		case i/heldOut%every == 0:
			from = append(from, s)
		}
	}
	return from, tried
}

// usable returns the parts of samples that count.
func usable(samples [][]byte) (list [][]byte) {
	left := MaxSamples
	for _, s := range samples {
		s = s[:min(len(s), MaxSample, left)]
		if len(s) >= stringSize {
			list = append(list, s)
			left -= len(s)
		}
	}
	return list
}

const (
	// headerRoom is more than the tables of a dictionary take, in bytes.
	headerRoom = 300
	// leastContent is the least content of a dictionary in bytes.
	leastContent = 64
)

// idOf returns an ID that nobody has registered (RFC 8878, section 3.1.1.1.3).
func idOf(content []byte) uint32 {
	const low, high = 1 << 15, 1 << 31
	h := fnv.New64a()
	h.Write(content)
	return uint32(low + h.Sum64()%(high-low))
}

// A coder compresses samples with a dictionary.
type coder struct {
	finder optimal.Incremental
	params optimal.IncrementalParams
	dict   *zstd.Dictionary
	enc    zstd.Encoder
	src    []byte
	seqs   []lz77.Sequence
	out    []byte
}

// newCoder returns a coder with the dictionary p.
func newCoder(p []byte) (*coder, error) {
	d, err := zstd.ParseDictionary(p)
	if err != nil {
		return nil, err
	}
	c := &coder{dict: d, src: slices.Clip(d.Content())}
	c.enc.Dictionary = d
	c.params = optimal.IncrementalParams{
		HashLog: 17, ChainLog: 17, Depth: 16, Nice: 64, Repeats: true, Prices: zstd.DictionaryPrices(d),
	}
	for 1<<c.params.ChainLog < len(c.src)+optimal.MaxIncremental {
		c.params.ChainLog++
	}
	return c, nil
}

// sequences finds the sequences of the beginning of a sample, and returns that too.
func (c *coder) sequences(sample []byte) (content []byte, seqs []lz77.Sequence) {
	content = sample[:min(len(sample), optimal.MaxIncremental)]
	start := len(c.dict.Content())
	c.src = append(c.src[:start], content...)
	c.seqs = c.finder.Parse(c.seqs[:0], c.src, start, int64(start), c.dict.Repeats(), &c.params)
	c.finder.Forget(c.src, start)
	return content, c.seqs
}

// cost returns the size of samples compressed with a dictionary, in bytes.
func cost(dict []byte, samples [][]byte) (size int, err error) {
	c, err := newCoder(dict)
	if err != nil {
		return 0, err
	}
	for _, s := range samples {
		content, seqs := c.sequences(s)
		c.out = c.enc.Append(c.out[:0], content, seqs)
		size += len(c.out)
	}
	return size, nil
}

// finish adds tables that suit the samples to the content of a dictionary.
func finish(content []byte, samples [][]byte, id uint32) ([]byte, error) {
	dict := content
	// The second time prices are those of the tables.
	for range 2 {
		c, err := newCoder(dict)
		if err != nil {
			return nil, err
		}
		var counts zstd.Statistics
		left := maxCounted
		for _, s := range samples {
			if left -= min(len(s), optimal.MaxIncremental); left < 0 {
				break
			}
			content, seqs := c.sequences(s)
			c.enc.Count(&counts, content, seqs)
		}
		dict = zstd.AppendDictionary(nil, id, content, &counts)
	}
	return dict, nil
}

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

	"github.com/gopz/compress/internal/codec/zstd"
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
	plain, err := zstd.SampleSize([]byte{0}, tried) // content of one byte is as good as no dictionary
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
		dict, _, err := zstd.CompleteDictionary(content, tried, 1)
		if err != nil {
			return nil, err
		}
		sum, err := zstd.SampleSize(dict, tried)
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
	dict, _, err := zstd.CompleteDictionary(content, samples, id)
	return dict, err
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

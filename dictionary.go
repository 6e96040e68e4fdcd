package compress

import (
	"slices"

	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/pipeline"
)

// Dictionary is content that both sides know in advance. Each block of .pz and each frame of .zst is
// compressed as if that content were in front of it, so that small files compress well: see
// [WithDictionary]. A Dictionary does not change, and several goroutines may use it at the same time.
// Use one for all files: it keeps match finders that hold its content already.
type Dictionary struct{ d *pipeline.Dictionary }

// NewDictionary parses a dictionary of zstd, as "pz --train" or "zstd --train" makes them (RFC 8878,
// section 5). Bytes without the magic number of such a dictionary are content alone, and have the ID
// 0. NewDictionary copies the bytes. It returns [ErrCorrupt] for a damaged or empty dictionary, and for
// one of more than 32 MiB.
func NewDictionary(p []byte) (*Dictionary, error) {
	d, err := pipeline.NewDictionary(slices.Clone(p))
	if err != nil {
		return nil, errs.Wrap(ErrCorrupt, err)
	}
	return &Dictionary{d}, nil
}

// ID returns the number by which .pz streams and .zst frames name the dictionary. It is 0 for content
// alone. Streams of .pz then name the dictionary by the CRC-32C of that content, and frames not at all.
func (d *Dictionary) ID() uint32 { return d.d.ID() }

// zstDictionary returns the dictionary for package zstfile, nil for none.
func (o *options) zstDictionary() zstfile.Dictionary {
	if o.dict == nil {
		return nil
	}
	return o.dict
}

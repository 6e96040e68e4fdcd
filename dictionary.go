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

// WithDictionary makes a Writer of .pz or .zst compress with a dictionary, and readers decompress with
// it. Nil stands for no dictionary. The header of a stream or frame names the dictionary. If it names
// one, readers without that one return [ErrDictionary]. [ReadInfo] needs none.
//
// Use it for files of one kind, each below about 100 KB. Matches reach the last 8 MiB of the dictionary.
// A device gets no blocks with a dictionary. [WriterMemory] counts the memory of match finders that hold
// the dictionary. A Writer of .gz fails with [ErrOption]; readers of .gz ignore the dictionary. A Writer
// with [WithLongDistance] fails with [ErrOption] too.
//
// Readers decompress a .pz stream that names no dictionary without one. They decompress such a .zst
// frame with the dictionary, because its writer may have left the ID out. If the writer had another
// dictionary, a reader returns [ErrCorrupt]. It returns wrong content if the frame has no checksum or
// [WithChecksum] turns checking off.
//
// In .zst the first block of a frame may use the tables of the dictionary. After a [Writer.Flush] frames
// use the tables alone.
func WithDictionary(d *Dictionary) Option {
	return func(o *options) error {
		if d != nil && d.d == nil {
			return errs.BadOption("a Dictionary that was made without NewDictionary")
		}
		o.dict = nil
		if d != nil {
			o.dict = d.d
		}
		return nil
	}
}

// zstDictionary returns the dictionary for package zstfile, nil for none.
func (o *options) zstDictionary() zstfile.Dictionary {
	if o.dict == nil {
		return nil
	}
	return o.dict
}

// checkDictionary returns an error if the format of a Writer has no dictionaries.
func (o *options) checkDictionary() error {
	if o.dict != nil && !o.pipe.HasDictionary() {
		return errs.BadOption(".%v files have no dictionary; .pz and .zst files do", o.pipe.Format)
	}
	return nil
}

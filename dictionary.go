package compress

import (
	"slices"

	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/pipeline"
)

// Dictionary is content that both sides know in advance. Each frame of .zst begins as if that content
// were in front of it, so that small files compress well: see [WithDictionary]. A Dictionary does not
// change, and several goroutines may use it at the same time. Use one for all files: it keeps match
// finders that hold its content already.
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

// ID returns the number that frames name the dictionary by, 0 if it has none.
func (d *Dictionary) ID() uint32 { return d.d.ID() }

// WithDictionary makes a Writer of .zst compress each frame with a dictionary, and readers decompress
// with it. The header of a frame names the ID of the dictionary. Readers return [ErrDictionary] for a
// frame that names another one. A frame that names none is decompressed with the dictionary too: its
// writer may have left the ID out. If that was another dictionary, a reader returns [ErrCorrupt], or
// wrong content where the frame has no checksum or [WithChecksum] turns checking off.
//
// Use it for files of the same kind below some 100 KB. Matches reach back to the last 8 MiB of the
// dictionary, and the first block of a frame may use its tables. After a [Writer.Flush] frames use the
// tables alone. A device gets no blocks with a dictionary. [WriterMemory] counts the memory of match
// finders that hold the dictionary. Nil stands for no dictionary. A Writer of another format fails with
// [ErrOption]; readers of other formats ignore the dictionary.
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
		return errs.BadOption(".%v files have no dictionary; .zst files do", o.pipe.Format)
	}
	return nil
}

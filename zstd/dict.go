package zstd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/gopz/compress"
	codec "github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/train"
)

// maxDict is the largest dictionary without tables in bytes, which is that of klauspost/compress.
const maxDict = 1 << 31

// minDict is the size that a dictionary with tables exceeds, in bytes.
const minDict = 8 + 3*4

var errZeroID = errors.New("zstd: a dictionary with tables needs an ID that is not 0")

// checkDict returns the error of bytes that do not begin as a dictionary with tables.
func checkDict(p []byte) error {
	switch {
	case len(p) <= minDict:
		return io.ErrUnexpectedEOF
	case binary.LittleEndian.Uint32(p) != codec.DictionaryMagic:
		return ErrMagicMismatch
	case binary.LittleEndian.Uint32(p[4:]) == 0:
		return errZeroID
	}
	return nil
}

// parseDict parses a dictionary with tables.
func parseDict(p []byte) (*codec.Dictionary, error) {
	if err := checkDict(p); err != nil {
		return nil, err
	}
	d, err := codec.ParseDictionary(p)
	if err != nil {
		return nil, blockError(err)
	}
	return d, nil
}

// checkRaw returns the error of content that is too large for a dictionary.
func checkRaw(content []byte) error {
	if uint64(len(content)) > maxDict {
		return fmt.Errorf("zstd: dictionary of %d bytes, more than 2 GiB", len(content))
	}
	return nil
}

// An encoderDict is a dictionary of an Encoder.
type encoderDict struct {
	id   uint32
	dict *compress.Dictionary // nil if it is empty
}

func newEncoderDict(p []byte) (*encoderDict, error) {
	if err := checkDict(p); err != nil {
		return nil, err
	}
	d, err := compress.NewDictionary(p)
	if err != nil {
		return nil, err
	}
	return &encoderDict{d.ID(), d}, nil
}

func newRawEncoderDict(id uint32, content []byte) (*encoderDict, error) {
	if err := checkRaw(content); err != nil {
		return nil, err
	}
	content = content[max(0, len(content)-codec.MaxDictionary):]
	if len(content) >= 4 && binary.LittleEndian.Uint32(content) == codec.DictionaryMagic {
		content = content[1:] // or else it would be parsed. Offsets count from the end.
	}
	if len(content) == 0 {
		return &encoderDict{id: id}, nil
	}
	d, err := compress.NewDictionary(content)
	return &encoderDict{id, d}, err
}

// dictionaryID returns the number by which frames name d, 0 for none.
func (d *encoderDict) dictionaryID() uint32 {
	if d == nil {
		return 0
	}
	return d.id
}

// A dictionary is what [InspectDictionary] returns.
type dictionary struct{ *codec.Dictionary }

func (d dictionary) ContentSize() int { return len(d.Content()) }

func (d dictionary) Offsets() (list [3]int) {
	for i, r := range d.Repeats() {
		list[i] = int(r)
	}
	return list
}

// InspectDictionary parses a dictionary with tables. The result has its ID, the size of its content
// in bytes, the content, and the repeat offsets that frames begin with. It refers to b, which must
// not change. Other data is [ErrMagicMismatch], and a dictionary that is cut short, damaged, or has
// the ID 0 is an error too.
func InspectDictionary(b []byte) (interface {
	ID() uint32
	ContentSize() int
	Content() []byte
	Offsets() [3]int
}, error) {
	d, err := parseDict(b)
	if err != nil {
		return nil, err
	}
	return dictionary{d}, nil
}

// BuildDictOptions are the arguments of [BuildDict].
type BuildDictOptions struct {
	// ID is the number by which frames name the dictionary. 0 is an error.
	ID uint32

	// Contents are samples of what the dictionary is for. The first 4 KiB of each count, and the
	// first 16 MiB of all. Samples of less than 8 bytes do not count.
	Contents [][]byte

	// History is the content of the dictionary: 8 bytes to 32 MiB.
	History []byte

	// Offsets has no effect. The repeat offsets of the dictionary are 1, 4 and 8, as those of a
	// frame without a dictionary.
	Offsets [3]int

	// CompatV155 has no effect. The tables suit all versions of zstd: every byte has a code.
	CompatV155 bool

	// Level has no effect, and any but the four speeds and 0 is an error. The tables suit all
	// levels.
	Level EncoderLevel

	// DebugOut gets a line about the samples, unless it is nil.
	DebugOut io.Writer
}

// BuildDict makes a dictionary with tables from content that the caller chooses and from samples.
// [TrainDict] also chooses the content. Samples that have nothing in common with the content, and
// samples that have nothing else, are errors.
func BuildDict(o BuildDictOptions) ([]byte, error) {
	switch n := len(o.History); {
	case n > codec.MaxDictionary:
		return nil, fmt.Errorf("zstd: history of %d bytes, more than %d", n, codec.MaxDictionary)
	case n < 8:
		return nil, fmt.Errorf("zstd: history of %d bytes, less than 8", n)
	case len(o.Contents) == 0:
		return nil, errors.New("zstd: no samples for a dictionary")
	case o.Level != speedNotSet && !o.Level.valid():
		return nil, fmt.Errorf("zstd: unknown level %d", o.Level)
	case o.ID == 0:
		return nil, errZeroID
	}
	var samples [][]byte
	for _, s := range o.Contents {
		if len(s) >= 8 {
			samples = append(samples, s)
		}
	}
	dict, counts, err := codec.CompleteDictionary(o.History, samples, o.ID)
	if err != nil {
		return nil, blockError(err)
	}
	if o.DebugOut != nil {
		fmt.Fprintf(o.DebugOut, "%d samples: %d sequences, %d literals\n",
			len(samples), counts.Sequences(), counts.Literals())
	}
	if counts.Sequences() == 0 {
		return nil, fmt.Errorf("zstd: %d samples, 0 sequences found", len(samples))
	}
	if counts.Literals() == 0 {
		return nil, errors.New("zstd: 0 literals found")
	}
	return dict, nil
}

// TrainDict makes a dictionary of at most size bytes from samples of what it is for. It chooses the
// content among them, as "pz --train" and "zstd --train" do. size is at least 1 KiB; 0 stands for
// the 110 KiB of zstd. id is the number by which frames name the dictionary; 0 stands for one that
// depends on the content. The result depends on the arguments alone.
//
// Hundreds of samples of one kind, each below 100 KB, suit best. The first 128 KiB of each count,
// and the first 64 MiB of all. It is an error if there are fewer than eight samples, or if the
// dictionary would save less than a 16th of their compressed size. TrainDict takes up to 200 MiB.
func TrainDict(samples [][]byte, size int, id uint32) ([]byte, error) {
	if size == 0 {
		size = train.DefaultSize
	}
	dict, err := train.Build(samples, size, id)
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	return dict, nil
}

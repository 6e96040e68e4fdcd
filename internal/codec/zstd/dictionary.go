package zstd

import (
	"encoding/binary"

	"github.com/gopz/compress/fse"
	"github.com/gopz/compress/internal/codec/huffman"
	"github.com/gopz/compress/internal/optimal"
)

// A Dictionary is history that frames begin with: content in front of their own, and for a
// formatted one a Huffman code, FSE tables and repeat offsets too (RFC 8878, section 5). It does
// not change, so several goroutines may use it.
type Dictionary struct {
	id        uint32
	content   []byte
	formatted bool // everything below is valid
	repeats   [3]uint32

	// for the Encoder
	literals huffman.Table
	codes    [kinds]table
	// for the Decoder
	huff   huffman.LiteralDecoder
	tables seqTables
}

const (
	// DictionaryMagic begins a formatted dictionary, as a little-endian number.
	DictionaryMagic = 0xEC30A437
	// MaxDictionary is the largest dictionary in bytes, that of the command zstd.
	MaxDictionary = 32 << 20
)

// dictionaryKinds is the order of the FSE tables in a dictionary.
var dictionaryKinds = [kinds]int{offsets, matchLens, litLens}

// ParseDictionary returns the dictionary p. Without the magic number p is content as a whole, which
// has the ID 0. The Dictionary refers to p, which must not change. Errors are a CorruptError.
func ParseDictionary(p []byte) (*Dictionary, error) {
	d := &Dictionary{content: p, repeats: initialRepeats}
	switch {
	case len(p) == 0:
		return nil, CorruptError("empty dictionary")
	case len(p) > MaxDictionary:
		return nil, CorruptError("dictionary of more than 32 MiB")
	case len(p) < 4 || binary.LittleEndian.Uint32(p) != DictionaryMagic:
		return d, nil
	case len(p) < 8:
		return nil, errShortDictionary
	}
	d.id, d.formatted = binary.LittleEndian.Uint32(p[4:]), true
	if err := d.parseTables(p[8:]); err != nil {
		return nil, err
	}
	return d, nil
}

// RawDictionary returns a dictionary without tables and with the ID 0. It refers to content, which
// must not be empty, and must not change. Unlike in [ParseDictionary] it may be of any size and
// begin in any way.
func RawDictionary(content []byte) *Dictionary {
	return &Dictionary{content: content, repeats: initialRepeats}
}

const errShortDictionary = CorruptError("dictionary cut short")

// parseTables reads what follows the ID.
func (d *Dictionary) parseTables(p []byte) error {
	n, err := d.huff.Read(p)
	if err != nil {
		return CorruptError("dictionary: " + err.Error())
	}
	p = p[n:]
	d.huff.Fill()
	d.huff.Table(&d.literals)
	var b fse.PackedBuilder
	for _, k := range dictionaryKinds {
		t, values := &d.codes[k], kindOf[k].values()
		n, err = t.dist.Read(p, kindOf[k].maxLog, len(values))
		if err != nil {
			return CorruptError("dictionary: " + err.Error())
		}
		p = p[n:]
		t.enc.Build(&t.dist)
		b.Build(d.tables.cells[k][:], &t.dist, values)
		d.tables.logs[k], d.tables.known[k] = uint(t.dist.Log), true
	}
	const repeats = 4 * len(d.repeats)
	if len(p) < repeats {
		return errShortDictionary
	}
	d.content = p[repeats:]
	for i := range d.repeats {
		v := binary.LittleEndian.Uint32(p[4*i:])
		if v == 0 || int64(v) > int64(len(d.content)) {
			return CorruptError("repeat offset of a dictionary beyond its content")
		}
		d.repeats[i] = v
	}
	return nil
}

// ID returns the number that frames name the dictionary by, 0 if it has none.
func (d *Dictionary) ID() uint32 { return d.id }

// Repeats returns the repeat offsets at the beginning of a frame.
func (d *Dictionary) Repeats() [3]uint32 { return d.repeats }

// Content returns the content, which must not change.
func (d *Dictionary) Content() []byte { return d.content }

// Serves reports whether a frame whose header names a dictionary, or none with an ID of 0, can be
// decoded with d. A nil Dictionary stands for none. The header may leave the ID out.
func (d *Dictionary) Serves(id uint32) bool { return id == 0 || d != nil && d.id == id }

// beginBehind makes the tables and offsets of d those of an earlier block of the frame.
func (e *Encoder) beginBehind(d *Dictionary) {
	if d == nil {
		e.repeats = initialRepeats
		return
	}
	e.repeats = d.repeats
	if !d.formatted {
		return
	}
	e.literals.known = true
	e.literals.tables[e.literals.last] = d.literals
	for k := range e.codes {
		e.codes[k].last = &d.codes[k]
	}
}

// beginBehind makes the state of d that behind a dictionary.
func (d *Executor) beginBehind(dict *Dictionary) {
	d.dict = dict
	if dict == nil {
		d.repeats = initialRepeats
		return
	}
	d.repeats = dict.repeats
	d.before = dict.content
	d.maxOffset = uint32(min(uint64(d.window)+uint64(len(dict.content)), maxOffset))
}

// leave drops the content of the dictionary once the frame has more content than its window (RFC
// 8878, section 5).
func (d *Executor) leave() {
	if len(d.before) > 0 && &d.before[0] == &d.dict.content[0] {
		d.before = nil
	}
	d.dict, d.maxOffset = nil, d.window
}

// DictionaryPrices returns the prices of sequences of a short first block in a frame with d.
func DictionaryPrices(d *Dictionary) *optimal.IncrementalPrices {
	var e Encoder
	e.Dictionary = d
	e.BeginFrame()
	return e.IncrementalPrices()
}

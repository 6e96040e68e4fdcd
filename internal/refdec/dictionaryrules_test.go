package refdec

import (
	"bytes"
	"slices"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/testenv"
)

// A dictionaryRule is a stream with a dictionary that is content alone. The stream names it by a
// number and begins with a match at an offset, unless that is 0.
type dictionaryRule struct {
	name       string
	valid      bool
	dictionary []byte
	number     uint32
	offset     int
}

// TestDictionaryRules breaks the rules of the content and the number of dictionaries.
func TestDictionaryRules(t *testing.T) {
	text := []byte(house)
	long := bytes.Repeat(text, 8<<20/len(text)+1)
	long = long[len(long)-8<<20-1:] // one byte too many
	zero := append(text[:len(text):len(text)], closing(crc(text))...)
	if crc(zero) != 0 {
		t.Fatalf("CRC32C of % x: %x", zero, crc(zero))
	}
	rules := []dictionaryRule{
		{"number", true, text, crc(text), len(text)},
		{"another number", false, text, crc(text) + 1, len(text)},
		{"another number without a match", false, text, crc(text) + 1, 0},
		{"number 1 for 0", true, zero, 1, len(zero)},
		{"before the dictionary", false, text, crc(text), len(text) + 1},
		{"one byte", true, text[:1], crc(text[:1]), 0},
		{"the last 8 MiB", true, long, crc(long), 8 << 20},
		{"the byte before", false, long, crc(long), 8<<20 + 1},
	}
	for _, r := range rules {
		file, content := r.file()
		last := r.dictionary[max(0, len(r.dictionary)-8<<20):]
		check := func(decoder string, got []byte, err error) {
			if (err == nil) != r.valid || r.valid && !bytes.Equal(got, content) {
				t.Errorf("%s: %s: %d bytes of %d, %v", r.name, decoder, len(got), len(content), err)
			}
		}
		got, err := Decode(file, Dictionary{max(crc(r.dictionary), 1), last})
		check("refdec", got, err)
		d, err := compress.NewDictionary(r.dictionary)
		if err != nil {
			t.Fatal(err)
		}
		got, err = compress.AppendDecode(nil, file, compress.WithDictionary(d))
		check("AppendDecode", got, err)
		// Python takes two seconds for the number of a long dictionary.
		if !testenv.Emulated() && (len(r.dictionary) < 1<<20 || testenv.All()) {
			got, err = decodePythonWith(t, testenv.Tool(t, "python3"), file, r.dictionary)
			check("decode.py", got, err)
		}
	}
}

// file returns the stream, without content checks, and its content.
func (r *dictionaryRule) file() (file, content []byte) {
	const match = 100
	g := newGenerator(0)
	var parts [numStreams][]part
	if r.offset > 0 {
		g.out = slices.Clone(r.dictionary)
		g.sequence(0, match, uint64(r.offset), layoutRepeat)
		g.streams[streamExtra] = g.extra.data
		parts = g.storedParts()
		content = g.out[len(r.dictionary):]
	}
	lits := bytes.Repeat([]byte("x"), 50)
	parts[streamLits] = []part{{modeByte | segmentEnds, lits, nil}}
	content = append(content, lits...)
	p := g.codeParts([]byte{layoutRepeat}, parts)
	head := le.AppendUint32(streamHead(12, flagDictionary), r.number)
	return sealBehind(head, block{kindCoded, uint32(len(content)), p, false}), content
}

// closing returns four bytes that make the CRC32C of what is in front of them, which is sum, 0.
func closing(sum uint32) []byte {
	state := ^uint32(0) // of the register at the end
	for range 32 {
		if state>>31 == 1 {
			state = (state^0x82f63b78)<<1 | 1
		} else {
			state <<= 1
		}
	}
	return le.AppendUint32(nil, ^sum^state)
}

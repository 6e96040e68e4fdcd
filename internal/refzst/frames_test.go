package refzst

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/testenv"
)

// decode returns the content of a file without a limit.
func decode(file []byte) (string, error) {
	var b bytes.Buffer
	err := Decode(&b, bytes.NewReader(file), nil, math.MaxInt64)
	return b.String(), err
}

func library(file []byte) (string, error) {
	r, err := compress.NewReader(bytes.NewReader(file))
	if err != nil {
		return "", err
	}
	defer r.Close()
	p, err := io.ReadAll(r)
	return string(p), err
}

// handMade lists frames that encoders hardly write, and their content.
var handMade = []struct {
	name    string
	file    []byte
	content string
}{
	{"an empty raw block", frameOf(rawBlock("")), ""},
	{"a raw block", frameOf(rawBlock("abc")), "abc"},
	{"RLE blocks", frameOf(rleBlock(1024, 'x'), rleBlock(0, 'y'), rleBlock(3, 'z')),
		strings.Repeat("x", 1024) + "zzz"},
	{"an empty frame of one segment", headed([]byte{0x20, 0}, rawBlock("")), ""},
	{"a size of one byte", headed([]byte{0x20, 3}, rawBlock("abc")), "abc"},
	{"a size of two bytes", headed([]byte{0x60, 1, 0}, rleBlock(257, 'x')),
		strings.Repeat("x", 257)},
	{"a size of four bytes", headed([]byte{0xA0, 3, 0, 0, 0}, rawBlock("abc")), "abc"},
	{"a size of eight bytes", headed([]byte{0xC0, 0, 3, 0, 0, 0, 0, 0, 0, 0}, rawBlock("abc")),
		"abc"},
	{"a number of a dictionary that is 0", headed([]byte{3, 0, 0, 0, 0, 0}, rawBlock("abc")),
		"abc"},
	{"an unused bit", headed([]byte{0x10, 0}, rawBlock("abc")), "abc"},
	{"a checksum", withSum("abc"), "abc"},
	{"two frames", slices.Concat(withSum("abc"), frameOf(rawBlock("")), withSum("def")), "abcdef"},
	{"skippable frames", slices.Concat([]byte("\x50\x2A\x4D\x18\x00\x00\x00\x00"),
		[]byte("\x5F\x2A\x4D\x18\x03\x00\x00\x00xyz"),
		withSum("abc"), []byte("\x51\x2A\x4D\x18\x01\x00\x00\x00x")), "abc"},
	{"raw literals", wideFrame(
		coded(rawLiterals(1, "abc"), none), coded(rawLiterals(2, "def"), none),
		coded(rawLiterals(3, "ghi"), none)), "abcdefghi"},
	{"RLE literals", wideFrame(
		coded(rleLiterals(1, 31, 'a'), none), coded(rleLiterals(2, 4095, 'b'), none),
		coded(rleLiterals(3, 100_000, 'c'), none)),
		strings.Repeat("a", 31) + strings.Repeat("b", 4095) + strings.Repeat("c", 100_000)},
	// Offset code 0 is value 1, the first repeat offset 1.
	{"first repeat offset", wideFrame(coded(rawLiterals(1, "abc"), same(1, 3, 0, 0))), "abcccc"},
	{"number of sequences in two bytes", wideFrame(coded(rawLiterals(1, "abc"),
		slices.Insert(same(1, 1, 0, 0), 0, 128))), "aaaabc"},
	// Offset code 2 is value 4 and two bits: offsets 1 to 4.
	{"new offsets", wideFrame(
		coded(rawLiterals(1, "abcd"), same(2, 2, 2, 1, field{1, 2}, field{3, 2}))),
		"ab" + "abab" + "cd" + "abcd"},
	// The offsets 7, 9 and 12 are used, so 12, 9 and 7 are repeat offsets. Offset code 1 is value 2
	// or 3.
	{"repeat offsets with literals", wideFrame(rawBlock("abcdefghijklm"),
		coded(rawLiterals(1, ""), same(3, 0, 3, 0, field{2, 3}, field{4, 3}, field{7, 3})),
		coded(rawLiterals(1, "XY"), same(2, 1, 1, 0, field{0, 1}, field{1, 1}))),
		"abcdefghijklm" + "ghi" + "hij" + "hij" + "X" + "hih" + "Y" + "ijX"},
	{"repeat offsets without literals", wideFrame(rawBlock("abcdefghijklm"),
		coded(rawLiterals(1, ""), same(3, 0, 3, 0, field{2, 3}, field{4, 3}, field{7, 3})),
		coded(rawLiterals(1, ""), same(1, 0, 0, 0)),
		coded(rawLiterals(1, "x"), same(3, 0, 1, 1, field{0, 1}, field{1, 1}, field{0, 1}))),
		"abcdefghijklm" + "ghi" + "hij" + "hij" + "ghi" + "jhij" + "hijh" + "ijhi" + "x"},
	{"repeated tables", wideFrame(coded(rawLiterals(1, "abc"), same(1, 3, 0, 0)),
		coded(rawLiterals(1, "none"), none),
		coded(rawLiterals(1, "def"), []byte{1, modes(3, 3, 3)}, backwardBits())),
		"abccccnonedeffff"},
	// States 0 of the predefined tables are no literals, offset code 0 and length 3.
	{"predefined tables", wideFrame(rawBlock("abcd"), coded(rawLiterals(1, ""), []byte{1, 0},
		backwardBits(field{0, 6}, field{0, 5}, field{0, 6}))), "abcdabc"},
	// A frame of 1 KiB of window, and a match at its very beginning.
	{"a window of 9/8 KiB", headed([]byte{0, 1}, rawBlock("abc"+strings.Repeat("d", 1021)),
		rawBlock(strings.Repeat("e", 128)),
		coded(rawLiterals(1, ""), same(1, 0, 10, 0, field{131, 10}))),
		"abc" + strings.Repeat("d", 1021) + strings.Repeat("e", 128) + "abc"},
	{"number of sequences in three bytes", wideFrame(rawBlock("aaaa"), coded(rawLiterals(1, ""),
		[]byte{255, 0, 0, modes(1, 1, 1), 0, 0, 0}, backwardBits())),
		strings.Repeat("a", 4+3*0x7F00)},
	{"a match as long as a block", wideFrame(rawBlock("aaaa"),
		coded(rawLiterals(1, ""), same(1, 0, 0, 52, field{65533, 16}))),
		strings.Repeat("a", 4+maxBlock)},
	{"a match over the whole window", frameOf(
		rawBlock("a"+strings.Repeat("b", 1023)), rawBlock("c"),
		coded(rawLiterals(1, ""), same(1, 0, 10, 0, field{3, 10}))),
		"a" + strings.Repeat("b", 1023) + "cbbb"},
}

// TestHandMade decodes frames that encoders hardly write. The library and zstd must agree.
func TestHandMade(t *testing.T) {
	for _, c := range handMade {
		got, err := decode(c.file)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got != c.content {
			t.Errorf("%s: %.100q, want %.100q", c.name, got, c.content)
		}
		if want, err := library(c.file); err != nil || got != want {
			t.Errorf("%s: %.100q, but the library returns %.100q, %v", c.name, got, want, err)
		}
	}
}

// TestHandMadeZstd is TestHandMade with the program zstd.
func TestHandMadeZstd(t *testing.T) {
	zstd := testenv.Tool(t, "zstd")
	for _, c := range handMade {
		got, _ := decode(c.file)
		cmd := exec.Command(zstd, "-dc")
		cmd.Stdin = bytes.NewReader(c.file)
		if want, err := cmd.Output(); err != nil || got != string(want) {
			t.Errorf("%s: %.100q, but zstd returns %.100q, %v", c.name, got, want, err)
		}
	}
}

// fse returns the description of an FSE table with 2^5 states and one symbol.
func fse(symbol int) []byte {
	fields := []field{{0, 4}}
	if symbol > 0 {
		fields = append(fields, field{1, 5}) // a symbol without probability, and how many follow it
		for symbol--; symbol >= 3; symbol -= 3 {
			fields = append(fields, field{3, 2})
		}
		fields = append(fields, field{symbol, 2})
	}
	return forwardBits(append(fields, field{31, 5}, field{1, 1})...)
}

// refused lists files with one fault each.
var refused = []struct {
	name string
	file []byte
	want error
	text string
}{
	{"nothing", nil, ErrTruncated, "refzst: frame at byte 0: truncated"},
	{"another magic number", []byte("PZ.."),
		ErrCorrupt, "refzst: frame at byte 0: corrupt: magic number"},
	{"garbage behind a frame", append(withSum("abc"), "abc."...), ErrCorrupt, "frame at byte 16: "},
	{"half a magic number", append(withSum("abc"), 0x28, 0xB5), ErrTruncated, "frame at byte 16: "},
	{"a skippable frame that ends early", []byte("\x50\x2A\x4D\x18\x04\x00\x00\x00xyz"),
		ErrTruncated, ""},
	{"reserved bit of a frame", headed([]byte{8, 0}, rawBlock("")), ErrCorrupt, "reserved bit"},
	{"reserved kind of block", frameOf([]byte{3 << 1, 0, 0}),
		ErrCorrupt, "block at byte 6: corrupt: reserved kind"},
	{"a raw block larger than the window", frameOf(rawBlock(string(make([]byte, 1025)))),
		ErrCorrupt, "block is larger"},
	{"an RLE block larger than the window", frameOf(rleBlock(1025, 0)),
		ErrCorrupt, "block is larger"},
	{"an RLE block of more than 128 KiB", headed([]byte{0, 10 << 3}, rleBlock(maxBlock+1, 0)),
		ErrCorrupt, "block is larger"},
	{"less content", headed([]byte{0x20, 4}, rawBlock("abc")), ErrCorrupt, "less content"},
	{"more content", headed([]byte{0x20, 2}, rawBlock("a"), rawBlock("bc")),
		ErrCorrupt, "more content"},
	{"another checksum", append(withSum("abc")[:13], 1, 2, 3), ErrCorrupt, "checksum"},
	{"a dictionary", headed([]byte{1, 0, 7}, rawBlock("")), ErrDictionary, "another dictionary"},
	{"an empty block", frameOf(coded()), ErrCorrupt, "no literals"},
	{"no header of literals", frameOf(coded([]byte{1 << 2})), ErrCorrupt, "ends early"},
	{"less literals", frameOf(coded([]byte{4 << 3}, []byte("abc"))), ErrCorrupt, "ends early"},
	{"more literals than a block", frameOf(coded(rleLiterals(2, 1025, 0), none)),
		ErrCorrupt, "more literals"},
	{"no sequences", frameOf(coded(rawLiterals(1, "abc"))), ErrCorrupt, "ends early"},
	{"data behind no sequences", frameOf(coded(rawLiterals(1, "abc"), none, none)),
		ErrCorrupt, "data behind the end"},
	{"literals without a table", frameOf(coded([]byte{3, 0, 0, 0})),
		ErrCorrupt, "without a Huffman table"},
	{"no tables to repeat", frameOf(coded(rawLiterals(1, "abc"), []byte{1, modes(0, 3, 0), 1})),
		ErrCorrupt, "no table to repeat"},
	{"reserved bits of modes", frameOf(coded(rawLiterals(1, "abc"), []byte{1, 1, 1})),
		ErrCorrupt, "reserved bits in the modes"},
	{"literal length code 36", frameOf(coded(rawLiterals(1, "abc"), same(1, 36, 0, 0))),
		ErrCorrupt, "unknown symbol"},
	{"offset code 32", frameOf(coded(rawLiterals(1, "abc"), same(1, 1, 32, 0))),
		ErrCorrupt, "unknown symbol"},
	{"match length code 53", frameOf(coded(rawLiterals(1, "abc"), same(1, 1, 0, 53))),
		ErrCorrupt, "unknown symbol"},
	{"no end mark", frameOf(coded(rawLiterals(1, "abc"), same(1, 1, 0, 0)[:5], []byte{1, 0})),
		ErrCorrupt, "no end mark"},
	{"too few bits", frameOf(coded(rawLiterals(1, "abcd"), same(1, 4, 2, 0, field{0, 1}))),
		ErrCorrupt, "sequences end early"},
	{"too many bits", frameOf(coded(rawLiterals(1, "abcd"), same(1, 4, 2, 0, field{0, 3}))),
		ErrCorrupt, "another length"},
	{"more literals than there are", frameOf(coded(rawLiterals(1, "abc"), same(1, 4, 0, 0))),
		ErrCorrupt, "ends early"},
	{"an offset in front of the content", frameOf(coded(rawLiterals(1, "abc"),
		same(1, 3, 2, 0, field{3, 2}))),
		ErrCorrupt, "in front of the window"},
	{"an offset larger than the window", frameOf(rleBlock(1024, 'a'), coded(rawLiterals(1, "b"),
		same(1, 1, 10, 0, field{4, 10}))), ErrCorrupt, "in front of the window"},
	{"offset 0", frameOf(rawBlock("abc"), coded(rawLiterals(1, ""), same(1, 0, 1, 0, field{1, 1}))),
		ErrCorrupt, "in front of the window"},
	{"a match longer than a block", wideFrame(rawBlock("abcd"), coded(rawLiterals(1, ""),
		same(2, 0, 0, 52, field{65535, 16}, field{65535, 16}))), ErrCorrupt, "a match ends behind"},
	{"literals longer than a block", frameOf(rawBlock("abcd"), coded(rleLiterals(2, 1000, 'b'),
		same(1, 0, 0, 40, field{0, 4}))), ErrCorrupt, "literals end behind"},
	{"a match of one byte more than a block", wideFrame(rawBlock("abcd"),
		coded(rawLiterals(1, ""), same(1, 0, 0, 52, field{65534, 16}))),
		ErrCorrupt, "a match ends behind"},
	{"literals of one byte more than a block", frameOf(rawBlock("abcd"),
		coded(rleLiterals(2, 1000, 'b'), same(1, 0, 0, 22))),
		ErrCorrupt, "literals end behind"},
	{"the other reserved bit of modes", frameOf(coded(rawLiterals(1, "abc"), []byte{1, 2, 1})),
		ErrCorrupt, "reserved bits in the modes"},
	{"an FSE table with 2^10 states", frameOf(coded(rawLiterals(1, ""), []byte{1, modes(2, 0, 0), 5})),
		ErrCorrupt, "too many states"},
	{"an FSE table with many symbols", frameOf(coded(rawLiterals(1, ""), []byte{1, modes(2, 0, 0)}, fse(36))),
		ErrCorrupt, "too many symbols"},
	{"an FSE table that ends early", frameOf(coded(rawLiterals(1, ""), []byte{1, modes(2, 0, 0), 0})),
		ErrCorrupt, "ends early"},
}

// TestRefused decodes files with one fault each. The library refuses them too.
func TestRefused(t *testing.T) {
	for _, c := range refused {
		_, err := decode(c.file)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %v and %q", c.name, err, c.want, c.text)
		}
		if _, err := library(c.file); err == nil {
			t.Errorf("%s: the library accepts it", c.name)
		}
	}
}

// huffmanBlock returns a block of 6 literals in one stream or four, with the description of a
// table.
func huffmanBlock(four int, table []byte, streams ...[]byte) []byte {
	return huffmanBlockOf(6, four, table, streams...)
}

// huffmanBlockOf is huffmanBlock for n literals.
func huffmanBlockOf(n, four int, table []byte, streams ...[]byte) []byte {
	p := slices.Concat(table, slices.Concat(streams...))
	h := literalsCompressed | four<<2 | n<<4 | len(p)<<14
	return coded(le24(h), p, none)
}

// TestHuffman decodes literals with tables made by hand.
func TestHuffman(t *testing.T) {
	var (
		direct = []byte{128 + 1, 0x21} // weights 2, 1 and 1: codes 1, 00 and 01
		one    = backwardBits(field{1, 1}, field{0, 2}, field{1, 2},
			field{1, 1}, field{1, 1}, field{0, 2})
		single  = backwardBits(field{1, 1})
		quarter = backwardBits(field{1, 1}, field{0, 2})
		last    = backwardBits()
		short   = append(fse(1), backwardBits(field{0, 5})...)
		jump    = []byte{1, 0, 1, 0, 1, 0}
	)
	for _, c := range []struct {
		name, content, text string
		block               []byte
	}{
		{"one stream", "\x00\x01\x02\x00\x00\x01", "", huffmanBlock(0, direct, one)},
		{"four streams", "\x00\x01\x00\x01\x00\x01", "",
			huffmanBlock(1, direct, jump, quarter, quarter, quarter, last)},
		{"four streams for four", "", "less than 6",
			huffmanBlockOf(4, 1, direct, jump, single, single, single, single)},
		{"no table", "", "ends early", huffmanBlock(0, nil)},
		{"weights end", "", "ends early", huffmanBlock(0, direct[:1])},
		{"weight 12", "", "a weight is too large", huffmanBlock(0, []byte{128, 0xC0}, one)},
		{"weights 0", "", "do not fit together", huffmanBlock(0, []byte{128, 0}, one)},
		{"weights 3, 1", "", "do not fit together", huffmanBlock(0, []byte{129, 0x31}, one)},
		{"codes of 12 bits", "", "do not fit together", huffmanBlock(0, []byte{129, 0xBB}, one)},
		{"literals end", "", "literals end early", huffmanBlock(0, direct, quarter)},
		{"literals go on", "", "another length", huffmanBlock(0, direct, []byte{0}, one)},
		{"stream of no bytes", "", "no end mark", huffmanBlock(0, direct)},
		{"jump table ends", "", "ends early", huffmanBlock(1, direct, jump[:5])},
		{"streams end", "", "ends early",
			huffmanBlock(1, direct, []byte{1, 0, 1, 0, 9, 0}, quarter, quarter)},
		{"coded weights end", "", "weights end early",
			huffmanBlock(0, append([]byte{byte(len(short))}, short...), one)},
	} {
		got, err := decode(wideFrame(c.block))
		if c.text == "" && (err != nil || got != c.content) ||
			c.text != "" && (!errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), c.text)) {
			t.Errorf("%s: %q, %v; want %q, %q", c.name, got, err, c.content, c.text)
		}
		want, libErr := library(wideFrame(c.block))
		if (libErr == nil) != (err == nil) || got != want {
			t.Errorf("%s: %q, %v, but the library returns %q, %v", c.name, got, err, want, libErr)
		}
	}
}

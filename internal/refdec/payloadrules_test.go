package refdec

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// byteStreams are those of a block, in the order of the format.
type byteStreams = [numStreams][]byte

// storedBlock returns a file of a block whose byte streams are stored. raw is its size.
func storedBlock(layout byte, raw int, streams byteStreams) []byte {
	g := newGenerator(0)
	g.streams = streams
	return sealBare(16, block{kindCoded, uint32(raw), g.codeParts([]byte{layout}, g.storedParts()), false})
}

// nearPayload returns a block of layout 1 whose content is so many bytes longer than its payload.
func nearPayload(longer int) contentBlock {
	text := []byte(house)
	for match := 5; ; match++ {
		p := plainPayload(text[:20], text[:match])
		if 20+match == len(p)+longer {
			return codedPiece(p, slices.Concat(text[:20], text[:match]))
		}
	}
}

// TestSequenceRules breaks the rules of sequences and of the lengths of byte streams.
func TestSequenceRules(t *testing.T) {
	text := []byte(house)
	// plain returns a file of a block of layout 1: 20 literals, then a match of 200 bytes, with
	// changes.
	plain := func(raw int, change func(s *byteStreams)) []byte {
		s := byteStreams{text[:20], {0xff}, {16, 0}, {5}, {180}, nil}
		change(&s)
		return storedBlock(layoutPlain, raw, s)
	}
	offset := func(n byte) []byte { return plain(220, func(s *byteStreams) { s[streamOffsets][0] = n }) }
	lens := func(raw, stream int, with ...byte) []byte {
		return plain(raw, func(s *byteStreams) { s[stream] = with })
	}
	// repeat returns a block of layout 2 with literals and a match at the first repeat offset.
	repeat := func(literals int) []byte {
		s := byteStreams{text[:literals], {3 | 15<<2}, nil, {byte(literals - 3)}, {200}, nil}
		return storedBlock(layoutRepeat, literals+219, s)
	}
	checkRules(t, []rule{
		{"regular", true, offset(16)},
		{"offset 15", false, offset(15)},
		{"offset 0", false, offset(0)},
		{"offset to the beginning", true, offset(20)},
		{"offset before the beginning", false, offset(21)},
		{"match beyond the raw size", false, plain(219, func(*byteStreams) {})},
		{"less than the raw size", false, plain(221, func(*byteStreams) {})},
		{"last literals", true, lens(228, streamLits, text[:28]...)},
		{"too few literals", false, lens(219, streamLits, text[:19]...)},
		{"unused byte of Offsets", false, lens(220, streamOffsets, 16, 0, 0)},
		{"Offsets too short", false, lens(220, streamOffsets, 16)},
		{"unused byte of LitLens", false, lens(220, streamLitLens, 5, 0)},
		{"LitLens too short", false, lens(220, streamLitLens)},
		{"unused byte of MatchLens", false, lens(220, streamMatchLens, 180, 0)},
		{"MatchLens too short", false, lens(220, streamMatchLens)},
		{"Extra in layout 1", false, lens(220, streamExtra, 0)},
		{"long length 254", true, lens(294, streamMatchLens, 254)},
		{"long length 254 in five bytes", false, lens(294, streamMatchLens, 255, 254, 0, 0, 0)},
		{"long length 255", true, lens(295, streamMatchLens, 255, 255, 0, 0, 0)},
		{"long length cut", false, lens(295, streamMatchLens, 255, 255, 0, 0)},
		{"long length 2^30", false, lens(295, streamMatchLens, 255, 0, 0, 0, 64)},
		{"long length 2^32 − 1", false, lens(295, streamMatchLens, 255, 255, 255, 255, 255)},
		{"first repeat offset", true, repeat(64)},
		{"first repeat offset before the beginning", false, repeat(63)},
	})
}

// TestVarintRules breaks the rules of varints: the length of Extra, the last number of a payload.
func TestVarintRules(t *testing.T) {
	whole := plainPayload([]byte(house)[:20], bytes.Repeat([]byte(house)[:20], 20))
	at := bytes.Index(whole, []byte("\x00"+house[:20])) // the stored bytes follow the length
	with := func(length ...byte) []byte {
		p := slices.Concat(whole[:at], length, whole[at+1:])
		return sealBare(12, block{kindCoded, 420, p, false})
	}
	checkRules(t, []rule{
		{"one byte", true, with(0)},
		{"two bytes", true, with(128, 0)},
		{"five bytes", true, with(128, 128, 128, 128, 0)},
		{"six bytes", false, with(128, 128, 128, 128, 128, 0)},
		{"2^32", false, with(128, 128, 128, 128, 16)},
		{"2^35 − 2^32", false, with(128, 128, 128, 128, 112)},
	})
}

// A field is a number of a bit string and its width in bits.
type field struct{ value, width int }

// tableFile returns a file of a block of 300 symbols, whose frequency table is described by fields.
func tableFile(symbols []byte, t *table, fields ...field) []byte {
	var w bitWriter
	for _, f := range fields {
		w.put(uint64(f.value), f.width)
	}
	return groupFile(symbols, w.data, t, minState, 0)
}

// groupFile returns a file of a block of symbols in one segment, whose frequency table is described
// by some bytes. end is the last state of each lane, and lost the number of words that are missing.
func groupFile(symbols, description []byte, t *table, end uint32, lost int) []byte {
	states := []uint32{end, end, end, end}
	var words []uint16 // in reverse order
	for i := len(symbols) - 1; i >= 0; i-- {
		x, f := &states[i%4], t.freq[symbols[i]]
		if *x >= f<<20 {
			words = append(words, uint16(*x))
			*x >>= 16
		}
		*x = *x/f<<tableBits + *x%f + t.sum[symbols[i]]
	}
	g := newGenerator(0)
	p := g.varint([]byte{layoutRepeat}, len(symbols))
	p = append(append(p, modeRANS|segmentEnds), description...)
	p = g.appendGroup(append(p, 0, 0, 0, 0, 0), states, words[lost:])
	return sealBare(12, block{kindCoded, uint32(len(symbols)), p, false})
}

// stateFile returns a file of a block of 4·n random symbols. The encoder's last steps leave the
// initial states too large, or with early too small. They decode to the symbols nevertheless.
func stateFile(n int, early bool) []byte {
	t := new(table)
	t.freq['a'], t.freq['b'], t.sum['b'] = tableTotal/2, tableTotal/2, tableTotal/2
	for s := 'c'; s < 256; s++ {
		t.sum[s] = tableTotal
	}
	symbols := corpus.ByName("random").Make(4 * n)
	states := []uint32{minState, minState, minState, minState}
	var words []uint16 // in reverse order
	for i := len(symbols) - 1; i >= 0; i-- {
		symbols[i] = 'a' + symbols[i]&1
		x, f := &states[i%4], t.freq[symbols[i]]
		if *x >= f<<20 && i >= 4 || early && i < 4 {
			words = append(words, uint16(*x))
			*x >>= 16
		}
		*x = *x/f<<tableBits + *x%f + t.sum[symbols[i]]
	}
	g := newGenerator(0)
	p := g.varint([]byte{layoutRepeat}, len(symbols))
	p = append(g.appendTable(append(p, modeRANS|segmentEnds), t), 0, 0, 0, 0, 0)
	return sealBare(12, block{kindCoded, uint32(len(symbols)), g.appendGroup(p, states, words), false})
}

// TestTableRules breaks the rules of frequency tables and of lane groups.
func TestTableRules(t *testing.T) {
	a, ff := bytes.Repeat([]byte("a"), 300), bytes.Repeat([]byte{255}, 300)
	ab, last := skewed('a', 'b'), skewed(255, 0)
	zeros := func(n int) []field { // in class 15
		k := 0
		for 2<<k <= n-3 {
			k++
		}
		return []field{{15, 4}, {1 << k, k + 1}, {n - 3 - 1<<k, k}}
	}
	table := func(more ...field) []field { return append(zeros(97), more...) }
	most := []field{{11, 4}, {1023, 10}} // frequency 2,047
	right := table(append(most, field{1, 4})...)
	behind := func(n int) []field { return slices.Concat([]field{{1, 4}}, zeros(n), most) }
	words := slices.Clone(a)
	for i := 0; i < 300; i += 5 {
		words[i] = 'b'
	}
	description := newGenerator(0).appendTable(nil, ab)
	checkRules(t, []rule{
		{"regular", true, tableFile(a, ab, right...)},
		{"class 0", false, tableFile(a, ab, append([]field{{0, 4}}, right...)...)},
		{"sum 2,049", false, tableFile(a, ab, table(append(most, field{2, 4}, field{0, 1})...)...)},
		{"ends early", false, tableFile(a, ab, most...)[:60]},
		{"last symbol 255", true, tableFile(ff, last, behind(254)...)},
		{"last symbol 256", false, tableFile(ff, last, behind(255)...)},
		{"259 zeros", false, tableFile(ff, last, behind(259)...)},
		{"words", true, groupFile(words, description, ab, minState, 0)},
		{"a missing word", false, groupFile(words, description, ab, minState, 1)},
		{"states below 2^31", true, stateFile(15, false)},
		{"states above 2^31", false, stateFile(16, false)},
		{"states below 2^15", false, stateFile(15, true)},
		{"last state 2^15 + 1", false, groupFile(a, description, ab, minState+1, 0)},
	})
}

// TestSegmentRules breaks the rules of segments of coded streams.
func TestSegmentRules(t *testing.T) {
	lits := bytes.Repeat([]byte("a"), 3*minSegment)
	file := func(parts ...part) []byte {
		var p [numStreams][]part
		p[streamLits] = parts
		payload := newGenerator(0).codeParts([]byte{layoutRepeat}, p)
		return sealBare(16, block{kindCoded, 3 * minSegment, payload, false})
	}
	// extra returns a block with two bytes of Extra, whose head is given.
	extra := func(head byte, table *table) []byte {
		var p [numStreams][]part
		for i, s := range []part{
			{symbols: lits[:300]}, {symbols: []byte{255, 255}}, {symbols: []byte{20, 20}},
			{symbols: []byte{150, 40}}, {symbols: []byte{250, 250}}, {head, []byte{0, 1}, table},
		} {
			if i != streamExtra {
				s.head = modeStored | segmentEnds
			}
			p[i] = []part{s}
		}
		// The offsets are (2^5 + x − 1) · 4, where x is 0 and 8.
		payload := newGenerator(0).codeParts([]byte{layoutRepeat}, p)
		return sealBare(16, block{kindCoded, 300 + 2*269, payload, false})
	}
	own := newGenerator(1).table([]byte{0, 1})
	one, two := lits[:minSegment], lits[minSegment:]
	checkRules(t, []rule{
		{"one", true, file(part{modeByte | segmentEnds, lits, nil})},
		{"two", true, file(part{modeByte, one, nil}, part{modeByte | segmentEnds, two, nil})},
		{"4,095 symbols", false, file(part{modeByte, one[1:], nil},
			part{modeByte | segmentEnds, lits[minSegment-1:], nil})},
		{"all symbols without bit 2", false, file(part{modeByte, lits, nil})},
		{"more symbols than the stream lacks", false, file(part{modeByte, one, nil},
			part{modeByte, lits, nil})},
		{"mode 3", false, file(part{3 | segmentEnds, lits, nil})},
		{"bit 4", false, file(part{16 | modeByte | segmentEnds, lits, nil})},
		{"bit 3 with mode 1", false, file(part{tableDefault | modeByte | segmentEnds, lits, nil})},
		{"Extra with a table", true, extra(modeRANS|segmentEnds, own)},
		{"Extra with a default table", false, extra(modeRANS|segmentEnds|tableDefault, own)},
	})
}

// TestDenseRules breaks the rules of layout 3 that generated files keep.
func TestDenseRules(t *testing.T) {
	lits := bytes.Repeat([]byte("a"), 10_000)
	marks := make([]bool, len(lits))
	marks[0] = true
	// literals returns a block with context-coded Lits. The coded streams have these parts of Lits,
	// too.
	literals := func(tables int, together ...part) []byte {
		g := newGenerator(0)
		g.dense = &denseChoice{flags: litsInContext, low: 0, tables: tables}
		var parts [numStreams][]part
		parts[streamLits] = together
		p := g.contextCode(g.codeParts([]byte{layoutDense, litsInContext}, parts), lits, marks)
		return sealBare(16, block{kindCoded, uint32(len(lits)), p, false})
	}
	// tokens returns a block with a context-coded stream of Tokens of length 0.
	tokens := func(flags byte) []byte {
		p := []byte{layoutDense, flags}
		if flags != 0 {
			p = append(p, 0, 0)
		}
		var parts [numStreams][]part
		parts[streamLits] = []part{{modeByte | segmentEnds, lits, nil}}
		return sealBare(16, block{kindCoded, uint32(len(lits)), newGenerator(0).codeParts(p, parts), false})
	}
	checkRules(t, []rule{
		{"Lits in context", true, literals(1)},
		{"32 tables", true, literals(32)},
		{"33 tables", false, literals(33)},
		{"Lits twice", false, literals(1, part{modeByte | segmentEnds, lits, nil})},
		{"no context", true, tokens(0)},
		{"empty context-coded stream", false, tokens(tokensInContext)},
	})
}

// TestFilterExample decodes the two ranges that the document shows.
func TestFilterExample(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "FORMAT.md"))
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^    (content|filtered)  +([0-9a-f ]+)$`)
	examples := line.FindAllStringSubmatch(string(doc), -1)
	if len(examples) != 4 {
		t.Fatalf("%d lines", len(examples))
	}
	for i := 0; i < 4; i += 2 {
		content, err := hex.DecodeString(strings.ReplaceAll(examples[i][2], " ", ""))
		filtered, err2 := hex.DecodeString(strings.ReplaceAll(examples[i+1][2], " ", ""))
		if err != nil || err2 != nil || len(content) != len(filtered) {
			t.Fatalf("%v, %v, %q", err, err2, examples[i:i+2])
		}
		front := bytes.Repeat([]byte{0xe8}, minSegment)
		var parts [numStreams][]part
		parts[streamLits] = []part{{modeByte, front, nil}, {modeStored | segmentEnds, filtered, nil}}
		g := newGenerator(0)
		p := g.varint([]byte{layoutDense, filteredX86, 1}, minSegment)
		p = g.codeParts(g.varint(p, len(filtered)), parts)
		file := sealBare(13, block{kindCoded, uint32(minSegment + len(filtered)), p, false})
		checkRules(t, []rule{{fmt.Sprint("example ", i/2), true, file}})
		if got, _ := Decode(file, Dictionary{}); !bytes.Equal(got, append(front, content...)) {
			t.Errorf("% x: % x, want % x", filtered, got[minSegment:], content)
		}
	}
}

// TestReferencesRules breaks rules of layout 4 that are not about the list of references.
func TestReferencesRules(t *testing.T) {
	random := corpus.ByName("random").Make(300)
	source := stored(random).block
	refs := [][4]int{{0, 100, 0, 0}}
	file := func(head []byte, p []byte, raw uint32) []byte {
		return sealBehind(head, source, block{kindCoded, raw, p, false})
	}
	unchecked := streamHead(16, flagWindow, 20, 1)
	whole := list([]int{1}, refs, kindEmpty, nil)
	odd := edited(whole, 1, 1, 2, 3, 4)
	// wrong has a wrong check of the content, and a right one of the payload.
	wrong := file(windowed(20, 1), whole, 100)
	at := 12 + 16 + len(random)
	p := edited(wrong[at+16:][:len(whole)], 1, wrong[at+17]^1)
	wrong = edited(edited(wrong, at+16, p...), at+8, le.AppendUint32(nil, crc(p))...)
	copy(wrong[at:], appendHeaderCheck(slices.Clone(wrong[at:at+12]), 0, 1))
	even, longer := nearPayload(0), nearPayload(1)
	checkRules(t, []rule{
		{"regular", true, file(windowed(20, 1), whole, 100)},
		{"wrong check of the content", false, wrong},
		{"check without checks", true, file(unchecked, whole, 100)},
		{"other check without checks", true, file(unchecked, odd, 100)},
		{"own content as long as its payload", false,
			file(unchecked, list([]int{1}, refs, kindCoded, even.payload), 100+even.raw)},
		{"own content longer than its payload", true,
			file(unchecked, list([]int{1}, refs, kindCoded, longer.payload), 100+longer.raw)},
	})
}

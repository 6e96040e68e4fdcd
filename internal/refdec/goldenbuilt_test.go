package refdec

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/section"
	"github.com/gopz/compress/parity"
)

var update = flag.Bool("update", false, "write missing golden files")

// built are the golden files with what no Writer of ours writes. The builders say what is in them.
var built = []struct {
	name  string
	build func(b *builder)
}{
	{"built-block-sizes", buildBlockSizes},
	{"built-codes", buildCodes},
	{"built-dense", buildDense},
	{"built-groups", buildGroups},
	{"built-headers", buildHeaders},
	{"built-parity", buildParity},
	{"built-sections", buildSections},
	{"built-segments", buildSegments},
	{"built-small", buildSmall},
	{"built-sources", buildSources},
	{"built-windows", buildWindows},
}

// TestGoldenBuilt compares golden files with what their builders make. -update writes missing files
// only.
func TestGoldenBuilt(t *testing.T) {
	files := goldenFiles(t)
	for _, g := range built {
		var b builder
		g.build(&b)
		if files[g.name+".pz"] == nil && *update {
			files[g.name+".pz"] = b.file
			path := filepath.Join("..", "..", "testdata", "golden", g.name+".pz")
			if err := os.WriteFile(path, b.file, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(files[g.name+".pz"], b.file) {
			t.Errorf("%s: %d bytes differ from %d that are built", g.name, len(files[g.name+".pz"]),
				len(b.file))
		}
		if got, err := agree(t, b.file); err != nil || !bytes.Equal(got, b.content) {
			t.Errorf("%s: %d bytes, %v, want %d", g.name, len(got), err, len(b.content))
		}
	}
}

// buildHeaders makes streams with all sets of flags, blocks of all kinds, and flushes.
func buildHeaders(b *builder) {
	text := corpus.ByName("json").Make(2000)
	own := codedPiece(plainPayload(text[:99], text[:50]), slices.Concat(text[:99], text[:50]))
	for flags := byte(0); flags <= flagContentSize|flagContentChecks|flagWindow; flags++ {
		head := streamHead(13, flags)
		if flags&flagWindow != 0 {
			head = append(head, minLogWindow, 1)
		}
		b.stream(head)
		b.stream(head, stored(text[:5]), fill('x', 5000), own.flush(), stored(text[:7]).flush(),
			fill('y', 1).flush(), own.short(), stored(text[:3]).short(), fill('z', 1<<13).short())
	}
	packed := dictionaryPayload(text[:50])
	for flags := byte(0); flags < 4; flags++ {
		b.stream(dictionaryHead(12, flags), stored(text[:9]), packed, packed.short(), fill(0, 99))
	}
}

// plainPayload returns a payload of layout 1: literals and then a match with the beginning of them.
func plainPayload(literals, match []byte) []byte {
	g := newGenerator(0)
	g.out, g.streams[streamLits] = slices.Clone(literals), literals
	token := g.field(len(literals), 15, streamLitLens) | g.field(len(match)-5, 15, streamMatchLens)<<4
	g.streams[streamTokens] = []byte{token}
	g.streams[streamOffsets] = le.AppendUint16(nil, uint16(len(literals)))
	return g.codeParts([]byte{layoutPlain}, g.storedParts())
}

// dictionaryPayload returns a block of layout 1: a match with the end of the dictionary, then
// literals.
func dictionaryPayload(literals []byte) contentBlock {
	const match = 500
	g := newGenerator(0)
	g.streams[streamLits] = literals
	g.streams[streamTokens] = []byte{g.field(match-5, 15, streamMatchLens) << 4}
	g.streams[streamOffsets] = le.AppendUint16(nil, match)
	dict := jsonDictionary().ours.Content
	p := g.codeParts([]byte{layoutPlain}, g.storedParts())
	return codedPiece(p, slices.Concat(dict[len(dict)-match:], literals))
}

// buildSmall makes small streams of all kinds, with check, without, and with a dictionary.
func buildSmall(b *builder) {
	text := corpus.ByName("json").Make(2000)
	empty := contentBlock{}
	packed := codedPiece(plainPayload(text[:900], text[:300]), slices.Concat(text[:900], text[:300]))
	behind := dictionaryPayload(text[:300])
	for _, check := range []byte{0, smallCheck} {
		for _, p := range []contentBlock{
			empty, stored(text[:1]), stored(text[:500]), fill('x', 1), fill('y', maxSmallRaw), packed,
		} {
			b.small(check, p)
		}
		b.small(check|smallDict, behind)
	}
}

// buildSections makes streams of both forms with sections in front, between and behind.
func buildSections(b *builder) {
	text := corpus.ByName("text").Make(500)
	b.section(section.MaySkip, nil) // the smallest one, of a kind that is not assigned
	b.section(0xff, text[:100])
	b.stream(streamHead(12, flagContentChecks), stored(text))
	b.section(section.Parity, text[:200]) // without packets, which decoders do not look at
	b.small(smallCheck, stored(text[:50]))
	b.section(0xf0, b.file[:300]) // sections and streams within a section
	b.small(0, contentBlock{})
	b.stream(streamHead(12, 0))
	b.section(0xc5, nil)
}

// buildParity makes a file that parity protects, in two zones.
func buildParity(b *builder) {
	text := corpus.ByName("source").Make(3000)
	var file bytes.Buffer
	w, err := parity.NewWriter(&file, parity.Options{Percent: 25})
	for i := range 2 {
		var zone builder
		zone.stream(streamHead(12, flagContentChecks), stored(text[1500*i:1500*(i+1)]))
		if err == nil {
			_, err = w.Write(zone.file)
		}
		if err == nil && i == 0 {
			err = w.EndZone()
		}
		b.content = append(b.content, zone.content...)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err)
	}
	b.file = file.Bytes()
}

// buildBlockSizes makes a stream with each block size, and full blocks up to 256 KiB.
func buildBlockSizes(b *builder) {
	for log := byte(minLogBlockSize); log <= maxLogBlockSize; log++ {
		full := fill(log, 1<<min(log, 18))
		b.stream(streamHead(log, flagContentChecks), full, stored([]byte{log}), full.short())
	}
}

// buildWindows makes a stream with each window and a reference in it.
func buildWindows(b *builder) {
	text := corpus.ByName("text").Make(200)
	for log := byte(minLogWindow); log <= maxLogWindow; log++ {
		refs := [][4]int{{10, 150, 0, 50}, {0, 64, 0, 0}}
		p := list([]int{2}, refs, kindFill, []byte{log})
		own := bytes.Repeat([]byte{log}, 20)
		content := slices.Concat(own[:10], text[50:200], text[:64], own[10:])
		b.stream(streamHead(12, log&3|flagWindow, log, 1), stored(text), fill(0, 10),
			codedPiece(p, content))
	}
}

// buildSources makes blocks with up to 64 sources, with all kinds of own content.
func buildSources(b *builder) {
	random := corpus.ByName("random").Make(80 * maxSources)
	var pieces []contentBlock
	for i := range maxSources {
		pieces = append(pieces, stored(random[80*i:80*i+80]))
	}
	inner := slices.Concat(random[:100], random[:90])
	for _, c := range []struct {
		sources, step int // the second source is so much farther than the first, and so on
		kind          byte
		own, rest     []byte // the own content as payload and as content
	}{
		{1, 0, kindEmpty, nil, nil},
		{2, 31, kindStored, random[:30], random[:30]},
		{3, 20, kindFill, []byte("x"), []byte("xxxxx")},
		{maxSources, 1, kindCoded, plainPayload(random[:100], random[:90]), inner},
	} {
		at := maxSources - 1 // the nearest source
		sources := []int{len(pieces) - at}
		for len(sources) < c.sources {
			sources = append(sources, c.step)
		}
		var refs [][4]int
		var content []byte
		for k := c.sources - 1; k >= 0; k-- { // from the farthest source
			gap := min(1, len(c.rest))
			content = append(append(content, c.rest[:gap]...), pieces[at-k*c.step].content[k%16:][:64]...)
			c.rest = c.rest[gap:]
			refs = append(refs, [4]int{gap, 64, k, k % 16})
		}
		p := list(sources, refs, c.kind, c.own)
		pieces = append(pieces, codedPiece(p, append(content, c.rest...)))
	}
	// The own content of the block before, which has references, too.
	p := list([]int{1}, [][4]int{{0, 150, 0, 40}}, kindEmpty, nil)
	pieces = append(pieces, codedPiece(p, inner[40:]))
	b.stream(streamHead(13, flagContentChecks|flagWindow, minLogWindow, maxSources), pieces...)
}

// buildGroups makes a block with four lane groups, the first of which end inside of segments.
func buildGroups(b *builder) {
	const n = pairSymbols + 70_001
	lits := bytes.Repeat([]byte("a"), n)
	for i := 5; i < n; i += 1 + i%4001 {
		lits[i] = 'b'
	}
	t := skewed('a', 'b')
	var parts [numStreams][]part
	for _, size := range []int{minSegment, 200_003, 300_000} {
		parts[streamLits] = append(parts[streamLits], part{modeRANS, lits[:size], t})
		lits = lits[size:]
	}
	parts[streamLits] = append(parts[streamLits], part{modeRANS | segmentEnds, lits, t})
	b.stream(streamHead(20, flagContentChecks), execute(layoutRepeat, parts))
}

// buildSegments makes all heads of segments in all byte streams.
func buildSegments(b *builder) {
	b.stream(streamHead(20, flagContentChecks), allHeads(), byteHeads(), longLengths())
}

// longLengths returns a block of layout 1 with both forms of all lengths.
func longLengths() contentBlock {
	g := newGenerator(0)
	for _, n := range []int{15 + 255, 15 + 254, 15, 14} {
		g.literals(n, 1)
		g.out[len(g.out)-1]++
		g.streams[streamLits][len(g.streams[streamLits])-1]++
		g.plain(n, 5+n)
	}
	return codedPiece(g.code([]byte{layoutPlain}), g.out)
}

// byteHeads returns a block of layout 2 with one segment in each byte stream, all of mode 1.
func byteHeads() contentBlock {
	var parts [numStreams][]part
	for i, s := range []struct {
		symbol byte
		n      int
	}{{'x', 90}, {0xff, 3}, {8, 3}, {25, 3}, {70, 3}, {0x55, 1}} {
		parts[i] = []part{{modeByte | segmentEnds, bytes.Repeat([]byte{s.symbol}, s.n), nil}}
	}
	return execute(layoutRepeat, parts)
}

// allHeads returns a block of layout 2 in which each byte stream has a segment of each kind before
// the last one.
func allHeads() contentBlock {
	// The symbols of the segments with a table, with the default table, stored, and of one byte.
	// Tokens: mostly all fields at their last value. Codes of offsets: e is 2 and then 8.
	symbols := [numStreams][4]byte{
		{'a', 'e', 'c', 'd'}, {0xff, 0, 0xff, 0xff}, {8, 0, 0x21, 0x20}, {20, 0, 1, 2}, {1, 0, 3, 0},
		{0x55, 0, 0x95, 0x65},
	}
	var parts [numStreams][]part
	var streams [numStreams][]byte
	add := func(stream int, head byte, symbol byte, n int, t *table) {
		p := bytes.Repeat([]byte{symbol}, n)
		streams[stream] = append(streams[stream], p...)
		parts[stream] = append(parts[stream], part{head, p, t})
	}
	begin := func(i, last int) {
		add(i, modeRANS, symbols[i][0], minSegment, skewed(symbols[i][0], symbols[i][0]+1))
		if d, err := defaultTable(i); err == nil {
			most := 0
			for s := range 255 {
				if d.freq[s] > d.freq[most] && (i != streamOffsets || s >= 12) {
					most = s
				}
			}
			add(i, modeRANS|tableDefault, byte(most), minSegment, d)
		}
		add(i, modeStored, symbols[i][2], minSegment, nil)
		n := last - len(streams[i]) - 1
		add(i, modeByte, symbols[i][3], n, nil)
		add(i, modeRANS|segmentEnds, symbols[i][3], 1, skewed(symbols[i][3], 1))
	}
	begin(streamTokens, 5*minSegment+1)
	runs, matches, offsets := 0, 0, 0
	for _, token := range streams[streamTokens] {
		runs += int(token & 3 / 3)
		matches += int(token >> 2 & 15 / 15)
		offsets += int(token >> 6 / 3)
	}
	begin(streamOffsets, offsets)
	begin(streamLitLens, runs)
	begin(streamMatchLens, matches)
	_, literals, bits := measure(layoutRepeat, streams)
	begin(streamLits, literals+5)
	begin(streamExtra, (bits+7)/8)
	return execute(layoutRepeat, parts)
}

// buildCodes makes blocks of 64 MiB with offsets of all sizes, in layouts 2 and 3.
func buildCodes(b *builder) {
	const head, size = 1<<maxLogBlockSize - 1<<14, 1 << maxLogBlockSize
	for _, layout := range []byte{layoutRepeat, layoutDense} {
		g := newGenerator(0)
		var parts [numStreams][]part
		literals := func(c byte, n int, ends byte) {
			p := bytes.Repeat([]byte{c}, n)
			parts[streamLits] = append(parts[streamLits], part{modeByte | ends, p, nil})
			g.out = append(g.out, p...)
		}
		for c := range byte(64) { // so that the content tells offsets apart
			literals(c, head/64, 0)
		}
		run, least := head, int(minMatches(layout)[3])
		for e := 2; e < maxOffsetBits; e++ {
			offset := uint64(4<<e+4<<e/2) - 5 // from (2^e − 1) · 4 to (2^(e+1) − 2) · 4 + 3
			g.sequence(run, least+5, offset, layout)
			run = 0
		}
		run = size - least - len(g.out)
		literals('x', run, segmentEnds)
		g.sequence(run, least, uint64(size-least), layout) // the first bytes of the block
		g.streams[streamExtra] = g.extra.data
		for i, c := range g.storedParts() {
			if i != streamLits {
				parts[i] = c
			}
		}
		p := []byte{layout}
		if layout == layoutDense {
			p = append(p, 0)
		}
		b.stream(streamHead(maxLogBlockSize, 0), codedPiece(g.codeParts(p, parts), g.out))
	}
}

// sequence adds one with a new offset. Its literals have been added.
func (g *generator) sequence(run, match int, offset uint64, layout byte) {
	least := int(minMatches(layout)[3])
	token := g.field(run, 3, streamLitLens) | g.field(match-least, 15, streamMatchLens)<<2 | 3<<6
	g.streams[streamTokens] = append(g.streams[streamTokens], token)
	g.newOffset(offset)
	g.copy(match, offset)
}

// buildDense makes blocks of layout 3 with all flags, all numbers of bits that maps have, and all
// widths of numbers of tables.
func buildDense(b *builder) {
	var pieces []contentBlock
	for i := range 16 {
		c := denseChoice{flags: byte(i), low: i % 9, tables: 1 << (i % 6)}
		pieces = append(pieces, shortest(c))
	}
	b.stream(streamHead(16, flagContentChecks), pieces...)
}

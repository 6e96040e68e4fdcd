package refdec

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// entries returns 1 KiB of content.
func entries() []byte { return corpus.ByName("log").Make(1 << 10) }

// windowed begins a header of a stream with a window.
func windowed(logWindow, sources byte) []byte {
	return []byte{'P', 'Z', version, 2, 16, flagContentChecks | flagWindow, logWindow, sources}
}

// TestReferencesExample decodes the block that the document shows.
func TestReferencesExample(t *testing.T) {
	first := bytes.Repeat([]byte("y"), 600)
	payload := example(t, "### Layout 4: References")
	file := sealBehind(windowed(20, 1), block{kindStored, 600, first, false},
		block{kindFill, 10, []byte("-"), false}, block{kindCoded, 700, payload, false})
	want := slices.Concat(first, []byte("----------"), []byte(strings.Repeat("x", 300)), first[100:500])
	if got, err := agree(t, file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestReferences decodes blocks that are valid but for one field.
func TestReferences(t *testing.T) {
	random := corpus.ByName("random").Make(1000)
	one := []int{1}
	empty := list([]int{2}, [][4]int{{0, 100, 0, 0}}, kindEmpty, nil)
	ref := func(gap, length, source, offset int) [][4]int { return [][4]int{{gap, length, source, offset}} }
	for _, c := range []struct {
		name    string
		valid   bool
		raw     uint32
		payload []byte
	}{
		{"all of the source", true, 1000, list(one, ref(0, 1000, 0, 0), kindEmpty, nil)},
		{"its end", true, 64, list(one, ref(0, 64, 0, 936), kindEmpty, nil)},
		{"own content around it", true, 110, list(one, ref(7, 90, 0, 3), kindStored, random[:20])},
		{"all own content before", true, 110, list(one, ref(20, 90, 0, 3), kindStored, random[:20])},
		{"own content is a fill", true, 110, list(one, ref(7, 90, 0, 3), kindFill, []byte("x"))},
		{"two sources", true, 200, list([]int{1, 3}, [][4]int{{0, 99, 0, 0}, {1, 100, 1, 0}},
			kindFill, []byte("x"))},
		{"a source that is not used", true, 100, list([]int{1, 3}, ref(0, 100, 0, 0), kindEmpty, nil)},
		{"a fill that is not used", false, 100, list([]int{1, 2}, ref(0, 100, 0, 0), kindEmpty, nil)},
		{"one without own content", false, 100, list([]int{1, 1}, ref(0, 100, 0, 0), kindEmpty, nil)},
		{"a source twice", false, 100, list([]int{1, 0}, ref(0, 100, 0, 0), kindEmpty, nil)},
		{"the block itself", false, 100, list([]int{0}, ref(0, 100, 0, 0), kindEmpty, nil)},
		{"a fill", false, 100, list([]int{3}, ref(0, 100, 0, 0), kindEmpty, nil)},
		{"before the stream", false, 100, list([]int{5}, ref(0, 100, 0, 0), kindEmpty, nil)},
		{"too far away", false, 100, list([]int{1, 65_536}, ref(0, 100, 0, 0), kindEmpty, nil)},
		{"too many sources", false, 100, list([]int{1, 1, 1}, ref(0, 100, 0, 0), kindEmpty, nil)},
		{"no source", false, 100, list(nil, ref(0, 100, 0, 0), kindEmpty, nil)},
		{"no reference", false, 100, list(one, nil, kindStored, random[:100])},
		{"an unknown source", false, 100, list(one, ref(0, 100, 1, 0), kindEmpty, nil)},
		{"a short one", false, 63, list(one, ref(0, 63, 0, 0), kindEmpty, nil)},
		{"a short one in own content", false, 163, list(one, ref(7, 63, 0, 3), kindStored, random[:100])},
		{"beyond the source", false, 100, list(one, ref(0, 100, 0, 901), kindEmpty, nil)},
		{"far beyond it", false, 100, list(one, ref(0, 100, 0, 1<<31-1), kindEmpty, nil)},
		{"beyond the block", false, 99, list(one, ref(0, 100, 0, 0), kindEmpty, nil)},
		{"too little own content", false, 110, list(one, ref(21, 90, 0, 3), kindStored, random[:20])},
		{"empty, but not", false, 101, list(one, ref(0, 100, 0, 0), kindEmpty, nil)},
		{"empty with a payload", false, 100, list(one, ref(0, 100, 0, 0), kindEmpty, []byte{0})},
		{"stored and empty", false, 100, list(one, ref(0, 100, 0, 0), kindStored, nil)},
		{"a fill of nothing", false, 100, list(one, ref(0, 100, 0, 0), kindFill, []byte{0})},
		{"stored too long", false, 110, list(one, ref(7, 90, 0, 3), kindStored, random[:21])},
		{"an unknown kind", false, 110, list(one, ref(7, 90, 0, 3), 4, random[:20])},
		{"references in own content", false, 300, list(one, ref(0, 100, 0, 0), kindCoded,
			list(one, ref(0, 200, 0, 0), kindEmpty, nil))},
		{"no kind", false, 100, list(one, ref(0, 100, 0, 0), 0, nil)[:12]},
	} {
		blocks := []block{
			{kindStored, 1000, random, false}, {kindFill, 100, []byte("x"), false},
			{kindCoded, 100, empty, false}, {kindStored, 1000, random, false},
			{kindCoded, c.raw, c.payload, false},
		}
		// Without content checks a decoder that misses an error sees no wrong check.
		for _, flags := range []byte{flagContentChecks | flagWindow, flagWindow} {
			_, err := agree(t, sealBehind(streamHead(16, flags, 20, 2), blocks...))
			if (err == nil) != c.valid {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		if _, err := agree(t, seal(16, blocks...)); err == nil {
			t.Errorf("%s: accepted without a window", c.name)
		}
	}
}

// TestSourceCount decodes a list with the largest number of sources. It must not take the memory.
func TestSourceCount(t *testing.T) {
	testenv.Measures(t)
	payload := append([]byte{layoutReferences, 0, 0, 0, 0}, binary.AppendUvarint(nil, 1<<32-1)...)
	file := sealBehind(windowed(20, 1), block{kindCoded, 700, payload, false})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Decode(file, Dictionary{})
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > 1<<20 {
		t.Errorf("%d bytes allocated, %v", took, err)
	}
}

// TestReferencesWindow refers to a block at the edge of the window and beyond it.
func TestReferencesWindow(t *testing.T) {
	const size, window = 1 << 16, 1 << 20
	full := block{kindStored, size, corpus.ByName("random").Make(size), false}
	for n := 15; n <= 17; n++ {
		blocks := slices.Repeat([]block{full}, n)
		p := list([]int{n}, [][4]int{{0, 100, 0, 0}}, kindEmpty, nil)
		blocks = append(blocks, block{kindCoded, 100, p, false})
		_, err := agree(t, sealBehind(windowed(20, 1), blocks...))
		if valid := n*size <= window; valid != (err == nil) {
			t.Errorf("%d blocks: %v", n, err)
		}
	}
}

// TestDecodeToLimit: only the contents in the window are kept, and they count for the limit.
func TestDecodeToLimit(t *testing.T) {
	const size, window = 1 << 16, 1 << 20
	full := block{kindStored, size, corpus.ByName("random").Make(size), false}
	file := sealBehind(windowed(20, 1), slices.Repeat([]block{full}, 3*window/size)...)
	emit := func([]byte) error { return nil }
	if err := DecodeTo(file, Dictionary{}, window, emit); err != nil {
		t.Errorf("limit of a window: %v", err)
	}
	if err := DecodeTo(file, Dictionary{}, window-1, emit); err != ErrMemory {
		t.Errorf("limit of less: %v", err)
	}
	var k keeper
	for range 3 * window / size {
		k.addBlock(full.payload, window)
	}
	held := 0
	for _, own := range k.past {
		held += len(own)
	}
	if held != window || k.size != window || len(k.past) != 3*window/size {
		t.Errorf("%d bytes of %d blocks are kept, counted as %d", held, len(k.past), k.size)
	}
	// A stream without a window keeps nothing.
	if err := DecodeTo(seal(16, full, full), Dictionary{}, 0, emit); err != nil {
		t.Errorf("no window: %v", err)
	}
}

// TestGeneratedReferences decodes files with references that no encoder of ours writes. Some of
// them are invalid.
func TestGeneratedReferences(t *testing.T) {
	valid, invalid := 0, 0
	for seed := range uint64(300) {
		g := rand.New(rand.NewPCG(seed, 0))
		var blocks []block
		for number := range 1 + g.IntN(12) {
			own := corpus.ByName("random").Make(g.IntN(3000))
			var sources []int
			var refs [][4]int
			raw, left := len(own), len(own)
			for range 1 + g.IntN(3) {
				sources = append(sources, 1+g.IntN(max(1, number/2)))
			}
			for range g.IntN(6) * min(number, 1) {
				gap, length := g.IntN(left+1), 64+g.IntN(200)
				refs = append(refs, [4]int{gap, length, g.IntN(len(sources)), g.IntN(1500)})
				raw, left = raw+length, left-gap
			}
			b := block{kindCoded, uint32(raw), nil, g.IntN(2) == 0}
			switch {
			case len(refs) > 0 && len(own) == 0:
				b.payload = list(sources, refs, kindEmpty, nil)
			case len(refs) > 0:
				b.payload = list(sources, refs, kindStored, own)
			default:
				own = append(own, 0)
				b = block{kindStored, uint32(len(own)), own, false}
			}
			if b.kind == kindCoded && len(b.payload) >= raw {
				continue
			}
			blocks = append(blocks, b)
		}
		// Half of the files have no content checks, which may hide what a decoder misses.
		head := streamHead(16, flagWindow|byte(seed%2)*flagContentChecks, 20, 3)
		if _, err := agree(t, sealBehind(head, blocks...)); err == nil {
			valid++
		} else {
			invalid++
		}
	}
	if valid < 50 || invalid < 50 {
		t.Errorf("%d files are valid, %d are not", valid, invalid)
	}
}

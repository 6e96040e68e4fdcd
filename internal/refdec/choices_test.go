package refdec

import (
	"bytes"
	"slices"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/corpus"
)

// A set has the values of a choice that files make.
type set map[int]bool

// allChoices returns the values of each choice that the golden files must show.
func allChoices() map[choice][]int {
	between := func(first, last int) (list []int) {
		for x := first; x <= last; x++ {
			list = append(list, x)
		}
		return list
	}
	all := map[choice][]int{
		choiceBlockSize: between(minLogBlockSize, maxLogBlockSize),
		choiceFlags:     between(0, flagContentSize|flagContentChecks|flagDictionary),
		choiceWindow:    between(minLogWindow, maxLogWindow),
		choiceBlock:     {1, 2, 3, 5, 6, 7, 9, 10, 11},
		// With a dictionary a small stream is coded.
		choiceSmall:         {0, 1, 2, 3, 4, 5, 6, 7, 11, 15},
		choiceSection:       {0x80, 0x81, 0xf0, 0xff},
		choiceLayout:        between(1, 4),
		choiceOwn:           between(0, 3),
		choiceSources:       {1, 2, 3, maxSources},
		choiceGroups:        {0, 1, 2, 4},
		choiceClass:         between(1, 15),
		choiceRun:           between(0, 7),
		choiceDictionary:    between(1, 3),
		choiceDense:         between(0, 15),
		choiceRanges:        {1, 2},
		choiceStep:          {0, 1},
		choiceMap:           between(0, 8),
		choiceTables:        between(0, 5),
		choiceContextGroups: {1, 2},
		choiceMark:          {1},
		choiceSecond:        {1},
	}
	for stream := range numStreams {
		for _, head := range []int{0, 1, 2, 10} {
			if head != 10 || stream != streamExtra {
				all[choiceHead] = append(all[choiceHead], head+16*stream, head+4+16*stream)
			}
		}
	}
	for layout := layoutPlain; layout <= layoutDense; layout++ {
		for _, stream := range []int{streamLitLens, streamMatchLens} {
			at := 8*stream + 64*layout
			all[choiceLength] = append(all[choiceLength], 1+at, 5+at)
		}
		if layout == layoutPlain {
			continue // has no places and no codes
		}
		for place := range 4 {
			all[choicePlace] = append(all[choicePlace], place+4*layout)
		}
		// With e below 2 an offset is below 16.
		all[choiceCode] = append(all[choiceCode], between(2+32*layout, maxOffsetBits+32*layout)...)
	}
	return all
}

// TestGoldenChoices checks that the golden files show everything that the document allows.
func TestGoldenChoices(t *testing.T) {
	made := map[choice]set{}
	chosen = func(c choice, value int) {
		if made[c] == nil {
			made[c] = set{}
		}
		made[c][value] = true
	}
	defer func() { chosen = nil }()
	for name, file := range goldenFiles(t) {
		if _, err := Decode(file, jsonDictionary().ours); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for c, values := range allChoices() {
		missing := slices.DeleteFunc(values, func(v int) bool { return made[c][v] })
		if len(missing) > 0 {
			t.Errorf("%s: %v missing", c, missing)
		}
	}
}

// TestNoFilterWithDictionary encodes a program with a dictionary and without. Only the second file
// has the filter for x86.
func TestNoFilterWithDictionary(t *testing.T) {
	content := corpus.ByName("exe").Make(100_000)
	for _, opts := range [][]compress.WriterOption{nil, {jsonDictionary().option()}} {
		filtered := false
		chosen = func(c choice, value int) {
			filtered = filtered || c == choiceDense && value&filteredX86 != 0
		}
		got, err := Decode(encode(t, content, append(opts, compress.WithLevel(9))...), jsonDictionary().ours)
		chosen = nil
		if err != nil || !bytes.Equal(got, content) {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
		if filtered != (opts == nil) {
			t.Errorf("%d options: filtered %v", len(opts), filtered)
		}
	}
}

package pipeline

import (
	"bytes"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/x86"
	"github.com/gopz/compress/lzseq"
)

// flagsOf returns the flags of a payload of layout Dense, 0 for other layouts.
func flagsOf(e encoded) byte {
	if e.kind != codedKind || e.payload[0] != lzseq.Dense.ID {
		return 0
	}
	return e.payload[1]
}

// TestFiltered: from the level on that has layout Dense code is filtered, is smaller for it, and is
// restored, also into memory of the caller. No other data is filtered.
func TestFiltered(t *testing.T) {
	oneGoroutine(t)
	p := ByName("lzseqr")
	size := 150_000
	if brief() {
		size = 40_000 // so small that parse trials run as well
	}
	for _, k := range kinds("exe", "text", "image") {
		if k.Name == "mixed" {
			continue // there is code in it
		}
		src := k.Make(size)
		for level := p.dense - 1; level <= MaxLevel; level++ {
			coded, err := compressAll(NewScheduler(1), p, level, size, src)
			if err != nil {
				t.Fatal(err)
			}
			filtered := flagsOf(coded[0])&denseX86 != 0
			if want := k.Name == "exe" && level >= p.dense; filtered != want {
				t.Errorf("%s, level %d: filtered: %v", k.Name, level, filtered)
			}
			if !filtered {
				continue
			}
			plain := unfiltered(t, p, level, src)
			t.Logf("level %d: %d bytes, %d without the filter", level, len(coded[0].payload), plain)
			most := plain * 9 / 10
			if !p.levels[level].Optimal() {
				most = plain * 15 / 16
			}
			if len(coded[0].payload) > most {
				t.Errorf("level %d: %d bytes, and %d without the filter", level, len(coded[0].payload), plain)
			}
			for _, room := range []int{-1, 0, 100} {
				r := NewScheduler(1).Start(Config{Pipeline: p, Op: Decompress, Checks: true})
				b := r.Get()
				b.Src, b.Raw, b.Kind, b.Sum = coded[0].payload, coded[0].raw, coded[0].kind, coded[0].sum
				var into []byte
				if room >= 0 {
					into = bytes.Repeat([]byte{0xe8}, size+room)
					b.Into = into[:size]
				}
				if !execute(new(workspace), b) || b.Err != nil || !bytes.Equal(b.Out(), src) {
					t.Errorf("level %d, room %d: content differs, error %v", level, room, b.Err)
				}
				if room > 0 && !bytes.Equal(into[size:], bytes.Repeat([]byte{0xe8}, room)) {
					t.Errorf("level %d: bytes after the content were touched", level)
				}
				r.Close()
			}
		}
	}
}

// unfiltered returns the size of src as a block without a filter.
func unfiltered(t *testing.T, p *Pipeline, level int, src []byte) int {
	ws := new(workspace)
	form := *p.form
	form.Contexts = ws.contexts(src)
	seqs := ws.matcher.ParseFrom(nil, src, 0, &p.levels[level], &form)
	var s lzseq.Streams
	s.Encode(lzseq.Repeat, src, seqs)
	return len(ws.encodeDense(nil, &s, nil))
}

// TestFilterAlone: a payload may have the filter and no context-coded stream, whatever the content
// is.
func TestFilterAlone(t *testing.T) {
	src := bytes.Repeat([]byte("\xe8\xe8\x00\xff\x00\xff\xe9\x00\x00\x00\x00\xe8\xff\xff\xff\xffab"), 50)
	want := bytes.Clone(src)
	ranges := []byte{2, 7, 100, 3, 0xc8, 1} // of 100 and of 200 bytes
	x86.Decode(want, ranges, nil)
	ws := new(workspace)
	s := new(lzseq.Streams)
	s.Encode(lzseq.Repeat, src, nil)
	payload := ws.encodeDense(nil, s, ranges)
	if !bytes.HasPrefix(payload, []byte{lzseq.Dense.ID, denseX86}) {
		streams := ws.encodePayload(nil, lzseq.Repeat, s)[1:]
		payload = slices.Concat([]byte{lzseq.Dense.ID, denseX86}, ranges, streams)
	}
	got, err := decodeOne(ws, ByName("lzseqr"), encoded{payload, len(src), codedKind, 0}, false)
	if err != nil || !bytes.Equal(got, want) || bytes.Equal(got, src) {
		t.Errorf("content differs, error %v", err)
	}
}

// TestFilteredMix: a worker keeps the filter of one block apart from the next block.
func TestFilteredMix(t *testing.T) {
	oneGoroutine(t)
	p, size := ByName("lzseqr"), 20_000
	var all []byte
	for i := range 6 {
		all = append(all, corpus.ByName([]string{"exe", "text", "random"}[i%3]).MakeSeed(size, uint64(i))...)
	}
	coded, err := compressAll(NewScheduler(1), p, MaxLevel, size, all)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range coded {
		if (flagsOf(e)&denseX86 != 0) != (i%3 == 0) {
			t.Errorf("block %d has flags %d", i, flagsOf(e))
		}
	}
	got, err := decompressAll(NewScheduler(1), p, coded, Assignment{})
	if err != nil || !bytes.Equal(got, all) {
		t.Errorf("content differs, error %v", err)
	}
}

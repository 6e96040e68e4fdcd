package gputest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
)

// deflate holds limits as the Deflate format has them.
var deflate = lz77.Limits{MinMatch: 4, MaxOffset: 32768 - 300}

// settings are settings that no level has: greedy, and with the greatest Depth and Nice that
// devices support.
var settings = []lz77.Params{
	{Finder: lz77.RowHash, HashLog: 16, HashBytes: 5, Depth: 16, Nice: 48},
	{Finder: lz77.RowHash, HashLog: 17, HashBytes: 5, Depth: 32, Nice: 96, Lazy: 2},
	{Finder: lz77.RowHash, HashLog: 12, HashBytes: 4, Depth: 64, Nice: finder.MaxCandidateNice, Lazy: 1},
	{Finder: lz77.RowHash, HashLog: 14, HashBytes: 8, Depth: 8, Nice: 9, Lazy: 2},
}

// levels returns the levels whose blocks the device accepts.
func levels(t *testing.T, d gpu.Device) (list []int) {
	t.Helper()
	for level := 1; level <= lz77.MaxLevel; level++ {
		if d.Accepts(matchRequest(make([]byte, 1000), 0, level, lzseq.Repeat.Limits)) {
			list = append(list, level)
		}
	}
	if len(list) == 0 {
		t.Fatal("the device accepts no level")
	}
	return list
}

// testMatch compares the matches of all kinds of data, of short blocks and of blocks with a window.
func testMatch(t *testing.T, d gpu.Device, amount amount) {
	require(t, d, gpu.Stage0)
	levels := levels(t, d)
	level := func(i int) int { return levels[i%len(levels)] }
	var batch []*gpu.Request
	for i, k := range corpus.Kinds() {
		if amount < all && i%3 != 0 || amount == few && i%6 != 0 {
			continue
		}
		l := []lz77.Limits{lzseq.Repeat.Limits, lzseq.Plain.Limits, deflate}[i%3]
		batch = append(batch, matchRequest(k.Make(20_000+100*i), i%3*1000, level(i), l))
	}
	most := 30_000
	if amount == few {
		most = 10_000
	}
	src := corpus.ByName("mixed").Make(most)
	mid := levels[len(levels)/3]
	for _, n := range []int{
		0, 1, 15, 16, 17, 18, 23, 40, 2048 + 15, 2048 + 16, 2048 + 17, 4096 + 16, most,
	} {
		batch = append(batch, matchRequest(src[:n], 0, mid, lzseq.Repeat.Limits))
	}
	batch = append(batch,
		matchRequest(src, len(src)-15, mid, deflate),
		matchRequest(src, len(src)-16, mid, deflate),
		matchRequest(src, len(src), mid, deflate),
		matchRequest(src, most-1000, level(len(levels)-1), deflate))
	for _, n := range []int{d.Info().Ops[gpu.Stage0].Batch, 1} {
		if amount < all && n == 1 && d.Info().Ops[gpu.Stage0].Batch > 1 {
			break
		}
		for from := 0; from < len(batch); from += n {
			part := batch[from:min(from+n, len(batch))]
			for _, r := range part {
				if !d.Accepts(r) {
					t.Fatalf("Accepts is false for a block of %d bytes", r.Size)
				}
				r.Seqs = append(r.Seqs[:0], lz77.Sequence{LitLen: 1})
			}
			run(t, d, part)
			for i, r := range part {
				checkMatch(t, fmt.Sprint("request ", from+i), r)
			}
		}
	}
	if !bytes.Equal(src, corpus.ByName("mixed").Make(most)) {
		t.Error("the device changed the content")
	}
}

// testHostileMatch compares matches of periodic content, which needs the most and the longest
// comparisons.
func testHostileMatch(t *testing.T, d gpu.Device, n amount) {
	require(t, d, gpu.Stage0)
	levels := levels(t, d)
	top := settings[2]
	size := [...]int{few: 2_500, some: 9_000, all: 70_000}[n]
	var batch []*gpu.Request
	for i, period := range []int{1, 2, 3, 5, 15, 16, 17, 33, 255, 2048, size} {
		src := make([]byte, size)
		for k := range src {
			src[k] = byte(k % period * 37 >> (i % 3))
		}
		for _, limits := range []lz77.Limits{
			lzseq.Repeat.Limits, {MinMatch: 4, MaxOffset: 32}, {MinMatch: 8, MaxOffset: 1<<27 - 1},
		} {
			r := matchRequest(src, i%2*100, levels[0], limits)
			r.Params = &top
			batch = append(batch, r)
		}
	}
	limit := d.Info().Ops[gpu.Stage0].Batch
	for from := 0; from < len(batch); from += limit {
		part := batch[from:min(from+limit, len(batch))]
		run(t, d, part)
		for i, r := range part {
			checkMatch(t, fmt.Sprint("request ", from+i), r)
		}
	}
}

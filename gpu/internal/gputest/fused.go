package gputest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/codec/rans"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
)

func fusedRequest(src []byte, level int, l *lzseq.Layout) *gpu.Request {
	return &gpu.Request{
		Op: gpu.Fused, Size: len(src), Src: src,
		Params: &lz77.Levels[level], Limits: l.Limits, Layout: l, Dst: []byte("old"),
	}
}

// fusedPayload returns the CPU's result of a request of Fused.
func fusedPayload(r *gpu.Request) []byte {
	s := new(lzseq.Streams)
	s.Encode(r.Layout, r.Src, parse(r))
	return payload(r.Layout, s)
}

// Stepper is a device that can return the streams of a block that it has compressed.
type Stepper interface {
	Streams(r *gpu.Request) (*lzseq.Streams, error)
}

// fusedContents returns blocks with many tables, with no, four or 32 lanes, with long matches and
// with many repeat offsets.
func fusedContents() map[string][]byte {
	r := rand.New(rand.NewPCG(12, 1))
	noise := make([]byte, 33_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	all := map[string][]byte{
		"many tables": changing(12*unit + 77),
		"noise":       noise,
		"zeros":       make([]byte, 70_000),
		"noise again": append(noise[:20_000:20_000], noise[:9_000]...),
		"few":         corpus.ByName("log").Make(fewBytes),
	}
	for _, period := range []int{1, 15, 100, 2048} {
		p := make([]byte, 20_000+period)
		for i := range p {
			p[i] = byte(i % period * 37 >> 1)
			if i%5000 == 0 {
				p[i]++
			}
		}
		all[fmt.Sprint("period ", period)] = p
	}
	// Short phrases in random order, which change the costs of literals often, with literal runs
	// between.
	var p []byte
	for len(p) < 90_000 {
		at := r.IntN(2000)
		p = append(p, noise[at:at+4+r.IntN(5)]...)
		if r.IntN(500) == 0 {
			at := r.IntN(25_000)
			p = append(p, noise[at:at+r.IntN(6_000)]...)
		}
	}
	all["phrases"] = p
	return all
}

// segmentContents returns blocks of several segments of the parse, which repeat offsets of segments
// before, continue matches, or have no sequences.
func segmentContents() map[string][]byte {
	const size = 2*finder.SegmentSize + 10_007
	r := rand.New(rand.NewPCG(12, 3))
	noise := make([]byte, size)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	all := map[string][]byte{"noise": noise}
	for _, name := range []string{"text", "mixed"} {
		all[name] = corpus.ByName(name).Make(size)
	}
	// Records of which a half differs from those before, each time another one.
	p := bytes.Clone(noise)
	for i := 200; i < size; i++ {
		if i%40 > r.IntN(8) {
			p[i] = p[i-37*(1+i/300%4)]
		}
	}
	all["records"] = p
	// Three offsets in turn, and no other ones.
	p = bytes.Clone(noise)
	for i := 30_000; i < size; i++ {
		if i%40 > 9 {
			p[i] = p[i-[]int{30_000, 20_001, 10_003}[i/40%3]]
		}
	}
	all["three offsets"] = p
	// A segment without sequences between others, and a match that spans the rest.
	p = bytes.Clone(noise)
	copy(p[1000:finder.SegmentSize-3000], corpus.ByName("text").Make(finder.SegmentSize))
	copy(p[2*finder.SegmentSize-7:], p[:size])
	all["apart"] = p
	// A match that spans more than a segment.
	p = bytes.Clone(noise)
	copy(p[20_000:], p[:size-30_000])
	all["long"] = p
	return all
}

// segmentRequests returns requests for these blocks.
func segmentRequests(layouts [2]*lzseq.Layout, amount amount) (list []*gpu.Request) {
	for name, src := range segmentContents() {
		if amount == few && name != "records" {
			continue
		}
		level := 5 + len(name)%3
		list = append(list, fusedRequest(src, level, layouts[0]))
		if amount != few && len(name)%2 == 0 || amount == all {
			size := 2*finder.SegmentSize + finder.Tail + len(name)%3 - 1
			list = append(list, fusedRequest(src[:size], level, layouts[1]))
		}
	}
	return list
}

// fewBytes of a log have so few coded symbols that they make one group of four lanes.
const fewBytes = 17_000

// fusedSizes are sizes around limits of blocks and tiles.
var fusedSizes = []int{
	0, 15, 4096, rans.DefaultsLimit - 1, rans.DefaultsLimit, 8*2048 + 16, 17_000, 19_001, 24_017, 30_000,
	100_000,
}

// fusedBatch returns blocks of all kinds of data, levels, layouts and settings.
func fusedBatch(d gpu.Device, amount amount) (batch []*gpu.Request) {
	add := func(r *gpu.Request) {
		if d.Accepts(r) {
			batch = append(batch, r)
		}
	}
	layouts := [2]*lzseq.Layout{lzseq.Repeat, lzseq.Plain}
	for level := 1; level <= lz77.MaxLevel; level++ {
		for i, k := range corpus.Kinds() {
			if amount < all && (i+level)%4 != 0 || amount == few && (i+level)%12 != 0 {
				continue
			}
			size := fusedSizes[(i*3+level)%len(fusedSizes)]
			if size > 30_000 && amount < all {
				size = 16_400
			}
			add(fusedRequest(k.Make(size), level, layouts[(i+level/2)%2]))
		}
		i := 0
		for _, src := range fusedContents() {
			// The order of a map is random, so runs of the test differ.
			if amount == few {
				src = src[:min(len(src), 20_000)]
			}
			i++
			chosen := amount == all || amount == some && i%3 == level%3 || i == level
			if lz77.Levels[level].Finder == lz77.RowHash && chosen {
				add(fusedRequest(src, level, layouts[i/3%2]))
			}
		}
	}
	for _, r := range segmentRequests(layouts, amount) {
		add(r)
	}
	// Literals alone, of which several pairs of lane groups code parts.
	manyGroups := make([]byte, 600_000)
	r := rand.New(rand.NewPCG(12, 2))
	for i := range manyGroups {
		manyGroups[i] = byte(r.Uint32()) & 127
	}
	many := fusedRequest(manyGroups, 5, lzseq.Repeat)
	if amount == few {
		many.Params = &settings[3] // finds least
	}
	add(many)
	// Settings that no level has.
	for i, p := range settings {
		n := 0
		for _, src := range fusedContents() {
			if amount == few {
				src = src[:min(len(src), 8_000)]
			}
			n++
			if amount == all || amount == some && n%4 == i%4 || n == i+1 {
				r := fusedRequest(src, 6, layouts[(i+n)%2])
				r.Params = &p
				add(r)
			}
		}
	}
	// Limits that the layouts do not have.
	for _, limits := range []lz77.Limits{
		{MinMatch: 8, MaxOffset: 64, Repeats: 1},
		{MinMatch: 5, MaxOffset: 1<<27 - 1},
		{MinMatch: 4, MaxOffset: 3000, Repeats: 2},
	} {
		r := fusedRequest(corpus.ByName("mixed").Make(20_000), 6, lzseq.Repeat)
		r.Limits = limits
		add(r)
	}
	return batch
}

// testFused compares the payloads of blocks.
func testFused(t *testing.T, d gpu.Device, amount amount) {
	require(t, d, gpu.Fused)
	batch := fusedBatch(d, amount)
	if len(batch) == 0 {
		t.Fatal("the device accepts no block")
	}
	limit := d.Info().Ops[gpu.Fused].Batch
	for from := 0; from < len(batch); from += limit {
		part := batch[from:min(from+limit, len(batch))]
		run(t, d, part)
		for i, r := range part {
			if want := fusedPayload(r); r.Err != nil || !bytes.Equal(r.Dst, want) {
				t.Errorf("request %d, layout %d, %+v, %d bytes: payload of %d bytes, want %d; error %v",
					from+i, r.Layout.ID, *r.Params, len(r.Src), len(r.Dst), len(want), r.Err)
			}
		}
	}
	if s, ok := d.(Stepper); ok {
		steps := 6
		if amount == few {
			steps = 1
		}
		for i := 0; i < len(batch); i += len(batch)/steps + 1 {
			checkSteps(t, s, batch[i])
		}
	}
}

// checkSteps compares the streams of a block.
func checkSteps(t *testing.T, d Stepper, r *gpu.Request) {
	t.Helper()
	got, err := d.Streams(r)
	if err != nil {
		t.Errorf("block of %d bytes: error %v", len(r.Src), err)
		return
	}
	want := new(lzseq.Streams)
	want.Encode(r.Layout, r.Src, parse(r))
	sameStreams(t, fmt.Sprintf("layout %d, %d bytes", r.Layout.ID, len(r.Src)), got, want)
}

// testHostileFused runs blocks that a device may refuse: too small, with a window, with other
// finders. It must not return wrong payloads for them, nor for other blocks of the batch.
func testHostileFused(t *testing.T, d gpu.Device) {
	require(t, d, gpu.Fused)
	src := corpus.ByName("text").Make(20_000)
	for _, change := range []func(r *gpu.Request){
		func(r *gpu.Request) { r.Src, r.Size = nil, 0 },
		func(r *gpu.Request) { r.Src, r.Size = src[:17], 17 },
		func(r *gpu.Request) { r.Window, r.Size = 100, len(src)-100 },
		func(r *gpu.Request) { r.Params = &lz77.Levels[1] },
		func(r *gpu.Request) { r.Params = &lz77.Levels[4] },
	} {
		good, odd := fusedRequest(src, 6, lzseq.Repeat), fusedRequest(src, 6, lzseq.Repeat)
		change(odd)
		run(t, d, []*gpu.Request{odd, good})
		if good.Err != nil || !bytes.Equal(good.Dst, fusedPayload(good)) {
			t.Errorf("wrong payload beside a block of %d bytes; error %v", len(odd.Src), good.Err)
		}
		if odd.Err == nil && odd.Window == 0 && !bytes.Equal(odd.Dst, fusedPayload(odd)) {
			t.Errorf("wrong payload for a block of %d bytes", len(odd.Src))
		}
		if accepted := d.Accepts(odd); accepted && odd.Err != nil {
			t.Errorf("Accepts is true for a block of %d bytes, which fails: %v", len(odd.Src), odd.Err)
		}
	}
}

package host

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
)

func fusedRequest(size int, l *lzseq.Layout) *gpu.Request {
	return &gpu.Request{
		Op: gpu.Fused, Src: make([]byte, size), Size: size,
		Params: &lz77.Levels[6], Limits: l.Limits, Layout: l,
	}
}

var layouts = []*lzseq.Layout{lzseq.Repeat, lzseq.Plain}

// answers is a driver whose submissions return sizes of payloads, and payloads in which byte i is
// i.
type answers struct {
	*fake
	sizes []uint32
	later []uint32 // if set, the sizes that submissions without kernels return
}

func (a *answers) Queue() (Queue, error) {
	_, err := a.fake.Queue()
	return &answering{fakeQueue{a.fake}, a}, err
}

type answering struct {
	fakeQueue
	a *answers
}

func (q *answering) Downloaded(f func([]byte)) error {
	p := make([]byte, q.submitted[len(q.submitted)-1].DownloadSize())
	for i := range p {
		p[i] = byte(i)
	}
	sizes := q.a.sizes
	if q.a.later != nil && len(q.submitted[len(q.submitted)-1].Kernels) == 0 {
		sizes = q.a.later
	}
	if len(p) == 0 {
		sizes = nil
	}
	for i, n := range sizes {
		binary.LittleEndian.PutUint32(p[16*i:], n)
	}
	f(p)
	return nil
}

// answerSize is the size of the blocks of tests with answers.
const answerSize = 40_000

// newAnswers returns a driver that answers and a device on it, which closes with the test.
func newAnswers(t *testing.T) (*answers, *Device) {
	t.Helper()
	a := &answers{fake: &fake{maxBuffer: 1 << 27, failsAt: -1}}
	d, err := New(a, Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return a, d
}

// TestFusedDownload checks that payloads need one submission if the last batch predicts their size,
// and else a second one without kernels.
func TestFusedDownload(t *testing.T) {
	a, d := newAnswers(t)
	for _, c := range []struct {
		sizes       []uint32
		submissions int
	}{
		{[]uint32{10_000, 10_001, 0}, 1},
		{[]uint32{30_003, 30_002, 30_001}, 2},
		{[]uint32{5, 6, 7}, 2},
		{[]uint32{5, 6, 7}, 1},
		{[]uint32{41_000, 50_000, 41_000}, 2},
	} {
		// Each slot predicts by its own batches.
		for range concurrent {
			a.sizes, a.submitted = c.sizes, nil
			batch := []*gpu.Request{
				fusedRequest(answerSize, lzseq.Repeat),
				fusedRequest(answerSize, lzseq.Plain),
				fusedRequest(answerSize, lzseq.Repeat),
			}
			if err := d.Run(gpu.Fused, batch); err != nil {
				t.Fatal(err)
			}
			n, last := a.downloads(), a.submitted[len(a.submitted)-1]
			if n > c.submissions || n == 2 && len(last.Kernels) > 0 {
				t.Errorf("sizes %v: %d submissions, want %d", c.sizes, n, c.submissions)
			}
			at := 16 * len(batch)
			for i, r := range batch {
				n := int(c.sizes[i])
				if n == 0 {
					if !errors.Is(r.Err, errUnfinished) {
						t.Errorf("block %d: error %v, want %v", i, r.Err, errUnfinished)
					}
					continue
				}
				want := make([]byte, n)
				for k := range want {
					want[k] = byte(at + k)
				}
				if r.Err != nil || !bytes.Equal(r.Dst, want) {
					t.Errorf("sizes %v, block %d: wrong payload of %d bytes; error %v",
						c.sizes, i, len(r.Dst), r.Err)
				}
				at += (n + 3) &^ 3
			}
		}
	}
}

// TestSplit checks that a submission has few runs of kernels that may take long, that the first one
// has the upload and all sizes of buffers, and that only the last one has downloads.
func TestSplit(t *testing.T) {
	a, d := newAnswers(t)
	a.sizes = []uint32{5}
	r := fusedRequest(1<<20, lzseq.Repeat)
	if err := d.Run(gpu.Fused, []*gpu.Request{r}); err != nil {
		t.Fatal(err)
	}
	parses, last := 0, len(a.submitted)-1
	var names []string
	for i, s := range a.submitted {
		long := 0
		for _, k := range s.Kernels {
			if k.Kernel == "fused_parse" {
				long += k.Times
			} else {
				names = append(names, k.Kernel)
			}
		}
		parses += long
		if long > longRuns {
			t.Errorf("submission %d: fused_parse %d times", i, long)
		}
		up, sizes, down := s.UploadSize > 0, len(s.Reserve) > 0, s.DownloadSize() > 0
		if up != (i == 0) || sizes != (i == 0) || down != (i == last) {
			t.Errorf("submission %d of %d: upload %v, sizes %v, downloads %v", i, last+1, up, sizes, down)
		}
	}
	want := 1 + turnsPerByte*longestSegment(1<<20)/fusedTurns
	if parses != want || last+1 != (want+longRuns-1)/longRuns {
		t.Errorf("%d runs of fused_parse in %d submissions, want %d", parses, last+1, want)
	}
	if n := len(names); names[0] != "match_hash" || names[n-1] != "fused_payload" {
		t.Errorf("kernels %v", names)
	}
}

// TestFusedSizes checks that payloads fail whose sizes exceed the output buffer, or differ between
// two downloads.
func TestFusedSizes(t *testing.T) {
	a, d := newAnswers(t)
	for _, sizes := range [][]uint32{{1 << 20, 5}, {0xffffffff, 5}, {5, 1<<30 - 1}, {1<<30 + 5, 5}} {
		a.sizes, a.submitted = sizes, nil
		batch := []*gpu.Request{
			fusedRequest(answerSize, lzseq.Repeat),
			fusedRequest(answerSize, lzseq.Repeat),
		}
		if err := d.Run(gpu.Fused, batch); err != nil {
			t.Fatal(err)
		}
		for _, r := range batch {
			if !errors.Is(r.Err, errResult) {
				t.Errorf("sizes %x: error %v, want %v", sizes, r.Err, errResult)
			}
		}
	}
	for _, later := range [][]uint32{
		{40_000, 50_000}, {0xffffffff, 40_000}, {1, 0xffffffff}, {0xffffffff, 0xffffffff},
	} {
		for range concurrent {
			a.sizes, a.later, a.submitted = []uint32{40_000, 40_000}, later, nil
			batch := []*gpu.Request{
				fusedRequest(answerSize, lzseq.Repeat),
				fusedRequest(answerSize, lzseq.Repeat),
			}
			if err := d.Run(gpu.Fused, batch); err != nil {
				t.Fatal(err)
			}
			wrong := errors.Is(batch[0].Err, errResult) || errors.Is(batch[1].Err, errResult)
			if wrong != (a.downloads() > 1) {
				t.Errorf("sizes %x: errors %v, %v after %d submissions",
					later, batch[0].Err, batch[1].Err, a.downloads())
			}
		}
	}
}

// TestFusedSubmissions checks that a batch is split where it exceeds the buffers.
func TestFusedSubmissions(t *testing.T) {
	for _, binding := range []uint64{MinBuffer, 1 << 27} {
		f := &fake{maxBuffer: binding, failsAt: -1}
		d, err := New(f, Config{})
		if err != nil {
			t.Fatal(err)
		}
		var batch []*gpu.Request
		for i := range 12 {
			size := []int{minFused, 3 << 20, 1 << 20, 100_001}[i%4]
			batch = append(batch, fusedRequest(size, layouts[i%2]))
			if !d.Accepts(batch[i]) {
				t.Errorf("Accepts is false for %d bytes with buffers of %d", batch[i].Size, binding)
			}
		}
		if err := d.Run(gpu.Fused, batch); err != nil {
			t.Fatal(err)
		}
		if n := f.downloads(); (n > 1) != (binding == MinBuffer) {
			t.Errorf("%d submissions with buffers of %d bytes", n, binding)
		}
		for _, s := range f.submitted {
			if s.UploadSize > binding || s.DownloadSize() > binding {
				t.Errorf("upload of %d bytes, download of %d; the limit is %d",
					s.UploadSize, s.DownloadSize(), binding)
			}
			for _, r := range s.Reserve {
				if r.Size > binding {
					t.Errorf("buffer %d has %d bytes; the limit is %d", r.Buffer, r.Size, binding)
				}
			}
		}
		large := fusedRequest(int(min(binding/4+1, maxFused+1)), lzseq.Repeat)
		if d.Accepts(large) || d.Run(gpu.Fused, []*gpu.Request{large}) != nil ||
			!errors.Is(large.Err, ErrTooLarge) {
			t.Errorf("block of %d bytes: error %v, want %v", large.Size, large.Err, ErrTooLarge)
		}
		d.Close()
	}
}

// TestFusedBatches checks that the largest batch of any block size is one submission.
func TestFusedBatches(t *testing.T) {
	for _, binding := range []uint64{MinBuffer, 1 << 26, 1 << 27, 1 << 31} {
		f := &fake{maxBuffer: binding, failsAt: -1}
		d, err := New(f, Config{})
		if err != nil {
			t.Fatal(err)
		}
		limits := d.Info().Ops[gpu.Fused]
		if binding >= 1<<27 && limits.Bytes < 4*maxFused {
			t.Errorf("Limits.Bytes is %d with buffers of %d", limits.Bytes, binding)
		}
		for _, size := range []int{
			minFused, minFused + 1, 19_999, 64 << 10, 300_001, 1 << 20, 3<<20 + 1, maxFused,
		} {
			if !d.Accepts(fusedRequest(size, lzseq.Plain)) {
				if binding > MinBuffer {
					t.Errorf("Accepts is false for %d bytes with buffers of %d", size, binding)
				}
				continue
			}
			var batch []*gpu.Request
			for n := 0; len(batch) < limits.Batch && (n == 0 || n+size <= limits.Bytes); n += size {
				batch = append(batch, fusedRequest(size, layouts[len(batch)%2]))
			}
			f.submitted = nil
			if err := d.Run(gpu.Fused, batch); err != nil {
				t.Fatal(err)
			}
			if f.downloads() != 1 {
				t.Errorf("%d blocks of %d bytes, buffers of %d: %d submissions, want 1",
					len(batch), size, binding, f.downloads())
			}
		}
		d.Close()
	}
}

// TestFusedRefused checks which requests the device refuses.
func TestFusedRefused(t *testing.T) {
	d, err := New(&fake{maxBuffer: 1 << 27, failsAt: -1}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if !d.Accepts(fusedRequest(maxFused, lzseq.Plain)) {
		t.Error("Accepts is false for the greatest block")
	}
	lazier := lz77.Levels[6]
	lazier.Lazy = 3
	for name, change := range map[string]func(r *gpu.Request){
		"small":     func(r *gpu.Request) { r.Src = r.Src[:minFused-1] },
		"window":    func(r *gpu.Request) { r.Window = 1 },
		"no layout": func(r *gpu.Request) { r.Layout = nil },
		"no params": func(r *gpu.Request) { r.Params = nil },
		"finder":    func(r *gpu.Request) { r.Params = &lz77.Levels[4] },
		"lazier":    func(r *gpu.Request) { r.Params = &lazier },
		"large":     func(r *gpu.Request) { r.Src = make([]byte, maxFused+1) },
	} {
		r := fusedRequest(20_000, lzseq.Repeat)
		change(r)
		if d.Accepts(r) {
			t.Errorf("%s: Accepts is true", name)
		}
	}
}

// TestFusedLayout checks that the parts of blocks do not overlap, and end within the buffers.
func TestFusedLayout(t *testing.T) {
	var blocks []matchJob
	used, groups := fusedUsage{plan: headWords}, uint32(0)
	for i, size := range []int{minFused, 65_552, 65_553, 1 << 20, 17_000} {
		r := fusedRequest(size, layouts[i%2])
		blocks = append(blocks, matchJob{r: r, tiles: size/tileSize + 1})
		used.addBlock(size, 6-r.Layout.Stored, size/tileSize+1)
		groups += blockGroups(size)
	}
	p := make([]byte, 4*fusedWords*len(blocks))
	segments := headWords + encGroupWords*groups
	packFused(&packer{p: p}, blocks, segments, groups)
	word := func(i, k int) uint32 { return binary.LittleEndian.Uint32(p[4*(fusedWords*i+k):]) }
	type span struct{ from, to uint32 }
	var streams, seqs, state, plan, words []span
	for i := range blocks {
		if first, want := word(i, 32), word(max(i, 1)-1, 32)+word(max(i, 1)-1, 33); i > 0 && first != want {
			t.Errorf("the first lane group of block %d is %d, want %d", i, first, want)
		}
		size := len(blocks[i].r.Src)
		if first, n := word(max(i, 1)-1, 34), word(max(i, 1)-1, 35); i > 0 && word(i, 34) != first+n {
			t.Errorf("the first segment of block %d is %d, want %d", i, word(i, 34), first+n)
		}
		const entries = finder.SegmentSize/4 + 2
		before := int(word(i, 35)) - 1
		if left := size - before*finder.SegmentSize; left <= finder.Tail || before < 0 ||
			left > longestSegment(size) || int(word(i, 8)) < before*entries+left/4+2 {
			t.Errorf("block %d of %d bytes has %d segments and %d entries", i, size, before+1, word(i, 8))
		}
		for k, m := range lzseq.Repeat.MaxSizes(size) {
			stream := span{word(i, k), word(i, k+1)}
			streams = append(streams, stream)
			if 4*(stream.to-stream.from) < uint32(m) {
				t.Errorf("stream %d of block %d has the words %v for %d bytes", k, i, stream, m)
			}
			if from, to := word(i, 15+k), word(i, 16+k); to > from {
				plan = append(plan, span{segments + from*segmentWords, segments + to*segmentWords})
			}
		}
		seqs = append(seqs, span{word(i, 7), word(i, 7) + word(i, 8)})
		state = append(state, span{word(i, 14), word(i, 14) + blockState(size)})
		words = append(words, span{word(i, 26), word(i, 27)})
		plan = append(plan,
			span{word(i, 22), word(i, 22) + word(i, 23)},
			span{word(i, 24), word(i, 24) + 4*word(i, 25)},
			span{word(i, 28), word(i, 28) + 4*word(i, 29)},
			span{word(i, 30), word(i, 30) + planHeadWords + planGroupWords*word(i, 33)})
	}
	for name, c := range map[string]struct {
		list  []span
		first uint32
		end   uint32
	}{
		"streams": {streams, 0, used.streams},
		"seqs":    {seqs, 0, used.seqs},
		"state":   {state, 0, used.state},
		"plan":    {plan, segments, used.plan},
		"words":   {words, encResultWords * groups, used.words},
	} {
		for i, a := range c.list {
			if a.from >= a.to || a.from < c.first || a.to > c.end {
				t.Errorf("%s: part %v is outside of %v", name, a, c)
			}
			for _, b := range c.list[:i] {
				if a.from < b.to && b.from < a.to {
					t.Errorf("%s: parts %v and %v overlap", name, a, b)
				}
			}
		}
	}
}

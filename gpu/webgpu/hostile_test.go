//go:build webgpu && cgo

package webgpu

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
	"github.com/gopz/compress/rans"
)

// cpuDecode says what the CPU makes of a payload.
func cpuDecode(src []byte, size int) (*lzseq.Streams, error) {
	if len(src) == 0 || lzseq.LayoutByID(src[0]) == nil {
		return nil, errCorrupt
	}
	s := new(lzseq.Streams)
	var d rans.Decoder
	streams, limits := s.All(), lzseq.MaxSizes(size)
	rest, err := d.Decode(src[1:], limits[:], streams[:]...)
	if err == nil && len(rest) != 0 {
		err = errCorrupt
	}
	return s, err
}

// TestHostileDecode: of payloads that are damaged the device says what the CPU says, and neither hangs nor faults; those beside them in the
// batch are not touched.
func TestHostileDecode(t *testing.T) {
	d := device(t)
	r := rand.New(rand.NewPCG(6, 1))
	src := corpus.ByName("mixed").Make(60_000)
	good := payload(lzseq.Repeat, testStreams(lzseq.Repeat, src, 1))
	want, err := cpuDecode(good, len(src))
	if err != nil {
		t.Fatal(err)
	}
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	failed, kernel := 0, 0
	for range rounds {
		var batch []*gpu.Request
		for i := range entropyBatch {
			bad := bytes.Clone(good)
			switch {
			case i%8 == 0: // a good one
			case i%8 == 1:
				bad = bad[:r.IntN(len(bad))]
			case i%8 == 2:
				at := r.IntN(len(bad))
				for k := range bad[at:] {
					bad[at+k] = byte(r.Uint32())
				}
			case i%2 == 0: // heads, tables, states
				bad[r.IntN(600)] ^= 1 << r.IntN(8)
			default:
				for range 1 + r.IntN(3) {
					bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
				}
			}
			batch = append(batch, &gpu.Request{Op: gpu.StageN, Decode: true, Size: len(src), Src: bad, Streams: new(lzseq.Streams)})
		}
		if err := d.Run(gpu.StageN, batch); err != nil {
			t.Fatal(err)
		}
		for i, q := range batch {
			streams, err := cpuDecode(q.Src, q.Size)
			switch {
			case (err != nil) != (q.Err != nil):
				t.Errorf("request %d: the CPU says %v, the device %v", i, err, q.Err)
			case err != nil:
				failed++
				if errors.Is(q.Err, errCorrupt) {
					kernel++
				}
			default:
				sameStreams(t, "intact", q.Streams, streams)
			}
			if i%8 == 0 {
				sameStreams(t, "good", q.Streams, want)
			}
		}
	}
	if failed < rounds*entropyBatch/2 || kernel < rounds*4 {
		t.Errorf("%d failed, %d of them in the kernel", failed, kernel)
	}
}

// TestHostileWork gives the kernel words and states that no stream has: whatever they are, it ends, and what it writes stays in its place.
func TestHostileWork(t *testing.T) {
	d := device(t)
	s := <-d.slots
	defer func() { d.slots <- s }()
	r := rand.New(rand.NewPCG(6, 2))
	var freq [256]uint16
	freq[3], freq[200], freq[255] = 2000, 47, 1
	var jobs []job
	for i := range 40 {
		w := &rans.Work{Tables: []*[256]uint16{&freq}, Groups: make([]rans.Group, 1)}
		g := &w.Groups[0]
		for l := range g.States {
			g.States[l] = rans.Lower + r.Uint32N(1<<31-rans.Lower)
		}
		g.Words = make([]byte, 2*r.IntN(3)*i)
		for k := range g.Words {
			g.Words[k] = byte(r.Uint32())
		}
		data := make([]byte, 1+r.IntN(3000))
		g.Parts, g.Symbols = []rans.Part{{Data: data}}, len(data)
		jobs = append(jobs, job{r: new(gpu.Request), w: w, in: tableWords + words(len(g.Words)) + partWords, out: words(len(data))})
	}
	if err := s.decode(jobs); err != nil {
		t.Fatal(err)
	}
	for i, j := range jobs {
		if j.r.Err == nil {
			t.Errorf("job %d passed", i)
		}
		for _, c := range j.w.Groups[0].Parts[0].Data {
			if freq[c] == 0 {
				t.Fatalf("job %d: symbol %d, which has no slot", i, c)
			}
		}
	}
}

// TestLongLoops: where a driver leaves loops after so many turns, as llvmpipe does, nothing wrong comes of it.
func TestLongLoops(t *testing.T) {
	d, err := open(0)
	if err != nil {
		need(t, err)
	}
	defer d.Close()
	src := corpus.ByName("text").Make(5 << 20) // 80,000 rounds a group
	streams := &lzseq.Streams{Lits: src}
	code := payload(lzseq.Repeat, streams)
	for _, loops := range []int{d.loops, 0} { // as it is set, and without that
		d.loops = loops
		encode := &gpu.Request{Op: gpu.StageN, Size: len(src), Layout: lzseq.Repeat, Streams: streams}
		decode := &gpu.Request{Op: gpu.StageN, Decode: true, Size: len(src), Src: code, Streams: new(lzseq.Streams)}
		for _, r := range []*gpu.Request{encode, decode} {
			if err := d.Run(gpu.StageN, []*gpu.Request{r}); err != nil {
				t.Fatal(err)
			}
			t.Logf("at most %d loops: %v", loops, r.Err)
			if loops > 0 && !errors.Is(r.Err, errTooLarge) || loops == 0 && d.adapter.Kind != Software && r.Err != nil {
				t.Errorf("at most %d loops: %v", loops, r.Err)
			}
		}
		if encode.Err == nil && !bytes.Equal(encode.Dst, code) {
			t.Error("another payload")
		}
		if decode.Err == nil && !bytes.Equal(decode.Streams.Lits, src) {
			t.Error("other symbols")
		}
	}
}

// TestLost plays the loss of the device in the middle of its work.
func TestLost(t *testing.T) {
	d, err := open(0)
	if err != nil {
		need(t, err)
	}
	defer d.Close()
	lost := errors.New("lost")
	left := 1
	d.fault = func() error {
		if left--; left < 0 {
			return lost
		}
		return nil
	}
	text := corpus.ByName("text").Make(40_000)
	encode := &gpu.Request{Op: gpu.StageN, Size: len(text), Layout: lzseq.Repeat, Streams: &lzseq.Streams{Lits: text}}
	// The second submission fetches the words.
	if err := d.Run(gpu.StageN, []*gpu.Request{encode}); !errors.Is(err, lost) {
		t.Error(err)
	}
	if err := d.Run(gpu.Stage0, []*gpu.Request{matchRequest(text, 0, 6, lzseq.Repeat.Limits)}); !errors.Is(err, lost) {
		t.Error(err)
	}
	// The slots are in order again for a device that comes back.
	left = 100
	for range 3 {
		if err := d.Run(gpu.StageN, []*gpu.Request{encode}); err != nil || !bytes.Equal(encode.Dst, payload(lzseq.Repeat, encode.Streams)) {
			t.Error(err)
		}
	}
}

// TestManyAtOnce runs batches of all kinds at the same time, and closes the device in the middle of others.
func TestManyAtOnce(t *testing.T) {
	d, err := open(0)
	if err != nil {
		need(t, err)
	}
	defer d.Close()
	text := corpus.ByName("text").Make(50_000)
	streams := &lzseq.Streams{Lits: text}
	code := payload(lzseq.Repeat, streams)
	var m lz77.Matcher
	seqs := m.Parse(nil, text, &lz77.Levels[6], lzseq.Repeat.Limits)
	one := func(i int) error {
		switch i % 3 {
		case 0:
			r := &gpu.Request{Op: gpu.StageN, Size: len(text), Layout: lzseq.Repeat, Streams: streams}
			if err := d.Run(gpu.StageN, []*gpu.Request{r}); err != nil || !bytes.Equal(r.Dst, code) {
				return errors.Join(errors.New("encode"), err)
			}
		case 1:
			r := &gpu.Request{Op: gpu.StageN, Decode: true, Size: len(text), Src: code, Streams: new(lzseq.Streams)}
			if err := d.Run(gpu.StageN, []*gpu.Request{r}); err != nil || r.Err != nil || !bytes.Equal(r.Streams.Lits, text) {
				return errors.Join(errors.New("decode"), err, r.Err)
			}
		case 2:
			r := matchRequest(text, 0, 6, lzseq.Repeat.Limits)
			if err := d.Run(gpu.Stage0, []*gpu.Request{r}); err != nil || r.Err != nil || !slices.Equal(r.Seqs, seqs) {
				return errors.Join(errors.New("match"), err, r.Err)
			}
		}
		return nil
	}
	var wg sync.WaitGroup
	for k := range 3 {
		wg.Go(func() {
			for i := range 6 {
				if err := one(i + k); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for range 3 {
		wg.Go(func() {
			for i := 0; ; i++ {
				if err := one(i); err != nil {
					if !errors.Is(err, errClosed) {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	time.Sleep(20 * time.Millisecond)
	d.Close()
	wg.Wait()
	if err := d.Run(gpu.StageN, nil); !errors.Is(err, errClosed) {
		t.Error(err)
	}
}

func TestUnknown(t *testing.T) {
	d := device(t)
	if err := d.Run(gpu.Fused, []*gpu.Request{{Op: gpu.Fused}}); err == nil {
		t.Error("Fused is done")
	}
	for _, r := range []*gpu.Request{
		{Op: gpu.Fused, Params: &lz77.Levels[6]},
		{Op: gpu.Stage0, Params: &lz77.Levels[1]},
		{Op: gpu.Stage0, Params: &lz77.Levels[6], Src: make([]byte, maxMatch+1)},
	} {
		if d.Accepts(r) {
			t.Errorf("%v is accepted", r.Op)
		}
	}
	if _, err := Open(99); err == nil {
		t.Error("there are 100 GPUs")
	}
	if info := d.Info(); info.Name == "" || info.Ops[gpu.Fused].Batch != 0 {
		t.Errorf("%+v", info)
	}
}

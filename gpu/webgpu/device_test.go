//go:build webgpu && cgo

package webgpu

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/cogentcore/webgpu/wgpu"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
	"github.com/gopz/compress/rans"
)

var shared struct {
	once sync.Once
	d    *Device
	err  error
}

// device returns the device that the tests share: the best one, or the one whose number is in PZ_GPU.
func device(t testing.TB) *Device {
	t.Helper()
	shared.once.Do(func() {
		n := 0
		if v := os.Getenv("PZ_GPU"); v != "" {
			if _, shared.err = fmt.Sscan(v, &n); shared.err != nil {
				return
			}
		}
		shared.d, shared.err = open(n)
	})
	if shared.err != nil {
		need(t, shared.err)
	}
	return shared.d
}

// need skips a test for want of a GPU. Where CI is set there must be one, if only in software.
func need(t testing.TB, err error) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf("%v; on Debian and Ubuntu: apt-get install mesa-vulkan-drivers libvulkan1", err)
	}
	t.Skip(err)
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.d != nil {
		shared.d.Close()
	}
	os.Exit(code)
}

// The bridge takes the binding's pointers from these places.
func TestLayout(t *testing.T) {
	if unsafe.Sizeof(wgpu.Instance{}) != unsafe.Sizeof(bindingInstance{}) || unsafe.Sizeof(wgpu.CommandEncoder{}) != unsafe.Sizeof(bindingEncoder{}) || unsafe.Sizeof(wgpu.Device{}) != unsafe.Sizeof(bindingDevice{}) || unsafe.Sizeof(wgpu.Buffer{}) != unsafe.Sizeof(bindingBuffer{}) {
		t.Fatal("the binding's types have changed")
	}
	d := device(t)
	err := d.locked(func() error {
		b, err := d.dev.CreateBuffer(&wgpu.BufferDescriptor{Usage: wgpu.BufferUsageCopyDst, Size: 16})
		if err != nil {
			return err
		}
		defer b.Release()
		if own := (*bindingBuffer)(unsafe.Pointer(b)); own.device != (*bindingDevice)(unsafe.Pointer(d.dev)).ref || own.ref == nil {
			t.Error("the binding's buffers have changed")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// What the device complains about is an error, and not the end of the program.
func TestComplaints(t *testing.T) {
	d := device(t)
	err := d.locked(func() error {
		_, err := d.dev.CreateBuffer(&wgpu.BufferDescriptor{Usage: wgpu.BufferUsageCopyDst, Size: 1 << 50})
		return err
	})
	if err == nil {
		t.Error("a buffer of 1 PiB")
	}
	s := <-d.slots
	defer func() { d.slots <- s }()
	var b buffer
	if err := d.locked(func() error { return s.room(&b, d.binding+1) }); err == nil || !strings.Contains(err.Error(), "do not fit") {
		t.Error(err)
	}
}

// testStreams are the streams of a block of a kind.
func testStreams(l *lzseq.Layout, src []byte, level int) *lzseq.Streams {
	var m lz77.Matcher
	s := new(lzseq.Streams)
	s.Encode(l, src, m.Parse(nil, src, &lz77.Levels[level], l.Limits))
	return s
}

// payload is what the CPU codes them to.
func payload(l *lzseq.Layout, s *lzseq.Streams) []byte {
	var e rans.Encoder
	var streams [6][]byte
	for i, p := range s.All() {
		streams[i] = *p
	}
	return e.Append([]byte{l.ID}, l.Stored, streams[:]...)
}

func sameStreams(t *testing.T, name string, got, want *lzseq.Streams) {
	t.Helper()
	b := want.All()
	for i, p := range got.All() {
		if !bytes.Equal(*p, *b[i]) {
			t.Errorf("%s: stream %d of %d bytes differs", name, i, len(*b[i]))
		}
		if cap(*p) < len(*p)+rans.Slack {
			t.Errorf("%s: stream %d has no slack", name, i)
		}
	}
}

type entropyCase struct {
	name    string
	layout  *lzseq.Layout
	streams *lzseq.Streams
	size    int
}

// entropyCases are blocks of all kinds, and streams with as many symbols as it takes for the edges of groups, rounds and words.
func entropyCases(t testing.TB) (cases []entropyCase) {
	for i, k := range corpus.Kinds() {
		l := lzseq.Repeat
		if i%2 == 0 {
			l = lzseq.Plain
		}
		src := k.Make(60_000 + 777*i)
		cases = append(cases, entropyCase{k.Name, l, testStreams(l, src, 1), len(src)})
	}
	text := corpus.ByName("text").Make(40_000)
	for _, n := range []int{16383, 16384, 16385, 16384 + 31, 16384 + 32, 16384 + 33, 20000, 32768 + 64, 40000} {
		s := &lzseq.Streams{Lits: text[:n]}
		cases = append(cases, entropyCase{fmt.Sprintf("%d literals", n), lzseq.Repeat, s, n})
	}
	// Two kinds of symbols: next to no words.
	rare := make([]byte, 70_000)
	for i := 0; i < len(rare); i += 4000 {
		rare[i] = 1
	}
	cases = append(cases, entropyCase{"rare", lzseq.Repeat, &lzseq.Streams{Lits: rare}, len(rare)})
	return append(cases, entropyCase{"empty", lzseq.Repeat, new(lzseq.Streams), 100})
}

func TestEncodeDecode(t *testing.T) {
	d := device(t)
	cases := entropyCases(t)
	for _, n := range []int{len(cases), 1, 5} { // twice with used buffers, and streams of earlier blocks
		for from := 0; from < len(cases); from += n {
			part := cases[from:min(from+n, len(cases))]
			if testing.Short() && n == 1 && from%4 != 0 {
				continue
			}
			var encode, decode []*gpu.Request
			for _, c := range part {
				encode = append(encode, &gpu.Request{Op: gpu.StageN, Size: c.size, Layout: c.layout, Streams: c.streams, Dst: []byte("old")})
			}
			if err := d.Run(gpu.StageN, encode); err != nil {
				t.Fatal(err)
			}
			for i, c := range part {
				want := payload(c.layout, c.streams)
				if encode[i].Err != nil || !bytes.Equal(encode[i].Dst, want) {
					t.Errorf("%s: payload differs: %v", c.name, encode[i].Err)
				}
				decode = append(decode, &gpu.Request{Op: gpu.StageN, Decode: true, Size: c.size, Src: want, Streams: new(lzseq.Streams)})
			}
			if err := d.Run(gpu.StageN, decode); err != nil {
				t.Fatal(err)
			}
			for i, c := range part {
				if r := decode[i]; r.Err != nil || r.Layout != c.layout {
					t.Errorf("%s: %v", c.name, r.Err)
				} else {
					sameStreams(t, c.name, r.Streams, c.streams)
				}
			}
		}
	}
}

// matchRequest asks for the sequences of a block.
func matchRequest(src []byte, window, level int, limits lz77.Limits) *gpu.Request {
	return &gpu.Request{Op: gpu.Stage0, Size: len(src) - window, Src: src, Window: window, Params: &lz77.Levels[level], Limits: limits}
}

func TestMatch(t *testing.T) {
	d := device(t)
	deflate := lz77.Limits{MinMatch: 4, MaxOffset: 32768 - 300}
	var batch []*gpu.Request
	for i, k := range corpus.Kinds() {
		if testing.Short() && i%3 != 0 {
			continue
		}
		l := []lz77.Limits{lzseq.Repeat.Limits, lzseq.Plain.Limits, deflate}[i%3]
		batch = append(batch, matchRequest(k.Make(20_000+100*i), i%3*1000, 5+i%5, l))
	}
	src := corpus.ByName("mixed").Make(30_000)
	for _, n := range []int{0, 1, 15, 16, 17, 18, 23, 40, 2048 + 15, 2048 + 16, 2048 + 17, 4096 + 16, 30_000} {
		batch = append(batch, matchRequest(src[:n], 0, 6, lzseq.Repeat.Limits))
	}
	batch = append(batch, matchRequest(src, len(src)-15, 6, deflate), matchRequest(src, len(src)-16, 6, deflate), matchRequest(src, 29_000, 9, deflate))
	for _, n := range []int{matchBatch, 1} {
		if testing.Short() && n == 1 {
			break
		}
		for from := 0; from < len(batch); from += n {
			part := batch[from:min(from+n, len(batch))]
			for _, r := range part {
				r.Seqs = append(r.Seqs[:0], lz77.Sequence{LitLen: 1})
			}
			if err := d.Run(gpu.Stage0, part); err != nil {
				t.Fatal(err)
			}
			for i, r := range part {
				var m lz77.Matcher
				want := m.ParseFrom(nil, r.Src, r.Window, r.Params, r.Limits)
				if r.Err != nil || !slices.Equal(r.Seqs, want) {
					t.Errorf("request %d, %d bytes: %d sequences, want %d: %v", from+i, len(r.Src), len(r.Seqs), len(want), r.Err)
				}
			}
		}
	}
}

// TestAllocs: a larger batch allocates no more than a smaller one, once buffers have grown.
func TestAllocs(t *testing.T) {
	d := device(t)
	src := corpus.ByName("text").Make(60_000)
	streams := &lzseq.Streams{Lits: src}
	code := payload(lzseq.Repeat, streams)
	for name, ask := range map[string]func() *gpu.Request{
		"encode": func() *gpu.Request {
			return &gpu.Request{Op: gpu.StageN, Size: len(src), Layout: lzseq.Repeat, Streams: streams}
		},
		"decode": func() *gpu.Request {
			return &gpu.Request{Op: gpu.StageN, Decode: true, Size: len(src), Src: code, Streams: new(lzseq.Streams)}
		},
		"match": func() *gpu.Request { return matchRequest(src[:20_000], 0, 5, lzseq.Repeat.Limits) },
	} {
		var batch []*gpu.Request
		for range 9 {
			batch = append(batch, ask())
		}
		count := func(n int) float64 {
			return testing.AllocsPerRun(3, func() {
				for range concurrent { // all slots
					if err := d.Run(batch[0].Op, batch[:n]); err != nil {
						t.Fatal(err)
					}
				}
			}) / concurrent
		}
		count(9)
		few, many := count(1), count(9)
		t.Logf("%s: %.0f allocations for 1 block, %.0f for 9", name, few, many)
		// Parsing takes a goroutine or two.
		if many > few+8 {
			t.Errorf("%s: %.0f allocations for 1 block, %.0f for 9", name, few, many)
		}
	}
}

package inflate

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/simd"
)

// behind makes a stream whose matches refer to a window in front of the content.
func behind(t testing.TB, window, content []byte, level int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriterDict(&b, level, window)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(content)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A stream may begin with matches that refer to its window. It begins behind the first skip bits of
// src.
type stream struct {
	window, src []byte
	skip        uint
}

// streams returns streams of all kinds of content, with windows of all sizes.
func streams(t testing.TB, r *rand.Rand, size int) (list []stream) {
	for _, k := range corpus.Kinds() {
		content := k.Make(WindowSize + size)
		for _, level := range []int{1, 9, flate.HuffmanOnly} {
			window := content[r.IntN(2)*r.IntN(WindowSize) : WindowSize]
			list = append(list, stream{window, behind(t, window, content[WindowSize:], level), 0})
		}
	}
	for n := range 30 {
		content := text(WindowSize)
		list = append(list, stream{content, randomBehind(r, 100*n+1, content), 0})
	}
	return append(list, stream{src: standard(t, text(size), 6)}, stream{src: random(r, 1000)})
}

// A twins decodes the same stream with two Decoders: one knows the window, the other one begins
// without it. The ends of its memory may be guarded.
type twins struct {
	t              testing.TB
	room, unknowns []byte // of content and of symbols
	input          []byte
	sizes          func() (chunk, space int) // of the next call
	change         int                       // calls with symbols; then the second Decoder knows the window
	stop           bool                      // StopAtBlock
	symbols        int                       // result: how many symbols named bytes of the window
}

// decode compares the results of all calls, and the states of the Decoders after them. It returns
// the content and the last error.
func (w *twins) decode(s stream) ([]byte, error) {
	d, e := Decoder{StopAtBlock: w.stop}, Decoder{StopAtBlock: w.stop}
	src := s.src
	if s.skip > 0 {
		d.ResetAt(src[0], s.skip)
		e.ResetAt(src[0], s.skip)
		src = src[1:]
	}
	var window [WindowSize]byte
	copy(window[WindowSize-len(s.window):], s.window)
	all := make([]uint16, WindowSize)
	UnknownWindow(all)
	all = all[WindowSize-len(s.window):]
	content := bytes.Clone(s.window)
	room := (*uint16)(unsafe.Pointer(unsafe.SliceData(w.unknowns)))
	unknowns := unsafe.Slice(room, len(w.unknowns)/2)
	for call := 0; ; call++ {
		chunk, space := w.sizes()
		chunk, space = min(chunk, len(src), len(w.input)), min(space, len(w.room)-WindowSize)
		at := min(len(content), WindowSize)
		dst := w.room[len(w.room)-at-space:]
		copy(dst, content[len(content)-at:])
		p := w.input[len(w.input)-chunk:]
		copy(p, src)
		n, used, err := d.Decode(dst, at, p)

		var m, taken int
		var wrong error
		if call < w.change {
			dst := unknowns[len(unknowns)-at-space:]
			copy(dst, all[len(all)-at:])
			m, taken, wrong = e.DecodeSymbols(dst, at, p)
			all = append(all, dst[at:at+m]...)
		} else {
			dst := make([]byte, at+space)
			Resolve(dst[:at], all[len(all)-at:], &window)
			m, taken, wrong = e.Decode(dst, at, p)
			for _, c := range dst[at : at+m] {
				all = append(all, uint16(c))
			}
		}
		if got, want := fmt.Sprint(m, taken, wrong, e.phase, e.bits, e.count),
			fmt.Sprint(n, used, err, d.phase, d.bits, d.count); got != want {
			w.t.Fatalf("call %d: %s, want %s", call, got, want)
		}
		content = append(content, dst[at:at+n]...)
		got, symbols := make([]byte, n), all[len(all)-n:]
		Resolve(got, symbols, &window)
		if !bytes.Equal(got, content[len(content)-n:]) {
			w.t.Fatalf("call %d: %d bytes of content differ", call, n)
		}
		for _, s := range symbols {
			if s >= firstUnknown {
				w.symbols++
			}
		}
		src = src[used:]
		if err != nil && err != ErrBlock || err == nil && len(src) == 0 && n < space {
			return content[len(s.window):], err
		}
	}
}

// newTwins returns twins with guarded memory.
func newTwins(t *testing.T, size int) *twins {
	return &twins{
		t: t, room: testenv.Guarded(t, WindowSize+size), unknowns: testenv.Guarded(t, 2*(WindowSize+size)),
		input: testenv.Guarded(t, size),
	}
}

// TestSymbols decodes good and damaged streams with and without their window, with each tier of
// kernels, in pieces of any size.
func TestSymbols(t *testing.T) {
	rounds := 1000
	switch {
	case testenv.All():
		rounds = 50_000
	case testing.Short() || testenv.Race || testenv.Emulated():
		rounds = 60
	}
	r := rand.New(rand.NewPCG(9, 10))
	list := streams(t, r, 30_000)
	w := newTwins(t, 100_000)
	for _, tier := range simd.Tiers() {
		t.Run(tier, func(t *testing.T) {
			defer simd.SetTier(simd.SetTier(tier))
			w.t = t
			for i := range rounds {
				s := list[i%len(list)]
				if i >= 2*len(list) {
					s.src = mutate(r, bytes.Clone(s.src))
				}
				chunk, space := len(s.src), 100_000
				if i%2 > 0 {
					chunk, space = 1+r.IntN(2000), 1+r.IntN(5000)
				}
				w.sizes = func() (int, int) { return chunk, space }
				w.change = r.IntN(1 + r.IntN(20))
				if i%4 < 2 {
					w.change = 1 << 30
				}
				w.decode(s)
			}
			if w.symbols == 0 {
				t.Error("no symbol names a byte of the window")
			}
		})
	}
}

// TestSymbolsSplits changes over to bytes before each call, with calls of all sizes.
func TestSymbolsSplits(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	content := text(1300)
	window, content := content[:1000], content[1000:]
	step := 1
	if testing.Short() || testenv.Race {
		step = 9
	}
	w := newTwins(t, 1000)
	for _, src := range [][]byte{
		behind(t, window, content, 6), behind(t, window, content, flate.HuffmanOnly),
		behind(t, window, content[:100], flate.NoCompression), randomBehind(r, 60, window),
	} {
		for size := 1; size < 20; size += 1 + size/2 {
			for w.change = 0; w.change < 30; w.change += step + size/3 {
				w.sizes = func() (int, int) { return size, 1000 }
				w.decode(stream{window, src, 0})
				w.sizes = func() (int, int) { return 1000, size }
				w.decode(stream{window, src, 0})
			}
		}
	}
}

// TestSymbolsMiddle begins in the middle of streams, at the ends of their blocks.
func TestSymbolsMiddle(t *testing.T) {
	size, most := 200_000, 5
	if testing.Short() || testenv.Race {
		size, most = 70_000, 1
	}
	r := rand.New(rand.NewPCG(15, 16))
	w := newTwins(t, size)
	for _, k := range corpus.Kinds() {
		content := k.Make(size)
		for _, src := range [][]byte{
			standard(t, content, 6), flushed(t, content, 6, size/5),
		} {
			d := Decoder{StopAtBlock: true}
			stops := whole(t, &d, src).stops
			for i := 0; i < len(stops); i += 1 + len(stops)/most {
				s := stops[i]
				chunk := 1 + len(src)>>r.IntN(8)
				w.sizes = func() (int, int) { return chunk, size }
				w.stop, w.change = i%2 > 0, r.IntN(30)
				got, err := w.decode(stream{
					content[max(0, s.content-WindowSize):s.content], src[s.bit>>3:], uint(s.bit & 7),
				})
				if err != io.EOF || !bytes.Equal(got, content[s.content:]) {
					t.Fatalf("%s, from bit %d: %d bytes, want %d; %v", k.Name, s.bit, len(got),
						size-s.content, err)
				}
			}
		}
	}
}

func TestUnknownWindow(t *testing.T) {
	symbols := make([]uint16, WindowSize+100)
	UnknownWindow(symbols)
	if !Known(symbols[WindowSize:]) {
		t.Error("writes behind the window")
	}
	window := [WindowSize]byte(text(WindowSize))
	got := make([]byte, WindowSize)
	Resolve(got, symbols[:WindowSize], &window)
	if !bytes.Equal(got, window[:]) {
		t.Error("the unknown window does not resolve to the window")
	}
}

// TestResolve resolves random symbols, and asks whether they are known.
func TestResolve(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	window := [WindowSize]byte(text(WindowSize))
	rounds := 2000
	if testenv.Race || testenv.Emulated() {
		rounds = 200
	}
	for _, tier := range simd.Tiers() {
		t.Run(tier, func(t *testing.T) {
			defer simd.SetTier(simd.SetTier(tier))
			for range rounds {
				n := r.IntN(1 + r.IntN(10_000))
				rare := 1 + r.IntN(1+r.IntN(5000))
				symbols, want := make([]uint16, n), make([]byte, n)
				known := true
				for i := range symbols {
					symbols[i] = uint16(r.IntN(256))
					want[i] = byte(symbols[i])
					if r.IntN(rare) == 0 {
						k := r.IntN(WindowSize)
						symbols[i], want[i] = firstUnknown+uint16(k), window[k]
						known = false
					}
				}
				got := bytes.Repeat([]byte{0xa5}, n+8)
				Resolve(got[:n], symbols, &window)
				if !bytes.Equal(got[:n], want) || !bytes.Equal(got[n:], bytes.Repeat([]byte{0xa5}, 8)) {
					t.Fatalf("%d symbols resolve to other bytes", n)
				}
				if Known(symbols) != known {
					t.Fatalf("%d symbols: Known %v, want %v", n, !known, known)
				}
			}
		})
	}
}

func TestResolvePanics(t *testing.T) {
	for _, tier := range simd.Tiers() {
		defer simd.SetTier(simd.SetTier(tier))
		for _, symbols := range [][]uint16{
			nil, make([]uint16, 99), make([]uint16, 101),
			append(make([]uint16, 99), firstUnknown+WindowSize),
			append(make([]uint16, 99), 1<<16-1), slices.Repeat([]uint16{1<<16 - 1}, 100),
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s, %d symbols: no panic", tier, len(symbols))
					}
				}()
				Resolve(make([]byte, 100), symbols, new([WindowSize]byte))
			}()
		}
	}
}

// FuzzDecodeSymbols decodes with and without the window.
func FuzzDecodeSymbols(f *testing.F) {
	window := text(1000) // a longer one takes longer to copy before each call
	f.Add(behind(f, window, window[:300], 6), uint16(10), uint16(20), uint16(5))
	f.Add(behind(f, window, text(300), 0), uint16(1), uint16(1), uint16(9))
	f.Add(randomBehind(rand.New(rand.NewPCG(1, 1)), 300, window), uint16(999), uint16(999), uint16(99))
	w := &twins{
		room: make([]byte, WindowSize+1<<17), unknowns: make([]byte, 2*(WindowSize+1<<17)),
		input: make([]byte, 1<<16),
	}
	f.Fuzz(func(t *testing.T, src []byte, chunk, space, change uint16) {
		if len(src) > 1<<10 {
			return
		}
		w.t, w.change = t, int(change)
		w.sizes = func() (int, int) { return 1 + int(chunk), 1000 + int(space) }
		w.decode(stream{window, src, 0})
	})
}

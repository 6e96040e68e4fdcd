package inflate

import (
	"bytes"
	"compress/flate"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/bitio"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// resume decodes the rest of a stream from a stop.
func resume(t testing.TB, src, content []byte, s stop, nextInput, nextRoom func() int) result {
	t.Helper()
	d := Decoder{StopAtBlock: true}
	first := s.bit >> 3
	if skip := uint(s.bit & 7); skip > 0 {
		d.ResetAt(src[first], skip)
		src = src[first+1:]
	} else {
		d.Reset()
		src = src[first:]
	}
	window := content[max(0, s.content-WindowSize):s.content]
	return onChunks(t, &d, window, src, nextInput, nextRoom)
}

// checkStops stops at the end of each block, with chunks of several sizes, and decodes from there.
func checkStops(t *testing.T, name string, src []byte) []stop {
	t.Helper()
	var d Decoder
	want := whole(t, &d, src)
	if want.err != nil || len(want.stops) > 0 {
		t.Fatalf("%s: %d stops, %v", name, len(want.stops), want.err)
	}
	d.StopAtBlock = true
	stops := whole(t, &d, src).stops
	r := rand.New(rand.NewPCG(9, uint64(len(src))))
	for _, most := range []int{1, 30, 3000, 100_000} {
		if most < 100 && len(src) > 5000 {
			continue // slow
		}
		got := byChunks(t, &d, src, between(r, 1, most), between(r, 0, most))
		if got.err != nil || got.used != want.used || !bytes.Equal(got.content, want.content) {
			t.Fatalf("%s, chunks of up to %d bytes: %d bytes, used %d of %d, %v", name, most,
				len(got.content), got.used, want.used, got.err)
		}
		if !slices.Equal(got.stops, stops) {
			t.Fatalf("%s, chunks of up to %d bytes: stops %v, want %v", name, most, got.stops, stops)
		}
	}
	if end := d.Position(); (end+7)>>3 != int64(want.used) {
		t.Errorf("%s: ends at bit %d, but used %d bytes", name, end, want.used)
	}
	step := 1 + len(stops)/15
	for i := 0; i < len(stops); i += step {
		most := 1 + r.IntN(1+r.IntN(100_000))
		got := resume(t, src, want.content, stops[i], between(r, 1, most), between(r, 0, most))
		if got.err != nil || !bytes.Equal(got.content, want.content[stops[i].content:]) {
			t.Fatalf("%s, from block %d at bit %d: %d bytes, want %d; %v", name, i+1, stops[i].bit,
				len(got.content), len(want.content)-stops[i].content, got.err)
		}
		// Where a Decoder stops later does not depend on where it began.
		later := stops[i+1:]
		if len(got.stops) != len(later) {
			t.Fatalf("%s, from block %d: %d stops, want %d", name, i+1, len(got.stops), len(later))
		}
		for k, s := range got.stops {
			s.bit += stops[i].bit &^ 7
			s.content += stops[i].content
			if s != later[k] {
				t.Fatalf("%s, from block %d: stop %d is %v, want %v", name, i+1, k, s, later[k])
			}
		}
	}
	return stops
}

// TestStops stops in streams of all writers.
func TestStops(t *testing.T) {
	size := 50_000
	if testing.Short() || testenv.Race {
		size = 15_000
	}
	blocks := 0
	for _, k := range corpus.Kinds() {
		content := k.Make(size)
		for _, level := range []int{flate.HuffmanOnly, 0, 1, 6} {
			blocks += len(checkStops(t, fmt.Sprint(k.Name, level), standard(t, content, level)))
		}
		n := 1000
		stops := checkStops(t, k.Name+" with flushes", flushed(t, content, 6, n))
		// Each flush leaves a block, and an empty one behind it.
		if least := 2 * (len(content) / n); len(stops) < least {
			t.Errorf("%s: %d stops with flushes, want at least %d", k.Name, len(stops), least)
		}
	}
	if blocks < 10 {
		t.Errorf("%d stops", blocks)
	}
	r := rand.New(rand.NewPCG(10, 11))
	for i := range 20 {
		checkStops(t, fmt.Sprint("sequences ", i), random(r, 1+r.IntN(5000)))
	}
}

func TestStopsOfTools(t *testing.T) {
	const size = 200_000
	for _, tool := range [][]string{
		{"gzip", "-1"}, {"gzip", "-9"}, {"pigz", "-6"}, {"libdeflate-gzip", "-6"},
		{"libdeflate-gzip", "-12"},
	} {
		t.Run(fmt.Sprint(tool), func(t *testing.T) {
			for _, name := range []string{"text", "random"} {
				content := corpus.ByName(name).Make(size)
				if len(checkStops(t, name, byTool(t, content, tool[0], tool[1:]...))) == 0 {
					t.Errorf("no stop in %s", name)
				}
			}
		})
	}
}

// A blockWriter writes blocks with static codes and stored blocks, and notes where they end.
type blockWriter struct {
	bitio.Writer
	content []byte
	stops   []stop
}

func (w *blockWriter) end(final bool) {
	if !final {
		w.stops = append(w.stops, stop{int64(len(w.Out))*8 + int64(w.N), len(w.content)})
	}
}

func flag(final bool) uint64 {
	if final {
		return 1
	}
	return 0
}

// static writes a block of literals below 144.
func (w *blockWriter) static(content string, final bool) {
	w.Put(flag(final)|1<<1, 3)
	for _, c := range []byte(content) {
		code := uint64(0x30 + c)
		for bit := range 8 { // codewords begin with their highest bit
			w.Put(code>>(7-bit)&1, 1)
		}
	}
	w.Put(0, 7)
	w.content = append(w.content, content...)
	w.end(final)
}

func (w *blockWriter) stored(content string, final bool) {
	w.Put(flag(final), 3)
	w.Align()
	n := len(content)
	w.Out = append(w.Out, byte(n), byte(n>>8), ^byte(n), ^byte(n>>8))
	w.Out = append(w.Out, content...)
	w.content = append(w.content, content...)
	w.end(final)
}

// TestStopPlaces compares stops with where the blocks of the stream end.
func TestStopPlaces(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 13))
	for round := range 100 {
		var w blockWriter
		blocks := 1 + r.IntN(12)
		for i := range blocks {
			content := ""
			if r.IntN(3) > 0 {
				content = string(text(1 + r.IntN(1+r.IntN(400))))
			}
			if r.IntN(2) > 0 {
				w.static(content, i == blocks-1)
			} else {
				w.stored(content, i == blocks-1)
			}
		}
		w.Align()
		name := fmt.Sprint("round ", round)
		if stops := checkStops(t, name, w.Out); !slices.Equal(stops, w.stops) {
			t.Fatalf("%s: stops %v, want %v", name, stops, w.stops)
		}
		// Stops are the same with any room, also if there is none at the end of a block.
		d := Decoder{StopAtBlock: true}
		for _, room := range []int{1, 2, 7} {
			for _, input := range []int{1, 3, len(w.Out)} {
				got := byChunks(t, &d, w.Out, always(input), always(room))
				if !slices.Equal(got.stops, w.stops) || !bytes.Equal(got.content, w.content) {
					t.Fatalf("%s, input %d, room %d: stops %v, want %v", name, input, room,
						got.stops, w.stops)
				}
			}
		}
	}
}

// TestStopWithoutRoom stops behind all content of a block that there is just room for.
func TestStopWithoutRoom(t *testing.T) {
	var w blockWriter
	w.static("abc", false)
	w.stored("defg", false)
	w.static("", false)
	w.stored("", true)
	d := Decoder{StopAtBlock: true}
	dst := make([]byte, 7)
	at, src := 0, w.Out
	for i, s := range w.stops {
		n, used, err := d.Decode(dst[:s.content], at, src)
		at, src = at+n, src[used:]
		if err != ErrBlock || at != s.content || d.Position() != s.bit {
			t.Fatalf("block %d: %d bytes, bit %d, %v; want %v", i, at, d.Position(), err, s)
		}
	}
	if string(dst) != "abcdefg" {
		t.Errorf("%q", dst)
	}
}

// TestStopSwitch changes StopAtBlock while a stream is decoded.
func TestStopSwitch(t *testing.T) {
	src := flushed(t, text(10_000), 6, 100)
	d := Decoder{StopAtBlock: true}
	want := whole(t, &d, src)
	dst := make([]byte, 20_000)
	for i := 0; i+1 < len(want.stops); i += 7 {
		d := Decoder{}
		at, used, err := d.Decode(dst[:want.stops[i].content+1], 0, src)
		if err != nil {
			t.Fatal(err)
		}
		d.StopAtBlock = true
		n, _, err := d.Decode(dst, at, src[used:])
		got := stop{d.Position(), at + n}
		if err != ErrBlock || got.content <= want.stops[i].content || !slices.Contains(want.stops, got) {
			t.Fatalf("after %v: %v, %v", want.stops[i], got, err)
		}
	}
}

// TestResumeDamaged begins in the middle of damaged streams and at bits where no block begins.
func TestResumeDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 15))
	src := standard(t, text(5000), 6)
	for range 5000 {
		p := mutate(r, bytes.Clone(src))
		at := r.IntN(len(p))
		d := Decoder{StopAtBlock: r.IntN(2) > 0}
		d.ResetAt(p[at], uint(r.IntN(8)))
		rest := p[at+1:]
		got := onChunks(t, &d, nil, rest, between(r, 1, 500), between(r, 1, 5000))
		if c, ok := got.err.(*CorruptError); ok && (c.Bit < 0 || c.Bit > int64(len(rest)+1)*8) {
			t.Fatalf("error at bit %d of %d bytes", c.Bit, len(rest)+1)
		}
	}
}

// TestResumeWithoutWindow begins at a block that refers to the content before it.
func TestResumeWithoutWindow(t *testing.T) {
	src := flushed(t, bytes.Repeat(text(1000), 3), 6, 1000)
	d := Decoder{StopAtBlock: true}
	stops := whole(t, &d, src).stops
	s := stops[len(stops)/2]
	d.ResetAt(src[s.bit>>3], uint(s.bit&7))
	_, _, err := d.Decode(make([]byte, 3000), 0, src[s.bit>>3+1:])
	c, ok := err.(*CorruptError)
	if !ok || c.Bit < s.bit&7 {
		t.Errorf("%v", err)
	}
}

package inflate

import (
	"bytes"
	"compress/flate"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// check compares with compress/flate, and the decoding in chunks with that.
func check(t *testing.T, name string, d *Decoder, src []byte) {
	t.Helper()
	want := byStandard(src)
	if s := differs(src, whole(t, d, src), want); s != "" {
		t.Errorf("%s, at once: %s", name, s)
	}
	r := rand.New(rand.NewPCG(1, uint64(len(src))))
	for _, most := range []int{30, 3000, 100_000} {
		got := byChunks(t, d, src, between(r, 1, most), between(r, 0, most))
		if s := differs(src, got, want); s != "" {
			t.Errorf("%s, chunks of up to %d bytes: %s", name, most, s)
		}
	}
}

func TestStandardStreams(t *testing.T) {
	var d Decoder
	size := 40_000
	switch {
	case testenv.All():
		size = 1 << 20
	case testing.Short():
		size = 5_000
	}
	for _, k := range corpus.Kinds() {
		content := k.Make(size)
		for level := flate.HuffmanOnly; level <= 9; level++ {
			check(t, fmt.Sprint(k.Name, level), &d, standard(t, content, level))
		}
		check(t, k.Name+" with flushes", &d, flushed(t, content, 6, 1000))
	}
	for n := 0; n < 300; n += 1 + n/20 {
		check(t, fmt.Sprint(n, " bytes"), &d, standard(t, text(n), 6))
	}
}

func TestRandomSequences(t *testing.T) {
	var d Decoder
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		check(t, fmt.Sprint(i), &d, random(r, 1+r.IntN(5000)))
	}
}

func TestTools(t *testing.T) {
	for _, tool := range [][]string{
		{"gzip", "-1"}, {"gzip", "-6"}, {"gzip", "-9"}, {"pigz", "-9"}, {"pigz", "-11"},
		{"libdeflate-gzip", "-1"}, {"libdeflate-gzip", "-6"}, {"libdeflate-gzip", "-12"},
	} {
		t.Run(fmt.Sprint(tool), func(t *testing.T) {
			var d Decoder
			for _, k := range corpus.Kinds() {
				size := 60_000
				if tool[1] == "-11" || testing.Short() {
					size = 8_000
				}
				check(t, k.Name, &d, byTool(t, k.Make(size), tool[0], tool[1:]...))
			}
		})
	}
}

// TestSplits stops at all places of short streams.
func TestSplits(t *testing.T) {
	var d Decoder
	r := rand.New(rand.NewPCG(3, 4))
	streams := [][]byte{
		standard(t, text(400), 6), standard(t, text(2000), flate.HuffmanOnly),
		standard(t, make([]byte, 1000), 9), flushed(t, text(300), 6, 70),
		standard(t, text(100), flate.NoCompression), random(r, 60), random(r, 150),
	}
	for i, src := range streams {
		want := byStandard(src)
		for split := range len(src) + 1 {
			sizes := []int{split, len(src)}
			next := func() int { n := sizes[0]; sizes = sizes[1:]; return n }
			if s := differs(src, byChunks(t, &d, src, next, always(1000)), want); s != "" {
				t.Errorf("stream %d, input split at %d: %s", i, split, s)
			}
		}
		for split := range len(want.content) + 1 {
			first := true
			next := func() int {
				if first {
					first = false
					return split
				}
				return len(want.content)
			}
			if s := differs(src, byChunks(t, &d, src, always(len(src)), next), want); s != "" {
				t.Errorf("stream %d, output split at %d: %s", i, split, s)
			}
		}
		for n := 1; n < 20; n++ {
			if s := differs(src, byChunks(t, &d, src, always(n), always(1)), want); s != "" {
				t.Errorf("stream %d, %d bytes of input, 1 of output: %s", i, n, s)
			}
			if s := differs(src, byChunks(t, &d, src, always(1), always(n)), want); s != "" {
				t.Errorf("stream %d, 1 byte of input, %d of output: %s", i, n, s)
			}
		}
		for n := range len(src) {
			if s := differs(src[:n], whole(t, &d, src[:n]), byStandard(src[:n])); s != "" {
				t.Errorf("stream %d, first %d bytes: %s", i, n, s)
			}
		}
	}
}

// TestFlushed decodes everything before a flush without anything behind it.
func TestFlushed(t *testing.T) {
	var d Decoder
	for _, level := range []int{flate.HuffmanOnly, 0, 1, 6} {
		content := text(50_000)
		for _, n := range []int{1, 10, 1000, 32 << 10, 40_000} {
			var b bytes.Buffer
			w, err := flate.NewWriter(&b, level)
			if err != nil {
				t.Fatal(err)
			}
			w.Write(content[:n])
			w.Flush()
			if got := whole(t, &d, b.Bytes()); !bytes.Equal(got.content, content[:n]) {
				t.Errorf("level %d: %d bytes of %d", level, len(got.content), n)
			}
		}
	}
}

// TestHistory refers to bytes before the content, and to those before them.
func TestHistory(t *testing.T) {
	var d Decoder
	history := text(WindowSize)
	content := bytes.Clone(history[100:5000])
	for _, n := range []int{WindowSize, 10_000, 5000, 4000, 0} {
		var b bytes.Buffer
		w, err := flate.NewWriterDict(&b, 9, history)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(content)
		w.Close()
		d.Reset()
		dst := append(bytes.Clone(history[WindowSize-n:]), make([]byte, 10_000)...)
		m, _, err := d.Decode(dst, n, b.Bytes())
		if n == WindowSize != bytes.Equal(dst[n:n+m], content) {
			t.Errorf("%d bytes of history: %d bytes, %v", n, m, err)
		}
		if _, ok := err.(*CorruptError); n != WindowSize && !ok {
			t.Errorf("%d bytes of history: %v", n, err)
		}
	}
}

// TestHistoryLost goes on with a match, but without the bytes before it.
func TestHistoryLost(t *testing.T) {
	var d Decoder
	src := standard(t, bytes.Repeat(text(100), 10), 6)
	dst := make([]byte, 150)
	if n, _, err := d.Decode(dst, 0, src); n != 150 || err != nil {
		t.Fatal(n, err)
	}
	n, _, err := d.Decode(dst, 10, src)
	if _, ok := err.(*CorruptError); n != 0 || !ok {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// TestBehindEnd decodes a stream that something follows.
func TestBehindEnd(t *testing.T) {
	var d Decoder
	for n := 0; n < 200; n += 1 + n/20 {
		src := standard(t, text(n), 6)
		end := len(src)
		for _, c := range []byte{0, 0xff, 0x55} {
			src := append(src[:end:end], bytes.Repeat([]byte{c}, 100)...)
			if got := whole(t, &d, src); got.err != nil || got.used != end {
				t.Fatalf("%d bytes: used %d of %d: %v", n, got.used, end, got.err)
			}
			n, used, err := d.Decode(make([]byte, 10), 0, src)
			if n != 0 || used != 0 || err == nil {
				t.Fatalf("behind the end: %d, %d, %v", n, used, err)
			}
		}
	}
}

func TestAllocations(t *testing.T) {
	testenv.Measures(t)
	var d Decoder
	src := standard(t, text(100_000), 6)
	dst := make([]byte, 100_001)
	n := testing.AllocsPerRun(10, func() {
		d.Reset()
		d.Decode(dst, 0, src)
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}

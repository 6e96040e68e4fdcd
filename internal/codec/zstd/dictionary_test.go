package zstd

import (
	"bytes"
	"os"
	"sync"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/match"
	"github.com/gopz/compress/internal/optimal"
	"github.com/gopz/compress/lz77"
)

func trainedDictionary(t testing.TB) []byte {
	t.Helper()
	p, err := os.ReadFile("../../../testdata/dictionary/json.dict")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// checkDictionary encodes content with a dictionary, and decodes it in two ways.
func checkDictionary(t testing.TB, d *Dictionary, content []byte) {
	t.Helper()
	src := append(bytes.Clone(d.Content()), content...)
	m, start := new(match.Matcher), len(d.Content())
	form := &optimal.Form{Limits: Limits, Model: Model}
	for _, level := range []int{1, 8} {
		seqs := m.ParseFrom(nil, src, start, &match.Levels[level], form)
		blocks := (&Encoder{Dictionary: d}).Append(nil, content, seqs)
		dec, dst := NewDecoder(), make([]byte, len(content)+DecodeSlack)
		n, err := dec.DecodeFrame(dst, frame(len(content), blocks), d, false)
		if err != nil || !bytes.Equal(dst[:n], content) {
			t.Fatalf("level %d, %d bytes: %d decoded, %v", level, len(content), n, err)
		}
		decodeApart(t, dec, frame(len(content), blocks), len(content), d)
	}
}

func TestDictionary(t *testing.T) {
	trained := trainedDictionary(t)
	for _, p := range [][]byte{trained, trained[8:], []byte("x")} {
		d, err := ParseDictionary(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 1, 20, 1000} {
			checkDictionary(t, d, corpus.Document(uint64(n))[:min(n, 600)])
		}
		checkDictionary(t, d, corpus.ByName("json").Make(400_000))
		checkDictionary(t, d, append(bytes.Clone(p), p...))
	}
	d, err := ParseDictionary(trained)
	if err != nil || d.ID() != 1077 || !d.formatted {
		t.Fatalf("ID %d, %v", d.ID(), err)
	}
	for _, c := range []struct {
		d    *Dictionary
		id   uint32
		want bool
	}{{nil, 0, true}, {nil, 1, false}, {d, 1077, true}, {d, 0, true}, {d, 1, false}} {
		if got := c.d.Serves(c.id); got != c.want {
			t.Errorf("Serves(%d) is %v", c.id, got)
		}
	}
}

// TestDictionaryConcurrent uses a Dictionary from several goroutines.
func TestDictionaryConcurrent(t *testing.T) {
	d, err := ParseDictionary(trainedDictionary(t))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for k := range 20 {
				checkDictionary(t, d, corpus.Document(uint64(i*100+k)))
			}
		})
	}
	wg.Wait()
}

// TestDictionaryWindow checks that the content of a dictionary is out of reach behind a window.
func TestDictionaryWindow(t *testing.T) {
	const window = MaxBlock
	d, err := ParseDictionary(corpus.ByName("random").Make(1000))
	if err != nil {
		t.Fatal(err)
	}
	content := corpus.ByName("random").MakeSeed(2*window, 1)
	e, dec, dst := Encoder{Dictionary: d}, NewDecoder(), make([]byte, 3*window)
	for _, size := range []int{window, window + 1} {
		e.BeginFrame()
		first := e.Continue(nil, content[:size], nil, false)
		far := []lz77.Sequence{{MatchLen: 100, Offset: uint32(size + 1000)}}
		second := e.Continue(nil, d.Content()[:100], far, true)
		dec.Reset(window, d)
		at, p := 0, first
		for len(p) > 0 {
			end, used, _, err := dec.Block(dst, at, p)
			if err != nil {
				t.Fatal(err)
			}
			at, p = end, p[used:]
		}
		end, _, _, err := dec.Block(dst, at, second)
		ok := err == nil && bytes.Equal(dst[at:end], d.Content()[:100])
		if want := size <= window; ok != want {
			t.Errorf("behind %d bytes: %v", size, err)
		}
	}
}

// TestDictionaryDamage cuts and changes a dictionary.
func TestDictionaryDamage(t *testing.T) {
	p := trainedDictionary(t)
	d, err := ParseDictionary(p)
	if err != nil {
		t.Fatal(err)
	}
	head := len(p) - len(d.Content())
	for n := 4; n < head; n++ {
		if _, err := ParseDictionary(p[:n]); err == nil {
			t.Errorf("%d bytes are a dictionary", n)
		}
	}
	for i := head - 12; i < head; i += 4 {
		for _, v := range []uint32{0, uint32(len(d.Content())) + 1, 1 << 31} {
			q := bytes.Clone(p)
			copy(q[i:], []byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)})
			if _, err := ParseDictionary(q); err == nil {
				t.Errorf("repeat offset %d at %d", v, i)
			}
		}
	}
	for i := 4; i < head; i++ {
		for bit := range 8 {
			q := bytes.Clone(p)
			q[i] ^= 1 << bit
			if d, err := ParseDictionary(q); err == nil {
				checkDictionary(t, d, corpus.Document(3))
			}
		}
	}
}

// FuzzDictionary parses any bytes, and uses what is a dictionary.
func FuzzDictionary(f *testing.F) {
	p := trainedDictionary(f)
	f.Add(p)
	f.Add(p[:400])
	f.Add([]byte("content alone"))
	content := corpus.Document(1)
	f.Fuzz(func(t *testing.T, p []byte) {
		d, err := ParseDictionary(p)
		if err != nil {
			return
		}
		if len(d.Content()) > len(p) || len(p) > 1<<20 {
			return
		}
		checkDictionary(t, d, content)
	})
}

// FuzzDecodeDictionary decodes any bytes as the blocks of a frame with a dictionary.
func FuzzDecodeDictionary(f *testing.F) {
	d, err := ParseDictionary(trainedDictionary(f))
	if err != nil {
		f.Fatal(err)
	}
	e := Encoder{Dictionary: d}
	content := corpus.Document(1)
	src := append(bytes.Clone(d.Content()), content...)
	seqs := new(lz77.Matcher).ParseFrom(nil, src, len(d.Content()), &lz77.Levels[4], Limits)
	f.Add(e.Append(nil, content, seqs))
	f.Fuzz(func(t *testing.T, p []byte) {
		dec, dst := NewDecoder(), make([]byte, 1<<18)
		dec.Reset(1<<16, d)
		at := 0
		for len(p) > 0 {
			end, used, _, err := dec.Block(dst, at, p)
			if err != nil {
				return
			}
			at, p = end, p[used:]
		}
	})
}

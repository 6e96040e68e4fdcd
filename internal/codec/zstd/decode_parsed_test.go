package zstd

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/internal/zstframe"
	"github.com/gopz/compress/lz77"
)

// apart decodes frames as several workers do: parts of some blocks, each by an EntropyDecoder that
// begins with a Carry.
type apart struct {
	executor Executor
	blocks   int // of a part
	parts    []*part
}

type part struct {
	entropy EntropyDecoder
	carry   Carry
	blocks  [][]byte
	parsed  Parsed
}

// split makes parts of the blocks of a frame, as far as they are there. last says that the last
// block is.
func (a *apart) split(src []byte) (last bool) {
	var carry Carry
	a.parts = nil
	for !last {
		if len(src) < zstframe.BlockHeaderSize {
			return false
		}
		h, err := zstframe.ParseBlock(src)
		n := zstframe.BlockHeaderSize + h.Size
		if err != nil || len(src) < n {
			return false
		}
		if k := len(a.parts); k == 0 || len(a.parts[k-1].blocks) == a.blocks {
			a.parts = append(a.parts, &part{carry: carry})
		}
		p := a.parts[len(a.parts)-1]
		p.blocks = append(p.blocks, src[:n:n])
		carry.Note(src[:n])
		src, last = src[n:], h.Last
	}
	return true
}

// decode decodes a frame into dst. The parts are parsed from the last to the first.
func (a *apart) decode(dst, src []byte, dict *Dictionary) (n int, err error) {
	h, size, err := zstframe.ParseHeader(src)
	if err != nil {
		return 0, err
	}
	a.split(src[size:])
	for i := len(a.parts) - 1; i >= 0; i-- {
		p := a.parts[i]
		p.entropy.Reset(h.Window, dict, &p.carry)
		for _, b := range p.blocks {
			if _, err := p.entropy.Parse(&p.parsed, b); err != nil {
				break
			}
		}
	}
	a.executor.Reset(h.Window, dict)
	for _, p := range a.parts {
		for i := range p.parsed.Blocks() {
			n, err = a.executor.Execute(dst, n, &p.parsed, i)
			if err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// blocksTogether decodes the blocks that apart.decode does with a Decoder.
func (a *apart) blocksTogether(d *Decoder, dst, src []byte, dict *Dictionary) (n int, err error) {
	h, _, err := zstframe.ParseHeader(src)
	if err != nil {
		return 0, err
	}
	d.Reset(h.Window, dict)
	for _, p := range a.parts {
		for _, b := range p.blocks {
			n, _, _, err = d.Block(dst, n, b)
			if err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// decodeApart decodes a frame in parts, and together, and compares content and errors.
func decodeApart(t testing.TB, d *Decoder, src []byte, size int, dict *Dictionary) {
	t.Helper()
	room := size + MaxBlock + DecodeSlack
	for _, blocks := range []int{1, 3} {
		a := apart{blocks: blocks}
		one, two := make([]byte, room), make([]byte, room)
		n, err := a.decode(one, src, dict)
		m, want := a.blocksTogether(d, two, src, dict)
		if n != m || !bytes.Equal(one[:n], two[:m]) || fmt.Sprint(err) != fmt.Sprint(want) {
			t.Fatalf("parts of %d blocks: %d bytes, %v; together %d, %v; frame of %d bytes %x", blocks,
				n, err, m, want, len(src), src[:min(len(src), 1000)])
		}
	}
}

// TestDecodeApartDamage changes bytes of frames and decodes them in parts and together.
func TestDecodeApartDamage(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		count := 1500
		if testenv.All() {
			count *= 30
		}
		if testing.Short() || testenv.Race {
			count /= 10
		}
		r := rand.New(rand.NewPCG(3, 4))
		dict, err := ParseDictionary(trainedDictionary(t))
		if err != nil {
			t.Fatal(err)
		}
		var frames [][]byte
		e := Encoder{Dictionary: dict}
		for _, k := range corpus.Kinds() {
			src := k.Make(1500 + r.IntN(5000))
			e.BeginFrame()
			var blocks []byte
			for at := 0; at < len(src); {
				n := min(len(src)-at, 300+r.IntN(900))
				blocks = e.Continue(blocks, src[at:at+n], greedy(src[at:at+n]), at+n == len(src))
				at += n
			}
			p := frame(len(src), blocks)
			decodeApart(t, NewDecoder(), p, len(src), dict)
			frames = append(frames, p)
		}
		d := NewDecoder()
		for i := range count {
			p := bytes.Clone(frames[i%len(frames)])
			for range 1 + r.IntN(3) {
				p[13+r.IntN(len(p)-13)] ^= 1 << r.IntN(8)
			}
			decodeApart(t, d, p, 10_000, dict)
			decodeApart(t, d, p, 10_000, nil)
		}
	})
}

// TestSymbols executes sequences whose repeat offsets are all from the block before, down to
// offsets of 0, and offsets that look like symbols.
func TestSymbols(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		d := NewDecoder()
		lits := corpus.ByName("random").Make(5000)
		outcomes := map[string]int{}
		for range 2000 {
			blocks := block(rawBlock, false, lits[:20+r.IntN(60)])
			for range 1 + r.IntN(6) {
				lit, off := uint8(r.IntN(2)), uint8(r.IntN(3))
				if r.IntN(20) == 0 {
					off = uint8(27 + r.IntN(5))
				}
				seqs := make([]fields, 1+r.IntN(40)/(1+39*r.IntN(2)))
				for i := range seqs {
					seqs[i].off = r.Uint32N(1 << off)
					if off > 4 {
						seqs[i].off = uint32(symbols[r.IntN(3)]+r.Uint32N(4)+1) & (1<<off - 1)
					}
				}
				blocks = append(blocks, block(compressedBlock, false,
					rawSection(lits[:int(lit)*len(seqs)+r.IntN(20)]),
					rleSequences(lit, off, uint8(r.IntN(8)), seqs))...)
			}
			p := []byte{0x28, 0xB5, 0x2F, 0xFD, 0, 10 << 3}
			p = append(append(p, blocks...), block(rawBlock, true)...)
			decodeApart(t, d, p, 1000, nil)
			_, err := d.DecodeFrame(make([]byte, 1<<18), p, nil, false)
			outcomes[fmt.Sprint(err)]++
		}
		if outcomes["<nil>"] < 200 || outcomes[ErrOffset.Error()] < 200 {
			t.Errorf("outcomes: %v", outcomes)
		}
	})
}

// TestParsedWindow decodes a frame with the largest window: an offset that names a symbol must be
// an error, whatever lies between.
func TestParsedWindow(t *testing.T) {
	for _, s := range symbols {
		for _, o := range []uint32{s, s - 1, s - symbolStep, firstSymbol} {
			seqs := []fields{{off: (o + 3) & (1<<31 - 1)}}
			p := block(compressedBlock, true, rawSection([]byte("abcd")), rleSequences(4, 31, 0, seqs))
			var e EntropyDecoder
			var parsed Parsed
			var x Executor
			e.Reset(MaxParsedWindow, nil, nil)
			x.Reset(MaxParsedWindow, nil)
			if _, err := e.Parse(&parsed, p); err != nil {
				t.Fatal(err)
			}
			dst := make([]byte, 1000)
			if _, err := x.Execute(dst, 100, &parsed, 0); err != ErrOffset {
				t.Errorf("offset %#x: %v", o, err)
			}
		}
	}
}

// TestParseAllocs checks that a Parsed in use allocates nothing.
func TestParseAllocs(t *testing.T) {
	testenv.Measures(t)
	src := corpus.ByName("text").Make(300_000)
	var m lz77.Matcher
	blocks := new(Encoder).Append(nil, src, m.Parse(nil, src, &lz77.Levels[3], Limits))
	a := apart{blocks: 100}
	p := frame(len(src), blocks)
	dst := make([]byte, len(src)+DecodeSlack)
	if _, err := a.decode(dst, p, nil); err != nil {
		t.Fatal(err)
	}
	q := a.parts[0]
	n := testing.AllocsPerRun(10, func() {
		q.parsed.Reset()
		q.entropy.Reset(8<<20, nil, &q.carry)
		for _, b := range q.blocks {
			if _, err := q.entropy.Parse(&q.parsed, b); err != nil {
				t.Fatal(err)
			}
		}
	})
	if n != 0 {
		t.Errorf("%v allocations for each part", n)
	}
}

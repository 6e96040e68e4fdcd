package huffman

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/simd"
)

func histogram(p []byte) (counts [256]uint32, distinct int) {
	simd.Histogram(&counts, p)
	for _, c := range counts {
		if c != 0 {
			distinct++
		}
	}
	return counts, distinct
}

// readTree reads a tree from src and compares it with that of table. size is the size of bytes with
// the given counts, in bits.
func readTree(
	d *LiteralDecoder, table *Table, src []byte, counts *[256]uint32,
) (n int, size uint64, same bool, err error) {
	n, err = d.readTree(src)
	size, ok := table.Bits(counts)
	return n, size, ok && d.lens == table.Lens(), err
}

// set makes d decode the code with the given lengths.
func (d *LiteralDecoder) set(lens *[256]uint8) {
	d.lens, d.num, d.longest, d.used, d.log = *lens, [16]uint16{}, 0, 256, 0
	for _, l := range lens {
		d.num[l]++
		d.longest = max(d.longest, int(l))
	}
}

// roundTrip encodes and decodes p in every way. It reports whether there was a code with a tree.
func roundTrip(t testing.TB, b *Builder, d *LiteralDecoder, p []byte, limit int) bool {
	t.Helper()
	counts, distinct := histogram(p)
	if distinct < 2 {
		return false
	}
	var table Table
	b.Table(&table, &counts, limit)
	lens := table.Lens()
	longest := 0
	for _, l := range lens {
		longest = max(longest, int(l))
	}
	size, ok := table.Bits(&counts)
	if want := bitsOf(t, lens[:], counts[:], limit, longest); !ok || size != want {
		t.Fatalf("%d bits, %v, want %d", size, ok, want)
	}
	front := []byte("front")
	tree, ok := b.AppendTree(front, &table)
	if ok {
		tree = tree[len(front):]
		n, _, same, err := readTree(d, &table, append(tree[:len(tree):len(tree)], 1, 2, 3), &counts)
		if err != nil || n != len(tree) || !same {
			t.Fatalf("tree of %d bytes: %d bytes read, %v, lengths %v", len(tree), n, err, same)
		}
		if len(tree) > 128 {
			t.Fatalf("tree of %d bytes", len(tree))
		}
	} else if string(tree) != "front" {
		t.Fatal("no tree, but something in its place")
	}
	var best Table
	small, total, okBest := b.AppendBest(front, &best, &counts, true)
	if ok && !okBest && limit == MaxTableBits {
		t.Fatal("there is a tree, but no best one")
	}
	if okBest {
		small = small[len(front):]
		n, bits, same, err := readTree(d, &best, small, &counts)
		if err != nil || n != len(small) || !same {
			t.Fatalf("best tree of %d bytes: %d bytes read, %v", len(small), n, err)
		}
		if total != uint64(len(small))+bits/8 {
			t.Fatalf("best: %d bytes and %d bits are not %d bytes", len(small), bits, total)
		}
		if ok && limit == MaxTableBits && uint64(len(tree))+size/8 < total {
			t.Fatalf("best: %d bytes, but %d and %d bits are possible", total, len(tree), size)
		}
	}
	d.set(&lens)
	got := make([]byte, len(p))
	one := table.Append1(front, p)[len(front):]
	if want := int(size/8 + 1); len(one) != want {
		t.Fatalf("one stream: %d bytes for %d bits", len(one), size)
	}
	if err := d.Decode1(got, one); err != nil || !bytes.Equal(got, p) {
		t.Fatalf("one stream of %d bytes: %v", len(p), err)
	}
	if len(p) >= MinStreams4 {
		clear(got)
		four := table.Append4(front, p)[len(front):]
		if err := d.Decode4(got, four); err != nil || !bytes.Equal(got, p) {
			t.Fatalf("four streams of %d bytes: %v", len(p), err)
		}
		if len(four) > len(one)+jumpTable+3 {
			t.Fatalf("four streams take %d bytes, one %d", len(four), len(one))
		}
	}
	return ok
}

func TestRoundTrip(t *testing.T) {
	var b Builder
	var d LiteralDecoder
	r := rand.New(rand.NewPCG(9, 10))
	trees, rounds := 0, rounds(3000)
	for round := range rounds {
		p := make([]byte, r.IntN(1<<r.IntN(13)))
		first, kinds := r.IntN(256), 1+r.IntN(256)
		for i := range p {
			p[i] = byte(first + min(r.IntN(kinds), r.IntN(kinds)))
			if round%3 == 0 {
				p[i] = byte(first) + byte(min(r.ExpFloat64()*3, 250))
			}
		}
		_, distinct := histogram(p)
		limit := max(log2up(distinct), 4+r.IntN(MaxTableBits-3))
		if roundTrip(t, &b, &d, p, limit) {
			trees++
		}
	}
	if trees < rounds/2 {
		t.Errorf("%d trees only", trees)
	}
}

func TestRoundTripCorpus(t *testing.T) {
	var b Builder
	var d LiteralDecoder
	for _, k := range corpus.Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			for _, n := range []int{2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 300, 5000, 128 << 10} {
				if n > 5000 && testing.Short() {
					continue
				}
				roundTrip(t, &b, &d, k.Make(n), MaxTableBits)
			}
		})
	}
}

// TestBits checks tables that lack bytes which occur.
func TestBits(t *testing.T) {
	var b Builder
	var table Table
	counts, _ := histogram([]byte("aaab"))
	b.Table(&table, &counts, 11)
	other, _ := histogram([]byte("abbbb"))
	if n, ok := table.Bits(&other); n != 5 || !ok {
		t.Error(n, ok)
	}
	other, _ = histogram([]byte("abc"))
	if _, ok := table.Bits(&other); ok {
		t.Error("c has no code")
	}
	if _, ok := new(Table).Bits(&other); ok {
		t.Error("the zero value has codes")
	}
}

// TestTreeRFC encodes the weights of the example in RFC 8878, section 4.2.1, in four bits each.
func TestTreeRFC(t *testing.T) {
	var b Builder
	var table Table
	var counts [256]uint32
	copy(counts[:], []uint32{8, 4, 2, 0, 1, 1})
	b.Table(&table, &counts, 11)
	tree, ok := b.AppendTree(nil, &table)
	if want := []byte{127 + 5, 0x43, 0x20, 0x10}; !ok || !bytes.Equal(tree, want) {
		t.Errorf("% x, want % x", tree, want)
	}
}

// TestNoTree checks codes without a description: all lengths equal, or all but one.
func TestNoTree(t *testing.T) {
	var b Builder
	var table Table
	var counts [256]uint32
	for i := range counts {
		counts[i] = 5
	}
	b.Table(&table, &counts, 11)
	if tree, ok := b.AppendTree([]byte{7}, &table); ok || len(tree) != 1 {
		t.Errorf("a tree of %d bytes", len(tree)-1)
	}
	clear(counts[128:]) // 127 weights
	b.Table(&table, &counts, 11)
	if tree, ok := b.AppendTree(nil, &table); !ok || len(tree) != 65 {
		t.Errorf("a tree of %d bytes, %v", len(tree), ok)
	}
}

func TestAllocs(t *testing.T) {
	var b Builder
	var d LiteralDecoder
	p := corpus.ByName("text").Make(100_000)
	counts, _ := histogram(p)
	tree, dst := make([]byte, 0, 128), make([]byte, 0, 1<<18)
	once := func() {
		var table Table
		b.Table(&table, &counts, 11)
		tree, _ = b.AppendTree(tree[:0], &table)
		dst, _, _ = b.AppendBest(dst[:0], &table, &counts, true)
		dst = table.Append1(dst[:0], p)
		dst = table.Append4(dst[:0], p)
		if _, err := d.Read(tree); err != nil {
			t.Fatal(err)
		}
	}
	once()
	if n := testing.AllocsPerRun(10, once); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

package pipeline

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/gopz/compress/lzseq"
)

// manyTables makes data of no matches, in which each piece of 16 Ki has 32 ways in which one symbol
// follows another, unlike those of the piece before.
func manyTables(n int) []byte {
	const piece, alphabet, followers, ways = 1 << 14, 240, 40, 32
	r := rand.New(rand.NewPCG(8, 1))
	p := make([]byte, n)
	var way [256]int
	var list [ways][]int
	last := byte(0)
	for i := range p {
		if i%piece == 0 {
			for c := range way {
				way[c] = r.IntN(ways)
			}
			for k := range list {
				list[k] = r.Perm(alphabet)[:followers]
			}
		}
		last = byte(list[way[last]][r.IntN(followers)])
		p[i] = last
	}
	return p
}

// TestChainMemory codes literals for which chained streams have as many tables as there may be.
func TestChainMemory(t *testing.T) {
	alone(t)
	const size = 1 << 21
	enc, dec := new(workspace), new(workspace)
	in := lzseq.Streams{Lits: manyTables(size)}
	payload := enc.encodeDense(nil, &in, nil)
	if payload[0] != lzseq.Dense.ID || payload[1] != denseLits {
		t.Fatalf("payload begins with % x: the literals are not chained", payload[:2])
	}
	var out lzseq.Streams
	if _, _, err := dec.decodePayload(payload, size, &out); err != nil || !bytes.Equal(in.Lits, out.Lits) {
		t.Fatalf("%d literals of %d: %v", len(out.Lits), len(in.Lits), err)
	}
	got, bound := held(reflect.ValueOf(&enc.dense).Elem(), map[uintptr]bool{}), denseMemory(size)
	t.Logf("%d bytes of %d", got, bound)
	if got > bound || got < bound*3/4 {
		t.Errorf("chained streams hold %d bytes, denseMemory says %d", got, bound)
	}
	for i := range table {
		if p := &table[i]; p.dense != 0 {
			if got, bound := footprint(dec)+held(reflect.ValueOf(&out).Elem(), map[uintptr]bool{}), p.Memory(Decompress, p.dense, TuneFixed, size, 1, 0); got > bound {
				t.Errorf("%s: decompressing holds %d bytes, Memory says %d", p.Name, got, bound)
			}
		}
	}
}

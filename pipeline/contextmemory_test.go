package pipeline

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/gopz/compress/lzseq"
)

// manyTables makes data without matches. In each piece of 16 Ki a symbol determines in one of 32
// ways which symbols may follow, and the ways differ from those of the piece before.
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

// TestContextMemory encodes literals whose context-coded stream has as many tables as possible, and
// compares the memory held with denseMemory and Memory.
func TestContextMemory(t *testing.T) {
	oneGoroutine(t)
	size := 1 << 21
	if brief() {
		size = 1 << 20
	}
	enc, dec := new(workspace), new(workspace)
	in := lzseq.Streams{Lits: manyTables(size), Size: size}
	payload := enc.encodeDense(nil, &in, nil)
	if payload[0] != lzseq.Dense.ID || payload[1] != denseLits {
		t.Fatalf("payload begins with % x: the literals are not context-coded", payload[:2])
	}
	var out lzseq.Streams
	if _, _, err := dec.decodePayload(payload, size, &out); err != nil || !bytes.Equal(in.Lits, out.Lits) {
		t.Fatalf("%d literals of %d: %v", len(out.Lits), len(in.Lits), err)
	}
	seen := map[uintptr]bool{}
	got, bound := held(reflect.ValueOf(&enc.dense).Elem(), seen), denseMemory(int64(size))
	t.Logf("%d bytes of %d", got, bound)
	if got > bound || got < bound*3/4 {
		t.Errorf("context-coded streams hold %d bytes, denseMemory says %d", got, bound)
	}
	got = footprint(dec) + held(reflect.ValueOf(&out).Elem(), map[uintptr]bool{})
	for i := range table {
		p := &table[i]
		if p.dense == 0 {
			continue
		}
		if bound := decodeBound(p, size); got > bound {
			t.Errorf("%s: decompressing holds %d bytes, Memory says %d", p.Name, got, bound)
		}
	}
}

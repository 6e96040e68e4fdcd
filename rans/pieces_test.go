package rans

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestPieces: symbol i of a lane's piece stands in round i, and comes back from there.
func TestPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for range 300 {
		run := make([]byte, lanes+r.IntN(60*lanes))
		for i := range run {
			run[i] = byte(r.Uint32())
		}
		from := r.IntN(len(run) / lanes)
		n := 1 + r.IntN(len(run)/lanes-from)
		buf := make([]byte, n*lanes)
		gather(buf, run, from)
		for i := range n {
			for l := range lanes {
				if want := run[piece(len(run), l)+from+i]; buf[i*lanes+l] != want {
					t.Fatalf("%d symbols, round %d of lane %d: %d, want %d", len(run), from+i, l, buf[i*lanes+l], want)
				}
			}
		}
		back := bytes.Clone(run)
		for l := range lanes {
			clear(back[piece(len(run), l)+from:][:n])
		}
		if scatter(back, buf, from); !bytes.Equal(back, run) {
			t.Fatalf("%d symbols: rounds %d to %d do not come back", len(run), from, from+n)
		}
	}
}

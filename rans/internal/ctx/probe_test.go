package ctx

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// TestLook: where contexts save nothing, no time is spent on them. It compares times of two streams of the same size, and keeps away from what is usual, which is a
// seventh. In short mode, that of the race detector, only what is found counts.
func TestLook(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	const n = lookUnits * chainUnit
	linked, marks := linked(r, n, 90)
	for _, alphabet := range []int{128, 256} {
		noise := make([]byte, n)
		for i := range noise {
			noise[i] = byte(r.IntN(alphabet))
		}
		var e Encoder
		begin := func(stream, marks []byte) time.Duration {
			own, start := bytes.Clone(marks), time.Now()
			e.Prepare(stream, own)
			return time.Since(start)
		}
		// By turns, the fastest of each counts: others may use the machine for a while.
		useful, useless := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
		for round := 0; round == 0 || !testing.Short() && round < 60 && useless > useful/2; round++ {
			useful = min(useful, begin(linked, marks))
			if len(e.freqs) < 4 {
				t.Fatalf("%d tables where there are many", len(e.freqs))
			}
			useless = min(useless, begin(noise, make([]byte, n)))
			if len(e.freqs) != 1 {
				t.Fatalf("%d symbols, and nothing to find: %d tables", alphabet, len(e.freqs))
			}
		}
		if !testing.Short() && useless > useful/2 {
			t.Errorf("%d symbols, and nothing to find: %v; useful contexts: %v", alphabet, useless, useful)
		}
	}
	// What changes behind the first window is found.
	both := make([]byte, n, 2*n)
	for i := range both {
		both[i] = byte(r.IntN(256))
	}
	both = append(both, linked...)
	marks = append(make([]byte, n), marks...)
	var d Decoder
	var e Encoder
	code := chainRoundTrip(t, &e, &d, both, marks)
	e.Prepare(linked, bytes.Clone(marks[n:]))
	if alone := e.Append(nil); len(code) > n+n/100+len(alone) {
		t.Errorf("%d bytes, %d of which are noise; what comes behind has %d alone", len(code), n, len(alone))
	}
}

package ctx

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/kernels"
)

// TestNoGain checks that the encoder clusters contexts only where they help.
func TestNoGain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	const n = probeUnits * cutUnit
	linked, marks := linked(r, n, 90)
	clustered := func(e *Encoder) bool { // cluster sets prices
		return e.scratch.clusters.prices != kernels.CtxPrices{}
	}
	var e Encoder
	e.Prepare(linked, bytes.Clone(marks))
	if len(e.freqs) < 4 || !clustered(&e) {
		t.Fatalf("%d tables for useful contexts, clustered: %v", len(e.freqs), clustered(&e))
	}
	for _, alphabet := range []int{128, 256} {
		noise := make([]byte, n)
		for i := range noise {
			noise[i] = byte(r.IntN(alphabet))
		}
		var e Encoder
		e.Prepare(noise, make([]byte, n))
		if len(e.freqs) != 1 || clustered(&e) {
			t.Errorf("noise of %d symbols: %d tables, clustered: %v",
				alphabet, len(e.freqs), clustered(&e))
		}
	}
	// Contexts that begin to help behind the first sample are found.
	both := make([]byte, n, 2*n)
	for i := range both {
		both[i] = byte(r.IntN(256))
	}
	both = append(both, linked...)
	marks = append(make([]byte, n), marks...)
	var d Decoder
	code := roundTrip(t, &e, &d, both, marks)
	e.Prepare(linked, bytes.Clone(marks[n:]))
	if alone := e.Append(nil); len(code) > n+n/100+len(alone) {
		t.Errorf("%d bytes, %d of them noise; the rest alone takes %d", len(code), n, len(alone))
	}
}

package rans

import (
	"math/rand/v2"
	"testing"
)

// TestMayGain looks for short streams that contexts make smaller although MayGain denies it. In
// the streams each symbol follows from the one before it, which is the most that contexts can use.
func TestMayGain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var plain Encoder
	var context ContextEncoder
	denied, gains := 0, 0
	for range 3000 {
		stream := dependentStream(rng, 1+rng.IntN(3000))
		size := plain.Size(stream, 0)
		coded := context.Prepare(stream, make([]byte, len(stream)))
		switch {
		case coded < size && !MayGain(len(stream), size):
			t.Fatalf("%d symbols take %d bytes, with contexts %d", len(stream), size, coded)
		case coded < size:
			gains++
		case !MayGain(len(stream), size):
			denied++
		}
	}
	if denied < 500 || gains < 100 {
		t.Errorf("%d streams are denied and %d gain: too few to tell", denied, gains)
	}
}

// dependentStream returns n symbols of a random alphabet. A symbol follows from the one before it,
// except for a random share.
func dependentStream(rng *rand.Rand, n int) []byte {
	alphabet := 2 + rng.IntN(255)
	if rng.IntN(3) == 0 {
		alphabet = 2 + rng.IntN(20)
	}
	successors, noise := rng.Perm(alphabet), rng.IntN(8)
	stream, last := make([]byte, n), 0
	for i := range stream {
		last = successors[last]
		if rng.IntN(16) < noise {
			last = rng.IntN(alphabet)
		}
		stream[i] = byte(last)
	}
	return stream
}

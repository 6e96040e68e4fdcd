package simd

import (
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

// crcBits computes CRC32C bit by bit.
func crcBits(sum uint32, p []byte) uint32 {
	sum = ^sum
	for _, c := range p {
		sum ^= uint32(c)
		for range 8 {
			sum = sum>>1 ^ crc32.Castagnoli&-(sum&1)
		}
	}
	return ^sum
}

func TestCRC32C(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	p := make([]byte, 300_000)
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(33, 34))
		if got := CRC32C(0, []byte("123456789")); got != 0xe3069283 {
			t.Fatalf("CRC32C of the check string: %08x, want e3069283", got)
		}
		try := func(from, n int) {
			sum := r.Uint32() >> r.IntN(32)
			if got, want := CRC32C(sum, p[from:from+n]), crcBits(sum, p[from:from+n]); got != want {
				t.Fatalf("CRC32C of %d bytes at %d: %08x, want %08x", n, from, got, want)
			}
		}
		for step := 256; step < 4000; step += 256 {
			for d := -2; d <= 2; d++ {
				try(r.IntN(64), step+d)
			}
		}
		for range scaled(1000) {
			try(r.IntN(64), r.IntN(3000))
		}
		for d := -1; d <= 1; d++ {
			try(3, 1<<17+d)
			try(3, 1<<18+d)
		}
	})
}

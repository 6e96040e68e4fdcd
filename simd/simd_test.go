package simd

import (
	"math/rand/v2"
	"testing"
)

// The longest slices pass every loop of a kernel several times. Offsets cover all alignments to 16
// bytes.
const (
	maxLen   = 200
	maxAlign = 16
)

func TestMatchLen(t *testing.T) {
	eachTier(t, testMatchLen)
}

func testMatchLen(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	a, b := make([]byte, maxLen+maxAlign), make([]byte, maxLen+maxAlign)
	for n := range maxLen + 1 {
		for align := range maxAlign {
			x, y := a[align:align+n], b[r.IntN(maxAlign):][:n]
			for i := range x {
				x[i] = byte(r.Uint32())
			}
			copy(y, x)
			// Bytes behind the shorter slice are equal too, and must not count.
			if got := MatchLen(x, y); got != n {
				t.Fatalf("MatchLen with %d equal bytes: %d", n, got)
			}
			cut := r.IntN(n + 1)
			if got := MatchLen(x[:cut], y); got != cut {
				t.Fatalf("MatchLen with the first slice cut from %d to %d bytes: %d", n, cut, got)
			}
			if got := MatchLen(x, y[:cut]); got != cut {
				t.Fatalf("MatchLen with the second slice cut from %d to %d bytes: %d", n, cut, got)
			}
			if cut < n {
				// One bit must suffice. Bytes after the first difference must not matter.
				y[cut] ^= 1 << r.IntN(8)
				if got := MatchLen(x, y); got != cut {
					t.Fatalf("MatchLen with a difference at %d of %d: %d", cut, n, got)
				}
				y[n-1] ^= 0x10
				if got := MatchLen(x, y); cut < n-1 && got != cut {
					t.Fatalf("MatchLen with differences at %d and %d: %d", cut, n-1, got)
				}
			}
		}
	}
}

// TestMatchLenOverlap compares overlapping slices, as matches with short offsets do.
func TestMatchLenOverlap(t *testing.T) {
	eachTier(t, testMatchLenOverlap)
}

func testMatchLenOverlap(t *testing.T) {
	p := make([]byte, maxLen)
	for dist := 1; dist < 40; dist++ {
		for i := range p {
			p[i] = byte(i % dist)
		}
		if got := MatchLen(p, p[dist:]); got != maxLen-dist {
			t.Errorf("MatchLen with period %d: %d, want %d", dist, got, maxLen-dist)
		}
	}
}

func TestHistogram(t *testing.T) {
	eachTier(t, testHistogram)
}

func testHistogram(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const most = 5000
	p := make([]byte, most+maxAlign)
	for n := range maxLen + 1 {
		for align := range maxAlign {
			size := n
			if align%4 == 3 {
				size = maxLen + r.IntN(most-maxLen+1) // enough for the kernel
			}
			q := p[align : align+size]
			spread := 1 + r.IntN(256) // from runs of one byte to all values
			for i := range q {
				q[i] = byte(255 - r.IntN(spread))
			}
			var got, want [256]uint32
			for i := range got {
				// Histogram adds to these counts.
				got[i] = r.Uint32() >> 1
				want[i] = got[i]
			}
			for _, c := range q {
				want[c]++
			}
			Histogram(&got, q)
			if got != want {
				t.Fatalf("Histogram of %d bytes at %d with %d values: wrong counts", size, align,
					spread)
			}
		}
	}
}

func TestFill(t *testing.T) {
	const guard = 64
	p := make([]byte, guard+maxLen+maxAlign+guard)
	for n := range maxLen + 1 {
		for align := range maxAlign {
			for i := range p {
				p[i] = byte(i)
			}
			from := guard + align
			Fill(p[from:from+n], byte(n+77))
			for i, c := range p {
				want := byte(i)
				if i >= from && i < from+n {
					want = byte(n + 77)
				}
				if c != want {
					t.Fatalf("Fill of %d bytes at %d: byte %d is %d, want %d", n, align, i-from, c,
						want)
				}
			}
		}
	}
}

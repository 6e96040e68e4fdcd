package corpus

import "math/bits"

// gen is the state of a generator: random numbers, output, and variables that live across units.
type gen struct {
	rng
	out []byte

	clock uint64 // time, row number or line number, depending on the kind
	vars  [8]uint64
}

func (g *gen) bytes(p ...byte)  { g.out = append(g.out, p...) }
func (g *gen) string(s string)  { g.out = append(g.out, s...) }
func (g *gen) pick(s ...string) { g.string(s[g.below(len(s))]) }

// decimal appends v, padded with zeros to at least width digits.
func (g *gen) decimal(v uint64, width int) {
	var d [20]byte
	i := len(d)
	for v > 0 || width > 0 || i == len(d) {
		i--
		d[i] = byte('0' + v%10)
		v /= 10
		width--
	}
	g.out = append(g.out, d[i:]...)
}

func (g *gen) hex(v uint64, width int) {
	for s := 4 * (width - 1); s >= 0; s -= 4 {
		g.out = append(g.out, "0123456789abcdef"[v>>s&15])
	}
}

// repeat appends a match of n bytes at offset dist. The match may overlap itself.
func (g *gen) repeat(dist, n int) {
	for n > 0 {
		from := len(g.out) - dist
		m := min(n, dist)
		g.out = append(g.out, g.out[from:from+m]...)
		n -= m
	}
}

// rng is splitmix64. It stands here because a library's generator may change.
type rng uint64

func newRNG(seed uint64) rng {
	r := rng(seed)
	return rng(r.next())
}

func (r *rng) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number in [0, n).
func (r *rng) below(n int) int {
	hi, _ := bits.Mul64(r.next(), uint64(n))
	return int(hi)
}

// between returns a number in [lo, hi].
func (r *rng) between(lo, hi int) int { return lo + r.below(hi-lo+1) }

// oneIn returns true with probability 1/n.
func (r *rng) oneIn(n int) bool { return r.below(n) == 0 }

// geometric returns k with probability 2^-(k+1).
func (r *rng) geometric() int { return bits.TrailingZeros64(r.next() | 1<<63) }

// noise returns the sum of four uniform numbers in [-amp, amp].
func (r *rng) noise(amp int) int {
	x := r.next()
	s := -4 * amp
	for range 4 {
		s += int(x&0xffff) * (2*amp + 1) >> 16
		x >>= 16
	}
	return s
}

package corpus

import "math/bits"

// periods lie around the offsets at which copy loops, escapes and windows switch code paths.
var periods = [...]int{
	1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15, 16, 17, 19, 23, 31, 32, 33, 47, 63, 64, 65,
	127, 128, 129, 255, 256, 257, 511, 1021, 2047, 2048, 2049, 4093,
}

// runs appends a repeated pattern.
func runs(g *gen) {
	p := periods[g.below(len(periods))]
	g.fill(p)
	// Lengths from 0 to 8191, roughly uniform on a logarithmic scale.
	g.repeat(p, g.below(2<<g.below(13)))
}

// fill appends n random bytes.
func (g *gen) fill(n int) {
	for ; n >= 8; n -= 8 {
		g.out = le.AppendUint64(g.out, g.next())
	}
	for x := g.next(); n > 0; n-- {
		g.bytes(byte(x))
		x >>= 8
	}
}

func random(g *gen) { g.fill(1 << 10) }

func zeros(g *gen) {
	var z [1 << 10]byte
	g.bytes(z[:]...)
}

// far appends new bytes, then a long match at a large offset.
func far(g *gen) {
	g.fill(g.between(1, 3000))
	if d := g.between(64<<10, 1<<20); d < len(g.out) {
		g.repeat(d, g.between(100, 30_000))
	} else if len(g.out) < 100_000 {
		g.fill(2000)
	}
}

// short appends a few literals, then a short match.
func short(g *gen) {
	g.fill(g.between(1, 8))
	if n := len(g.out); n > 16 {
		g.repeat(g.between(9, min(n, 4000)), g.between(3, 8))
	}
}

func sparse(g *gen) {
	zeros(g)
	g.out = g.out[:len(g.out)-g.below(1000)]
	if g.oneIn(20) {
		g.bytes(byte(g.next() >> 56))
	}
}

func skewed(g *gen) {
	for range 64 {
		// A geometric symbol has two bits of entropy. The factor spreads symbols over all bytes.
		g.bytes(byte(g.geometric() * 89))
	}
}

func flat(g *gen) {
	var p [256]byte
	for i := range p {
		j := g.below(i + 1)
		p[i] = p[j]
		p[j] = byte(i)
	}
	g.bytes(p[:]...)
}

// packed appends a frame of Rice codes as in lossless audio. The code fits the distribution almost
// exactly, so the result is almost incompressible.
func packed(g *gen) {
	g.bytes(0xff, 0xf8, 0xc9)
	g.clock++
	g.out = le.AppendUint32(g.out, uint32(g.clock))
	var acc uint64
	var n int
	for range 300 {
		x := g.next()
		q := bits.TrailingZeros64(x | 1<<15) // unary part
		acc |= (x>>48&7<<1 | 1) << q << n
		for n += q + 4; n >= 8; n -= 8 {
			g.bytes(byte(acc))
			acc >>= 8
		}
	}
	g.bytes(byte(acc))
}

// mixable is the number of kinds, from the first, that mixed draws from. It is a constant so that a
// new kind does not change the bytes of mixed.
const mixable = 18

// mixed appends a piece of another kind, between one byte and 128 KiB long.
func mixed(g *gen) {
	k := Kinds()[g.below(mixable)]
	n := 1 + g.below(2<<g.below(17))
	g.bytes(k.MakeSeed(n, g.next())...)
}

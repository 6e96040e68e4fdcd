package lz77

import "math/bits"

// match is a way to go on from a position.
type match struct {
	length, offset int // length and offset in bytes
	score          int // bits saved, about; see score
}

// find returns the length and the offset of the best candidate at i as Recent defines it, zeros if there is none or, perhaps, if it is shorter than least.
// Each call must be for a position behind that of the one before.
func (m *Matcher) find(src []byte, i, least int) (n, offset int) {
	if m.candidates != nil {
		m.rows.next = i + 1
		return m.candidate(src, i)
	}
	return m.rows.find(src, i, least, m.limits.MaxOffset, m.params.Nice)
}

// mix is the hash of Recent, of which the highest bits are used. It makes do with 32 bits, like a GPU. The lower 4 of the bytes v count in
// full, the others as far as mask says.
func rowHash(v uint64, mask uint32) uint32 {
	return uint32(v)*prime32 + uint32(v>>32)&mask*prime32b
}

// mixMask is the mask for a hash of so many bytes, 4 … 8.
func rowHashMask(bytes uint8) uint32 { return uint32(1<<(8*(bytes-4)) - 1) }

// nearNice is one less than how many bytes of match make up for any offset: those of the greatest and the least differ by 22 bits.
const nearNice = 5

// minOffsetBits is what the least offset takes from a score.
const minOffsetBits = 5

// score is what n bytes of match are worth, in bits: four bits a byte is what a literal costs on common data, less the token.
func score(n int) int { return 4 * n }

// repeats is the list of recent offsets, the latest first.
type repeatOffsets [3]int

func (r *repeatOffsets) use(d int) {
	switch d {
	case r[0]:
	case r[1]:
		r[0], r[1] = d, r[0]
	default:
		r[0], r[1], r[2] = d, r[0], r[1]
	}
}

// findRepeat returns the longest match at i with one of the recent offsets.
func (m *Matcher) findRepeat(src []byte, i int, r *repeatOffsets) (best match) {
	best.length = m.limits.MinMatch - 1
	v := load32(src, i)
	for _, d := range r[:m.limits.Repeats] {
		if c := i - d; c >= 0 && load32(src, c) == v {
			if n := extend(src, c, i, 4); n > best.length {
				best.length, best.offset = n, d
			}
		}
	}
	if best.offset == 0 {
		return match{}
	}
	best.score = score(best.length) + 1
	return best
}

// best returns the best way to go on from i, with n = 0 if there is none that scores more than than.
func (m *Matcher) bestMatch(src []byte, i int, reps *repeatOffsets, than int) (r match) {
	if m.limits.Repeats != 0 {
		if r = m.findRepeat(src, i, reps); r.length >= m.params.Nice {
			return r
		}
	}
	// Most candidates that cannot win are too short to, and need no look at where they end. One that is nearly of Nice bytes needs one all the same: Recent may prefer it to another that
	// is longer than Nice, which this would find in its place.
	least := max(m.minMatch, min((max(than, r.score)+minOffsetBits)/4+1, m.params.Nice-nearNice))
	if n, d := m.find(src, i, least); n > 0 {
		if s := score(n) - bits.Len32(uint32(d)); s > r.score {
			return match{n, d, s}
		}
	}
	return r
}

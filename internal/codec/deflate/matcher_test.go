package deflate

import (
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/simd"
)

// matcher is a simple match finder with hash chains, which gives realistic sequences.
type matcher struct {
	depth    int // maximum number of candidates
	lazy     bool
	maxMatch int
}

const noPosition = -1

// parse returns sequences for data[from:]. Matches may reach back before from.
func (m matcher) parse(data []byte, from int) (seqs []lz77.Sequence) {
	const hashLog = 15
	head := make([]int32, 1<<hashLog)
	for i := range head {
		head[i] = noPosition
	}
	chain := make([]int32, len(data))
	hash := func(p int) uint32 {
		v := uint32(data[p]) | uint32(data[p+1])<<8 | uint32(data[p+2])<<16
		return v * 2654435761 >> (32 - hashLog)
	}
	inserted := max(0, from-MaxOffset)
	insert := func(to int) {
		for ; inserted < to && inserted+3 <= len(data); inserted++ {
			h := hash(inserted)
			chain[inserted] = head[h]
			head[h] = int32(inserted)
		}
	}
	find := func(p int) (length, offset int) {
		if p+3 > len(data) {
			return 0, 0
		}
		insert(p)
		limit := data[p:min(len(data), p+m.maxMatch)]
		c, n := head[hash(p)], m.depth
		for ; c >= 0 && p-int(c) <= MaxOffset && n > 0; c, n = chain[c], n-1 {
			if l := simd.MatchLen(limit, data[c:]); l > length {
				length, offset = l, p-int(c)
			}
		}
		if length < MinMatch || length == MinMatch && offset > 4096 {
			return 0, 0
		}
		return length, offset
	}
	done := from
	for p := from; p < len(data); {
		length, offset := find(p)
		if length == 0 {
			p++
			continue
		}
		if m.lazy {
			if l, o := find(p + 1); l > length {
				p++
				length, offset = l, o
			}
		}
		seqs = append(seqs, lz77.Sequence{
			LitLen: uint32(p - done), MatchLen: uint32(length), Offset: uint32(offset),
		})
		p += length
		done = p
	}
	return seqs
}

var greedy = matcher{depth: 8, maxMatch: 1 << 20}

package rans

import (
	"github.com/gopz/compress/rans/internal/model"
	"github.com/gopz/compress/simd"
)

// group is a group of lanes on its way through its part of the coded sequence. Dst is what is left of its piece of a segment; Words
// goes on behind the group's own words, to where the input ends, so that a kernel may read ahead.
type group struct {
	simd.DecodeGroup
	tab      simd.DecodeTable
	width    int  // number of lanes
	behind   int  // bytes of Words that are not the group's own
	padded   bool // Words is in pad
	pad      [2*simd.RoundBytes + 2*simd.WordSlack]byte
	from, to int // numbers of the group's symbols in the coded sequence
	seg, at  int // the next segment and the number of its first symbol
	built    int // the segment that tab is for, −1 at first
}

// open reads the head of a group, which has the symbols from number from to number to, and returns what follows its words.
func (g *group) open(src []byte, from, to, width int) ([]byte, error) {
	words, rest, err := model.OpenGroup(src, g.States[:width])
	if err != nil {
		return nil, err
	}
	g.Dst, g.Words, g.behind, g.padded = nil, words[:len(words)+len(rest)], len(rest), false
	g.width, g.from, g.to, g.seg, g.at, g.built = width, from, to, 0, 0, -1
	return rest, nil
}

// left is the number of bytes of the group's own words that were not used; less than 0 if it used more than that.
func (g *group) left() int { return len(g.Words) - g.behind }

// next goes on to the group's next piece of a segment if it has finished the last one. It returns false if there is none. other is the group
// before this one, if there is one.
func (g *group) next(segs []segment, other *group) bool {
	for ; len(g.Dst) == 0; g.seg++ {
		if g.seg == len(segs) {
			return false
		}
		s := &segs[g.seg]
		if s.mode != modeCoded {
			continue
		}
		a, b := max(g.at, g.from)-g.at, min(g.at+len(s.data), g.to)-g.at
		g.at += len(s.data)
		if a >= b {
			continue
		}
		g.Dst = s.data[a:b]
		if other != nil && other.built == g.seg {
			// The other group is in the same segment or was there last. It goes no further, so its table stays.
			g.Table = &other.tab
			continue
		}
		g.tab.Build((*[256]uint16)(&s.freq))
		g.Table, g.built = &g.tab, g.seg
	}
	return true
}

// settle does what the kernels leave: the end of a piece, and the last words of the input, behind which they cannot look. It returns false if the
// words run out.
func (g *group) settle() bool {
	switch {
	case g.left() < 0:
		return false
	case len(g.Dst) < Lanes:
		return g.few()
	case len(g.Words) < simd.RoundBytes+simd.WordSlack:
		return g.refill()
	}
	return true // the other group kept it from going on
}

// few decodes the rest of Dst symbol by symbol. It returns false if the words run out.
func (g *group) few() bool {
	for at := 0; ; {
		at = simd.DecodeTail(&g.DecodeGroup, g.width, at)
		if g.left() < 0 {
			return false
		}
		if at == len(g.Dst) {
			g.Dst = nil
			return true
		}
		if !g.refill() {
			return false
		}
	}
}

// refill moves the last words to where the kernels can read past them.
func (g *group) refill() bool {
	if g.padded {
		return false
	}
	n := copy(g.pad[:], g.Words[:g.left()])
	clear(g.pad[n:])
	g.Words, g.behind, g.padded = g.pad[:], len(g.pad)-n, true
	return true
}

// close checks that all is used up.
func (g *group) close() error { return model.CloseGroup(g.States[:g.width], g.left()) }

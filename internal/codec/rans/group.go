package rans

import (
	"github.com/gopz/compress/internal/codec/rans/internal/model"
	"github.com/gopz/compress/internal/kernels"
)

// pairSymbols is the most coded symbols of two groups. It is part of the format. A group costs
// about 100 bytes: 0.04% of the symbols. A GPU decodes a group at 0.2 GB/s, so it needs hundreds of
// them.
const pairSymbols = 1 << 19

// fullGroups returns the number of groups of coded symbols, at least model.SmallLimit. It is even,
// because kernels decode two groups in step.
func fullGroups(coded int) int { return 2 * ((coded-1)/pairSymbols + 1) }

// groupEnd returns the number of coded symbols in the first n groups.
func groupEnd(coded, n int) int {
	groups := fullGroups(coded)
	if n == groups {
		return coded
	}
	return (int(int64(coded)*int64(n)/int64(groups)) + Lanes - 1) &^ (Lanes - 1)
}

// groupDecoder decodes one lane group. Dst is the next piece of the current run of symbols with one
// table. Words extends behind the group's own words to the end of the input, because kernels read
// ahead.
type groupDecoder struct {
	kernels.DecodeGroup
	rest     []byte // behind Dst: of the same run
	tab      kernels.DecodeTable
	width    int  // number of lanes
	tail     int  // bytes of Words behind the group's own words
	padded   bool // Words points into pad
	pad      [2*kernels.RoundBytes + 2*kernels.WordSlack]byte
	from, to int // range of the group's symbols in the coded sequence
	seg, at  int // next segment and the index of its first symbol
	builtFor int // segment that tab belongs to; −1 at first
}

// open reads the head of a group with the symbols [from, to) and returns the rest of src.
func (g *groupDecoder) open(src []byte, from, to, width int) ([]byte, error) {
	words, rest, err := model.OpenGroup(src, g.States[:width])
	if err != nil {
		return nil, err
	}
	g.rest = nil
	g.Dst, g.Words, g.tail, g.padded = nil, words[:len(words)+len(rest)], len(rest), false
	g.width, g.from, g.to, g.seg, g.at, g.builtFor = width, from, to, 0, 0, -1
	return rest, nil
}

// left returns the number of unread bytes of the group's own words. It is negative if the decoder
// has read beyond them.
func (g *groupDecoder) left() int { return len(g.Words) - g.tail }

// runPiece is the number of symbols in a piece of a run, a multiple of Lanes.
const runPiece = 1 << 18

// nextPiece moves the next piece of the run to Dst.
func (g *groupDecoder) nextPiece() {
	n := min(len(g.rest), runPiece)
	g.Dst, g.rest = g.rest[:n:n], g.rest[n:]
}

// next sets Dst and Table to the group's next piece of symbols once the current one is decoded. It
// returns false at the end. previous is the first group, or nil for the first group itself.
func (g *groupDecoder) next(segs []segment, previous *groupDecoder) bool {
	if len(g.Dst) == 0 && len(g.rest) > 0 {
		g.nextPiece()
		return true
	}
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
		g.rest = s.data[a:b]
		g.nextPiece()
		if s.isDefault {
			g.Table, g.builtFor = &defaultDecodeTables()[s.stream], -1
			continue
		}
		if previous != nil && previous.builtFor == g.seg {
			// The first group is in this segment or was there last. It goes no further, so its
			// table stays valid.
			g.Table = &previous.tab
			continue
		}
		g.tab.Build((*[256]uint16)(&s.freq))
		g.Table, g.builtFor = &g.tab, g.seg
	}
	return true
}

// decodeRest decodes what the kernels leave over: the incomplete round at the end of a run, and the
// rounds near the end of the input. It returns false if the words run out.
func (g *groupDecoder) decodeRest() bool {
	switch {
	case g.left() < 0:
		return false
	case len(g.Dst) < Lanes:
		return g.decodeScalar()
	case len(g.Words) < kernels.RoundBytes+kernels.WordSlack:
		return g.refill()
	}
	return true // the kernel stopped because of the other group
}

// decodeScalar decodes the rest of Dst symbol by symbol. It returns false if the words run out.
func (g *groupDecoder) decodeScalar() bool {
	for at := 0; ; {
		at = kernels.DecodeTail(&g.DecodeGroup, g.width, at)
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

// refill copies the last words to pad, behind which kernels may read. It returns false if it has
// done so before.
func (g *groupDecoder) refill() bool {
	if g.padded {
		return false
	}
	n := copy(g.pad[:], g.Words[:g.left()])
	clear(g.pad[n:])
	g.Words, g.tail, g.padded = g.pad[:], len(g.pad)-n, true
	return true
}

// checkEnd checks the final states and that all words are used.
func (g *groupDecoder) checkEnd() error { return model.CloseGroup(g.States[:g.width], g.left()) }

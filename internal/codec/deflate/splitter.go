package deflate

import (
	"github.com/gopz/compress/internal/optimal"
)

// splitter implements optimal.BlockSplitter with the units and estimates of an Encoder.
type splitter struct {
	units []unit
	n     int // number of units in use; the last one is not full
	left  int // number of symbols for which the last unit has room
}

func newSplitter() optimal.BlockSplitter { return new(splitter) }

// Split appends the ends of blocks to ends. See optimal.BlockSplitter.
func (s *splitter) Split(ends []int, content []byte, steps []optimal.Step) []int {
	if len(content) == 0 {
		return ends
	}
	s.units = sized(s.units, len(content)/unitSymbols+2)
	s.n = 0
	s.beginUnit()
	rest := content
	for i := range steps {
		step := &steps[i]
		s.addLiterals(rest[:step.LitLen])
		s.addMatch(step.MatchLen, step.Offset)
		rest = rest[step.LitLen+step.MatchLen:]
	}
	s.addLiterals(rest)
	units := s.units[:s.n]
	if last := s.n - 1; units[last].content == 0 {
		units = units[:last]
	}
	mergeUnits(units, nil)
	end := 0
	for i := 0; i < len(units); i = units[i].next {
		end += units[i].content
		ends = append(ends, end)
	}
	return ends
}

// beginUnit begins a unit.
func (s *splitter) beginUnit() {
	s.units[s.n] = unit{}
	s.units[s.n].hist.litLen[endOfBlock] = 1
	s.n++
	s.left = unitSymbols
}

func (s *splitter) addLiterals(lits []byte) {
	for len(lits) > 0 {
		part := lits[:min(len(lits), s.left)]
		lits = lits[len(part):]
		u := &s.units[s.n-1]
		for _, b := range part {
			u.hist.litLen[b]++
		}
		u.content += len(part)
		if s.left -= len(part); s.left == 0 {
			s.beginUnit()
		}
	}
}

func (s *splitter) addMatch(length, offset uint32) {
	u := &s.units[s.n-1]
	u.content += int(length)
	slot := slotOf(offset - 1)
	for ; ; length -= MaxMatch {
		l := lengthSlot[min(max(length, MinMatch), MaxMatch)]
		u.hist.litLen[firstLength+int(l)]++
		u.hist.offset[slot]++
		u.hist.extra += uint64(lengthExtra[l] + offsetExtra[slot])
		if length <= MaxMatch {
			break
		}
	}
	s.left--
	if s.left == 0 {
		s.beginUnit()
	}
}

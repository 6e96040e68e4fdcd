package optimal

import (
	"slices"

	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/internal/kernels"
	"github.com/gopz/compress/lz77"
)

// link is the last edge of a path.
type link struct {
	length uint32 // of a match, 0 for a literal; ORed with fromSecond or fromLiteral
	offset uint32 // of the last match
}

// Flags of link.length: the path that the edge extends, if not the cheapest one.
const (
	fromSecond  = 1 << 31
	fromLiteral = kernels.PathFromLiteral
	linkFlags   = fromSecond | fromLiteral
)

// paths holds one path to each position of a chunk.
type paths struct {
	nodes  []kernels.PathNodes // ends of the paths, by blocks of positions
	states []state             // behind each path; set when the position has its turn
}

func (a *paths) grow(n int) {
	a.nodes, a.states = make([]kernels.PathNodes, n/kernels.PathBlock+1), make([]state, n)
}

// clear makes all of n positions unreached.
func (a *paths) clear(n int) {
	nodes := a.nodes[:(n-1)/kernels.PathBlock+1]
	for i := range nodes {
		for k := range nodes[i].Cost {
			nodes[i].Cost[k] = unreached
		}
	}
}

// link returns the last edge of the path to position i.
func (a *paths) link(i int) link {
	b, k := nodeAt(i)
	return link{a.nodes[b].Length[k], a.nodes[b].Offset[k]}
}

// nodeAt returns the block of the node of position i and its place there.
func nodeAt(i int) (block, k uint) { return uint(i) / kernels.PathBlock, uint(i) % kernels.PathBlock }

// pathBytes is the memory of a position in paths, in bytes.
const pathBytes = 12 + 16

// state is the state of the coder behind a path.
type state struct {
	repeats repeatList
	run     uint32 // literals since the last match
}

// follow sets s to the state behind a literal, from the state t in front of it. It copies field by
// field: t was stored just now, and a wide load would have to wait for several stores.
func (s *state) follow(t *state) {
	s.repeats[0] = t.repeats[0]
	s.repeats[1] = t.repeats[1]
	s.repeats[2] = t.repeats[2]
	s.run = t.run + 1
}

// repeatList is the list of repeat offsets, the most recent first.
type repeatList = finder.Repeats[uint32]

// offset returns the repeat offset of a kind.
func (s *state) offset(kind int, shifted bool) uint32 {
	if shifted && s.run == 0 {
		if kind == 2 {
			return s.repeats[0] - 1
		}
		kind++
	}
	return s.repeats[kind]
}

// repeatMatch caches the end of a match at an offset, for the positions behind its first one.
type repeatMatch struct {
	offset uint32
	more   bool // the match may go on behind end
	end    int
}

// pathsOf returns the paths that a link extends, by its length.
func (o *Parser) pathsOf(length uint32) *paths {
	switch {
	case length&fromSecond != 0:
		return &o.secondBest
	case length&fromLiteral != 0:
		return &o.context.literalPaths
	}
	return &o.best
}

// resolveState sets the state behind the path of a to position i > 0.
func (o *Parser) resolveState(a *paths, i int) {
	st, l := &a.states[i], a.link(i)
	from := o.pathsOf(l.length)
	n := int(l.length &^ linkFlags)
	if n == 0 {
		st.follow(&from.states[i-1])
		return
	}
	st.repeats = from.states[i-n].repeats
	st.repeats.Use(l.offset)
	st.run = 0
}

// backtrack sets steps to the best path to the end of a chunk, and the match last behind it. It
// counts the literals of the chunk and returns the state behind last.
func (o *Parser) backtrack(content []byte, last link) state {
	o.steps = o.steps[:0]
	i := len(content)
	if i > 0 {
		o.resolveState(&o.best, i)
	}
	end := o.best.states[i]
	if last.length != 0 {
		o.steps = append(o.steps, o.stepAt(&end, last))
		end.repeats.Use(last.offset)
		end.run = 0
	}
	for a := &o.best; i > 0; {
		l := a.link(i)
		a = o.pathsOf(l.length)
		l.length &^= linkFlags
		if l.length == 0 {
			i--
			o.counts.Literals[content[i]]++
			if o.context != nil {
				o.context.countLiteral(o.skipped+i, a.states[i].run, content[i])
			}
			continue
		}
		i -= int(l.length)
		o.steps = append(o.steps, o.stepAt(&a.states[i], l))
	}
	slices.Reverse(o.steps)
	return end
}

// stepAt returns the step of a match from a state.
func (o *Parser) stepAt(from *state, l link) Step {
	s := Step{lz77.Sequence{LitLen: from.run, MatchLen: l.length, Offset: l.offset}, NewOffset}
	for kind := o.config.Repeats - 1; kind >= 0; kind-- {
		if from.offset(kind, o.rules.ShiftedRepeats) == l.offset {
			s.Kind = uint8(kind)
		}
	}
	return s
}

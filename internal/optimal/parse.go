package optimal

import (
	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/internal/kernels"
)

// This file is the second half of optimal parsing: the cheapest path through a chunk.
//
// The positions of a chunk are nodes of a graph. A literal or a match is an edge, whose weight is
// its price. Positions are taken in ascending order, and each relaxes its edges. So the cheapest
// path to a position is known when its turn comes. zopfli and zstd's btopt strategy work the same
// way.
//
// Prices depend on the path where there are repeat offsets: a match at a repeat offset is cheaper,
// and the list follows from the path. A node therefore keeps the list of its cheapest path, and up
// to two further paths:
//
//   - the second-cheapest, if its last match has another offset. It goes on with literals and
//     matches at repeat offsets only, which may win back its loss.
//   - the cheapest that ends with a literal, where literals have contexts. The first literals of a
//     run are dear there. So a match that is cheap at its end may make the literals behind it
//     dearer than it saves. This path goes on with a literal only. Such paths are compared as if
//     they had long runs.
//
// Cost: a step for each candidate and length at each position. MaxMisses bounds the lengths: most
// lengths below the longest lose to the same match from the position before. It counts blocks of
// nodes, so that a kernel can update eight at once (kernel.go). Without repeat offsets, contexts
// and bounds the result is the cheapest parse; TestOptimal compares it with an exhaustive search.

const unreached = kernels.PathUnreached

// maxSecondLag is how much more than the cheapest path the second-cheapest may cost. With 4 bits,
// tables are 0.5% larger; 12 bits take up to 1.1 times as long for 0.2%.
const maxSecondLag = 8 * PriceBit

// maxLiteralLag is how much more than the cheapest path the one that ends with a literal may cost.
// It is about the price of leaving a row of matches and coming back.
const maxLiteralLag = 20 * PriceBit

// comparedRun is the run with whose price paths that end with a literal are compared.
const comparedRun = 16

// graph is the state of a parse.
type graph struct {
	best       paths // the cheapest path to each position
	secondBest paths // the second-cheapest, if its last match has another offset
	keepSecond bool  // the parse extends secondBest
	repeatDrop uint  // bits of 4 bytes that a match at a repeat offset need not have

	literals    [][runPositions]int32 // price of the literal at each position, by place in its run
	literalRuns kernels.PathRuns
	repeatCache [16]repeatMatch
	skipped     int // position in the chunk where the parse begins
}

// setRuns sets r from the prices of runs.
func setRuns(r *kernels.PathRuns, runs *[PricedRuns]int32) {
	for n := range r.More {
		next := min(n+1, PricedRuns-1)
		r.More[n] = runs[next] - runs[n]
		r.Compared[n] = runs[comparedRun] - runs[min(next, comparedRun)]
	}
}

// parse sets steps to the cheapest path through a chunk from state at, counts its literals, and
// returns the state behind it.
func (o *Parser) parse(src []byte, s chunk, at state) state {
	size := s.to - s.from
	o.beginParse(size, at)
	nodes, states := o.best.nodes, o.best.states[:size+1]
	literals := o.literals[o.skipped:][:size]
	empty := o.prices.Run[0] // literals cost what the run costs beyond that
	third := literalPath{cost: unreached}
	maxLag := int32(maxLiteralLag)
	if o.context == nil {
		maxLag = -unreached
	}
	next := checkpointStep
	end := len(src) - finder.Tail
	from, to := o.kernelRange(src, s)
	for i := 0; i < size; i++ {
		if i >= next {
			next = i + checkpointStep
			o.checkpoint()
		}
		if i >= from && i < to {
			if at, path, ok := o.relaxByKernel(src, s, i, min(to, next), third); ok {
				i, third = at-1, path
				continue
			}
			to = 0
		}
		b, k := nodeAt(i)
		st, here, l := &states[i], nodes[b].Cost[k], nodes[b].Length[k]
		reached := third
		third = literalPath{cost: unreached, compared: unreached}
		if i > 0 {
			if l == 0 {
				st.follow(&states[i-1])
			} else {
				o.resolveState(&o.best, i)
			}
			if o.keepSecond {
				third = o.extendSecond(src, s.from, i, size-i, here)
			}
			// A path with the last edge of the cheapest one is the cheapest one.
			if reached.cost < here+maxLag && reached.from != l {
				third = third.or(o.extendLiteralPath(i, reached.cost, reached.from))
			}
		}
		if o.keepSecond {
			third = third.or(o.relaxLiteral(i, st, here, 0))
		} else {
			run := min(st.run, PricedRuns-1)
			cost := here + literals[i][min(run, otherOfRun)] + o.literalRuns.More[run]
			if b, k := nodeAt(i + 1); cost < nodes[b].Cost[k] {
				nodes[b].Cost[k], nodes[b].Length[k] = cost, 0
			}
			third = third.or(literalPath{cost, cost + o.literalRuns.Compared[run], 0})
		}
		if p := s.from + i; p <= end {
			v := finder.Load32(src, p)
			if o.rules.ShiftedRepeats || o.anyRepeat(src, p, v, &st.repeats) {
				if n := o.relaxRepeats(src, v, s.from, i, size-i, st, here+empty, 0); n >= o.config.Nice {
					i += n - 1
					third.cost = unreached
					continue
				}
			}
		}
		if cands := o.cands[o.firstCand[i]:o.firstCand[i+1]]; len(cands) > 0 {
			if n := o.relaxCandidates(cands, i, size-i, st, here+empty); n > 0 {
				i += n - 1
				third.cost = unreached
			}
		}
	}
	return o.backtrack(src[s.from:s.to], s.last)
}

// beginParse prepares the graph for a chunk of size bytes.
func (o *Parser) beginParse(size int, at state) {
	prices := &o.prices
	// Without repeat offsets, and if the run does not matter, a loss is never won back.
	o.keepSecond = o.config.KeepSecondPath &&
		(o.config.Repeats > 0 || prices.RunClass[0] != prices.RunClass[1])
	clear(o.repeatCache[:])
	o.repeatDrop = uint(8 * (4 - min(o.minRepeat, 4)))
	setRuns(&o.literalRuns, &prices.Run)
	o.best.clear(size + 1)
	if o.keepSecond {
		o.secondBest.clear(size + 1)
	}
	o.best.nodes[0].Cost[0] = 1 << 16 // above 0: a token less its average run may have a negative price
	o.best.states[0] = at
}

// literalPath is the cheapest path found to a position that ends with a literal.
type literalPath struct {
	cost     int32
	compared int32  // cost with a run of comparedRun
	from     uint32 // fromSecond, fromLiteral or 0
}

// or returns the cheaper one of two paths, by their costs with long runs; p if these are equal.
func (p literalPath) or(q literalPath) literalPath {
	if q.compared < p.compared {
		return q
	}
	return p
}

// extendSecond extends the second-cheapest path to position i, if it is not too dear. It returns
// the path that ends with a literal.
func (o *Parser) extendSecond(src []byte, from, i, room int, here int32) (path literalPath) {
	path = literalPath{cost: unreached, compared: unreached}
	b, k := nodeAt(i)
	there := o.secondBest.nodes[b].Cost[k]
	if there >= here+maxSecondLag {
		return path
	}
	o.resolveState(&o.secondBest, i)
	if st := &o.secondBest.states[i]; st.repeats != o.best.states[i].repeats {
		path = o.relaxLiteral(i, st, there, fromSecond)
		if p := from + i; p <= len(src)-finder.Tail {
			o.relaxRepeats(
				src, finder.Load32(src, p), from, i, room, st, there+o.prices.Run[0], fromSecond)
		}
	}
	return path
}

// extendLiteralPath extends a path of the given cost that ends with a literal at position i. It
// returns the path that ends with another literal.
func (o *Parser) extendLiteralPath(i int, cost int32, from uint32) literalPath {
	paths := &o.context.literalPaths
	st := &paths.states[i]
	b, k := nodeAt(i)
	paths.nodes[b].Length[k] = from
	st.follow(&o.pathsOf(from).states[i-1])
	return o.relaxLiteral(i, st, cost, fromLiteral)
}

// relaxLiteral relaxes the edge of the literal at position i, from a path with state st and the
// given cost. It returns the path that ends with this literal.
func (o *Parser) relaxLiteral(i int, st *state, cost int32, from uint32) literalPath {
	run := min(st.run, PricedRuns-1)
	cost += o.literals[o.skipped+i][min(run, otherOfRun)] + o.literalRuns.More[run]
	o.relaxNode(i+1, cost, from, st.repeats[0])
	return literalPath{cost, cost + o.literalRuns.Compared[run], from}
}

// relaxNode relaxes an edge to position i. offset is that of the last match.
func (o *Parser) relaxNode(i int, cost int32, length, offset uint32) {
	b, k := nodeAt(i)
	first := &o.best.nodes[b]
	if cost < first.Cost[k] {
		if o.keepSecond && first.Offset[k] != offset {
			o.secondBest.nodes[b].Copy(k, first)
		}
		first.Set(k, cost, length, offset)
	} else if o.keepSecond && first.Offset[k] != offset {
		if second := &o.secondBest.nodes[b]; cost < second.Cost[k] {
			second.Set(k, cost, length, offset)
		}
	}
}

// relaxCandidates relaxes the matches of cands at position i. If the last one has Nice bytes it
// takes that at once and returns its length, otherwise 0.
func (o *Parser) relaxCandidates(cands []candidate, i, room int, st *state, cost int32) int {
	prices := &o.prices
	row := &prices.Match[prices.RunClass[min(st.run, PricedRuns-2)]%PricedRunClasses][NewOffset]
	from := o.minNew
	for _, c := range cands {
		n := min(c.length(), room)
		d := uint32(c.offset())
		if n < from || o.rules.ShiftedRepeats && st.run == 0 && d == st.repeats[0] {
			continue
		}
		cost := cost + prices.Offset[c.code()]
		if n >= o.config.Nice {
			o.relaxMatch(i, cost, d, n, n, row, 0)
			return n
		}
		o.relaxMatch(i, cost, d, from, n, row, 0)
		from = n + 1
	}
	return 0
}

// relaxRepeats relaxes the matches at repeat offsets at position i of the chunk that begins at from
// and goes on for room bytes. It returns the length of the longest. flag is fromSecond or 0.
func (o *Parser) relaxRepeats(
	src []byte, v uint32, from, i, room int, st *state, cost int32, flag uint32,
) (longest int) {
	p, least := from+i, o.minRepeat
	known := min(least, 4)
	drop := uint(8 * (4 - known))
	longest = least - 1
	rows := &o.prices.Match[o.prices.RunClass[min(st.run, PricedRuns-2)]%PricedRunClasses]
	for kind := range o.config.Repeats {
		d := int(st.offset(kind, o.rules.ShiftedRepeats))
		if d < o.config.MinOffset || d > p || d > o.config.MaxOffset ||
			(finder.Load32(src, p-d)^v)<<(drop&31) != 0 {
			continue
		}
		n := min(room, o.equal(src, p, d, known))
		if n > longest { // a shorter match of a dearer kind cannot win
			o.relaxMatch(i, cost, uint32(d), least, n, &rows[kind], flag)
			longest = n
		}
	}
	if longest < least {
		return 0
	}
	return longest
}

// equal returns the length of the match at position p at repeat offset d, up to Nice bytes. The
// first known bytes are equal.
func (o *Parser) equal(src []byte, p, d, known int) int {
	k := &o.repeatCache[uint32(d)*finder.Prime32>>28]
	if k.offset == uint32(d) && p < k.end {
		if !k.more {
			return k.end - p
		}
		known = max(known, k.end-p)
	}
	n := kernels.EqualFrom(src, p-d, p, known, min(len(src), p+o.config.Nice))
	*k = repeatMatch{uint32(d), n >= o.config.Nice, p + n}
	return n
}

// anyRepeat reports whether the bytes v at p stand at any of the repeat offsets, or whether a
// repeat offset is out of range.
func (o *Parser) anyRepeat(src []byte, p int, v uint32, repeats *repeatList) bool {
	if o.config.Repeats == 0 {
		return false
	}
	a, b, c := p-int(repeats[0]), p-int(repeats[1]), p-int(repeats[2])
	if a|b|c < 0 {
		return true
	}
	drop := o.repeatDrop & 31
	x, y := (finder.Load32(src, a)^v)<<drop, (finder.Load32(src, b)^v)<<drop
	z := (finder.Load32(src, c) ^ v) << drop
	// The highest bit of one of these is set if one of x, y, z is 0.
	return ((x-1)&^x|(y-1)&^y|(z-1)&^z)>>31 != 0
}

// relaxMatch relaxes matches of from to to bytes at position i of the chunk, from the longest down.
// It stops in front of a block of nodes, after MaxMisses consecutive ones that it did not change.
func (o *Parser) relaxMatch(
	i int, cost int32, offset uint32, from, to int, prices *[PricedLengths]int32, flag uint32,
) {
	switch {
	case to >= PricedLengths:
		o.relaxNode(i+to, cost+prices[PricedLengths-1], uint32(to)|flag, offset)
		return
	case o.keepSecond:
		o.relaxBoth(i, cost, offset, from, to, prices, flag)
		return
	}
	misses := 0
	for n := to; n >= from && misses < o.config.MaxMisses; {
		at, k := nodeAt(i + n)
		b := &o.best.nodes[at]
		misses++
		for ; k < kernels.PathBlock && n >= from; k-- {
			if c := cost + prices[n]; c < b.Cost[k] {
				b.Set(k, c, uint32(n)|flag, offset)
				misses = 0
			}
			n--
		}
	}
}

// relaxBoth is relaxMatch with second-cheapest paths.
func (o *Parser) relaxBoth(
	i int, cost int32, offset uint32, from, to int, prices *[PricedLengths]int32, flag uint32,
) {
	misses := 0
	for n := to; n >= from && misses < o.config.MaxMisses; {
		at, k := nodeAt(i + n)
		first, second := &o.best.nodes[at], &o.secondBest.nodes[at]
		misses++
		for ; k < kernels.PathBlock && n >= from; k-- {
			c := cost + prices[n]
			if c < first.Cost[k] {
				if first.Offset[k] != offset {
					second.Copy(k, first)
				}
				first.Set(k, c, uint32(n)|flag, offset)
				misses = 0
			} else if c < second.Cost[k] && first.Offset[k] != offset {
				second.Set(k, c, uint32(n)|flag, offset)
				misses = 0
			}
			n--
		}
	}
}

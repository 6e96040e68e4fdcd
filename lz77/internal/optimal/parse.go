package optimal

import (
	"github.com/gopz/compress/lz77/internal/base"
	"github.com/gopz/compress/simd"
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
// lengths below the longest lose to the same match from the position before. Without repeat
// offsets, contexts and bounds the result is the cheapest parse; TestOptimal compares it with an
// exhaustive search.

const unreached = 1<<31 - 1

// maxSecondLag is how much more than the cheapest path the second-cheapest may cost. With 4 bits,
// tables are 0.5% larger; 12 bits take up to 1.1 times as long for 0.2%.
const maxSecondLag = 8 * PriceBit

// maxLiteralLag is how much more than the cheapest path the one that ends with a literal may cost.
// It is about the price of leaving a row of matches and coming back.
const maxLiteralLag = 40 * PriceBit

// comparedRun is the run with whose price paths that end with a literal are compared.
const comparedRun = 16

// graph is the state of a parse.
type graph struct {
	best       paths // the cheapest path to each position
	secondBest paths // the second-cheapest, if its last match has another offset
	keepSecond bool  // the parse extends secondBest

	// literalPathCost is the cost of the path to the next position that ends with a literal, with a
	// run of comparedRun. contextState holds these paths.
	literalPathCost int32
	literalPrices   []int32 // price of the literal at each position; without contexts only
	repeatCache     [16]repeatMatch
	skipped         int // position in the chunk where the parse begins
}

// parse sets steps to the cheapest path through a chunk from state at, counts its literals, and
// returns the state behind it.
func (o *Parser) parse(src []byte, s chunk, at state) state {
	size := s.to - s.from
	content := src[s.from:s.to]
	prices := &o.prices
	// Without repeat offsets, and if the run does not matter, a loss is never won back.
	o.keepSecond = o.config.KeepSecondPath &&
		(o.config.Repeats > 0 || prices.RunClass[0] != prices.RunClass[1])
	clear(o.repeatCache[:])
	firsts, seconds := o.best.nodes[:size+1], o.secondBest.nodes[:size+1]
	for i := range firsts {
		firsts[i].cost, seconds[i].cost = unreached, unreached
	}
	var thirds []pathNode
	if c := o.context; c != nil {
		thirds = c.literalPaths.nodes[:size+1]
		for i := range thirds {
			thirds[i].cost = unreached
		}
	}
	firsts[0].cost = 1 << 16 // above 0: a token less its average run may have a negative price
	o.best.states[0] = at
	nice, least := o.config.Nice, o.minNew
	empty := prices.Run[0] // literals cost what the run costs beyond that
	next := checkpointStep
	for i := 0; i < size; i++ {
		if i >= next {
			next = i + checkpointStep
			o.checkpoint()
		}
		here := firsts[i].cost
		if here == unreached {
			continue // in a match that was taken at once
		}
		st := &o.best.states[i]
		o.literalPathCost = unreached
		if i > 0 {
			o.resolveState(&o.best, i)
			if there := seconds[i].cost; o.keepSecond && there < here+maxSecondLag {
				o.resolveState(&o.secondBest, i)
				if second := &o.secondBest.states[i]; second.repeats != st.repeats {
					o.relaxLiteral(i+1, second, there+o.literalPrice(i, second.run), fromSecond)
					o.relaxRepeats(src, s.from, i, size-i, second, there+empty, fromSecond)
				}
			}
		}
		if thirds != nil && thirds[i].cost < here+maxLiteralLag {
			o.resolveState(&o.context.literalPaths, i)
			third := &o.context.literalPaths.states[i]
			o.relaxLiteral(i+1, third, thirds[i].cost+o.literalPrice(i, third.run), fromLiteral)
		}
		o.relaxLiteral(i+1, st, here+o.literalPrice(i, st.run), 0)
		n := o.relaxRepeats(src, s.from, i, size-i, st, here+empty, 0)
		if n >= nice {
			i += n - 1
			continue
		}
		row := &prices.Match[prices.RunClass[min(st.run, PricedRuns-2)]%PricedRunClasses][NewOffset]
		from := least
		for _, c := range o.cands[o.firstCand[i]:o.firstCand[i+1]] {
			n := min(c.length(), size-i)
			d := uint32(c.offset())
			if n < from || o.rules.ShiftedRepeats && st.run == 0 && d == st.repeats[0] {
				continue
			}
			cost := here + empty + prices.Offset[c.code()]
			if n >= nice {
				o.relaxMatch(i, cost, d, n, n, row, 0)
				i += n - 1
				break
			}
			o.relaxMatch(i, cost, d, from, n, row, 0)
			from = n + 1
		}
	}
	return o.backtrack(content, s.last)
}

// relaxLiteral relaxes the edge of a literal to position i, from a path with state st at the
// position before. cost includes the price of the literal, but not what the literal adds to the
// run.
func (o *Parser) relaxLiteral(i int, st *state, cost int32, from uint32) {
	run := min(st.run, PricedRuns-2)
	cost += o.prices.Run[run+1] - o.prices.Run[run]
	l := link{from, st.repeats[0]}
	first, second := &o.best.nodes[i], &o.secondBest.nodes[i]
	if cost < first.cost {
		if first.link.offset != l.offset {
			*second = *first
		}
		*first = pathNode{cost, l}
	} else if cost < second.cost && first.link.offset != l.offset {
		*second = pathNode{cost, l}
	}
	if c := o.context; c != nil {
		all := cost + o.prices.Run[comparedRun] - o.prices.Run[min(run+1, comparedRun)]
		if all < o.literalPathCost {
			o.literalPathCost = all
			c.literalPaths.nodes[i] = pathNode{cost, l}
		}
	}
}

// relaxRepeats relaxes the matches at repeat offsets at position i of the chunk that begins at from
// and goes on for room bytes. It returns the length of the longest. flag is fromSecond or 0.
func (o *Parser) relaxRepeats(
	src []byte, from, i, room int, st *state, cost int32, flag uint32,
) (longest int) {
	p, least := from+i, o.minRepeat
	if p+base.Tail > len(src) {
		return 0
	}
	v := base.Load32(src, p)
	known := min(least, 4)
	drop := uint(8 * (4 - known))
	longest = least - 1
	rows := &o.prices.Match[o.prices.RunClass[min(st.run, PricedRuns-2)]%PricedRunClasses]
	for kind := range o.config.Repeats {
		d := int(st.offset(kind, o.rules.ShiftedRepeats))
		if d < o.config.MinOffset || d > p || d > o.config.MaxOffset ||
			(base.Load32(src, p-d)^v)<<(drop&31) != 0 {
			continue
		}
		k := &o.repeatCache[uint32(d)*base.Prime32>>28]
		if k.offset != uint32(d) || p >= k.end {
			end := min(len(src), p+o.config.Nice)
			*k = repeatMatch{uint32(d), simd.EqualFrom(src, p-d, p, known, end) + p}
		}
		n := min(room, k.end-p)
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

// relaxMatch relaxes matches of from to to bytes at position i of the chunk, from the longest down.
// It stops after MaxMisses consecutive lengths that improve nothing.
func (o *Parser) relaxMatch(
	i int, cost int32, offset uint32, from, to int, prices *[PricedLengths]int32, flag uint32,
) {
	if to >= PricedLengths {
		if c, first := cost+prices[PricedLengths-1], &o.best.nodes[i+to]; c < first.cost {
			*first = pathNode{c, link{uint32(to) | flag, offset}}
		}
		return
	}
	firsts := o.best.nodes[i+from : i+to+1]
	row := prices[from : to+1][:len(firsts)]
	last := len(firsts) // the latest that improved something
	if !o.keepSecond {
		for k := len(firsts) - 1; k >= 0; k-- {
			if c, first := cost+row[k], &firsts[k]; c < first.cost {
				*first = pathNode{c, link{uint32(from+k) | flag, offset}}
				last = k
			} else if last-k >= o.config.MaxMisses {
				break
			}
		}
		return
	}
	seconds := o.secondBest.nodes[i+from : i+to+1][:len(firsts)]
	for k := len(firsts) - 1; k >= 0; k-- {
		c, first := cost+row[k], &firsts[k]
		if c < first.cost {
			if first.link.offset != offset {
				seconds[k] = *first
			}
			*first = pathNode{c, link{uint32(from+k) | flag, offset}}
			last = k
		} else if second := &seconds[k]; c < second.cost && first.link.offset != offset {
			*second = pathNode{c, link{uint32(from+k) | flag, offset}}
			last = k
		} else if last-k >= o.config.MaxMisses {
			break
		}
	}
}

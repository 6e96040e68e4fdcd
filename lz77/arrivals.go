package lz77

import "slices"

// link is the last part of a way through a piece.
type link struct {
	length uint32 // of a match, 0 for a literal; with fromSecond or fromThird set if it goes on from that arrival
	offset uint32 // of the last match
}

const (
	fromSecond  = 1 << 31
	fromLiteral = 1 << 30
	linkFlags   = fromSecond | fromLiteral
)

// arrival is the cheapest way to a position, of those of its kind.
type pathNode struct {
	cost int32 // what it costs so far, or unreached
	link link
}

// arrivals says how the positions of a piece are arrived at in one of up to three ways.
type paths struct {
	nodes  []pathNode
	states []state // of positions that had their turn: where it leaves the coder
}

func (a *paths) grow(n int) {
	a.nodes, a.states = make([]pathNode, n), make([]state, n)
}

// arrivalBytes is what a position takes in each of them.
const pathBytes = 12 + 16

// state is where a way leaves the coder: the repeat offsets, and the literals since the last match.
type state struct {
	repeats repeatList
	run     uint32
}

// recents is the list of repeat offsets, the latest first.
type repeatList [3]uint32

func (r *repeatList) use(d uint32) {
	switch d {
	case r[0]:
	case r[1]:
		r[0], r[1] = d, r[0]
	default:
		r[0], r[1], r[2] = d, r[0], r[1]
	}
}

// offset returns the repeat offset of that kind.
func (s *state) offset(kind int, shifted bool) uint32 {
	if shifted && s.run == 0 {
		if kind == 2 {
			return s.repeats[0] - 1
		}
		kind++
	}
	return s.repeats[kind]
}

// stretch is a part of the content that is the same as what lies offset bytes before it, from the position on that the parse found that at. The positions behind it need not compare
// what is theirs as well.
type repeatMatch struct {
	offset uint32
	end    int
}

// parse sets steps to the cheapest way through a piece that begins at a state, counts the literals, and returns the state behind it.
//
// Positions are taken one after the other. When its turn comes, the cheapest way to a position is known, and each way to go on from there is
// offered to the position that it leads to. A second way, which costs more but comes by a match of another offset, goes on with a literal or a repeat offset: what it
// lost so far, those may bring back.
//
// Where literals have contexts the first of a run are dear, so that a match which is cheap where it ends may cost more behind its end than literals do that go on there. A third
// way therefore ends with a literal and goes on with one: the cheapest of those, if each is charged what a long run costs.
func (o *optimal) parse(src []byte, s chunk, at state) state {
	size := s.to - s.from
	content := src[s.from:s.to]
	prices := &o.prices
	// Where there are no repeat offsets, and the run in front of a match does not matter, nothing comes back.
	o.keepSecond = o.params.KeepSecondPath && (o.limits.Repeats > 0 || prices.RunClass[0] != prices.RunClass[1])
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
	firsts[0].cost = 1 << 16 // some prices are below 0: those of a token, less what its run costs on average
	o.best.states[0] = at
	nice, least := o.params.Nice, o.minNew
	empty := prices.Run[0] // literals cost what the run costs beyond that
	for i := 0; i < size; i++ {
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
			base := here + empty + prices.Offset[c.code()]
			if n >= nice {
				o.relaxMatch(i, base, d, n, n, row, 0)
				i += n - 1
				break
			}
			o.relaxMatch(i, base, d, from, n, row, 0)
			from = n + 1
		}
	}
	return o.backtrack(content, s.last)
}

const unreached = 1<<31 - 1

// farBehind is from what price on that it costs more the second way to a position is given up. With 4 bits tables are 0.5% larger and take 0.91 to 0.99 of the time; with 12
// nci is 0.2% smaller, mr 0.1%, at 1.01 and 1.10 of the time, with zstd's codes 0.1% and nothing; 16 is no better than that.
const maxSecondLag = 8 * PriceBit

// thirdBehind is from what price on that it costs more the third way to a position is given up: what leaving a row of matches may cost, and coming back to it.
const maxLiteralLag = 40 * PriceBit

// longRun is the run of literals with whose price ways of the third kind are compared.
const comparedRun = 16

// literal offers the way by a literal to position i, from a state at the one before. The cost is that of the literal, without what it adds to the run.
func (o *optimal) relaxLiteral(i int, st *state, cost int32, from uint32) {
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
		if all := cost + o.prices.Run[comparedRun] - o.prices.Run[min(run+1, comparedRun)]; all < o.literalPathCost {
			o.literalPathCost = all
			c.literalPaths.nodes[i] = pathNode{cost, l}
		}
	}
}

// repeats offers the matches at repeat offsets at position i of the piece that begins at from and goes on for room bytes, and returns the length of the longest. Way is
// fromSecond or 0.
func (o *optimal) relaxRepeats(src []byte, from, i, room int, st *state, base int32, way uint32) (longest int) {
	p, least := from+i, o.minRepeat
	if p+tail > len(src) {
		return 0
	}
	v := load32(src, p)
	known := min(least, 4)
	drop := uint(8 * (4 - known))
	longest = least - 1
	rows := &o.prices.Match[o.prices.RunClass[min(st.run, PricedRuns-2)]%PricedRunClasses]
	for kind := range o.limits.Repeats {
		d := int(st.offset(kind, o.rules.ShiftedRepeats))
		if d < o.minOffset || d > p || d > o.limits.MaxOffset || (load32(src, p-d)^v)<<(drop&31) != 0 {
			continue
		}
		k := &o.repeatCache[uint32(d)*prime32>>28]
		if k.offset != uint32(d) || p >= k.end {
			*k = repeatMatch{uint32(d), commonBytes(src, p-d, p, known, min(len(src), p+o.params.Nice)) + p}
		}
		n := min(room, k.end-p)
		if n > longest { // a shorter one at a dearer kind is of no use
			o.relaxMatch(i, base, uint32(d), least, n, &rows[kind], way)
			longest = n
		}
	}
	if longest < least {
		return 0
	}
	return longest
}

// offer offers matches of from to to bytes at position i of the piece, from the longest down. Where Misses in a row bring nothing, so would most that are shorter: more often
// than not they are the end of a match that was offered where it began.
func (o *optimal) relaxMatch(i int, base int32, offset uint32, from, to int, prices *[PricedLengths]int32, way uint32) {
	if to >= PricedLengths {
		if c, first := base+prices[PricedLengths-1], &o.best.nodes[i+to]; c < first.cost {
			*first = pathNode{c, link{uint32(to) | way, offset}}
		}
		return
	}
	firsts := o.best.nodes[i+from : i+to+1]
	row := prices[from : to+1][:len(firsts)]
	last := len(firsts) // the latest that brought something
	if !o.keepSecond {
		for k := len(firsts) - 1; k >= 0; k-- {
			if c, first := base+row[k], &firsts[k]; c < first.cost {
				*first = pathNode{c, link{uint32(from+k) | way, offset}}
				last = k
			} else if last-k >= o.params.MaxMisses {
				break
			}
		}
		return
	}
	seconds := o.secondBest.nodes[i+from : i+to+1][:len(firsts)]
	for k := len(firsts) - 1; k >= 0; k-- {
		c, first := base+row[k], &firsts[k]
		if c < first.cost {
			if first.link.offset != offset {
				seconds[k] = *first
			}
			*first = pathNode{c, link{uint32(from+k) | way, offset}}
			last = k
		} else if second := &seconds[k]; c < second.cost && first.link.offset != offset {
			*second = pathNode{c, link{uint32(from+k) | way, offset}}
			last = k
		} else if last-k >= o.params.MaxMisses {
			break
		}
	}
}

// way returns the arrivals that a link goes on from.
func (o *optimal) pathsOf(l link) *paths {
	switch {
	case l.length&fromSecond != 0:
		return &o.secondBest
	case l.length&fromLiteral != 0:
		return &o.context.literalPaths
	}
	return &o.best
}

// arrive sets the state at a position other than the first.
func (o *optimal) resolveState(a *paths, i int) {
	st, l := &a.states[i], a.nodes[i].link
	from := o.pathsOf(l)
	n := int(l.length &^ linkFlags)
	if n == 0 {
		*st = from.states[i-1]
		st.run++
		return
	}
	st.repeats = from.states[i-n].repeats
	st.repeats.use(l.offset)
	st.run = 0
}

// trace sets steps to the way to the end of a piece and the match behind it, counts the literals of the piece, and returns the state behind the match.
func (o *optimal) backtrack(content []byte, last link) state {
	o.steps = o.steps[:0]
	i := len(content)
	if i > 0 {
		o.resolveState(&o.best, i)
	}
	end := o.best.states[i]
	if last.length != 0 {
		o.steps = append(o.steps, o.stepAt(&end, last))
		end.repeats.use(last.offset)
		end.run = 0
	}
	for a := &o.best; i > 0; {
		l := a.nodes[i].link
		a = o.pathsOf(l)
		l.length &^= linkFlags
		if l.length == 0 {
			i--
			o.counts.Literals[content[i]]++
			if o.context != nil {
				o.context.count(o.skipped+i, a.states[i].run, content[i])
			}
			continue
		}
		i -= int(l.length)
		o.steps = append(o.steps, o.stepAt(&a.states[i], l))
	}
	slices.Reverse(o.steps)
	return end
}

// step is a match that begins at a state.
func (o *optimal) stepAt(from *state, l link) Step {
	s := Step{Sequence{from.run, l.length, l.offset}, NewOffset}
	for kind := o.limits.Repeats - 1; kind >= 0; kind-- {
		if from.offset(kind, o.rules.ShiftedRepeats) == l.offset {
			s.Kind = uint8(kind)
		}
	}
	return s
}

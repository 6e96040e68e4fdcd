package lz77

import "slices"

// link is the last part of a way through a piece: a match, or a literal if length is 0.
type link struct{ length, offset uint32 }

// state is where a way leaves the coder: the repeat offsets, and the literals since the last match.
type state struct {
	repeats recents
	run     uint32
}

// recents is the list of repeat offsets, the latest first.
type recents [3]uint32

func (r *recents) use(d uint32) {
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

// parse sets steps to the cheapest way through a piece that begins at a state, counts the literals, and returns the state behind it.
//
// Positions are taken one after the other. When its turn comes, the cheapest way to a position is known, and each way to go on from there is
// offered to the position that it leads to. Only one way to each position is kept: another one that has better repeat offsets but costs more
// so far is lost.
func (o *optimal) parse(src []byte, s piece, at state) state {
	size := s.to - s.from
	content := src[s.from:s.to]
	cost := o.cost[:size+1]
	for i := range cost {
		cost[i] = unreached
	}
	cost[0] = 1 << 16 // some prices are below 0: those of a token, less what its run costs on average
	o.states[0] = at
	prices := &o.prices
	nice, least := o.params.Nice, o.limits.MinMatch
	for i := 0; i < size; i++ {
		here := cost[i]
		if here == unreached {
			continue // in a match that was taken at once
		}
		if i > 0 {
			o.arrive(i)
		}
		st := &o.states[i]
		run := int(min(st.run, PricedRuns-2))
		if c := here + prices.Literal[content[i]] + prices.Run[run+1] - prices.Run[run]; c < cost[i+1] {
			cost[i+1] = c
			o.links[i+1] = link{}
		}
		rows := &prices.Match[prices.Class[run]%PricedClasses]

		n := o.repeats(src, s.from, i, size-i, st, here, rows)
		if n >= nice {
			i += n - 1
			continue
		}
		from := least
		for _, c := range o.cands[o.first[i]:o.first[i+1]] {
			n := min(c.length(), size-i)
			d := uint32(c.offset())
			if n < from || o.rules.Shifted && st.run == 0 && d == st.repeats[0] {
				continue
			}
			base := here + prices.Offset[c.code()]
			if n >= nice {
				o.offer(i, base, d, n, n, &rows[Fresh])
				i += n - 1
				break
			}
			o.offer(i, base, d, from, n, &rows[Fresh])
			from = n + 1
		}
	}
	return o.trace(content, s.last)
}

const unreached = 1<<31 - 1

// repeats offers the matches at repeat offsets at position i of the piece that begins at from and goes on for room bytes, and returns the length of the longest.
func (o *optimal) repeats(src []byte, from, i, room int, st *state, here int32, rows *[Kinds][PricedLengths]int32) (longest int) {
	p, least := from+i, o.limits.MinMatch
	if p+tail > len(src) {
		return 0
	}
	v := load32(src, p)
	drop := uint(8 * max(0, 4-least))
	longest = least - 1
	for kind := range o.limits.Repeats {
		d := int(st.offset(kind, o.rules.Shifted))
		if d < o.tree.minOffset || d > p || d > o.limits.MaxOffset || (load32(src, p-d)^v)<<(drop&31) != 0 {
			continue
		}
		n := min(room, common(src, p-d, p, 3, min(len(src), p+o.params.Nice)))
		if n > longest { // a shorter one at a dearer kind is of no use
			o.offer(i, here, uint32(d), least, n, &rows[kind])
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
func (o *optimal) offer(i int, base int32, offset uint32, from, to int, prices *[PricedLengths]int32) {
	if to >= PricedLengths {
		if c := base + prices[PricedLengths-1]; c < o.cost[i+to] {
			o.cost[i+to] = c
			o.links[i+to] = link{uint32(to), offset}
		}
		return
	}
	cost := o.cost[i+from : i+to+1]
	links := o.links[i+from : i+to+1][:len(cost)]
	row := prices[from : to+1][:len(cost)]
	last := len(cost) // the latest that brought something
	for k := len(cost) - 1; k >= 0; k-- {
		if c := base + row[k]; c < cost[k] {
			cost[k] = c
			links[k] = link{uint32(from + k), offset}
			last = k
		} else if last-k >= o.params.Misses {
			break
		}
	}
}

// arrive sets the state at a position other than the first.
func (o *optimal) arrive(i int) {
	st, l := &o.states[i], o.links[i]
	if l.length == 0 {
		*st = o.states[i-1]
		st.run++
		return
	}
	st.repeats = o.states[i-int(l.length)].repeats
	st.repeats.use(l.offset)
	st.run = 0
}

// trace sets steps to the way to the end of a piece and the match behind it, counts the literals of the piece, and returns the state behind the match.
func (o *optimal) trace(content []byte, last link) state {
	o.steps = o.steps[:0]
	i := len(content)
	if i > 0 {
		o.arrive(i)
	}
	end := o.states[i]
	if last.length != 0 {
		o.steps = append(o.steps, o.step(&end, last))
		end.repeats.use(last.offset)
		end.run = 0
	}
	for i > 0 {
		l := o.links[i]
		if l.length == 0 {
			i--
			o.counts.Literals[content[i]]++
			continue
		}
		i -= int(l.length)
		o.steps = append(o.steps, o.step(&o.states[i], l))
	}
	slices.Reverse(o.steps)
	return end
}

// step is a match that begins at a state.
func (o *optimal) step(from *state, l link) Step {
	s := Step{Sequence{from.run, l.length, l.offset}, Fresh}
	for kind := o.limits.Repeats - 1; kind >= 0; kind-- {
		if from.offset(kind, o.rules.Shifted) == l.offset {
			s.Kind = uint8(kind)
		}
	}
	return s
}

package kernels

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/cpu"
)

// pathTables holds the prices of a PathParse. No entries but those of the struct surround Match.
type pathTables struct {
	runClass [320]uint8
	match    [16][4][320]int32
	offset   [256]int32
	runs     PathRuns
}

// randomPaths returns a parse of random content with random prices at position 1, with or without
// second-cheapest paths.
func randomPaths(r *rand.Rand, content []byte) (*PathParse, *pathTables) {
	t := &pathTables{}
	most := []int32{10, 3000, 1 << 13}[r.IntN(3)] // few prices make many paths of equal cost
	price := func() int32 { return r.Int32N(most) }
	for i := range t.runClass {
		t.runClass[i] = uint8(r.IntN(16))
		t.runs.More[i], t.runs.Compared[i] = price()/8-most/64, price()/4
	}
	for class := range t.match {
		for kind := range t.match[class] {
			for n := range t.match[class][kind] {
				t.match[class][kind][n] = most/2 + price()
			}
		}
	}
	for i := range t.offset {
		t.offset[i] = price()
	}
	p := &PathParse{
		MinRepeat: 2 + r.IntN(5), Nice: 16 + r.IntN(MaxNicePath-15), MaxMisses: 1 + r.IntN(3), Src: content,
		Empty: price(), MaxLag: r.Int32N(2 * most),
	}
	p.MinNew = p.MinRepeat + r.IntN(3)
	p.Drop = uint64(8 * (4 - min(p.MinRepeat, 4)))
	p.From = r.IntN(len(content) - p.Nice - PathSrcSlack - 1)
	p.Size = 2 + r.IntN(min(len(content)-p.From-1, 2000))
	p.At = 1
	p.Literals = make([][3]int32, p.Size)
	for i := range p.Literals {
		p.Literals[i] = [3]int32{price(), price(), price()}
		p.FirstCand = append(p.FirstCand, uint32(len(p.Cands)))
		for n := p.MinNew - 2 + r.IntN(9); r.IntN(3) > 0 && p.From+i > 2; n += 1 + r.IntN(40)*r.IntN(2) {
			if r.IntN(100) == 0 {
				n = 300 + r.IntN(60)
			}
			p.Cands = append(p.Cands, uint64(r.IntN(256))<<CandidateCodeShift|
				uint64(n)<<CandidateLengthShift|uint64(1+r.IntN(p.From+i)))
		}
	}
	p.FirstCand = append(p.FirstCand, uint32(len(p.Cands)))
	p.Best.Nodes, p.Literal.Nodes = make([]PathNodes, p.Size/8+1), make([]PathNodes, p.Size/8+1)
	for i := range p.Best.Nodes {
		for k := range p.Best.Nodes[i].Cost {
			p.Best.Nodes[i].Set(uint(k), PathUnreached, r.Uint32(), r.Uint32())
		}
	}
	p.Best.Nodes[0].Set(1, 1<<16, 0, 0)
	p.Best.States, p.Literal.States = make([]PathState, p.Size+1), make([]PathState, p.Size+1)
	for k := range p.Best.States[0].Repeats {
		p.Best.States[0].Repeats[k] = 1 + r.Uint32N(uint32(p.From)+1)
	}
	p.LiteralCost = PathUnreached
	p.setTables(t)
	if r.IntN(2) == 0 {
		p.MaxSecondLag = r.Int32N(2 * most)
		p.Second.Nodes, p.Second.States = slices.Clone(p.Best.Nodes), make([]PathState, p.Size+1)
		p.Second.Nodes[0].Cost[1] = PathUnreached
	}
	return p, t
}

func (p *PathParse) setTables(t *pathTables) {
	p.RunClass, p.Match, p.Offset, p.Runs = &t.runClass, &t.match, &t.offset, &t.runs
}

// parseResult is what a parse leaves. Behind at, costs, lengths and offsets count; in front of it,
// those lengths and states that a path goes through.
type parseResult struct {
	at          int
	literalCost int32
	literalFrom uint32
	nodes       []uint32
	path        []uint32
}

func (p *PathParse) result() (r parseResult) {
	r.at, r.literalCost, r.literalFrom = p.At, p.LiteralCost, p.LiteralFrom
	if r.literalCost == PathUnreached {
		r.literalFrom = 0
	}
	second := p.Second.Nodes != nil
	for _, nodes := range [][]PathNodes{p.Best.Nodes, p.Second.Nodes} {
		for i := p.At; i <= p.Size && nodes != nil; i++ {
			if b, k := &nodes[i/8], i%8; b.Cost[k] != PathUnreached {
				r.nodes = append(r.nodes, uint32(i), uint32(b.Cost[k]), b.Length[k])
				if second || b.Length[k]&lengthOfPath != 0 {
					r.nodes = append(r.nodes, b.Offset[k])
				}
			}
		}
	}
	for i, nodes := p.At, p.Best.Nodes; i > 1; {
		b, k := &nodes[i/8], i%8
		l := b.Length[k]
		r.path = append(r.path, l)
		if second && l&lengthOfPath != 0 {
			r.path = append(r.path, b.Offset[k])
		}
		i -= max(1, int(l&lengthOfPath))
		var states []PathState
		nodes, states = p.from(l)
		r.path = append(append(r.path, states[i].Run), states[i].Repeats[:]...)
	}
	return r
}

const lengthOfPath = PathFromLiteral - 1

// from returns the paths that an edge of the given length extends.
func (p *PathParse) from(length uint32) ([]PathNodes, []PathState) {
	switch {
	case length&PathFromSecond != 0:
		return p.Second.Nodes, p.Second.States
	case length&PathFromLiteral != 0:
		return p.Literal.Nodes, p.Literal.States
	}
	return p.Best.Nodes, p.Best.States
}

// relax is the definition of RelaxPaths.
func (p *PathParse) relax() {
	third, from := p.LiteralCost, p.LiteralFrom
	for ; p.At < p.End; p.At++ {
		i := p.At
		here, l := p.Best.Nodes[i/8].Cost[i%8], p.Best.Nodes[i/8].Length[i%8]
		st := &p.Best.States[i]
		*st = p.behind(l, p.Best.Nodes)
		path := literalEdge{PathUnreached, PathUnreached, 0}
		if p.Second.Nodes != nil {
			there := p.Second.Nodes[i/8].Cost[i%8]
			second := p.behind(p.Second.Nodes[i/8].Length[i%8], p.Second.Nodes)
			if there < here+p.MaxSecondLag && second.Repeats != st.Repeats {
				p.Second.States[i] = second
				path.keep(p.relaxOne(there, PathFromSecond, &second))
				p.relaxRepeats(&second, there+p.Empty, PathFromSecond)
			}
		}
		if third < here+p.MaxLag && from != l {
			p.Literal.Nodes[i/8].Length[i%8] = from
			p.Literal.States[i] = p.behind(from, nil)
			path.keep(p.relaxOne(third, PathFromLiteral, &p.Literal.States[i]))
		}
		path.keep(p.relaxOne(here, 0, st))
		third, from = path.cost, path.from
		if n := p.relaxMatches(st, here+p.Empty); n > 0 {
			p.At += n - 1
			third = PathUnreached
		}
	}
	p.LiteralCost, p.LiteralFrom = third, from
}

// literalEdge is the cheapest path found that ends with a literal.
type literalEdge struct {
	cost, compared int32
	from           uint32
}

func (a *literalEdge) keep(b literalEdge) {
	if b.compared < a.compared {
		*a = b
	}
}

// behind returns the state at At behind an edge of the given length. nodes have its offset.
func (p *PathParse) behind(length uint32, nodes []PathNodes) PathState {
	_, states := p.from(length)
	n := int(length & lengthOfPath)
	if n == 0 {
		st := states[p.At-1]
		st.Run++
		return st
	}
	if n > p.At {
		return PathState{} // no path goes there
	}
	d, r := nodes[p.At/8].Offset[p.At%8], states[p.At-n].Repeats
	switch d {
	case r[0]:
		return PathState{Repeats: r}
	case r[1]:
		return PathState{Repeats: [3]uint32{d, r[0], r[2]}}
	}
	return PathState{Repeats: [3]uint32{d, r[0], r[1]}}
}

// relaxOne relaxes the literal at At.
func (p *PathParse) relaxOne(cost int32, from uint32, st *PathState) literalEdge {
	run := min(st.Run, 319)
	cost += p.Literals[p.At][min(run, 2)] + p.Runs.More[run]
	p.relaxNode(p.At+1, cost, from, st.Repeats[0])
	return literalEdge{cost, cost + p.Runs.Compared[run], from}
}

func (p *PathParse) relaxNode(i int, cost int32, length, offset uint32) bool {
	b, k := &p.Best.Nodes[i/8], uint(i%8)
	other := p.Second.Nodes != nil && offset != b.Offset[k]
	if cost < b.Cost[k] {
		if other {
			p.Second.Nodes[i/8].Copy(k, b)
		}
		b.Set(k, cost, length, offset)
		return true
	}
	if other && cost < p.Second.Nodes[i/8].Cost[k] {
		p.Second.Nodes[i/8].Set(k, cost, length, offset)
		return true
	}
	return false
}

// relaxRepeats relaxes the matches at repeat offsets at At and returns the length of the longest.
func (p *PathParse) relaxRepeats(st *PathState, cost int32, flag uint32) int {
	i := p.At
	rows := &p.Match[p.RunClass[min(st.Run, 318)]]
	longest := p.MinRepeat - 1
	for kind, d := range st.Repeats {
		here := p.Src[p.From+i:]
		there := p.Src[p.From+i-int(d):]
		n := 0
		for n < min(p.Nice, p.Size-i) && here[n] == there[n] {
			n++
		}
		if n > longest && bytes.Equal(here[:min(4, p.MinRepeat)], there[:min(4, p.MinRepeat)]) {
			longest = n
			p.relaxLengths(cost, d, p.MinRepeat, n, &rows[kind], flag)
		}
	}
	return longest
}

// relaxMatches relaxes all matches at At. It returns the length of one that is taken at once, or 0.
func (p *PathParse) relaxMatches(st *PathState, cost int32) int {
	i := p.At
	rows := &p.Match[p.RunClass[min(st.Run, 318)]]
	if n := p.relaxRepeats(st, cost, 0); n >= p.Nice {
		return n
	}
	least := p.MinNew
	for _, c := range p.Cands[p.FirstCand[i]:p.FirstCand[i+1]] {
		n := min(int(c>>CandidateLengthShift&(1<<21-1)), p.Size-i)
		d, price := uint32(c&(1<<27-1)), p.Offset[uint8(c>>CandidateCodeShift)]
		if n < least {
			continue
		}
		if n >= p.Nice {
			p.relaxNode(i+n, cost+price+rows[3][min(n, 319)], uint32(n), d)
			return n
		}
		p.relaxLengths(cost+price, d, least, n, &rows[3], 0)
		least = n + 1
	}
	return 0
}

func (p *PathParse) relaxLengths(
	cost int32, d uint32, least, n int, row *[320]int32, flag uint32,
) {
	misses := 0
	for changed := false; n >= least && misses < p.MaxMisses; n-- {
		changed = p.relaxNode(p.At+n, cost+row[n], uint32(n)|flag, d) || changed
		if (p.At+n)%8 == 0 {
			misses++
			if changed {
				misses = 0
			}
			changed = false
		}
	}
}

// clone returns a copy of p with memory of its own for what the kernel writes.
func (p *PathParse) clone() *PathParse {
	q := *p
	q.Best.Nodes, q.Literal.Nodes = slices.Clone(p.Best.Nodes), slices.Clone(p.Literal.Nodes)
	q.Best.States, q.Literal.States = slices.Clone(p.Best.States), slices.Clone(p.Literal.States)
	q.Second.Nodes, q.Second.States = slices.Clone(p.Second.Nodes), slices.Clone(p.Second.States)
	return &q
}

// last returns the greatest End.
func (p *PathParse) last() int {
	return min(p.Size, len(p.Src)-p.From-p.Nice-PathSrcSlack)
}

// compareParse compares the kernel with the definition in several calls.
func compareParse(t *testing.T, r *rand.Rand, p *PathParse) {
	t.Helper()
	for want := p.clone(); p.At < p.last(); {
		p.End = p.At + 1 + r.IntN(p.last()-p.At)
		want.End = p.End
		want.relax()
		if !RelaxPaths(p) {
			t.Fatal("the kernel did not run")
		}
		if a, b := p.result(), want.result(); !reflect.DeepEqual(a, b) {
			t.Fatalf("got %+v, want %+v", a, b)
		}
	}
}

// hasPathKernel reports whether the tier in use has a kernel.
func hasPathKernel() bool { return runtime.GOARCH == "amd64" && cpu.Current() != cpu.Portable }

func TestRelaxPaths(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(91, 92))
		if !hasPathKernel() {
			p, _ := randomPaths(r, randomContent(r, 1000))
			p.End = p.last()
			if RelaxPaths(p) || p.At != 1 {
				t.Error("a kernel ran")
			}
			return
		}
		for range scaled(3000) {
			p, _ := randomPaths(r, randomContent(r, MaxNicePath+PathSrcSlack+2+r.IntN(2000)))
			compareParse(t, r, p)
		}
	})
}

// TestRelaxPathsRange: arguments out of range panic.
func TestRelaxPathsRange(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		for name, f := range map[string]func(p *PathParse){
			"at":            func(p *PathParse) { p.At = 0 },
			"end":           func(p *PathParse) { p.End = p.At },
			"size":          func(p *PathParse) { p.Size = p.End - 1 },
			"from":          func(p *PathParse) { p.From = -1 },
			"nice":          func(p *PathParse) { p.Nice = MaxNicePath + 1 },
			"minimum":       func(p *PathParse) { p.MinRepeat = p.MinNew + 1 },
			"misses":        func(p *PathParse) { p.MaxMisses = 0 },
			"content":       func(p *PathParse) { p.Src = p.Src[:p.From+p.End+p.Nice+PathSrcSlack-1] },
			"nodes":         func(p *PathParse) { p.Best.Nodes = p.Best.Nodes[1:] },
			"literalNodes":  func(p *PathParse) { p.Literal.Nodes = p.Literal.Nodes[1:] },
			"states":        func(p *PathParse) { p.Best.States = p.Best.States[1:] },
			"literalStates": func(p *PathParse) { p.Literal.States = p.Literal.States[1:] },
			"secondNodes":   func(p *PathParse) { p.Second.Nodes = make([]PathNodes, p.Size/8) },
			"secondStates":  func(p *PathParse) { p.Second.Nodes, p.Second.States = p.Best.Nodes, nil },
			"literals":      func(p *PathParse) { p.Literals = p.Literals[1:] },
			"firstCand":     func(p *PathParse) { p.FirstCand = p.FirstCand[1:] },
			"cands":         func(p *PathParse) { p.FirstCand[p.Size]++ },
		} {
			p, _ := randomPaths(rand.New(rand.NewPCG(93, 94)), make([]byte, 3000))
			p.End = p.last()
			f(p)
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic", name)
					}
				}()
				RelaxPaths(p)
			}()
		}
	})
}

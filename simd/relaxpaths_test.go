package simd

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"
)

// pathTables holds the prices of a PathParse. No entries but those of the struct surround Match.
type pathTables struct {
	runClass [320]uint8
	match    [16][4][320]int32
	offset   [256]int32
	runs     PathRuns
}

// randomPaths returns a parse of random content with random prices, at position 1 or behind.
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
	p.Nodes, p.LiteralNodes = make([]PathNodes, p.Size/8+1), make([]PathNodes, p.Size/8+1)
	for i := range p.Nodes {
		for k := range p.Nodes[i].Cost {
			p.Nodes[i].Set(uint(k), PathUnreached, r.Uint32(), r.Uint32())
		}
	}
	p.Nodes[0].Set(1, 1<<16, 0, 0)
	p.States, p.LiteralStates = make([]PathState, p.Size+1), make([]PathState, p.Size+1)
	for k := range p.States[0].Repeats {
		p.States[0].Repeats[k] = 1 + r.Uint32N(uint32(p.From)+1)
	}
	p.LiteralCost = PathUnreached
	p.setTables(t)
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
	for i := p.At; i <= p.Size; i++ {
		if b, k := &p.Nodes[i/8], i%8; b.Cost[k] != PathUnreached {
			r.nodes = append(r.nodes, uint32(i), uint32(b.Cost[k]), b.Length[k])
			if b.Length[k]&(PathFromLiteral-1) != 0 {
				r.nodes = append(r.nodes, b.Offset[k])
			}
		}
	}
	nodes := p.Nodes
	for i := p.At; i > 1; {
		l, states := nodes[i/8].Length[i%8], p.States
		if nodes = p.Nodes; l&PathFromLiteral != 0 {
			nodes, states = p.LiteralNodes, p.LiteralStates
		}
		i -= max(1, int(l&(PathFromLiteral-1)))
		r.path = append(append(r.path, l, states[i].Run), states[i].Repeats[:]...)
	}
	return r
}

// relax is the definition of RelaxPaths.
func (p *PathParse) relax() {
	third, from := p.LiteralCost, p.LiteralFrom
	for ; p.At < p.End; p.At++ {
		i := p.At
		here, l := p.Nodes[i/8].Cost[i%8], p.Nodes[i/8].Length[i%8]
		n := int(l & (PathFromLiteral - 1))
		st := &p.States[i]
		*st = p.behindLiteral(l)
		if n > 0 {
			*st = p.States[i-n]
			d, r := p.Nodes[i/8].Offset[i%8], st.Repeats
			switch d {
			case r[0]:
			case r[1]:
				st.Repeats = [3]uint32{d, r[0], r[2]}
			default:
				st.Repeats = [3]uint32{d, r[0], r[1]}
			}
			st.Run = 0
		}
		a, comparedA := int32(PathUnreached), int32(PathUnreached)
		if third < here+p.MaxLag && from != l {
			p.LiteralNodes[i/8].Length[i%8] = from
			p.LiteralStates[i] = p.behindLiteral(from)
			a, comparedA = p.relaxOne(third, PathFromLiteral, &p.LiteralStates[i])
		}
		b, comparedB := p.relaxOne(here, 0, st)
		if third, from = a, PathFromLiteral; comparedB < comparedA {
			third, from = b, 0
		}
		if n := p.relaxMatches(st, here+p.Empty); n > 0 {
			p.At += n - 1
			third = PathUnreached
		}
	}
	p.LiteralCost, p.LiteralFrom = third, from
}

// behindLiteral returns the state behind the literal in front of At, on the path that from names.
func (p *PathParse) behindLiteral(from uint32) PathState {
	st := p.States[p.At-1]
	if from == PathFromLiteral {
		st = p.LiteralStates[p.At-1]
	}
	st.Run++
	return st
}

// relaxOne relaxes the literal at At.
func (p *PathParse) relaxOne(cost int32, from uint32, st *PathState) (_, compared int32) {
	run := min(st.Run, 319)
	cost += p.Literals[p.At][min(run, 2)] + p.Runs.More[run]
	p.relaxNode(p.At+1, cost, from, 0)
	return cost, cost + p.Runs.Compared[run]
}

func (p *PathParse) relaxNode(i int, cost int32, length, offset uint32) bool {
	if b, k := &p.Nodes[i/8], uint(i%8); cost < b.Cost[k] {
		b.Set(k, cost, length, offset)
		return true
	}
	return false
}

// relaxMatches relaxes all matches at At. It returns the length of one that is taken at once, or 0.
func (p *PathParse) relaxMatches(st *PathState, cost int32) int {
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
			p.relaxLengths(cost, d, p.MinRepeat, n, &rows[kind])
		}
	}
	if longest >= p.Nice {
		return longest
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
		p.relaxLengths(cost+price, d, least, n, &rows[3])
		least = n + 1
	}
	return 0
}

func (p *PathParse) relaxLengths(cost int32, d uint32, least, n int, row *[320]int32) {
	misses := 0
	for changed := false; n >= least && misses < p.MaxMisses; n-- {
		changed = p.relaxNode(p.At+n, cost+row[n], uint32(n), d) || changed
		if (p.At+n)%8 == 0 {
			if misses++; changed {
				misses = 0
			}
			changed = false
		}
	}
}

// clone returns a copy of p with memory of its own for what the kernel writes.
func (p *PathParse) clone() *PathParse {
	q := *p
	q.Nodes, q.LiteralNodes = slices.Clone(p.Nodes), slices.Clone(p.LiteralNodes)
	q.States, q.LiteralStates = slices.Clone(p.States), slices.Clone(p.LiteralStates)
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
func hasPathKernel() bool { return runtime.GOARCH == "amd64" && current() != portable }

func TestRelaxPaths(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(91, 92))
		if !hasPathKernel() {
			p, _ := randomPaths(r, randomContent(r, 1000))
			if p.End = p.last(); RelaxPaths(p) || p.At != 1 {
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
			"nodes":         func(p *PathParse) { p.Nodes = p.Nodes[1:] },
			"literalNodes":  func(p *PathParse) { p.LiteralNodes = p.LiteralNodes[1:] },
			"states":        func(p *PathParse) { p.States = p.States[1:] },
			"literalStates": func(p *PathParse) { p.LiteralStates = p.LiteralStates[1:] },
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

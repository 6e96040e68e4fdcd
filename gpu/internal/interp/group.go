package interp

import "math/rand/v2"

// group runs the workgroups of a kernel, one after the other.
type group struct {
	p      *program
	lanes  []lane
	words  []uint32 // workgroup memory
	cells  []cell
	views  []view
	random *rand.PCG
	seed   uint64
	stop   func() bool

	// Stamps; see cell. An invocation's first one is at least 1.
	epoch uint32 // of the last barrier
	begin uint32 // of the workgroup
	base  uint32 // of the dispatch

	number    int    // of the workgroup
	serial    uint32 // of the workgroup in its queue
	first     uint32 // serial of the first one of the dispatch
	maxSteps  int64
	steps     int64 // of the workgroup
	unwritten int64 // reads of workgroup memory that has only its initial zero
	ready     []int // invocations that can run
	fault     *Fault
	count     *Counters // nil unless workgroups run in lockstep
}

// lane is an invocation.
type lane struct {
	number uint32 // in its workgroup
	pc     int
	state  state
	regs   []uint32
}

// state is what an invocation does after a turn.
type state uint8

const (
	running state = iota
	waiting       // at a barrier; pc is behind it
	done
	failed
)

func newGroup(p *program) *group {
	g := &group{
		p: p, lanes: make([]lane, p.size), words: make([]uint32, p.shared), cells: make([]cell, p.shared),
		views: make([]view, len(p.buffers)),
	}
	regs := make([]uint32, p.size*p.registers)
	for i := range g.lanes {
		r := regs[i*p.registers:][:p.registers]
		copy(r, p.consts)
		g.lanes[i] = lane{number: uint32(i), regs: r}
	}
	return g
}

// reset prepares workgroup x, y of a grid.
func (g *group) reset(x, y uint32, grid [2]uint32) {
	g.number = int(y*grid[0] + x)
	g.nextEpoch()
	g.begin, g.steps = g.epoch, 0
	clear(g.words)
	p := g.p
	for i := range g.lanes {
		l := &g.lanes[i]
		l.pc, l.state = p.main, running
		clear(l.regs[p.private[0]:p.private[1]])
		if r, ok := p.builtins["workgroup_id"]; ok {
			copy(l.regs[r:], []uint32{x, y, 0})
		}
		if r, ok := p.builtins["num_workgroups"]; ok {
			copy(l.regs[r:], []uint32{grid[0], grid[1], 1})
		}
		if r, ok := p.builtins["local_invocation_index"]; ok {
			l.regs[r] = l.number
		}
	}
}

// nextEpoch orders all later accesses of the workgroup behind the earlier ones.
func (g *group) nextEpoch() { g.epoch += uint32(g.p.size) }

// interleave runs the workgroup. Invocations take turns in random order, between any two
// instructions.
func (g *group) interleave() {
	for {
		g.ready = g.ready[:0]
		for i := range g.lanes {
			g.ready = append(g.ready, i)
		}
		for len(g.ready) > 0 {
			if g.turn() == failed {
				return
			}
		}
		if !g.meet() {
			return
		}
	}
}

// turn runs a random invocation for a random number of instructions.
func (g *group) turn() state {
	x := g.random.Uint64()
	k := int(uint32(x) % uint32(len(g.ready)))
	n := 1 + int(x>>32)&7 // short turns find short windows
	if x>>63 != 0 {
		n = 1 + int(x>>32)&255
	}
	if len(g.ready) == 1 {
		n = 1 << 12
	}
	l := &g.lanes[g.ready[k]]
	if g.steps += int64(n); g.steps > g.maxSteps {
		return g.fail(Endless, int(l.number), l.pc, "more than %d", g.maxSteps)
	}
	l.state = g.exec(l, n)
	if l.state != running {
		last := len(g.ready) - 1
		g.ready[k] = g.ready[last]
		g.ready = g.ready[:last]
	}
	return l.state
}

// meet lets invocations pass a barrier that all have reached. It returns false if the workgroup has
// ended.
func (g *group) meet() bool {
	if g.fault != nil {
		return false
	}
	first := &g.lanes[0]
	for i := range g.lanes {
		l := &g.lanes[i]
		if l.state == first.state && (l.state == done || l.pc == first.pc) {
			continue
		}
		a, b := l, first
		if a.state == done {
			a, b = b, a
		}
		if b.state == done {
			g.fail(Divergence, int(a.number), a.pc-1, "invocation %d has returned", b.number)
		} else {
			g.fail(Divergence, int(a.number), a.pc-1, "invocation %d waits at line %d", b.number,
				g.p.line[b.pc-1])
		}
		return false
	}
	if first.state == done {
		return false
	}
	g.nextEpoch()
	for i := range g.lanes {
		g.lanes[i].state = running
	}
	if g.count != nil {
		g.count.Barriers++
	}
	return !g.stop()
}

// exec runs up to n instructions of an invocation.
func (g *group) exec(l *lane, n int) state {
	code, r, pc := g.p.code, l.regs, l.pc
	for ; n > 0; n-- {
		in := code[pc]
		pc++
		switch in.op {
		case opMove:
			r[in.d] = r[in.a]
		case opAdd:
			r[in.d] = r[in.a] + r[in.b]
		case opSub:
			r[in.d] = r[in.a] - r[in.b]
		case opMul:
			r[in.d] = r[in.a] * r[in.b]
		case opAnd:
			r[in.d] = r[in.a] & r[in.b]
		case opOr:
			r[in.d] = r[in.a] | r[in.b]
		case opXor:
			r[in.d] = r[in.a] ^ r[in.b]
		case opShl:
			r[in.d] = r[in.a] << (r[in.b] & 31)
		case opShr:
			r[in.d] = r[in.a] >> (r[in.b] & 31)
		case opEq:
			r[in.d] = asWord(r[in.a] == r[in.b])
		case opNe:
			r[in.d] = asWord(r[in.a] != r[in.b])
		case opLess:
			r[in.d] = asWord(r[in.a] < r[in.b])
		case opLessEq:
			r[in.d] = asWord(r[in.a] <= r[in.b])
		case opCall:
			r[in.a] = uint32(pc)
			pc = int(in.d)
		case opReturn:
			pc = int(r[in.a])
		case opJump:
			pc = int(in.d)
		case opZero, opNotZero, opJumpNe, opJumpEq, opJumpGeq, opJumpMore:
			if in.taken(r) {
				pc = int(in.d)
			}
		default:
			if in.op < opAddIndex {
				alu(in, r)
			} else if s := g.access(l, in, pc-1); s != running {
				l.pc = pc
				return s
			}
		}
	}
	l.pc = pc
	return running
}

// taken reports whether a conditional jump jumps.
func (in instr) taken(r []uint32) bool {
	a := r[in.a]
	switch in.op {
	case opZero:
		return a == 0
	case opNotZero:
		return a != 0
	case opJumpNe:
		return a != r[in.b]
	case opJumpEq:
		return a == r[in.b]
	case opJumpGeq:
		return a >= r[in.b]
	}
	return a > r[in.b] // opJumpMore
}

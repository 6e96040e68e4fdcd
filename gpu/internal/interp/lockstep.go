package interp

// warp is how many invocations execute an instruction together.
const warp = 32

// Work counts what warps do when the 32 invocations of each run in lockstep. The invocations of a
// warp that are furthest behind run first, so paths join as soon as they can.
type Work struct {
	Instructions int64 // of invocations
	Issued       int64 // of warps: Instructions / (32 * Issued) is the part of lanes in use
	Divisions    int64 // of warps, and remainders
	Branches     int64 // conditional jumps of warps
	Divergent    int64 // those at which invocations part
	Requests     int64 // loads and stores of buffers by warps
	Segments     int64 // transactions for them: segments of 128 bytes
	Loads        int64 // loads of buffers by warps
	Misses       int64 // those that need a sector of 32 bytes that their workgroup has not loaded yet
	Sectors      int64 // these sectors, and those of stores
	Shared       int64 // loads and stores of workgroup memory by warps, without atomics
	BankCycles   int64 // cycles for them with 32 banks
	Barriers     int64 // of workgroups
	Atomics      int64 // of warps
	Conflicts    int64 // invocations whose atomic waits for another one's in the warp
}

// addTimes adds the counts of d times n.
func (w *Work) addTimes(d *Work, n int64) {
	w.Instructions += d.Instructions * n
	w.Issued += d.Issued * n
	w.Divisions += d.Divisions * n
	w.Branches += d.Branches * n
	w.Divergent += d.Divergent * n
	w.Requests += d.Requests * n
	w.Segments += d.Segments * n
	w.Loads += d.Loads * n
	w.Misses += d.Misses * n
	w.Sectors += d.Sectors * n
	w.Shared += d.Shared * n
	w.BankCycles += d.BankCycles * n
	w.Barriers += d.Barriers * n
	w.Atomics += d.Atomics * n
	w.Conflicts += d.Conflicts * n
}

// Counters counts the work of a kernel. The chain of a workgroup is the work that it does one piece
// after the other: up to each barrier that of the warp with most instructions.
type Counters struct {
	Dispatches, Workgroups int64
	Work
	Memory    int64 // sectors that a dispatch loads, and those that it stores, each once
	Unwritten int64 // reads of workgroup memory that has only its initial zero
	Chain     Work  // sum of the chains of all workgroups
	Longest   Work  // sum of the longest chain of each dispatch
}

// AddCounters adds the counts of another run.
func (c *Counters) AddCounters(d *Counters) { c.addTimes(d, 1) }

// addTimes adds the counts of d times n.
func (c *Counters) addTimes(d *Counters, n int64) {
	c.Dispatches += d.Dispatches * n
	c.Workgroups += d.Workgroups * n
	c.Work.addTimes(&d.Work, n)
	c.Memory += d.Memory * n
	c.Unwritten += d.Unwritten * n
	c.Chain.addTimes(&d.Chain, n)
	c.Longest.addTimes(&d.Longest, n)
}

// lockstep runs the workgroup, warp after warp up to each barrier.
func (g *group) lockstep() {
	var chain Work
	for {
		var most Work
		for from := 0; from < len(g.lanes); from += warp {
			work := Work{}
			work.addTimes(&g.count.Work, -1)
			for g.step(g.lanes[from:min(from+warp, len(g.lanes))]) {
			}
			if g.fault != nil {
				return
			}
			work.addTimes(&g.count.Work, 1)
			if work.Issued > most.Issued {
				most = work
			}
		}
		chain.addTimes(&most, 1)
		if !g.meet() {
			break
		}
		chain.Barriers++
	}
	c := g.count
	c.Chain.addTimes(&chain, 1)
	if chain.Issued > c.Longest.Issued {
		c.Longest = chain
	}
}

// step runs an instruction of a warp: that of the invocations that are furthest behind. It returns
// false if no invocation can run.
func (g *group) step(lanes []lane) bool {
	pc, active := len(g.p.code), [warp]*lane{}
	n := 0
	for i := range lanes {
		l := &lanes[i]
		if l.state != running || l.pc > pc {
			continue
		}
		if l.pc < pc {
			pc, n = l.pc, 0
		}
		active[n] = l
		n++
	}
	if n == 0 {
		return false
	}
	if g.steps += int64(n); g.steps > g.maxSteps {
		g.fail(Endless, int(active[0].number), pc, "more than %d", g.maxSteps)
		return false
	}
	g.tally(g.p.code[pc], active[:n])
	for _, l := range active[:n] {
		if l.state = g.exec(l, 1); l.state == failed {
			return false
		}
	}
	return true
}

// tally counts an instruction that invocations of a warp are about to run.
func (g *group) tally(in instr, active []*lane) {
	c := g.count
	c.Issued++
	c.Instructions += int64(len(active))
	switch {
	case in.op.conditional():
		c.Branches++
		jumps := 0
		for _, l := range active {
			if in.taken(l.regs) {
				jumps++
			}
		}
		if jumps != 0 && jumps != len(active) {
			c.Divergent++
		}
	case in.op == opDiv, in.op == opMod:
		c.Divisions++
	case in.op == opLoadBuffer, in.op == opStoreBuffer:
		c.Requests++
		c.Segments += int64(distinct(active, func(l *lane) uint32 { return l.regs[in.a] / 32 }))
		g.touch(in, active)
	case in.op == opLoadShared, in.op == opStoreShared:
		c.Shared++
		c.BankCycles += bankCycles(active, g.p.arrays[in.b], in.a)
	case in.op >= opAtomicLoad && in.op <= opAtomicOr:
		c.Atomics++
		if in.op != opAtomicLoad {
			n := distinct(active, func(l *lane) uint32 { return l.regs[in.a] })
			c.Conflicts += int64(len(active) - n)
		}
	}
}

// touched remembers who has loaded and stored the sectors of a buffer last, by the numbers that the
// queue gives to workgroups.
type touched struct{ loaded, stored []uint32 }

// sector is the size of a sector in words.
const sector = 8

// touch counts the sectors of a request.
func (g *group) touch(in instr, active []*lane) {
	c, v := g.count, &g.views[in.b]
	last := v.loaded
	if in.op == opLoadBuffer {
		c.Loads++
	} else {
		last = v.stored
		c.Sectors += int64(distinct(active, func(l *lane) uint32 { return l.regs[in.a] / sector }))
	}
	missed := int64(0)
	for _, l := range active {
		s := l.regs[in.a] / sector
		if uint64(s) >= uint64(len(last)) || last[s] == g.serial { // a fault, or Shifts
			continue
		}
		if last[s] < g.first {
			c.Memory++
		}
		last[s] = g.serial
		missed++
	}
	if in.op == opLoadBuffer && missed > 0 {
		c.Misses++
		c.Sectors += missed
	}
}

// distinct returns the number of different keys.
func distinct(active []*lane, key func(*lane) uint32) (n int) {
	var seen [warp]uint32
next:
	for _, l := range active {
		k := key(l)
		for i := n - 1; i >= 0; i-- { // neighbours often have the same
			if seen[i] == k {
				continue next
			}
		}
		seen[n] = k
		n++
	}
	return n
}

// bankCycles returns the most different words in one bank.
func bankCycles(active []*lane, a array, index uint16) (most int64) {
	var words [warp][warp]uint32
	var count [warp]int
	for _, l := range active {
		w := a.base + l.regs[index]*a.stride
		b := w % warp
		known := false
		for _, v := range words[b][:count[b]] {
			known = known || v == w
		}
		if !known {
			words[b][count[b]] = w
			count[b]++
			most = max(most, int64(count[b]))
		}
	}
	return most
}

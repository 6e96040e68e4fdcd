package interp

// warp is how many invocations execute an instruction together.
const warp = 32

// Counters counts what a kernel does when the 32 invocations of each warp run in lockstep. The
// invocations of a warp that are furthest behind run first, so paths join as soon as they can.
type Counters struct {
	Dispatches, Workgroups int64
	Instructions           int64 // of invocations
	Issued                 int64 // of warps: Instructions / (32 * Issued) is the part of lanes in use
	Branches               int64 // conditional jumps of warps
	Divergent              int64 // those at which invocations part
	Requests               int64 // loads and stores of buffers by warps
	Segments               int64 // transactions for them: segments of 128 bytes
	Shared                 int64 // loads and stores of workgroup memory by warps, without atomics
	BankCycles             int64 // cycles for them with 32 banks
	Barriers               int64 // of workgroups
	Atomics                int64 // of warps
	Conflicts              int64 // invocations whose atomic waits for another one's in the warp
	Unwritten              int64 // reads of workgroup memory that has only its initial zero
}

// Add adds the counts of another run.
func (c *Counters) Add(d *Counters) {
	c.Dispatches += d.Dispatches
	c.Workgroups += d.Workgroups
	c.Instructions += d.Instructions
	c.Issued += d.Issued
	c.Branches += d.Branches
	c.Divergent += d.Divergent
	c.Requests += d.Requests
	c.Segments += d.Segments
	c.Shared += d.Shared
	c.BankCycles += d.BankCycles
	c.Barriers += d.Barriers
	c.Atomics += d.Atomics
	c.Conflicts += d.Conflicts
	c.Unwritten += d.Unwritten
}

// lockstep runs the workgroup, warp after warp up to each barrier.
func (g *group) lockstep() {
	for {
		for from := 0; from < len(g.lanes); from += warp {
			for g.step(g.lanes[from:min(from+warp, len(g.lanes))]) {
			}
			if g.fault != nil {
				return
			}
		}
		if !g.meet() {
			return
		}
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
	case in.op == opLoadBuffer, in.op == opStoreBuffer:
		c.Requests++
		c.Segments += int64(distinct(active, func(l *lane) uint32 { return l.regs[in.a] / 32 }))
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

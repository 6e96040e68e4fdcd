package interp

// cell remembers the last accesses to a word.
//
// Barriers are the only synchronisation, and a barrier orders all invocations of a workgroup. So
// vector clocks shrink to numbers that grow: an access has the stamp epoch + invocation, and a
// barrier adds the size of the workgroup to the epoch. Workgroups, too, begin a new epoch. Two
// accesses are ordered if their epochs differ and they are of one workgroup, or if they are of two
// dispatches.
type cell struct {
	w, r   uint32 // stamps of the last write and read, with flags; 0 for none
	wp, rp uint16 // their instructions
	kind   access // of the write
}

// Flags of a stamp.
const (
	many    = 1 << 31 // other invocations, too, in this epoch
	foreign = 1 << 30 // read by another workgroup, too, in this dispatch
	flags   = many | foreign
)

// access is a kind of write.
type access uint8

const (
	plain access = iota
	store
	add
	or
	mixed // several kinds in an epoch
)

// commutes reports whether two writes of the kind may come in any order.
func (a access) commutes() bool { return a == add || a == or }

// readShared checks a read of workgroup memory.
func (g *group) readShared(c *cell, lane uint32) (stamp uint32, ok bool) {
	own := g.epoch + lane
	if c.w&^flags >= g.epoch && c.w != own {
		return c.w, false
	}
	if c.r&^flags < g.epoch {
		c.r = own
	} else if c.r != own {
		c.r |= many
	}
	return 0, true
}

// writeShared checks a write of workgroup memory. read reports whether the conflict is with a read.
func (g *group) writeShared(c *cell, lane uint32, kind access) (stamp uint32, read, ok bool) {
	own := g.epoch + lane
	now := c.w&^flags >= g.epoch // there was a write in this epoch
	same := kind == c.kind && kind.commutes()
	switch {
	case now && c.w != own && !same:
		return c.w, false, false
	case c.r&^flags >= g.epoch && c.r != own:
		return c.r, true, false
	case !now:
		c.w, c.kind = own, kind
	case c.w != own:
		c.w |= many
	case !same:
		c.kind = mixed
	}
	return 0, false, true
}

// own reports whether a stamp of this workgroup is one of an invocation.
func (g *group) own(stamp, lane uint32) bool {
	return stamp >= g.begin && (stamp-g.begin)%uint32(g.p.size) == lane
}

// readBuffer checks a read of a buffer. workgroupBarrier makes writes to workgroup memory visible,
// but not those to buffers. So only the writer may read, until the dispatch ends.
func (g *group) readBuffer(c *cell, lane uint32) (stamp uint32, ok bool) {
	if c.w >= g.base && !g.own(c.w, lane) {
		return c.w, false
	}
	own, r := g.epoch+lane, c.r&^flags
	switch {
	case r < g.base:
		c.r = own
	case r < g.begin:
		c.r = own | foreign
	case r < g.epoch:
		c.r = own | c.r&foreign
	case r != own:
		c.r |= many
	}
	return 0, true
}

// writeBuffer checks a write of a buffer. A barrier between another invocation's read and the write
// is enough, because the read is complete then.
func (g *group) writeBuffer(c *cell, lane uint32) (stamp uint32, read, ok bool) {
	if c.w >= g.base && !g.own(c.w, lane) {
		return c.w, false, false
	}
	own, r := g.epoch+lane, c.r&^flags
	if r >= g.base && (c.r&foreign != 0 || r < g.begin || r >= g.epoch && c.r != own) {
		return c.r, true, false
	}
	c.w = own
	return 0, false, true
}

// view is a binding.
type view struct {
	data  []uint32
	cells []cell // nil if the kernel only reads
	touched
}

// access runs an instruction that uses memory or ends the turn of an invocation.
func (g *group) access(l *lane, in instr, pc int) state {
	r := l.regs
	switch in.op {
	case opAddIndex, opSubIndex, opMulIndex:
		return g.wide(l, in, pc)
	case opLoadLocal:
		a := &g.p.arrays[in.b]
		if i := r[in.a]; i < a.count {
			r[in.d] = r[a.base+i*a.stride]
			return running
		}
		return g.outside(l, pc, a.name, r[in.a], a.count)
	case opStoreLocal:
		a := &g.p.arrays[in.b]
		if i := r[in.a]; i < a.count {
			r[a.base+i*a.stride] = r[in.d]
			return running
		}
		return g.outside(l, pc, a.name, r[in.a], a.count)
	case opLoadShared, opAtomicLoad:
		return g.loadShared(l, in, pc)
	case opStoreShared:
		return g.storeShared(l, in, pc, plain)
	case opAtomicStore:
		return g.storeShared(l, in, pc, store)
	case opAtomicAdd:
		return g.storeShared(l, in, pc, add)
	case opAtomicOr:
		return g.storeShared(l, in, pc, or)
	case opLoadBuffer:
		v, i := &g.views[in.b], r[in.a]
		if uint64(i) >= uint64(len(v.data)) {
			return g.outside(l, pc, g.p.buffers[in.b].name, i, uint32(len(v.data)))
		}
		if v.cells != nil {
			c := &v.cells[i]
			if stamp, ok := g.readBuffer(c, l.number); !ok {
				return g.clash(Race, int(l.number), pc, g.p.buffers[in.b].name, i, stamp, c.wp)
			}
			c.rp = uint16(pc)
		}
		r[in.d] = v.data[i]
		return running
	case opStoreBuffer:
		v, i := &g.views[in.b], r[in.a]
		if uint64(i) >= uint64(len(v.data)) {
			return g.outside(l, pc, g.p.buffers[in.b].name, i, uint32(len(v.data)))
		}
		c := &v.cells[i]
		if stamp, read, ok := g.writeBuffer(c, l.number); !ok {
			other := c.wp
			if read {
				other = c.rp
			}
			return g.clash(Race, int(l.number), pc, g.p.buffers[in.b].name, i, stamp, other)
		}
		c.wp = uint16(pc)
		v.data[i] = r[in.d]
		return running
	case opBarrier:
		return waiting
	}
	return done // opEnd
}

// wide computes a part of an index, which must not wrap.
func (g *group) wide(l *lane, in instr, pc int) state {
	a, b := uint64(l.regs[in.a]), uint64(l.regs[in.b])
	n, sign := a+b, "+"
	switch in.op {
	case opSubIndex:
		n, sign = a-b, "-"
	case opMulIndex:
		n, sign = a*b, "*"
	}
	if n>>32 != 0 {
		return g.fail(Overflow, int(l.number), pc, "%d %s %d", a, sign, b)
	}
	l.regs[in.d] = uint32(n)
	return running
}

func (g *group) outside(l *lane, pc int, name string, i, n uint32) state {
	return g.fail(Bounds, int(l.number), pc, "%s[%d]: %d elements", name, i, n)
}

func (g *group) loadShared(l *lane, in instr, pc int) state {
	a, i := &g.p.arrays[in.b], l.regs[in.a]
	if i >= a.count {
		return g.outside(l, pc, a.name, i, a.count)
	}
	at := a.base + i*a.stride
	c := &g.cells[at]
	if stamp, ok := g.readShared(c, l.number); !ok {
		kind := Race
		if in.op == opAtomicLoad {
			kind = Unordered
		}
		return g.clash(kind, int(l.number), pc, a.name, i, stamp, c.wp)
	}
	if in.op == opLoadShared && c.w&^flags < g.begin {
		g.unwritten++
	}
	c.rp = uint16(pc)
	l.regs[in.d] = g.words[at]
	return running
}

func (g *group) storeShared(l *lane, in instr, pc int, kind access) state {
	a, i := &g.p.arrays[in.b], l.regs[in.a]
	if i >= a.count {
		return g.outside(l, pc, a.name, i, a.count)
	}
	at := a.base + i*a.stride
	c := &g.cells[at]
	if stamp, read, ok := g.writeShared(c, l.number, kind); !ok {
		other, what := c.wp, Race
		if read {
			other = c.rp
		}
		if kind != plain {
			what = Unordered
		}
		return g.clash(what, int(l.number), pc, a.name, i, stamp, other)
	}
	c.wp = uint16(pc)
	v := l.regs[in.d]
	switch kind {
	case add:
		g.words[at] += v
	case or:
		g.words[at] |= v
	default:
		g.words[at] = v
	}
	return running
}

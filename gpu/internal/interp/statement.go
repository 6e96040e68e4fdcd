package interp

import "github.com/gopz/compress/internal/wgsl"

// block compiles statements. Their variables end with the block, so later code uses their registers
// again.
func (c *compiler) block(list []*wgsl.Stmt) {
	first := c.next
	for _, s := range list {
		c.statement(s)
	}
	c.next = first
}

func (c *compiler) statement(s *wgsl.Stmt) {
	c.at = s.Line
	if s.Kind == wgsl.Declare {
		c.declare(s)
		return
	}
	if s.Kind == wgsl.Uniform {
		r := c.alloc(words(s.Var.Type))
		c.emit(opBarrier, 0, 0, 0)
		c.load(c.place(s.Target), r)
		c.emit(opBarrier, 0, 0, 0)
		c.vars[s.Var] = r
		return
	}
	first := c.next
	switch s.Kind {
	case wgsl.If:
		c.branch(s)
	case wgsl.For:
		c.loop(s)
	case wgsl.Return:
		if s.X != nil {
			c.eval(s.X, c.current.result)
		}
		c.endFunction()
	case wgsl.Break:
		l := c.loops[len(c.loops)-1]
		l.breaks = append(l.breaks, c.emit(opJump, 0, 0, 0))
	case wgsl.Continue:
		l := c.loops[len(c.loops)-1]
		l.continues = append(l.continues, c.emit(opJump, 0, 0, 0))
	case wgsl.Assign:
		c.assign(s)
	case wgsl.Step:
		op := opAdd
		if s.Op == "--" {
			op = opSub
		}
		c.update(s.Target, op, c.constant(1))
	case wgsl.CallStmt:
		c.eval(s.X, -1)
	case wgsl.Atomic:
		c.atomic(s)
	case wgsl.Barrier:
		c.emit(opBarrier, 0, 0, 0)
	}
	c.next = first
}

// declare compiles a let or var. Its temporary registers stay in use until the block ends.
func (c *compiler) declare(s *wgsl.Stmt) {
	n := words(s.Var.Type)
	r := c.alloc(n)
	top := c.next
	if s.X == nil {
		for i := range n {
			c.emit(opMove, r+i, c.constant(0), 0)
		}
	} else {
		c.eval(s.X, r)
	}
	c.next = top
	c.vars[s.Var] = r
}

func (c *compiler) branch(s *wgsl.Stmt) {
	no := c.unless(s.X)
	c.block(s.Body)
	if len(s.Else) == 0 {
		c.land(no)
		return
	}
	end := c.emit(opJump, 0, 0, 0)
	c.land(no)
	c.block(s.Else)
	c.land([]int{end})
}

func (c *compiler) loop(s *wgsl.Stmt) {
	if s.Init != nil && s.Init.Kind == wgsl.Declare {
		c.declare(s.Init)
	} else if s.Init != nil {
		c.statement(s.Init)
	}
	l := &loop{}
	c.loops = append(c.loops, l)
	top := len(c.p.code)
	first := c.next
	if s.X != nil {
		l.breaks = c.unless(s.X)
		c.next = first
	}
	c.block(s.Body)
	c.land(l.continues)
	if s.Step != nil {
		c.statement(s.Step)
	}
	c.emit(opJump, top, 0, 0)
	c.land(l.breaks)
	c.loops = c.loops[:len(c.loops)-1]
}

func (c *compiler) assign(s *wgsl.Stmt) {
	if s.Op != "=" {
		c.update(s.Target, binaryOp(s.Op, s.X.Type), c.eval(s.X, -1))
		return
	}
	p := c.place(s.Target)
	if calls(s.X) {
		p.index = c.copy(p.index, 1) // the call may change it
	}
	switch {
	case p.kind != inRegisters:
		c.store(p, c.eval(s.X, -1))
	case s.X.Kind == wgsl.Construct: // its parts may be parts of the target
		c.move(p.at, c.eval(s.X, -1), p.words)
	default:
		c.eval(s.X, p.at)
	}
}

// update compiles target = target op register y.
func (c *compiler) update(target *wgsl.Expr, o op, y int) {
	p := c.place(target)
	if p.kind == inRegisters {
		for i := range p.words {
			c.emit(o, p.at+i, p.at+i, y+i)
		}
		return
	}
	r := c.alloc(p.words)
	c.load(p, r)
	for i := range p.words {
		c.emit(o, r+i, r+i, y+i)
	}
	c.store(p, r)
}

func (c *compiler) atomic(s *wgsl.Stmt) {
	x := c.eval(s.X, -1)
	p := c.place(s.Target)
	o := map[string]op{
		"atomicAdd": opAtomicAdd, "atomicOr": opAtomicOr, "atomicStore": opAtomicStore,
	}[s.Op]
	c.emit(o, x, p.index, c.array(p.element(0)))
}

package interp

import "github.com/gopz/compress/internal/wgsl"

// eval compiles an expression and returns the first register of its value. That is d unless d is
// below 0. The register may be that of a variable, so the caller must not change it.
func (c *compiler) eval(x *wgsl.Expr, d int) int {
	r := c.value(x, d)
	c.at = x.Line
	if d >= 0 {
		c.move(d, r, words(x.Type))
		return d
	}
	return r
}

// value compiles an expression. Its value may be in d, or not.
func (c *compiler) value(x *wgsl.Expr, d int) int {
	c.at = x.Line
	if d < 0 && x.Kind > wgsl.Ref {
		d = c.alloc(words(x.Type))
	}
	switch x.Kind {
	case wgsl.Literal:
		return c.constant(x.N)
	case wgsl.Ref:
		if x.Var.Space == wgsl.Const {
			return c.constant(x.Var.Value.N)
		}
	case wgsl.Unary:
		o := map[string]op{"!": opNot, "~": opCom, "-": opNeg}[x.Op]
		c.emit(o, d, c.eval(x.Args[0], -1), 0)
		return d
	case wgsl.Binary:
		c.binary(x, d)
		return d
	case wgsl.Call:
		return c.call(x, d)
	case wgsl.Builtin:
		c.builtin(x, d)
		return d
	case wgsl.Construct:
		c.construct(x, d)
		return d
	}
	p := c.place(x) // Ref, Index, Member
	if p.kind == inRegisters {
		return p.at
	}
	if d < 0 {
		d = c.alloc(p.words)
	}
	c.at = x.Line
	c.load(p, d)
	return d
}

// calls reports whether an expression calls a function, which may change private variables.
func calls(x *wgsl.Expr) bool {
	if x.Kind == wgsl.Call {
		return true
	}
	for _, y := range x.Args {
		if calls(y) {
			return true
		}
	}
	return false
}

// operands compiles expressions from left to right.
func (c *compiler) operands(list []*wgsl.Expr) (at [3]int) {
	for i, x := range list {
		at[i] = c.eval(x, -1)
		for _, y := range list[i+1:] {
			if calls(y) {
				at[i] = c.copy(at[i], words(x.Type))
				break
			}
		}
	}
	return at
}

// binaryOp returns the op of an operator for operands of a type.
func binaryOp(o string, t wgsl.Type) op {
	signed := t.Base == "i32"
	switch {
	case o == ">>" && signed:
		return opSar
	case o == "<" && signed, o == ">" && signed:
		return opLessS
	case o == "<=" && signed, o == ">=" && signed:
		return opLessEqS
	}
	return map[string]op{
		"+": opAdd, "-": opSub, "*": opMul, "/": opDiv, "%": opMod,
		"&": opAnd, "|": opOr, "^": opXor, "<<": opShl, ">>": opShr,
		"==": opEq, "!=": opNe, "<": opLess, ">": opLess, "<=": opLessEq, ">=": opLessEq,
	}[o]
}

func (c *compiler) binary(x *wgsl.Expr, d int) {
	if x.Op == "&&" || x.Op == "||" {
		no := c.unless(x)
		c.emit(opMove, d, c.constant(1), 0)
		end := c.emit(opJump, 0, 0, 0)
		c.land(no)
		c.emit(opMove, d, c.constant(0), 0)
		c.land([]int{end})
		return
	}
	at := c.operands(x.Args)
	a, b := at[0], at[1]
	if x.Op == ">" || x.Op == ">=" {
		a, b = b, a
	}
	c.at = x.Line
	o := binaryOp(x.Op, x.Args[0].Type)
	for i := range words(x.Type) {
		c.emit(o, d+i, a+i, b+i)
	}
}

// unless compiles a condition and returns jumps that leave if it is false.
func (c *compiler) unless(x *wgsl.Expr) []int {
	c.at = x.Line
	if x.Kind == wgsl.Binary {
		switch x.Op {
		case "&&":
			return append(c.unless(x.Args[0]), c.unless(x.Args[1])...)
		case "||":
			no := c.unless(x.Args[0])
			yes := c.emit(opJump, 0, 0, 0)
			c.land(no)
			no = c.unless(x.Args[1])
			c.land([]int{yes})
			return no
		}
		o, ok := map[string]op{
			"==": opJumpNe, "!=": opJumpEq, "<": opJumpGeq, ">": opJumpGeq,
			"<=": opJumpMore, ">=": opJumpMore,
		}[x.Op]
		if ok && (x.Args[0].Type.Base == "u32" || o == opJumpNe || o == opJumpEq) {
			at := c.operands(x.Args)
			a, b := at[0], at[1]
			if x.Op == ">" || x.Op == ">=" {
				a, b = b, a
			}
			c.at = x.Line
			return []int{c.emit(o, 0, a, b)}
		}
	}
	if x.Kind == wgsl.Unary && x.Op == "!" {
		return []int{c.emit(opNotZero, 0, c.eval(x.Args[0], -1), 0)}
	}
	r := c.eval(x, -1)
	return []int{c.emit(opZero, 0, r, 0)}
}

func (c *compiler) call(x *wgsl.Expr, d int) int {
	fn := c.funcs[x.Func]
	at := make([]int, len(x.Args))
	for i, y := range x.Args {
		at[i] = c.eval(y, -1)
		for _, z := range x.Args[i+1:] {
			if calls(z) {
				at[i] = c.copy(at[i], words(y.Type))
				break
			}
		}
	}
	to := fn.params
	for i, y := range x.Args {
		c.move(to, at[i], words(y.Type))
		to += words(y.Type)
	}
	c.at = x.Line
	c.emit(opCall, fn.start, fn.back, 0)
	if x.Type != (wgsl.Type{}) {
		c.move(d, fn.result, words(x.Type))
	}
	return d
}

func (c *compiler) builtin(x *wgsl.Expr, d int) {
	if x.Op == "atomicLoad" {
		p := c.place(x.Args[0])
		c.emit(opAtomicLoad, d, p.index, c.array(p.element(0)))
		return
	}
	at := c.operands(x.Args)
	c.at = x.Line
	signed := x.Type.Base == "i32"
	switch x.Op {
	case "select":
		n := words(x.Type)
		t := c.alloc(n) // d may be the variable of an operand
		c.move(t, at[0], n)
		for i := range n {
			c.emit(opPick, t+i, at[1]+i, at[2])
		}
		c.move(d, t, n)
	case "u32", "i32":
		c.emit(opMove, d, at[0], 0)
	case "countOneBits":
		c.emit(opOnes, d, at[0], 0)
	case "firstLeadingBit":
		c.emit(opLead, d, at[0], 0)
	case "countTrailingZeros":
		c.emit(opTrail, d, at[0], 0)
	case "min", "max":
		o := map[string]op{"min": opMin, "max": opMax}[x.Op]
		if signed {
			o += opMinS - opMin
		}
		c.emit(o, d, at[0], at[1])
	default:
		c.fail("%s is not supported", x.Op)
	}
}

// construct compiles a vector or an array.
func (c *compiler) construct(x *wgsl.Expr, d int) {
	if len(x.Args) == 0 {
		for i := range words(x.Type) {
			c.emit(opMove, d+i, c.constant(0), 0)
		}
		return
	}
	n := words(x.Type.Elem())
	for i, y := range x.Args {
		c.eval(y, d+i*n)
	}
}

package wgsl

// calls holds the supported functions of WGSL that have a value, by name. They check their
// arguments and return the expression without its name and line.
var calls map[string]func(p *parser, id string, args []*Expr) *Expr

// statements holds the supported functions of WGSL that are statements.
var statements map[string]func(p *parser, id string, args []*Expr) *Stmt

func init() {
	calls = map[string]func(p *parser, id string, args []*Expr) *Expr{
		"u32":                convert,
		"i32":                convert,
		"select":             choose,
		"min":                least,
		"max":                least,
		"countOneBits":       bitsOf,
		"firstLeadingBit":    bitsOf,
		"countTrailingZeros": bitsOf,
		"atomicLoad": func(p *parser, id string, args []*Expr) *Expr {
			return &Expr{Type: u32, Args: []*Expr{p.pointer(args, 1)}}
		},
	}
	statements = map[string]func(p *parser, id string, args []*Expr) *Stmt{
		"atomicAdd":   change,
		"atomicOr":    change,
		"atomicStore": change,
		"workgroupBarrier": func(p *parser, id string, args []*Expr) *Stmt {
			p.count(id, args, 0)
			return &Stmt{Kind: Barrier}
		},
	}
}

// arguments parses the arguments of a call, with the parentheses. A pointer to an atomic becomes
// the atomic.
func (p *parser) arguments() (args []*Expr) {
	p.expect("(")
	for !p.accept(")") {
		if p.accept("&") {
			x := p.primary()
			if !x.Type.Atomic || x.Type.Count != 0 {
				p.fail("&%s is not a pointer to an atomic", (&writer{}).expr(x))
			}
			args = append(args, x)
		} else if x := p.expression(); x.Type.Atomic {
			p.fail("%s is an atomic; use atomicLoad", (&writer{}).expr(x))
		} else {
			args = append(args, x)
		}
		if !p.is(")") {
			p.expect(",")
		}
	}
	return args
}

func (p *parser) count(id string, args []*Expr, n int) {
	if len(args) != n {
		p.fail("%s has %d arguments, want %d", id, len(args), n)
	}
}

// call parses a call that has a value. Functions with side effects must be statements, because GLSL
// does not define the order of evaluation in an expression.
func (p *parser) call(id string) *Expr {
	if statements[id] != nil {
		p.fail("%s is not supported in an expression", id)
	}
	line := p.line
	args := p.arguments()
	if f := calls[id]; f != nil {
		x := f(p, id, args)
		x.Kind, x.Op, x.Line = Builtin, id, line
		return x
	}
	f := p.funcs[id]
	if f == nil {
		p.fail("function %s is not defined before this call, or not supported", id)
	}
	p.count(id, args, len(f.Params))
	for i, v := range f.Params {
		args[i] = p.to(args[i], v.Type)
	}
	return &Expr{Kind: Call, Type: f.Result, Line: line, Func: f, Args: args}
}

// callStatement parses a call that is a statement.
func (p *parser) callStatement() *Stmt {
	line, id := p.line, p.word()
	if f := statements[id]; f != nil {
		s := f(p, id, p.arguments())
		s.Line = line
		return s
	}
	x := p.call(id)
	if x.Type != none {
		p.fail("the value of %s must be used", id)
	}
	return &Stmt{Kind: CallStmt, Line: line, X: x}
}

// construct parses the arguments of a vector or array constructor.
func (p *parser) construct(t Type) *Expr {
	x := &Expr{Kind: Construct, Type: t, Line: p.line}
	args := p.arguments()
	if len(args) == 0 && t.Count >= 0 {
		return x
	}
	n := t.Lanes
	if t.Count != 0 {
		n = t.Count
	}
	p.count("it", args, n)
	for _, y := range args {
		x.Args = append(x.Args, p.to(y, t.Elem()))
	}
	return x
}

func convert(p *parser, id string, args []*Expr) *Expr {
	p.count(id, args, 1)
	t := Type{Base: id}
	x := args[0]
	if x.Type == literal {
		x = p.to(x, t)
	}
	if x.Type != u32 && x.Type != i32 && x.Type != boolean {
		p.fail("%s is not supported for %v", id, x.Type)
	}
	return &Expr{Type: t, Args: []*Expr{x}}
}

// agree converts two expressions to one type.
func (p *parser) agree(x, y *Expr) (*Expr, *Expr) {
	if x.Type == literal {
		return p.to(x, y.Type), p.value(y)
	}
	return p.value(x), p.to(y, x.Type)
}

// choose checks select, which returns its first value if the condition is false.
func choose(p *parser, id string, args []*Expr) *Expr {
	p.count(id, args, 3)
	x, y := p.agree(args[0], args[1])
	c := p.to(args[2], boolean)
	if x.Type.Count != 0 {
		p.fail("select of arrays is not supported")
	}
	return &Expr{Type: x.Type, Args: []*Expr{x, y, c}}
}

// least checks min and max.
func least(p *parser, id string, args []*Expr) *Expr {
	p.count(id, args, 2)
	x, y := p.agree(args[0], args[1])
	if x.Type != u32 && x.Type != i32 {
		p.fail("%s is not supported for %v", id, x.Type)
	}
	positive := x.positive && y.positive || id == "max" && x.Type == u32 && (x.positive || y.positive)
	return &Expr{Type: x.Type, Args: []*Expr{x, y}, positive: positive}
}

func bitsOf(p *parser, id string, args []*Expr) *Expr {
	p.count("it", args, 1)
	return &Expr{Type: u32, Args: []*Expr{p.to(args[0], u32)}}
}

// pointer returns the first of n arguments, which must be an atomic.
func (p *parser) pointer(args []*Expr, n int) *Expr {
	p.count("it", args, n)
	if !args[0].Type.Atomic {
		p.fail("%s is not an atomic", (&writer{}).expr(args[0]))
	}
	return args[0]
}

// change checks an atomic function whose value is not used.
func change(p *parser, id string, args []*Expr) *Stmt {
	x := p.pointer(args, 2)
	return &Stmt{Kind: Atomic, Op: id, Target: x, X: p.to(args[1], u32)}
}

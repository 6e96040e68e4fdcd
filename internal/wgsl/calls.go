package wgsl

import (
	"fmt"
	"strings"
)

// calls holds the supported functions of WGSL that have a value, by name. They get their arguments.
var calls map[string]func(p *parser, id string, args []expr) expr

// statements holds the supported functions of WGSL that are statements.
var statements map[string]func(p *parser, id string, args []expr) string

func init() {
	calls = map[string]func(p *parser, id string, args []expr) expr{
		"u32":    convert,
		"i32":    convert,
		"select": choose,
		"min":    same,
		"max":    same,
		"countOneBits": func(p *parser, id string, args []expr) expr {
			return bitsOf(p, args, "uint(bitCount(%s))")
		},
		"firstLeadingBit": func(p *parser, id string, args []expr) expr {
			return bitsOf(p, args, "uint(findMSB(%s))") // both all ones for 0
		},
		"countTrailingZeros": func(p *parser, id string, args []expr) expr {
			return bitsOf(p, args, "min(uint(findLSB(%s)), 32u)") // findLSB is -1 for 0
		},
		"atomicLoad": func(p *parser, id string, args []expr) expr {
			return expr{code: p.pointer(args, 1).code, t: u32}
		},
	}
	statements = map[string]func(p *parser, id string, args []expr) string{
		"atomicAdd": change,
		"atomicOr":  change,
		"atomicStore": func(p *parser, id string, args []expr) string {
			x := p.pointer(args, 2)
			return fmt.Sprintf("%s = %s;", x.code, bare(p.to(args[1], u32).code))
		},
		"workgroupBarrier": func(p *parser, id string, args []expr) string {
			p.count(id, args, 0)
			return "memoryBarrierShared(); barrier();"
		},
	}
}

// arguments parses the arguments of a call, with the parentheses. A pointer to an atomic becomes
// the atomic.
func (p *parser) arguments() (args []expr) {
	p.expect("(")
	for !p.accept(")") {
		if p.accept("&") {
			x := p.primary()
			if !x.t.atomic || x.t.count != 0 {
				p.fail("&%s is not a pointer to an atomic", x.code)
			}
			args = append(args, x)
		} else if x := p.expression(); x.t.atomic {
			p.fail("%s is an atomic; use atomicLoad", x.code)
		} else {
			args = append(args, x)
		}
		if !p.is(")") {
			p.expect(",")
		}
	}
	return args
}

func (p *parser) count(id string, args []expr, n int) {
	if len(args) != n {
		p.fail("%s has %d arguments, want %d", id, len(args), n)
	}
}

// call parses a call that has a value. Functions with side effects must be statements, because GLSL
// does not define the order of evaluation in an expression.
func (p *parser) call(id string) expr {
	if statements[id] != nil {
		p.fail("%s is not supported in an expression", id)
	}
	args := p.arguments()
	if f := calls[id]; f != nil {
		return f(p, id, args)
	}
	f := p.funcs[id]
	if f == nil {
		p.fail("function %s is not defined before this call, or not supported", id)
	}
	p.count(id, args, len(f.params))
	var list []string
	for i, t := range f.params {
		list = append(list, bare(p.to(args[i], t).code))
	}
	return expr{code: fmt.Sprintf("%s(%s)", p.rename(id), strings.Join(list, ", ")), t: f.result}
}

// callStatement translates a call that is a statement.
func (p *parser) callStatement() string {
	id := p.word()
	if f := statements[id]; f != nil {
		return f(p, id, p.arguments())
	}
	x := p.call(id)
	if x.t != none {
		p.fail("the value of %s must be used", id)
	}
	return x.code + ";"
}

// construct parses the arguments of a vector or array constructor.
func (p *parser) construct(t typ) expr {
	args := p.arguments()
	if len(args) == 0 && t.count >= 0 {
		return expr{code: t.zero(), t: t}
	}
	n, name := t.lanes, t.scalar()
	if t.count != 0 {
		n, name = t.count, fmt.Sprintf("%s[%d]", t.scalar(), t.count)
	}
	p.count("it", args, n)
	var list []string
	for _, x := range args {
		list = append(list, bare(p.to(x, t.elem()).code))
	}
	return expr{code: fmt.Sprintf("%s(%s)", name, strings.Join(list, ", ")), t: t}
}

func convert(p *parser, id string, args []expr) expr {
	p.count(id, args, 1)
	t := typ{base: id}
	x := args[0]
	if x.t == literal {
		x = p.to(x, t)
	}
	if x.t != u32 && x.t != i32 && x.t != boolean {
		p.fail("%s is not supported for %v", id, x.t)
	}
	return expr{code: fmt.Sprintf("%s(%s)", t.scalar(), bare(x.code)), t: t}
}

// agree converts two expressions to one type.
func (p *parser) agree(x, y expr) (expr, expr) {
	if x.t == literal {
		return p.to(x, y.t), p.value(y)
	}
	return p.value(x), p.to(y, x.t)
}

// choose translates select, which returns its first value if the condition is false.
func choose(p *parser, id string, args []expr) expr {
	p.count(id, args, 3)
	x, y := p.agree(args[0], args[1])
	c := p.to(args[2], boolean)
	if x.t.count != 0 {
		p.fail("select of arrays is not supported")
	}
	return expr{code: fmt.Sprintf("(%s ? %s : %s)", c.code, y.code, x.code), t: x.t}
}

// same translates a function that has the same name and meaning in GLSL.
func same(p *parser, id string, args []expr) expr {
	p.count(id, args, 2)
	x, y := p.agree(args[0], args[1])
	if x.t != u32 && x.t != i32 {
		p.fail("%s is not supported for %v", id, x.t)
	}
	above := x.above && y.above || id == "max" && x.t == u32 && (x.above || y.above)
	return expr{code: fmt.Sprintf("%s(%s, %s)", id, bare(x.code), bare(y.code)), t: x.t, above: above}
}

func bitsOf(p *parser, args []expr, format string) expr {
	p.count("it", args, 1)
	return expr{code: fmt.Sprintf(format, bare(p.to(args[0], u32).code)), t: u32}
}

// pointer returns the first of n arguments, which must be an atomic.
func (p *parser) pointer(args []expr, n int) expr {
	p.count("it", args, n)
	if !args[0].t.atomic {
		p.fail("%s is not an atomic", args[0].code)
	}
	return args[0]
}

// change translates an atomic function whose value is not used.
func change(p *parser, id string, args []expr) string {
	x := p.pointer(args, 2)
	return fmt.Sprintf("%s(%s, %s);", id, x.code, bare(p.to(args[1], u32).code))
}

package wgsl

import (
	"fmt"
	"strings"
)

// calls are the functions of WGSL that are known. They get their arguments.
var calls map[string]func(p *parser, id string, args []expr) expr

// statements are those that stand alone.
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

// arguments reads them, with the parentheses. A pointer to an atomic is the atomic.
func (p *parser) arguments() (args []expr) {
	p.expect("(")
	for !p.accept(")") {
		if p.accept("&") {
			x := p.primary()
			if !x.t.atomic || x.t.count != 0 {
				p.fail("&%s is no pointer to an atomic", x.code)
			}
			args = append(args, x)
		} else if x := p.expression(); x.t.atomic {
			p.fail("%s is an atomic", x.code)
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
		p.fail("%s has %d arguments, not %d", id, len(args), n)
	}
}

// call reads a call that has a value. Those that change something stand alone, for GLSL does not say in which order the parts of an expression are done.
func (p *parser) call(id string) expr {
	if statements[id] != nil {
		p.fail("%s in an expression is not known", id)
	}
	args := p.arguments()
	if f := calls[id]; f != nil {
		return f(p, id, args)
	}
	f := p.funcs[id]
	if f == nil {
		p.fail("function %s is not known, or not yet", id)
	}
	p.count(id, args, len(f.params))
	var list []string
	for i, t := range f.params {
		list = append(list, bare(p.to(args[i], t).code))
	}
	return expr{code: fmt.Sprintf("%s(%s)", p.rename(id), strings.Join(list, ", ")), t: f.result}
}

// callStatement translates a call that stands alone.
func (p *parser) callStatement() string {
	id := p.word()
	if f := statements[id]; f != nil {
		return f(p, id, p.arguments())
	}
	x := p.call(id)
	if x.t != none {
		p.fail("the value of %s is not used", id)
	}
	return x.code + ";"
}

// construct reads the arguments of a vector or an array.
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
		p.fail("%s of %v", id, x.t)
	}
	return expr{code: fmt.Sprintf("%s(%s)", t.scalar(), bare(x.code)), t: t}
}

// agree makes two expressions of one type.
func (p *parser) agree(x, y expr) (expr, expr) {
	if x.t == literal {
		return p.to(x, y.t), p.value(y)
	}
	return p.value(x), p.to(y, x.t)
}

// choose is select: the first value if the condition does not hold.
func choose(p *parser, id string, args []expr) expr {
	p.count(id, args, 3)
	x, y := p.agree(args[0], args[1])
	c := p.to(args[2], boolean)
	if x.t.count != 0 {
		p.fail("select of arrays is not known")
	}
	return expr{code: fmt.Sprintf("(%s ? %s : %s)", c.code, y.code, x.code), t: x.t}
}

// same is a function with the same name and meaning.
func same(p *parser, id string, args []expr) expr {
	p.count(id, args, 2)
	x, y := p.agree(args[0], args[1])
	if x.t != u32 && x.t != i32 {
		p.fail("%s of %v", id, x.t)
	}
	above := x.above && y.above || id == "max" && x.t == u32 && (x.above || y.above)
	return expr{code: fmt.Sprintf("%s(%s, %s)", id, bare(x.code), bare(y.code)), t: x.t, above: above}
}

func bitsOf(p *parser, args []expr, format string) expr {
	p.count("it", args, 1)
	return expr{code: fmt.Sprintf(format, bare(p.to(args[0], u32).code)), t: u32}
}

// pointer is the first of n arguments, which is an atomic.
func (p *parser) pointer(args []expr, n int) expr {
	p.count("it", args, n)
	if !args[0].t.atomic {
		p.fail("%s is no atomic", args[0].code)
	}
	return args[0]
}

// change is an atomic function whose value is not used.
func change(p *parser, id string, args []expr) string {
	x := p.pointer(args, 2)
	return fmt.Sprintf("%s(%s, %s);", id, x.code, bare(p.to(args[1], u32).code))
}

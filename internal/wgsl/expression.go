package wgsl

import (
	"slices"
	"strconv"
	"strings"
)

// levels holds the binary operators by precedence, the lowest first. WGSL demands parentheses in
// some places where this parser follows the precedence of C.
var levels = [][]string{
	{"||"},
	{"&&"},
	{"|"},
	{"^"},
	{"&"},
	{"==", "!="},
	{"<", ">", "<=", ">="},
	{"<<", ">>"},
	{"+", "-"},
	{"*", "/", "%"},
}

func (p *parser) expression() *Expr {
	p.deeper()
	x := p.level(0)
	p.depth--
	return x
}

func (p *parser) level(i int) *Expr {
	if i == len(levels) {
		return p.unary()
	}
	x := p.level(i + 1)
	for p.tok.kind == symbol && slices.Contains(levels[i], p.tok.text) {
		op := p.next().text
		x = p.binary(op, x, p.level(i+1))
	}
	return x
}

// binary returns a binary operation.
func (p *parser) binary(op string, x, y *Expr) *Expr {
	var t Type
	switch op {
	case "||", "&&":
		x, y = p.to(x, boolean), p.to(y, boolean)
		t = boolean
	case "<<", ">>":
		x, y = p.value(x), p.to(y, u32)
		if t = x.Type; t != u32 && t != i32 {
			p.fail("a shift of %v is not supported", t)
		}
	default:
		switch {
		case x.Type == literal && y.Type == literal:
			p.fail("arithmetic of literals without a type is not supported: write 1u instead of 1")
		case x.Type == literal:
			x = p.to(x, y.Type)
		default:
			y = p.to(y, x.Type)
		}
		t = x.Type
		switch op {
		case "==", "!=", "<", ">", "<=", ">=":
			if t.Lanes > 0 || t == boolean && len(op) == 1 {
				p.fail("a comparison of %v is not supported", t)
			}
			t = boolean
		case "/", "%":
			if t != u32 || !y.positive {
				p.fail("the divisor may be 0: %s", (&writer{}).expr(y))
			}
		}
		if !x.Type.number() {
			p.fail("%s is not supported for %v", op, x.Type)
		}
	}
	return &Expr{Kind: Binary, Type: t, Line: p.line, Op: op, Args: []*Expr{x, y}}
}

func (p *parser) unary() *Expr {
	p.deeper()
	defer func() { p.depth-- }()
	var x *Expr
	op := p.tok.text
	switch {
	case p.accept("!"):
		x = p.to(p.unary(), boolean)
	case p.accept("~"):
		x = p.value(p.unary())
		if x.Type != u32 && x.Type != i32 {
			p.fail("~ is not supported for %v", x.Type)
		}
	case p.accept("-"):
		x = p.to(p.unary(), i32)
	default:
		return p.primary()
	}
	return &Expr{Kind: Unary, Type: x.Type, Line: p.line, Op: op, Args: []*Expr{x}}
}

// primary parses an operand: a number, a variable or a part of it, a call, or an expression in
// parentheses.
func (p *parser) primary() *Expr {
	var x *Expr
	switch {
	case p.accept("("):
		x = p.expression()
		p.expect(")")
		x.value = true
	case p.is("true"), p.is("false"):
		x = &Expr{Kind: Literal, Type: boolean, Line: p.line, Text: p.next().text}
		if x.Text == "true" {
			x.N = 1
		}
	case p.tok.kind == number:
		x = p.number(p.next().text)
	case p.is("vec3"), p.is("vec4"), p.is("array"):
		x = p.construct(p.readType())
	case p.tok.kind == word:
		id := p.next().text
		if p.is("(") {
			x = p.call(id)
			break
		}
		v := p.lookup(id)
		x = &Expr{Kind: Ref, Type: v.Type, Line: p.line, Var: v, positive: v.positive}
	default:
		p.fail("found %s, want a value", p.tok.text)
	}
	for {
		switch {
		case p.accept("["):
			i := p.expression()
			p.expect("]")
			x = p.index(x, i)
		case p.accept("."):
			x = p.member(x, p.word())
		default:
			return x
		}
	}
}

func (p *parser) index(x, i *Expr) *Expr {
	w := &writer{}
	if i.Type != u32 && i.Type != i32 && i.Type != literal ||
		x.Root() == nil || x.Type.Count == 0 && x.Type.Lanes == 0 {
		p.fail("%s[%s] is not supported", w.expr(x), w.expr(i))
	}
	if i.Kind == Literal && x.Type.Count > 0 && uint64(i.N) >= uint64(x.Type.Count) {
		p.fail("%s has %d elements", w.expr(x), x.Type.Count)
	}
	return &Expr{Kind: Index, Type: x.Type.Elem(), Line: p.line, Args: []*Expr{x, i}}
}

func (p *parser) member(x *Expr, c string) *Expr {
	if x.Type.Lanes == 0 || x.Type.Count != 0 || len(c) != 1 ||
		!strings.Contains("xyzw"[:x.Type.Lanes], c) {
		p.fail("%s.%s is not supported", (&writer{}).expr(x), c)
	}
	n := uint32(strings.Index("xyzw", c))
	return &Expr{Kind: Member, Type: u32, Line: p.line, N: n, Args: []*Expr{x}}
}

// number parses an integer, which is u32 if it ends with u.
func (p *parser) number(text string) *Expr {
	digits, unsigned := strings.CutSuffix(text, "u")
	n, err := strconv.ParseUint(digits, 0, 32)
	octal := len(digits) > 1 && digits[0] == '0' && digits[1] != 'x' && digits[1] != 'X'
	if err != nil || strings.Contains(digits, "_") || octal {
		p.fail("number %s is not supported", text)
	}
	x := &Expr{Kind: Literal, Type: u32, Line: p.line, Text: text, N: uint32(n), positive: n > 0}
	if unsigned {
		return x
	}
	x.Type = literal
	if n >= 1<<31 {
		p.fail("number %s fits no type", text)
	}
	return x
}

// value checks that a variable can have the value of an expression.
func (p *parser) value(x *Expr) *Expr {
	if x.Type == literal {
		p.fail("number %s has no type: write %su", x.Text, x.Text)
	}
	if x.Type == none || x.Type.Atomic || x.Type.Count == Unsized {
		p.fail("%s is not a value", (&writer{}).expr(x))
	}
	return x
}

// to converts an expression to a type.
func (p *parser) to(x *Expr, t Type) *Expr {
	if x.Type == literal && (t == u32 || t == i32) {
		y := *x
		x = &y
		if t == u32 {
			x.Text += "u"
		}
		x.Type = t
	}
	if x.Type != t || t == none {
		p.fail("%s is %v, want %v", (&writer{}).expr(x), x.Type, t)
	}
	return p.value(x)
}

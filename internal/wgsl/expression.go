package wgsl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// expr is a translated expression. Its code is safe beside any operator.
type expr struct {
	code     string
	t        typ
	root     *name  // variable that it is, or is a part of; nil for none
	constant bool   // a literal
	above    bool   // certainly above 0
	n        uint64 // value of a literal
	right    string // right side of a binary expression
}

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

func (p *parser) expression() expr {
	p.deeper()
	x := p.level(0)
	p.depth--
	return x
}

func (p *parser) level(i int) expr {
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

// binary translates a binary operation.
func (p *parser) binary(op string, x, y expr) expr {
	var t typ
	switch op {
	case "||", "&&":
		x, y = p.to(x, boolean), p.to(y, boolean)
		t = boolean
	case "<<", ">>":
		x, y = p.value(x), p.to(y, u32)
		if t = x.t; t != u32 && t != i32 {
			p.fail("a shift of %v is not supported", t)
		}
		if !y.constant || y.n > 31 {
			y.code = fmt.Sprintf("(%s & 31u)", y.code)
		}
	default:
		switch {
		case x.t == literal && y.t == literal:
			p.fail("arithmetic of literals without a type is not supported: write 1u instead of 1")
		case x.t == literal:
			x = p.to(x, y.t)
		default:
			y = p.to(y, x.t)
		}
		t = x.t
		switch op {
		case "==", "!=", "<", ">", "<=", ">=":
			if t.lanes > 0 || t == boolean && len(op) == 1 {
				p.fail("a comparison of %v is not supported", t)
			}
			t = boolean
		case "/", "%":
			if t != u32 || !y.above {
				p.fail("the divisor may be 0: %s", y.code)
			}
		}
		if !x.t.number() {
			p.fail("%s is not supported for %v", op, x.t)
		}
	}
	return expr{code: fmt.Sprintf("(%s %s %s)", x.code, op, y.code), t: t, right: y.code}
}

func (p *parser) unary() expr {
	p.deeper()
	defer func() { p.depth-- }()
	switch {
	case p.accept("!"):
		return expr{code: "!" + p.to(p.unary(), boolean).code, t: boolean}
	case p.accept("~"):
		x := p.value(p.unary())
		if x.t != u32 && x.t != i32 {
			p.fail("~ is not supported for %v", x.t)
		}
		return expr{code: "~" + x.code, t: x.t}
	case p.accept("-"):
		return expr{code: "(-" + p.to(p.unary(), i32).code + ")", t: i32}
	}
	return p.primary()
}

// primary parses an operand: a number, a variable or a part of it, a call, or an expression in
// parentheses.
func (p *parser) primary() expr {
	var x expr
	switch {
	case p.accept("("):
		x = p.expression()
		p.expect(")")
		x.root = nil
	case p.is("true"), p.is("false"):
		x = expr{code: p.next().text, t: boolean}
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
		n := p.lookup(id)
		x = expr{code: n.glsl, t: n.t, root: n, above: n.above}
	default:
		p.fail("found %s, want a value", p.tok.text)
	}
	for {
		switch {
		case p.accept("["):
			i := p.expression()
			p.expect("]")
			if i.t != u32 && i.t != i32 && i.t != literal ||
				x.root == nil || x.t.count == 0 && x.t.lanes == 0 {
				p.fail("%s[%s] is not supported", x.code, i.code)
			}
			if i.constant && x.t.count > 0 && i.n >= uint64(x.t.count) {
				p.fail("%s has %d elements", x.code, x.t.count)
			}
			x = expr{code: x.code + "[" + bare(i.code) + "]", t: x.t.elem(), root: x.root}
		case p.accept("."):
			c := p.word()
			if x.t.lanes == 0 || x.t.count != 0 || len(c) != 1 || !strings.Contains("xyzw"[:x.t.lanes], c) {
				p.fail("%s.%s is not supported", x.code, c)
			}
			x = expr{code: x.code + "." + c, t: u32, root: x.root}
		default:
			return x
		}
	}
}

// number parses an integer, which is u32 if it ends with u.
func (p *parser) number(text string) expr {
	digits, unsigned := strings.CutSuffix(text, "u")
	n, err := strconv.ParseUint(digits, 0, 32)
	octal := len(digits) > 1 && digits[0] == '0' && digits[1] != 'x' && digits[1] != 'X'
	if err != nil || strings.Contains(digits, "_") || octal {
		p.fail("number %s is not supported", text)
	}
	if x := (expr{code: text, t: u32, constant: true, above: n > 0, n: n}); unsigned {
		return x
	} else if x.t = literal; n < 1<<31 {
		return x
	}
	p.fail("number %s fits no type", text)
	return expr{}
}

// value parses an expression that a variable can have as its value.
func (p *parser) value(x expr) expr {
	if x.t == literal {
		p.fail("number %s has no type: write %su", x.code, x.code)
	}
	if x.t == none || x.t.atomic || x.t.count == unsized {
		p.fail("%s is not a value", x.code)
	}
	return x
}

// to converts an expression to a type.
func (p *parser) to(x expr, t typ) expr {
	if x.t == literal {
		switch t {
		case u32:
			x.code += "u"
			x.t = t
		case i32:
			x.t = t
		}
	}
	if x.t != t || t == none {
		p.fail("%s is %v, want %v", x.code, x.t, t)
	}
	return p.value(x)
}

// bare removes parentheses around a whole expression.
func bare(code string) string {
	depth := 0
	for i, c := range code {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 && i < len(code)-1 {
			return code
		}
	}
	return strings.TrimSuffix(strings.TrimPrefix(code, "("), ")")
}

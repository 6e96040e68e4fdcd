package wgsl

import "strings"

// maxDepth bounds the nesting of statements and expressions.
const maxDepth = 100

func (p *parser) deeper() {
	p.depth++
	if p.depth > maxDepth {
		p.fail("nested too deeply")
	}
}

// body parses statements up to the closing brace. The scope is the caller's, because GLSL has a
// function's parameters, or a loop's variable, in the scope of the body.
func (p *parser) body() (list []*Stmt) {
	p.deeper()
	p.expect("{")
	for !p.accept("}") {
		list = append(list, p.statement())
	}
	p.depth--
	return list
}

// block parses a body with a scope of its own.
func (p *parser) block() []*Stmt {
	p.openScope()
	defer p.leaveScope()
	return p.body()
}

func (p *parser) statement() *Stmt {
	s := &Stmt{Line: p.line}
	switch {
	case p.accept("if"):
		p.branch(s)
		return s
	case p.accept("for"):
		p.loop(s)
		return s
	case p.accept("return"):
		s.Kind = Return
		if !p.is(";") {
			s.X = p.to(p.expression(), p.result)
		} else if p.result != none {
			p.fail("return needs a value")
		}
	case p.accept("break"):
		s.Kind = Break
	case p.accept("continue"):
		s.Kind = Continue
	default:
		s = p.simple()
	}
	p.expect(";")
	return s
}

// branch parses an if behind its first word.
func (p *parser) branch(s *Stmt) {
	s.Kind = If
	s.X = p.to(p.expression(), boolean)
	s.Body = p.block()
	if !p.accept("else") {
		return
	}
	line := p.line
	if s.ElseIf = p.accept("if"); !s.ElseIf {
		s.Else = p.block()
		return
	}
	p.deeper()
	next := &Stmt{Line: line}
	p.branch(next)
	p.depth--
	s.Else = []*Stmt{next}
}

// loop parses a for behind its first word.
func (p *parser) loop(s *Stmt) {
	s.Kind = For
	p.openScope()
	p.expect("(")
	if !p.is(";") {
		if s.Init = p.simple(); s.Init.waits() {
			p.fail("the first part of a loop cannot be a barrier or workgroupUniformLoad")
		}
	}
	p.expect(";")
	if !p.is(";") {
		s.X = p.to(p.expression(), boolean)
	}
	p.expect(";")
	if !p.is(")") {
		if s.Step = p.simple(); s.Step.waits() {
			p.fail("the last part of a loop cannot be a barrier or workgroupUniformLoad")
		}
	}
	p.expect(")")
	s.Body = p.body()
	p.leaveScope()
}

// waits reports whether the statement is a barrier or has one.
func (s *Stmt) waits() bool { return s.Kind == Barrier || s.Kind == Uniform }

// simple parses a declaration, an assignment or a call, without its semicolon.
func (p *parser) simple() *Stmt {
	s := &Stmt{Kind: Declare, Line: p.line}
	switch {
	case p.accept("let"):
		id := p.word()
		if p.is(":") {
			p.fail("let with a type is not supported")
		}
		p.expect("=")
		if p.accept("workgroupUniformLoad") {
			return p.uniformLoad(id)
		}
		s.X = p.value(p.expression())
		s.Var = p.declare(id, s.X.Type, Let)
		s.Var.positive = s.X.positive
		return s
	case p.accept("var"):
		id := p.word()
		var t Type
		if p.accept(":") {
			if t = p.readType(); t.Count == Unsized || t.Atomic {
				p.fail("%s is not supported as a variable here", id)
			}
			if p.accept("=") {
				s.X = p.to(p.expression(), t)
			}
		} else {
			p.expect("=")
			s.X = p.value(p.expression())
			t = s.X.Type
		}
		s.Var = p.declare(id, t, Local)
		return s
	}
	if p.tok.kind == word && p.tokens[1].text == "(" {
		return p.callStatement()
	}
	return p.assignment()
}

// uniformLoad parses workgroupUniformLoad, which reads a workgroup variable between two barriers.
// It is supported only as the whole value of a let.
func (p *parser) uniformLoad(id string) *Stmt {
	line := p.line
	p.expect("(")
	p.expect("&")
	x := p.primary()
	p.expect(")")
	if v := x.Root(); v == nil || v.Space != Workgroup || !x.Type.number() {
		p.fail("%s is not a workgroup variable", (&writer{}).expr(x))
	}
	return &Stmt{Kind: Uniform, Line: line, Var: p.declare(id, x.Type, Let), Target: x}
}

func (p *parser) assignment() *Stmt {
	s := &Stmt{Kind: Assign, Line: p.line}
	x := p.primary()
	v := x.Root()
	if v == nil || v.fixed() || v.Space == Storage && !v.Write || x.Type.Atomic || x.Type.Count != 0 {
		p.fail("%s is not assignable", (&writer{}).expr(x))
	}
	s.Target = x
	switch s.Op = p.next().text; s.Op {
	case "=":
		s.X = p.to(p.expression(), x.Type)
	case "++", "--":
		s.Kind = Step
		if x.Type != u32 && x.Type != i32 {
			p.fail("%s is not a number", (&writer{}).expr(x))
		}
	case "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=":
		s.Op = strings.TrimSuffix(s.Op, "=")
		s.X = p.binary(s.Op, x, p.expression()).Args[1]
	default:
		p.fail("%s is not an assignment", s.Op)
	}
	return s
}

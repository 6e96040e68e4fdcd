package wgsl

import (
	"fmt"
	"strconv"
	"strings"
)

// maxDepth bounds the nesting of statements and expressions.
const maxDepth = 100

func (p *parser) deeper() {
	if p.depth++; p.depth > maxDepth {
		p.fail("nested too deeply")
	}
}

// global translates a declaration outside functions.
func (p *parser) global() {
	switch {
	case p.accept("const"):
		id := p.word()
		p.expect("=")
		x := p.value(p.expression())
		p.expect(";")
		if n := p.declare(id, x.t, true); x.constant {
			n.above = x.above
			p.printf("\nconst %s = %s;\n", x.t.variable(n.glsl), x.code)
			return
		}
		p.fail("a constant must be a number")
	case p.accept("var"):
		p.expect("<")
		space := p.word()
		p.expect(">")
		id, t := p.typed()
		p.expect(";")
		if t.count == unsized {
			p.fail("array %s has no length", id)
		}
		n := p.declare(id, t, false)
		switch {
		case space == "workgroup":
			n.shared = true
			p.shared = append(p.shared, n)
			p.printf("\nshared %s;\n", t.variable(n.glsl))
		case space == "private" && !t.atomic:
			p.printf("\n%s = %s;\n", t.variable(n.glsl), t.zero())
		default:
			p.fail("var<%s> %s is not supported", space, id)
		}
	case p.accept("fn"):
		p.function()
	case p.accept("@"):
		switch id := p.word(); id {
		case "group":
			p.storage()
		case "compute":
			p.entry()
		default:
			p.fail("@%s is not supported", id)
		}
	default:
		p.fail("%s is not supported here", p.tok.text)
	}
}

// typed parses a name and its type.
func (p *parser) typed() (id string, t typ) {
	id = p.word()
	p.expect(":")
	return id, p.readType()
}

// attribute parses the argument of an attribute.
func (p *parser) attribute() string {
	p.expect("(")
	text := p.next().text
	p.expect(")")
	return text
}

func (p *parser) integer(text string) int {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		p.fail("%s is not a number", text)
	}
	return int(n)
}

// storage translates a buffer.
func (p *parser) storage() {
	if p.attribute() != "0" {
		p.fail("the only supported group is 0")
	}
	p.expect("@")
	p.expect("binding")
	binding := p.integer(p.attribute())
	p.expect("var")
	p.expect("<")
	p.expect("storage")
	p.expect(",")
	access := p.word()
	p.expect(">")
	id, t := p.typed()
	p.expect(";")
	if t != (typ{base: "u32", count: unsized}) {
		p.fail("%s is not an array<u32>", id)
	}
	n, qualifier := p.declare(id, t, false), "restrict"
	switch access {
	case "read":
		n.value, qualifier = true, "readonly restrict"
	case "read_write":
	default:
		p.fail("access %s is not supported", access)
	}
	p.printf("\nlayout(std430, binding = %d) %s buffer Binding%d {\n    uint %s[];\n};\n",
		binding, qualifier, binding, n.glsl)
}

// builtins holds the supported parameters of main.
var builtins = map[string]struct {
	t    typ
	glsl string
}{
	"workgroup_id":           {typ{base: "u32", lanes: 3}, "gl_WorkGroupID"},
	"num_workgroups":         {typ{base: "u32", lanes: 3}, "gl_NumWorkGroups"},
	"local_invocation_index": {u32, "gl_LocalInvocationIndex"},
}

// entry translates main.
func (p *parser) entry() {
	p.expect("@")
	p.expect("workgroup_size")
	size := p.integer(p.attribute())
	p.expect("fn")
	p.expect("main")
	if p.main {
		p.fail("main is defined twice")
	}
	p.main, p.result = true, none
	p.printf("\nlayout(local_size_x = %d) in;\n\nvoid main() {\n", size)
	p.indent++
	p.open()
	p.expect("(")
	for !p.accept(")") {
		p.expect("@")
		p.expect("builtin")
		b, known := builtins[p.attribute()]
		id, t := p.typed()
		if !known || t != b.t {
			p.fail("parameter %s is not supported", id)
		}
		p.printf("%s = %s;\n", t.variable(p.declare(id, t, true).glsl), b.glsl)
		if !p.is(")") {
			p.expect(",")
		}
	}
	p.clear(size)
	p.body()
	p.leave()
	p.indent--
	p.printf("}\n")
}

// clear sets workgroup variables to 0.
func (p *parser) clear(size int) {
	if len(p.shared) == 0 {
		return
	}
	for _, n := range p.shared {
		switch {
		case n.t.count > 0:
			p.printf("for (uint i_ = gl_LocalInvocationIndex; i_ < %du; i_ += %du) {\n"+
				"        %s[i_] = %s;\n    }\n", n.t.count, size, n.glsl, n.t.elem().zero())
		default:
			p.printf("if (gl_LocalInvocationIndex == 0u) {\n        %s = %s;\n    }\n", n.glsl, n.t.zero())
		}
	}
	p.printf("memoryBarrierShared();\n")
	p.printf("barrier();\n")
}

// function translates a function.
func (p *parser) function() {
	id := p.word()
	f := &function{}
	glsl := p.rename(id)
	if p.scopes[0][id] != nil || p.funcs[id] != nil || calls[id] != nil {
		p.fail("%s is declared twice", id)
	}
	p.open()
	var params []string
	p.expect("(")
	for !p.accept(")") {
		id, t := p.typed()
		if t.count != 0 || t.atomic {
			p.fail("parameter %s must be a number or bool", id)
		}
		f.params = append(f.params, t)
		params = append(params, t.variable(p.declare(id, t, true).glsl))
		if !p.is(")") {
			p.expect(",")
		}
	}
	if p.accept("->") {
		f.result = p.readType()
	}
	p.result = f.result
	p.printf("\n%s(%s) {\n", f.result.variable(glsl), strings.Join(params, ", "))
	p.indent++
	p.body()
	p.indent--
	p.leave()
	p.printf("}\n")
	// The function is defined from here on, so it cannot call itself.
	p.funcs[id] = f
}

// body translates statements up to the closing brace. The scope is the caller's, because GLSL has a
// function's parameters, or a loop's variable, in the scope of the body.
func (p *parser) body() {
	p.deeper()
	p.expect("{")
	for !p.accept("}") {
		p.statement()
	}
	p.depth--
}

// block translates a body with a scope of its own.
func (p *parser) block() {
	p.open()
	p.indent++
	p.body()
	p.indent--
	p.leave()
}

func (p *parser) statement() {
	switch {
	case p.accept("if"):
		p.printf("")
		for {
			fmt.Fprintf(&p.out, "if (%s) {\n", p.condition())
			p.block()
			if !p.accept("else") {
				break
			}
			if p.accept("if") {
				p.printf("} else ")
				continue
			}
			p.printf("} else {\n")
			p.block()
			break
		}
		p.printf("}\n")
	case p.accept("for"):
		p.loop()
	case p.accept("return"):
		if p.accept(";") {
			if p.result != none {
				p.fail("return needs a value")
			}
			p.printf("return;\n")
			return
		}
		x := p.to(p.expression(), p.result)
		p.expect(";")
		p.printf("return %s;\n", bare(x.code))
	case p.is("break"), p.is("continue"):
		p.printf("%s;\n", p.next().text)
		p.expect(";")
	default:
		code := p.simple()
		p.expect(";")
		if code != "" {
			p.printf("%s\n", code)
		}
	}
}

// condition parses a condition, with or without parentheses.
func (p *parser) condition() string { return bare(p.to(p.expression(), boolean).code) }

func (p *parser) loop() {
	p.open()
	p.expect("(")
	first := ";"
	if !p.is(";") {
		if first = p.simple(); strings.Contains(first, "barrier") {
			p.fail("the first part of a loop cannot be workgroupUniformLoad")
		}
	}
	p.expect(";")
	cond := ""
	if !p.is(";") {
		cond = p.condition()
	}
	p.expect(";")
	step := ""
	if !p.is(")") {
		step = strings.TrimSuffix(p.simple(), ";")
	}
	p.expect(")")
	p.printf("for (%s %s; %s) {\n", first, cond, step)
	p.indent++
	p.body()
	p.indent--
	p.printf("}\n")
	p.leave()
}

// simple translates a declaration, an assignment or a call, with its semicolon.
func (p *parser) simple() string {
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
		x := p.value(p.expression())
		n := p.declare(id, x.t, true)
		n.above = x.above
		return fmt.Sprintf("%s = %s;", x.t.variable(n.glsl), bare(x.code))
	case p.accept("var"):
		id := p.word()
		var x expr
		if p.accept(":") {
			t := p.readType()
			if x = (expr{code: t.zero(), t: t}); t.count == unsized || t.atomic {
				p.fail("%s is not supported as a variable here", id)
			}
			if p.accept("=") {
				x = p.to(p.expression(), t)
			}
		} else {
			p.expect("=")
			x = p.value(p.expression())
		}
		return fmt.Sprintf("%s = %s;", x.t.variable(p.declare(id, x.t, false).glsl), bare(x.code))
	}
	if p.tok.kind == word && p.tokens[1].text == "(" {
		return p.callStatement()
	}
	return p.assignment()
}

// uniformLoad translates workgroupUniformLoad, which reads a workgroup variable between two
// barriers. It is supported only as the whole value of a let.
func (p *parser) uniformLoad(id string) string {
	p.expect("(")
	p.expect("&")
	x := p.primary()
	p.expect(")")
	if x.root == nil || !x.root.shared || !x.t.number() {
		p.fail("%s is not a workgroup variable", x.code)
	}
	const wait = "memoryBarrierShared(); barrier();"
	return fmt.Sprintf("%s %s = %s; %s", wait, x.t.variable(p.declare(id, x.t, true).glsl), x.code, wait)
}

func (p *parser) assignment() string {
	x := p.primary()
	if x.root == nil || x.root.fixed || x.root.value || x.t.atomic || x.t.count != 0 {
		p.fail("%s is not assignable", x.code)
	}
	switch op := p.next().text; op {
	case "=":
		return fmt.Sprintf("%s = %s;", x.code, bare(p.to(p.expression(), x.t).code))
	case "++", "--":
		if x.t != u32 && x.t != i32 {
			p.fail("%s is not a number", x.code)
		}
		return x.code + op + ";"
	case "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=":
		op = strings.TrimSuffix(op, "=")
		y := p.binary(op, x, p.expression())
		return fmt.Sprintf("%s %s= %s;", x.code, op, bare(y.right))
	default:
		p.fail("%s is not an assignment", op)
	}
	return ""
}

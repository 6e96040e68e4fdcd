package wgsl

import "strconv"

// addDecl adds a declaration to the module.
func (p *parser) addDecl(d Decl) { p.module.Decls = append(p.module.Decls, &d) }

// global parses a declaration outside functions.
func (p *parser) global() {
	switch {
	case p.accept("const"):
		id := p.word()
		p.expect("=")
		x := p.value(p.expression())
		p.expect(";")
		v := p.declare(id, x.Type, Const)
		if x.Kind != Literal || x.Type == boolean {
			p.fail("a constant must be a number")
		}
		v.Value, v.positive = x, x.positive
		p.addDecl(Decl{Var: v})
	case p.accept("var"):
		p.variable()
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

// variable parses a private or workgroup variable.
func (p *parser) variable() {
	p.expect("<")
	space := p.word()
	p.expect(">")
	id, t := p.typed()
	p.expect(";")
	if t.Count == Unsized {
		p.fail("array %s has no length", id)
	}
	v := p.declare(id, t, Workgroup)
	switch {
	case space == "workgroup":
	case space == "private" && !t.Atomic:
		v.Space = Private
	default:
		p.fail("var<%s> %s is not supported", space, id)
	}
	p.addDecl(Decl{Var: v})
}

// typed parses a name and its type.
func (p *parser) typed() (id string, t Type) {
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

// storage parses a buffer.
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
	if t != (Type{Base: "u32", Count: Unsized}) {
		p.fail("%s is not an array<u32>", id)
	}
	if access != "read" && access != "read_write" {
		p.fail("access %s is not supported", access)
	}
	v := p.declare(id, t, Storage)
	v.Binding, v.Write = binding, access == "read_write"
	p.addDecl(Decl{Var: v})
}

// builtins holds the supported parameters of main, and their names in GLSL.
var builtins = map[string]struct {
	t    Type
	glsl string
}{
	"workgroup_id":           {Type{Base: "u32", Lanes: 3}, "gl_WorkGroupID"},
	"num_workgroups":         {Type{Base: "u32", Lanes: 3}, "gl_NumWorkGroups"},
	"local_invocation_index": {u32, "gl_LocalInvocationIndex"},
}

// entry parses main.
func (p *parser) entry() {
	p.expect("@")
	p.expect("workgroup_size")
	size := p.integer(p.attribute())
	p.expect("fn")
	p.expect("main")
	if p.module.Main != nil {
		p.fail("main is defined twice")
	}
	f := &Func{Name: "main", Line: p.line}
	p.module.Main, p.module.Size, p.result = f, size, none
	p.openScope()
	p.expect("(")
	for !p.accept(")") {
		p.expect("@")
		p.expect("builtin")
		name := p.attribute()
		b, known := builtins[name]
		id, t := p.typed()
		if !known || t != b.t {
			p.fail("parameter %s is not supported", id)
		}
		v := p.declare(id, t, Param)
		v.Builtin = name
		f.Params = append(f.Params, v)
		if !p.is(")") {
			p.expect(",")
		}
	}
	f.Body = p.body()
	p.leaveScope()
	p.addDecl(Decl{Func: f})
}

// function parses a function.
func (p *parser) function() {
	f := &Func{Line: p.line, Name: p.word()}
	p.checkName(f.Name)
	if p.scopes[0][f.Name] != nil || p.funcs[f.Name] != nil || calls[f.Name] != nil {
		p.fail("%s is declared twice", f.Name)
	}
	p.openScope()
	p.expect("(")
	for !p.accept(")") {
		id, t := p.typed()
		if t.Count != 0 || t.Atomic {
			p.fail("parameter %s must be a number or bool", id)
		}
		f.Params = append(f.Params, p.declare(id, t, Param))
		if !p.is(")") {
			p.expect(",")
		}
	}
	if p.accept("->") {
		f.Result = p.readType()
	}
	p.result = f.Result
	f.Body = p.body()
	p.leaveScope()
	// The function is defined from here on, so it cannot call itself.
	p.funcs[f.Name] = f
	p.addDecl(Decl{Func: f})
}

// Package wgsl parses compute kernels in WGSL and translates them to GLSL 4.30. It supports the
// subset of WGSL that package kernels uses, and returns an error for everything else, so that the
// GLSL always means the same:
//
//   - types u32, i32, bool, vec3<u32>, vec4<u32>, arrays, atomic<u32> in workgroup memory, private
//     variables, storage buffers of u32;
//   - const, let, var, if, for, break, continue, return, assignments, and functions that are
//     defined before they are called;
//   - the built-in functions in calls.go.
//
// The parser is typed: WGSL infers the type of every variable, and GLSL wants it written. [Parse]
// returns a syntax tree whose expressions have types and lines, and [Module.GLSL] writes it. Where
// GLSL leaves the meaning open, the translation makes it explicit. Workgroup variables and
// variables without a value are 0. workgroupUniformLoad has its barriers. Shifts take the amount
// modulo 32. Division is an error unless the divisor is certainly above 0. Indices are not clamped
// as WebGPU does; kernels bound theirs.
//
// References: WebGPU Shading Language (W3C); The OpenGL Shading Language 4.30 (Khronos).
package wgsl

import (
	"fmt"
	"strings"
)

// Error is the reason why a text is not supported.
type Error struct {
	Line int // counted from 1
	Text string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

// Translate returns a kernel as GLSL. An error is an *[Error].
func Translate(src string) (string, error) {
	m, err := Parse(src)
	if err != nil {
		return "", err
	}
	return m.GLSL(), nil
}

// Parse returns the syntax tree of a kernel. An error is an *[Error].
func Parse(src string) (m *Module, err error) {
	p := &parser{line: 1, module: &Module{}, funcs: map[string]*Func{}}
	defer func() {
		if v := recover(); v != nil {
			e, ok := v.(*Error)
			if !ok {
				panic(v)
			}
			m, err = nil, e
		}
	}()
	p.lex(src)
	p.openScope()
	for p.tok.kind != end {
		p.global()
	}
	if p.module.Main == nil {
		p.fail("the kernel has no main")
	}
	return p.module, nil
}

// parser reads tokens and makes the tree.
type parser struct {
	tokens []token
	tok    token // the next token
	line   int   // its line

	module *Module
	scopes []map[string]*Var
	funcs  map[string]*Func
	result Type // of the current function
	depth  int
}

func (p *parser) fail(format string, args ...any) {
	panic(&Error{p.line, fmt.Sprintf(format, args...)})
}

// openScope and leaveScope begin and end a scope.
func (p *parser) openScope()  { p.scopes = append(p.scopes, map[string]*Var{}) }
func (p *parser) leaveScope() { p.scopes = p.scopes[:len(p.scopes)-1] }

// declare adds a variable to the innermost scope.
func (p *parser) declare(id string, t Type, space Space) *Var {
	scope := p.scopes[len(p.scopes)-1]
	if scope[id] != nil || p.funcs[id] != nil {
		p.fail("%s is declared twice in a scope", id)
	}
	p.checkName(id)
	v := &Var{Name: id, Type: t, Space: space, Line: p.line}
	scope[id] = v
	return v
}

func (p *parser) lookup(id string) *Var {
	for i := len(p.scopes) - 1; i >= 0; i-- {
		if v := p.scopes[i][id]; v != nil {
			return v
		}
	}
	p.fail("unknown name %s", id)
	return nil
}

// checkName refuses names that [rename] cannot make safe.
func (p *parser) checkName(id string) {
	if strings.HasSuffix(id, "_") || strings.Contains(id, "__") || strings.HasPrefix(id, "gl_") {
		p.fail("the name %s may have a meaning in GLSL", id)
	}
}

// Package wgsl translates compute kernels from WGSL to GLSL 4.30. It supports the subset of WGSL
// that package kernels uses, and returns an error for everything else, so that the GLSL always
// means the same:
//
//   - types u32, i32, bool, vec3<u32>, vec4<u32>, arrays, atomic<u32> in workgroup memory, private
//     variables, storage buffers of u32;
//   - const, let, var, if, for, break, continue, return, assignments, and functions that are
//     defined before they are called;
//   - the built-in functions in calls.go.
//
// The translator is typed: WGSL infers the type of every variable, and GLSL wants it written. Where
// GLSL leaves the meaning open, the translation makes it explicit. Workgroup variables and
// variables without a value are 0. workgroupUniformLoad has its barriers. Shifts take the amount
// modulo 32. Division is an error unless the divisor is certainly above 0. Indices are not clamped
// as WebGPU does; kernels bound theirs.
//
// It is one pass: the parser reads tokens and writes GLSL.
//
// References: WebGPU Shading Language (W3C); The OpenGL Shading Language 4.30 (Khronos).
package wgsl

import (
	"fmt"
	"strings"
)

// Error is the reason why a text cannot be translated.
type Error struct {
	Line int // counted from 1
	Text string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

// Translate returns a kernel as GLSL. An error is an *[Error].
func Translate(src string) (glsl string, err error) {
	p := &parser{line: 1, funcs: map[string]*function{}}
	defer func() {
		if v := recover(); v != nil {
			e, ok := v.(*Error)
			if !ok {
				panic(v)
			}
			glsl, err = "", e
		}
	}()
	p.lex(src)
	p.open()
	p.printf("#version 430 core\n// Generated from WGSL by internal/wgsl. DO NOT EDIT.\n")
	for p.tok.kind != end {
		p.global()
	}
	if !p.main {
		p.fail("the kernel has no main")
	}
	return p.out.String(), nil
}

// parser reads tokens and writes GLSL as it goes.
type parser struct {
	tokens []token
	tok    token // the next token
	line   int   // its line

	out    strings.Builder
	indent int

	scopes []map[string]*name
	funcs  map[string]*function
	shared []*name // workgroup variables
	result typ     // of the current function
	main   bool
	depth  int
}

// function is a function of the kernel.
type function struct {
	params []typ
	result typ
}

// name is a variable or constant.
type name struct {
	glsl   string
	t      typ
	fixed  bool // not assignable
	value  bool // read-only storage
	shared bool // workgroup memory
	above  bool // a number above 0
}

func (p *parser) fail(format string, args ...any) {
	panic(&Error{p.line, fmt.Sprintf(format, args...)})
}

func (p *parser) printf(format string, args ...any) {
	fmt.Fprintf(&p.out, "%s%s", strings.Repeat("    ", p.indent), fmt.Sprintf(format, args...))
}

// open and leave begin and end a scope.
func (p *parser) open()  { p.scopes = append(p.scopes, map[string]*name{}) }
func (p *parser) leave() { p.scopes = p.scopes[:len(p.scopes)-1] }

// declare adds a variable to the innermost scope.
func (p *parser) declare(id string, t typ, fixed bool) *name {
	scope := p.scopes[len(p.scopes)-1]
	if scope[id] != nil || p.funcs[id] != nil {
		p.fail("%s is declared twice in a scope", id)
	}
	n := &name{glsl: p.rename(id), t: t, fixed: fixed}
	scope[id] = n
	return n
}

func (p *parser) lookup(id string) *name {
	for i := len(p.scopes) - 1; i >= 0; i-- {
		if n := p.scopes[i][id]; n != nil {
			return n
		}
	}
	p.fail("unknown name %s", id)
	return nil
}

// rename returns an identifier that GLSL accepts.
func (p *parser) rename(id string) string {
	if strings.HasSuffix(id, "_") || strings.Contains(id, "__") || strings.HasPrefix(id, "gl_") {
		p.fail("the name %s may have a meaning in GLSL", id)
	}
	if reserved[id] {
		return id + "_"
	}
	return id
}

// reserved holds keywords and reserved words of GLSL 4.30, and its functions that are likely names.
var reserved = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`
attribute const uniform varying buffer shared coherent volatile restrict readonly writeonly
atomic_uint layout centroid flat smooth noperspective patch sample break continue do for while
switch case default if else subroutine in out inout float double int void bool true false
invariant discard return lowp mediump highp precision struct uint common partition active asm
class union enum typedef template this packed resource goto inline noinline public static extern
external interface long short half fixed unsigned superp input output filter image sizeof cast
namespace using precise main abs sign floor trunc round ceil fract mod modf min max clamp mix
step smoothstep length distance dot cross normalize any all not barrier exp log pow sqrt any all
texture noise determinant inverse transpose`) {
		m[w] = true
	}
	return m
}()

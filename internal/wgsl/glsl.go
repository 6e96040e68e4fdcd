package wgsl

import (
	"fmt"
	"strings"
)

// writer writes a module as GLSL.
type writer struct {
	out    strings.Builder
	indent int
	shared []*Var // workgroup variables
}

func (w *writer) printf(format string, args ...any) {
	fmt.Fprintf(&w.out, "%s%s", strings.Repeat("    ", w.indent), fmt.Sprintf(format, args...))
}

// GLSL returns the module as GLSL 4.30.
func (m *Module) GLSL() string {
	w := &writer{}
	w.printf("#version 430 core\n// Generated from WGSL by internal/wgsl. DO NOT EDIT.\n")
	for _, d := range m.Decls {
		switch {
		case d.Var != nil:
			w.global(d.Var)
		case d.Func == m.Main:
			w.entry(m)
		default:
			w.function(d.Func)
		}
	}
	return w.out.String()
}

func (w *writer) global(v *Var) {
	id := rename(v.Name)
	switch v.Space {
	case Const:
		w.printf("\nconst %s = %s;\n", v.Type.variable(id), w.expr(v.Value))
	case Workgroup:
		w.shared = append(w.shared, v)
		w.printf("\nshared %s;\n", v.Type.variable(id))
	case Private:
		w.printf("\n%s = %s;\n", v.Type.variable(id), v.Type.zero())
	case Storage:
		qualifier := "readonly restrict"
		if v.Write {
			qualifier = "restrict"
		}
		w.printf("\nlayout(std430, binding = %d) %s buffer Binding%d {\n    uint %s[];\n};\n",
			v.Binding, qualifier, v.Binding, id)
	}
}

// entry writes main.
func (w *writer) entry(m *Module) {
	w.printf("\nlayout(local_size_x = %d) in;\n\nvoid main() {\n", m.Size)
	w.indent++
	for _, v := range m.Main.Params {
		w.printf("%s = %s;\n", v.Type.variable(rename(v.Name)), builtins[v.Builtin].glsl)
	}
	w.clear(m.Size)
	w.list(m.Main.Body)
	w.indent--
	w.printf("}\n")
}

// clear sets workgroup variables to 0.
func (w *writer) clear(size int) {
	if len(w.shared) == 0 {
		return
	}
	for _, v := range w.shared {
		id := rename(v.Name)
		switch {
		case v.Type.Count > 0:
			w.printf("for (uint i_ = gl_LocalInvocationIndex; i_ < %du; i_ += %du) {\n"+
				"        %s[i_] = %s;\n    }\n", v.Type.Count, size, id, v.Type.Elem().zero())
		default:
			w.printf("if (gl_LocalInvocationIndex == 0u) {\n        %s = %s;\n    }\n", id, v.Type.zero())
		}
	}
	w.printf("memoryBarrierShared();\n")
	w.printf("barrier();\n")
}

func (w *writer) function(f *Func) {
	var params []string
	for _, v := range f.Params {
		params = append(params, v.Type.variable(rename(v.Name)))
	}
	w.printf("\n%s(%s) {\n", f.Result.variable(rename(f.Name)), strings.Join(params, ", "))
	w.block(f.Body)
	w.printf("}\n")
}

func (w *writer) block(list []*Stmt) {
	w.indent++
	w.list(list)
	w.indent--
}

func (w *writer) list(list []*Stmt) {
	for _, s := range list {
		w.statement(s)
	}
}

func (w *writer) statement(s *Stmt) {
	switch s.Kind {
	case If:
		w.printf("")
		for {
			fmt.Fprintf(&w.out, "if (%s) {\n", bare(w.expr(s.X)))
			w.block(s.Body)
			if !s.ElseIf {
				break
			}
			w.printf("} else ")
			s = s.Else[0]
		}
		if s.Else != nil {
			w.printf("} else {\n")
			w.block(s.Else)
		}
		w.printf("}\n")
	case For:
		first, cond, step := ";", "", ""
		if s.Init != nil {
			first = w.simple(s.Init)
		}
		if s.X != nil {
			cond = bare(w.expr(s.X))
		}
		if s.Step != nil {
			step = strings.TrimSuffix(w.simple(s.Step), ";")
		}
		w.printf("for (%s %s; %s) {\n", first, cond, step)
		w.block(s.Body)
		w.printf("}\n")
	default:
		w.printf("%s\n", w.simple(s))
	}
}

// wait is a barrier.
const wait = "memoryBarrierShared(); barrier();"

// simple returns a statement without a body, with its semicolon.
func (w *writer) simple(s *Stmt) string {
	switch s.Kind {
	case Return:
		if s.X == nil {
			return "return;"
		}
		return fmt.Sprintf("return %s;", bare(w.expr(s.X)))
	case Break:
		return "break;"
	case Continue:
		return "continue;"
	case Declare:
		value := s.Var.Type.zero()
		if s.X != nil {
			value = w.expr(s.X)
		}
		return fmt.Sprintf("%s = %s;", s.Var.Type.variable(rename(s.Var.Name)), bare(value))
	case Assign:
		y := w.expr(s.X)
		if s.Op == "=" {
			return fmt.Sprintf("%s = %s;", w.expr(s.Target), bare(y))
		}
		return fmt.Sprintf("%s %s= %s;", w.expr(s.Target), s.Op, bare(amount(s.Op, s.X, y)))
	case Step:
		return w.expr(s.Target) + s.Op + ";"
	case CallStmt:
		return w.expr(s.X) + ";"
	case Atomic:
		x, y := w.expr(s.Target), bare(w.expr(s.X))
		if s.Op == "atomicStore" {
			return fmt.Sprintf("%s = %s;", x, y)
		}
		return fmt.Sprintf("%s(%s, %s);", s.Op, x, y)
	case Barrier:
		return wait
	default: // Uniform
		id := s.Var.Type.variable(rename(s.Var.Name))
		return fmt.Sprintf("%s %s = %s; %s", wait, id, w.expr(s.Target), wait)
	}
}

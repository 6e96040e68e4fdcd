package wgsl

import (
	"fmt"
	"strconv"
	"strings"
)

// expr returns an expression in GLSL. It is safe beside any operator.
func (w *writer) expr(x *Expr) string {
	switch x.Kind {
	case Literal:
		return x.Text
	case Ref:
		return rename(x.Var.Name)
	case Index:
		return w.expr(x.Args[0]) + "[" + bare(w.expr(x.Args[1])) + "]"
	case Member:
		return w.expr(x.Args[0]) + "." + "xyzw"[x.N:x.N+1]
	case Unary:
		y := x.Op + w.expr(x.Args[0])
		if x.Op == "-" {
			y = "(" + y + ")"
		}
		return y
	case Binary:
		y := amount(x.Op, x.Args[1], w.expr(x.Args[1]))
		return fmt.Sprintf("(%s %s %s)", w.expr(x.Args[0]), x.Op, y)
	case Call:
		return fmt.Sprintf("%s(%s)", rename(x.Func.Name), w.exprs(x.Args))
	case Builtin:
		return w.builtin(x)
	default: // Construct
		if len(x.Args) == 0 {
			return x.Type.zero()
		}
		name := x.Type.scalar()
		if x.Type.Count > 0 {
			name = fmt.Sprintf("%s[%d]", name, x.Type.Count)
		}
		return fmt.Sprintf("%s(%s)", name, w.exprs(x.Args))
	}
}

// exprs returns arguments of a call.
func (w *writer) exprs(list []*Expr) string {
	var code []string
	for _, x := range list {
		code = append(code, bare(w.expr(x)))
	}
	return strings.Join(code, ", ")
}

// builtin returns the call of a function of WGSL.
func (w *writer) builtin(x *Expr) string {
	args := w.exprs(x.Args)
	switch x.Op {
	case "select":
		no, yes, c := w.expr(x.Args[0]), w.expr(x.Args[1]), w.expr(x.Args[2])
		return fmt.Sprintf("(%s ? %s : %s)", c, yes, no)
	case "countOneBits":
		return fmt.Sprintf("uint(bitCount(%s))", args)
	case "firstLeadingBit":
		return fmt.Sprintf("uint(findMSB(%s))", args) // both all ones for 0
	case "countTrailingZeros":
		return fmt.Sprintf("min(uint(findLSB(%s)), 32u)", args) // findLSB is -1 for 0
	case "atomicLoad":
		return w.expr(x.Args[0])
	case "u32", "i32":
		return fmt.Sprintf("%s(%s)", x.Type.scalar(), args)
	}
	return fmt.Sprintf("%s(%s)", x.Op, args) // min, max
}

// amount returns y with code as the right side of an operator. GLSL leaves shifts by more than 31
// open.
func amount(op string, y *Expr, code string) string {
	if op != "<<" && op != ">>" || y.Kind == Literal && y.N <= 31 {
		return code
	}
	return fmt.Sprintf("(%s & 31u)", code)
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

// scalar returns the name of the type in GLSL, without the length of an array.
func (t Type) scalar() string {
	switch {
	case t.Lanes > 0:
		return "uvec" + strconv.Itoa(t.Lanes)
	case t.Base == "u32":
		return "uint"
	case t.Base == "i32":
		return "int"
	case t.Base == "bool":
		return "bool"
	}
	return "void"
}

// variable returns the declaration of a variable, without a value and semicolon.
func (t Type) variable(id string) string {
	if t.Count > 0 {
		return fmt.Sprintf("%s %s[%d]", t.scalar(), id, t.Count)
	}
	return t.scalar() + " " + id
}

// zero returns the value of a variable that is declared without one.
func (t Type) zero() string {
	switch {
	case t.Count > 0:
		list := strings.Repeat(t.Elem().zero()+", ", t.Count)
		return fmt.Sprintf("%s[%d](%s)", t.scalar(), t.Count, strings.TrimSuffix(list, ", "))
	case t.Lanes > 0:
		return t.scalar() + "(0u)"
	case t.Base == "u32":
		return "0u"
	case t.Base == "i32":
		return "0"
	}
	return "false"
}

// rename returns an identifier that GLSL accepts.
func rename(id string) string {
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

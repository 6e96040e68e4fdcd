package wgsl

import (
	"fmt"
	"strconv"
	"strings"
)

// typ is a type. Equal values are the same type.
type typ struct {
	base   string // "u32", "i32", "bool"; "literal" for a number that may be u32 or i32; "" for nothing
	lanes  int    // of a vector; 0 for a scalar
	count  int    // of an array; 0 for none, unsized for a storage buffer
	atomic bool
}

const unsized = -1

var (
	none    = typ{}
	u32     = typ{base: "u32"}
	i32     = typ{base: "i32"}
	boolean = typ{base: "bool"}
	literal = typ{base: "literal"}
)

func (t typ) String() string {
	switch {
	case t == none:
		return "nothing"
	case t.count != 0:
		return "an array"
	case t.atomic:
		return "an atomic"
	case t.lanes > 0:
		return fmt.Sprintf("vec%d", t.lanes)
	}
	return t.base
}

// elem returns the type of the elements of an array or vector.
func (t typ) elem() typ {
	if t.count != 0 {
		t.count = 0
	} else {
		t.lanes = 0
	}
	return t
}

// number reports whether t is u32, i32 or a vector.
func (t typ) number() bool { return t.count == 0 && !t.atomic && (t.base == "u32" || t.base == "i32") }

// scalar returns the name of the type in GLSL, without the length of an array.
func (t typ) scalar() string {
	switch {
	case t.lanes > 0:
		return "uvec" + strconv.Itoa(t.lanes)
	case t.base == "u32":
		return "uint"
	case t.base == "i32":
		return "int"
	case t.base == "bool":
		return "bool"
	}
	return "void"
}

// variable returns the declaration of a variable, without a value and semicolon.
func (t typ) variable(id string) string {
	if t.count > 0 {
		return fmt.Sprintf("%s %s[%d]", t.scalar(), id, t.count)
	}
	return t.scalar() + " " + id
}

// zero returns the value of a variable that is declared without one.
func (t typ) zero() string {
	switch {
	case t.count > 0:
		list := strings.Repeat(t.elem().zero()+", ", t.count)
		return fmt.Sprintf("%s[%d](%s)", t.scalar(), t.count, strings.TrimSuffix(list, ", "))
	case t.lanes > 0:
		return t.scalar() + "(0u)"
	case t.base == "u32":
		return "0u"
	case t.base == "i32":
		return "0"
	}
	return "false"
}

// readType parses a type.
func (p *parser) readType() typ {
	switch id := p.word(); id {
	case "u32", "i32", "bool":
		return typ{base: id}
	case "vec3", "vec4":
		p.expect("<")
		p.expect("u32")
		p.closing()
		return typ{base: "u32", lanes: int(id[3] - '0')}
	case "atomic":
		p.expect("<")
		p.expect("u32")
		p.closing()
		return typ{base: "u32", atomic: true}
	case "array":
		p.expect("<")
		t := p.readType()
		if t.count != 0 {
			p.fail("arrays of arrays are not supported")
		}
		if t.count = unsized; p.accept(",") {
			n, err := strconv.ParseUint(strings.TrimSuffix(p.next().text, "u"), 0, 16)
			if err != nil || n == 0 {
				p.fail("this length of an array is not supported")
			}
			t.count = int(n)
		}
		p.closing()
		return t
	default:
		p.fail("type %s is not supported", id)
	}
	return none
}

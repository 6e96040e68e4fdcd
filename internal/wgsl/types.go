package wgsl

import (
	"fmt"
	"strconv"
	"strings"
)

// Type is a type. Equal values are the same type.
type Type struct {
	Base   string // "u32", "i32", "bool"; "literal" for a number that may be u32 or i32; "" for nothing
	Lanes  int    // of a vector; 0 for a scalar
	Count  int    // of an array; 0 for none, Unsized for a storage buffer
	Atomic bool
}

// Unsized is the Count of a storage buffer.
const Unsized = -1

var (
	none    = Type{}
	u32     = Type{Base: "u32"}
	i32     = Type{Base: "i32"}
	boolean = Type{Base: "bool"}
	literal = Type{Base: "literal"}
)

func (t Type) String() string {
	switch {
	case t == none:
		return "nothing"
	case t.Count != 0:
		return "an array"
	case t.Atomic:
		return "an atomic"
	case t.Lanes > 0:
		return fmt.Sprintf("vec%d", t.Lanes)
	}
	return t.Base
}

// Elem returns the type of the elements of an array or vector.
func (t Type) Elem() Type {
	if t.Count != 0 {
		t.Count = 0
	} else {
		t.Lanes = 0
	}
	return t
}

// number reports whether t is u32, i32 or a vector.
func (t Type) number() bool { return t.Count == 0 && !t.Atomic && (t.Base == "u32" || t.Base == "i32") }

// readType parses a type.
func (p *parser) readType() Type {
	switch id := p.word(); id {
	case "u32", "i32", "bool":
		return Type{Base: id}
	case "vec3", "vec4":
		p.expect("<")
		p.expect("u32")
		p.closing()
		return Type{Base: "u32", Lanes: int(id[3] - '0')}
	case "atomic":
		p.expect("<")
		p.expect("u32")
		p.closing()
		return Type{Base: "u32", Atomic: true}
	case "array":
		p.expect("<")
		t := p.readType()
		if t.Count != 0 {
			p.fail("arrays of arrays are not supported")
		}
		t.Count = Unsized
		if p.accept(",") {
			n, err := strconv.ParseUint(strings.TrimSuffix(p.next().text, "u"), 0, 16)
			if err != nil || n == 0 {
				p.fail("this length of an array is not supported")
			}
			t.Count = int(n)
		}
		p.closing()
		return t
	default:
		p.fail("type %s is not supported", id)
	}
	return none
}

package interp

import "github.com/gopz/compress/internal/wgsl"

// place is where a variable, or a part of it, is.
type place struct {
	kind  placeKind
	at    int // register, word of workgroup memory, or binding; of the first element of an array
	words int // of the value
	index int // register; of elements

	name          string
	count, stride int // elements and their size in words
}

type placeKind uint8

const (
	inRegisters placeKind = iota
	inLocal               // an array in registers, at an index
	inShared              // workgroup memory
	inBuffer
)

// element returns component i of the elements.
func (p *place) element(i int) array {
	return array{p.name, uint32(p.at + i), uint32(p.count), uint32(p.stride)}
}

// place compiles the index of a part of a variable.
func (c *compiler) place(x *wgsl.Expr) place {
	switch x.Kind {
	case wgsl.Ref:
		v := x.Var
		p := place{at: c.vars[v], words: words(v.Type), name: v.Name, count: 1}
		switch v.Space {
		case wgsl.Workgroup:
			p.kind, p.stride, p.index = inShared, p.words, c.constant(0)
		case wgsl.Storage:
			p.kind = inBuffer
		}
		return p
	case wgsl.Member:
		p := c.place(x.Args[0])
		p.at, p.words = p.at+int(x.N), 1
		return p
	case wgsl.Index:
		return c.element(x)
	}
	c.fail("a part of a value is not supported here")
	return place{}
}

// element compiles an index of an array or a vector.
func (c *compiler) element(x *wgsl.Expr) place {
	t, i := x.Args[0].Type, x.Args[1]
	p := c.place(x.Args[0])
	if p.kind == inLocal || t.Count == 0 && p.kind != inRegisters {
		c.fail("this index is not supported")
	}
	size := words(x.Type)
	p.words, p.stride = size, size
	p.count = t.Count
	if t.Count == 0 {
		p.count = t.Lanes
	}
	if p.kind == inRegisters {
		if i.Kind == wgsl.Literal {
			p.at += int(i.N) * size
			return p
		}
		p.kind = inLocal
	}
	p.index = c.index(i)
	return p
}

// index compiles an index. Sums, differences and products that make it must not wrap.
func (c *compiler) index(x *wgsl.Expr) int {
	if x.Kind != wgsl.Binary || x.Type.Base != "u32" {
		return c.eval(x, -1)
	}
	o, ok := map[string]op{"+": opAddIndex, "-": opSubIndex, "*": opMulIndex}[x.Op]
	if !ok {
		return c.eval(x, -1)
	}
	a := c.index(x.Args[0])
	if calls(x.Args[1]) {
		a = c.copy(a, 1)
	}
	b := c.index(x.Args[1])
	d := c.alloc(1)
	c.at = x.Line
	c.emit(o, d, a, b)
	return d
}

// load compiles a read to register d.
func (c *compiler) load(p place, d int) {
	switch p.kind {
	case inRegisters:
		c.move(d, p.at, p.words)
	case inBuffer:
		c.emit(opLoadBuffer, d, p.index, p.at)
	default:
		o := opLoadLocal
		if p.kind == inShared {
			o = opLoadShared
		}
		for i := range p.words {
			c.emit(o, d+i, p.index, c.array(p.element(i)))
		}
	}
}

// store compiles a write of register y.
func (c *compiler) store(p place, y int) {
	switch p.kind {
	case inRegisters:
		c.move(p.at, y, p.words)
	case inBuffer:
		c.emit(opStoreBuffer, y, p.index, p.at)
	default:
		o := opStoreLocal
		if p.kind == inShared {
			o = opStoreShared
		}
		for i := range p.words {
			c.emit(o, y+i, p.index, c.array(p.element(i)))
		}
	}
}

// move compiles the copy of n registers.
func (c *compiler) move(d, a, n int) {
	if d != a {
		for i := range n {
			c.emit(opMove, d+i, a+i, 0)
		}
	}
}

// copy compiles a copy of n registers to new ones.
func (c *compiler) copy(a, n int) int {
	d := c.alloc(n)
	c.move(d, a, n)
	return d
}

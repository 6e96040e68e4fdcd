package interp

import (
	"fmt"
	"strings"

	"github.com/gopz/compress/internal/wgsl"
)

// program is a compiled kernel. Registers hold 32 bits; a bool is 0 or 1.
//
// Functions of WGSL do not recurse, so every variable has a register of its own, and a call needs
// no stack: it copies arguments to the registers of the parameters and saves where to return to.
type program struct {
	name      string
	lines     []string // of the source with its parts
	size      int      // invocations of a workgroup
	code      []instr
	line      []int // of the source, by instruction
	main      int   // first instruction of main
	consts    []uint32
	private   [2]int // registers that are 0 at the start
	builtins  map[string]int
	registers int
	arrays    []array
	shared    int // words of workgroup memory
	buffers   []bufferVar
}

// array says where the elements of an array, or one component of them, are.
type array struct {
	name                string
	base, count, stride uint32
}

// bufferVar is a storage buffer of a kernel.
type bufferVar struct {
	name  string
	write bool
}

// maxConsts bounds the constants of a kernel. They are the first registers.
const maxConsts = 256

// compiler turns a syntax tree into a program.
type compiler struct {
	p       *program
	consts  map[uint32]int
	vars    map[*wgsl.Var]int // register, word of workgroup memory, or binding
	funcs   map[*wgsl.Func]*function
	arrays  map[array]int
	current *function
	next    int // free register
	high    int // most registers so far
	at      int // line
	loops   []*loop
}

// function is where a function begins, and the registers it uses for calls.
type function struct {
	start, params, result, back int
}

// loop collects jumps out of a loop and to its last part.
type loop struct{ breaks, continues []int }

// unsupported is what compile panics with for code that it does not support.
type unsupported struct {
	line int
	text string
}

func (c *compiler) fail(format string, args ...any) {
	panic(unsupported{c.at, fmt.Sprintf(format, args...)})
}

// compile compiles a kernel.
func compile(name, src string) (p *program, err error) {
	m, err := wgsl.Parse(src)
	if err != nil {
		return nil, fmt.Errorf("interp: %s: %w", name, err)
	}
	defer func() {
		if v := recover(); v != nil {
			u, ok := v.(unsupported)
			if !ok {
				panic(v)
			}
			p, err = nil, fmt.Errorf("interp: %s: line %d: %s", name, u.line, u.text)
		}
	}()
	p = &program{
		name: name, lines: strings.Split(src, "\n"), size: m.Size, builtins: map[string]int{},
	}
	c := &compiler{
		p: p, consts: map[uint32]int{}, vars: map[*wgsl.Var]int{},
		funcs: map[*wgsl.Func]*function{}, arrays: map[array]int{}, next: maxConsts,
	}
	p.private[0] = c.next
	for _, d := range m.Decls {
		if d.Var != nil {
			c.global(d.Var)
		}
	}
	p.private[1] = c.next
	for _, d := range m.Decls {
		if d.Func != nil {
			c.function(d.Func, d.Func == m.Main)
		}
	}
	if p.registers = c.high; p.registers > 1<<16 || len(p.code) > 1<<16 {
		c.fail("the kernel is too large")
	}
	return p, nil
}

// words returns the size of a value.
func words(t wgsl.Type) int { return max(t.Count, 1) * max(t.Lanes, 1) }

func (c *compiler) global(v *wgsl.Var) {
	c.at = v.Line
	switch v.Space {
	case wgsl.Private:
		c.vars[v] = c.alloc(words(v.Type))
	case wgsl.Workgroup:
		c.vars[v] = c.p.shared
		c.p.shared += words(v.Type)
	case wgsl.Storage:
		for len(c.p.buffers) <= v.Binding {
			c.p.buffers = append(c.p.buffers, bufferVar{})
		}
		c.p.buffers[v.Binding] = bufferVar{v.Name, v.Write}
		c.vars[v] = v.Binding
	}
}

// alloc returns n new registers.
func (c *compiler) alloc(n int) int {
	r := c.next
	c.next += n
	c.high = max(c.high, c.next)
	return r
}

// constant returns the register of a constant.
func (c *compiler) constant(n uint32) int {
	r, ok := c.consts[n]
	if !ok {
		if r = len(c.p.consts); r == maxConsts {
			c.fail("more than %d constants are not supported", maxConsts)
		}
		c.consts[n] = r
		c.p.consts = append(c.p.consts, n)
	}
	return r
}

// array returns the number of an array.
func (c *compiler) array(a array) int {
	n, ok := c.arrays[a]
	if !ok {
		n = len(c.p.arrays)
		c.arrays[a] = n
		c.p.arrays = append(c.p.arrays, a)
	}
	return n
}

// emit adds an instruction and returns its number.
func (c *compiler) emit(o op, d, a, b int) int {
	c.p.code = append(c.p.code, instr{o, uint16(d), uint16(a), uint16(b)})
	c.p.line = append(c.p.line, c.at)
	return len(c.p.code) - 1
}

// land makes jumps go to the next instruction.
func (c *compiler) land(jumps []int) {
	for _, j := range jumps {
		c.p.code[j].d = uint16(len(c.p.code))
	}
}

func (c *compiler) function(f *wgsl.Func, main bool) {
	c.next = max(c.high, c.next)
	fn := &function{start: len(c.p.code)}
	c.current, c.funcs[f] = fn, fn
	c.at = f.Line
	fn.params = c.next
	for _, v := range f.Params {
		c.vars[v] = c.alloc(words(v.Type))
		if main {
			c.p.builtins[v.Builtin] = c.vars[v]
		}
	}
	fn.result, fn.back = c.alloc(words(f.Result)), c.alloc(1)
	if main {
		fn.back = -1
		c.p.main = fn.start
	}
	c.block(f.Body)
	c.endFunction()
}

// endFunction ends a function.
func (c *compiler) endFunction() {
	if c.current.back < 0 {
		c.emit(opEnd, 0, 0, 0)
		return
	}
	c.emit(opReturn, 0, c.current.back, 0)
}

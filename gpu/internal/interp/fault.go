package interp

import (
	"fmt"
	"strings"
)

// Fault is an error of a kernel.
type Fault struct {
	Kind       Kind
	Kernel     string
	Line       int    // of the source with its parts
	Code       string // the text of the line
	Workgroup  int
	Invocation int // of the workgroup
	Text       string
	Seed       uint64 // of the order in which invocations ran
}

// Kind is a kind of fault.
type Kind string

const (
	// Race is an access to memory without a barrier between it and another invocation's, of which
	// at least one is a write.
	Race Kind = "race"
	// Unordered is an atomic whose result depends on the order of invocations: a load or store that
	// no barrier keeps apart from an update by another one, or updates of two kinds.
	Unordered Kind = "unordered atomics"
	// Bounds is an index behind the end of an array or a binding.
	Bounds Kind = "index out of bounds"
	// Overflow is a sum, difference or product in an index that does not fit 32 bits.
	Overflow Kind = "index overflow"
	// Divergence is a barrier that not all invocations of a workgroup reach.
	Divergence Kind = "barrier in non-uniform control flow"
	// Endless is a workgroup that executes more than Options.MaxSteps instructions.
	Endless Kind = "too many steps"
	// Overlap is a binding that a kernel writes and another binding of the same memory.
	Overlap Kind = "overlapping bindings"
)

func (f *Fault) Error() string {
	return fmt.Sprintf("interp: %s: line %d (%s): workgroup %d, invocation %d, seed %d: %s: %s",
		f.Kernel, f.Line, f.Code, f.Workgroup, f.Invocation, f.Seed, f.Kind, f.Text)
}

// fail records the fault of an invocation at an instruction.
func (g *group) fail(kind Kind, lane, pc int, format string, args ...any) state {
	g.fault = &Fault{
		Kind: kind, Kernel: g.p.name, Line: g.p.line[pc], Code: g.p.text(pc), Workgroup: g.number,
		Invocation: lane, Text: fmt.Sprintf(format, args...), Seed: g.seed,
	}
	return failed
}

// text returns the line of the source that an instruction comes from.
func (p *program) text(pc int) string {
	if n := p.line[pc]; n > 0 && n <= len(p.lines) {
		return strings.TrimSpace(p.lines[n-1])
	}
	return ""
}

// clash records a conflict with an earlier access, by its stamp and instruction.
func (g *group) clash(kind Kind, lane, pc int, name string, index, stamp uint32, other uint16) state {
	who := "an invocation of another workgroup"
	if s := stamp &^ flags; s >= g.begin {
		who = fmt.Sprintf("invocation %d", (s-g.begin)%uint32(g.p.size))
	}
	return g.fail(kind, lane, pc, "%s[%d]: conflicts with %s at line %d (%s)",
		name, index, who, g.p.line[other], g.p.text(int(other)))
}

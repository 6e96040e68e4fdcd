package container

import (
	"math"
	"testing"
)

// TestCeilPow2 checks the powers of two around which the result changes.
func TestCeilPow2(t *testing.T) {
	for n, want := range map[int]int{
		-1: 1, 0: 1, 1: 1, 2: 2, 3: 4, 4: 4, 5: 8, 4096: 4096, 4097: 8192, 1 << 29: 1 << 29,
		math.MaxInt / 2: math.MaxInt/2 + 1, math.MaxInt/2 + 1: math.MaxInt/2 + 1,
		math.MaxInt/2 + 2: math.MaxInt, math.MaxInt: math.MaxInt,
	} {
		if got := CeilPow2(n); got != want {
			t.Errorf("CeilPow2(%d) = %d, want %d", n, got, want)
		}
	}
}

// TestServes checks which runs take a unit.
func TestServes(t *testing.T) {
	run := Spec{Pipeline: 1, Checks: true, BlockSize: 1 << 16, Extra: 100}
	for _, c := range []struct {
		name string
		unit Spec
		want bool
	}{
		{"same", run, true},
		{"smaller block", Spec{Pipeline: 1, Checks: true, BlockSize: 1 << 12, Extra: 100}, true},
		{"larger block", Spec{Pipeline: 1, Checks: true, BlockSize: 1 << 17, Extra: 100}, false},
		{"less memory", Spec{Pipeline: 1, Checks: true, BlockSize: 1 << 16}, true},
		{"more memory", Spec{Pipeline: 1, Checks: true, BlockSize: 1 << 16, Extra: 101}, false},
		{"another pipeline", Spec{Pipeline: 2, Checks: true, BlockSize: 1 << 16}, false},
		{"no checks", Spec{Pipeline: 1, BlockSize: 1 << 16}, false},
		{"in order", Spec{Pipeline: 1, Checks: true, BlockSize: 1 << 16, InOrder: true}, true},
	} {
		if got := run.Serves(&c.unit); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	ordered := run
	ordered.InOrder = true
	if ordered.Serves(&run) {
		t.Error("a run in order takes a unit that needs no order")
	}
}

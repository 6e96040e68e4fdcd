//go:build arm64 && !noasm

package simd

import "testing"

// assembled reports whether there is assembly in this build.
const assembled = true

// processor returns the highest tier that the machine must have.
func processor(*testing.T) string { return "neon" }

func has(t tier) kernels { return kernels{match: t == neon, execute: t == neon} }

func TestAllowed(t *testing.T) {
	for _, c := range []struct {
		best tier
		name string
		want tier
	}{
		{neon, "", neon},
		{neon, "neon", neon},
		{neon, "portable", portable},
		{portable, "neon", portable},
		{neon, "NEON", neon},
		{neon, "avx2", neon},
		{neon, "0", neon},
		{neon, "neon ", neon},
	} {
		if got := allowed(c.best, c.name); got != c.want {
			t.Errorf("%s=%q on a machine with %s: %s, want %s", tierVariable, c.name, c.best, got,
				c.want)
		}
	}
}

//go:build arm64 && !noasm

package cpu

import "testing"

// assembled reports whether there is assembly in this build.
const assembled = true

// processor returns the highest tier that the machine must have.
func processor(*testing.T) string { return "neon" }

func TestAllowed(t *testing.T) {
	for _, c := range []struct {
		best Tier
		name string
		want Tier
	}{
		{NEON, "", NEON},
		{NEON, "neon", NEON},
		{NEON, "portable", Portable},
		{Portable, "neon", Portable},
		{NEON, "NEON", NEON},
		{NEON, "avx2", NEON},
		{NEON, "0", NEON},
		{NEON, "neon ", NEON},
	} {
		if got := allowed(c.best, c.name); got != c.want {
			t.Errorf("%s=%q on a machine with %s: %s, want %s", tierVariable, c.name, c.best, got,
				c.want)
		}
	}
}

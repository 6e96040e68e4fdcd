//go:build (!amd64 && !arm64) || noasm

package cpu

import "testing"

// assembled reports whether there is assembly in this build.
const assembled = false

func processor(*testing.T) string { return "portable" }

func TestAllowed(t *testing.T) {
	for _, name := range []string{"", "portable", "neon", "avx2", "avx512"} {
		if got := allowed(Portable, name); got != Portable {
			t.Errorf("%s=%q: tier %s, want portable", tierVariable, name, got)
		}
	}
}

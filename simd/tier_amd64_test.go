//go:build amd64 && !noasm

package simd

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// assembled says whether there is assembly in this build.
const assembled = true

func has(t tier) kernels {
	vectors := t != portable
	return kernels{lanes: vectors, chained: vectors, both: t == avx512 && hasVBMI, match: vectors, histogram: vectors, markDisplacements: vectors, execute: vectors, resolve: vectors, checksum: t == avx512 && listed("vpclmulqdq", hasVPCLMULQDQ),
		parse: vectors, put: vectors}
}

// listed says whether the operating system lists a property of the processor, or else what we found.
func listed(flag string, found bool) bool {
	flags, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return found
	}
	return slices.Contains(strings.Fields(string(flags)), flag)
}

// TestHasVBMI: within the highest tier chained runs have a kernel of their own where the processor can.
func TestHasVBMI(t *testing.T) {
	if want := listed("avx512vbmi", hasVBMI); hasVBMI != want {
		t.Errorf("permutations of bytes: %v; the operating system's list says %v", hasVBMI, want)
	}
}

// TestCtxWithoutVBMI: that tier without them.
func TestCtxWithoutVBMI(t *testing.T) {
	if best < avx512 || !hasVBMI {
		return // TestCtx has done it
	}
	defer func() { hasVBMI = true }()
	hasVBMI = false
	TestCtx(t)
}

// processor is the best tier according to the operating system, or "" if that does not say.
func processor(t *testing.T) string {
	p, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Log("no /proc/cpuinfo: nobody to ask but the processor")
		return ""
	}
	for line := range strings.Lines(string(p)) {
		if name, flags, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "flags" {
			has := func(names string) bool {
				for _, f := range strings.Fields(names) {
					if !slices.Contains(strings.Fields(flags), f) {
						return false
					}
				}
				return true
			}
			switch {
			case !has("avx2 bmi1 bmi2 popcnt abm"):
				return "portable"
			case !has("avx512f avx512bw avx512dq avx512vl"):
				return "avx2"
			}
			return "avx512"
		}
	}
	return ""
}

func TestAllowed(t *testing.T) {
	for _, c := range []struct {
		best tier
		name string
		want tier
	}{
		{avx512, "", avx512}, {avx512, "avx512", avx512}, {avx512, "avx2", avx2}, {avx512, "portable", portable},
		{avx2, "avx512", avx2}, {avx2, "avx2", avx2}, {portable, "avx512", portable},
		{avx512, "AVX2", avx512}, {avx512, "neon", avx512}, {avx2, "0", avx2}, {avx512, "avx2 ", avx512},
	} {
		if got := allowed(c.best, c.name); got != c.want {
			t.Errorf("%s of a machine with %s: %s", c.name, c.best, got)
		}
	}
}

//go:build amd64 && !noasm

package cpu

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// assembled reports whether there is assembly in this build.
const assembled = true

// listed reports whether the operating system lists a property of the processor. It returns
// detected if there is no list.
func listed(flag string, detected bool) bool {
	flags, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return detected
	}
	return slices.Contains(strings.Fields(string(flags)), flag)
}

// TestLacking checks the detection of instructions that some processors of the tier avx512 lack.
func TestLacking(t *testing.T) {
	for _, c := range []struct {
		flag string
		has  bool
	}{{"vpclmulqdq", HasVPCLMULQDQ}, {"avx512vbmi", HasVBMI}} {
		if want := listed(c.flag, c.has); c.has != want {
			t.Errorf("%s detected: %v, but the operating system lists it: %v", c.flag, c.has, want)
		}
	}
}

// processor returns the highest tier of the processor by the list of the operating system, or "" if
// there is none. On a CI machine there must be one.
func processor(t *testing.T) string {
	p, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		if os.Getenv(testenv.EnvCI) != "" {
			t.Fatal("no /proc/cpuinfo to compare the detected tier with")
		}
		t.Log("no /proc/cpuinfo: the detected tier is not checked")
		return ""
	}
	for line := range strings.Lines(string(p)) {
		name, list, _ := strings.Cut(line, ":")
		if strings.TrimSpace(name) != "flags" {
			continue
		}
		flags := strings.Fields(list)
		lists := func(names ...string) bool {
			return !slices.ContainsFunc(names, func(f string) bool {
				return !slices.Contains(flags, f)
			})
		}
		// Every processor with BMI1 has LZCNT, but some virtual machines do not list it ("abm").
		switch {
		case !lists("avx2", "bmi1", "bmi2", "popcnt"):
			return "portable"
		case !lists("avx512f", "avx512bw", "avx512dq", "avx512vl"):
			return "avx2"
		}
		return "avx512"
	}
	return ""
}

func TestAllowed(t *testing.T) {
	for _, c := range []struct {
		best Tier
		name string
		want Tier
	}{
		{AVX512, "", AVX512},
		{AVX512, "avx512", AVX512},
		{AVX512, "avx2", AVX2},
		{AVX512, "portable", Portable},
		{AVX2, "avx512", AVX2},
		{AVX2, "avx2", AVX2},
		{Portable, "avx512", Portable},
		{AVX512, "AVX2", AVX512},
		{AVX512, "neon", AVX512},
		{AVX2, "0", AVX2},
		{AVX512, "avx2 ", AVX512},
	} {
		if got := allowed(c.best, c.name); got != c.want {
			t.Errorf("%s=%q on a machine with %s: %s, want %s", tierVariable, c.name, c.best, got,
				c.want)
		}
	}
}

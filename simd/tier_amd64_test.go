//go:build amd64 && !noasm

package simd

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// assembled reports whether there is assembly in this build.
const assembled = true

func has(t tier) kernels {
	asm := t != portable
	return kernels{
		lanes: asm, ctx: asm, match: asm, histogram: asm, displacement: asm, execute: asm,
		decodeTokens: asm, encode: asm, parse: asm, zstd: asm, inflate: asm,
		ctx2: asm, shortCRC: asm,
		crc32c: t == avx512 && listed("vpclmulqdq", hasVPCLMULQDQ),
	}
}

// listed reports whether the operating system lists a property of the processor. It returns
// detected if there is no list.
func listed(flag string, detected bool) bool {
	flags, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return detected
	}
	return slices.Contains(strings.Fields(string(flags)), flag)
}

// TestHasVBMI checks the detection of the instructions for a kernel of DecodeCtx.
func TestHasVBMI(t *testing.T) {
	if want := listed("avx512vbmi", hasVBMI); hasVBMI != want {
		t.Errorf("hasVBMI is %v, but the operating system lists it: %v", hasVBMI, want)
	}
}

// TestCtxWithoutVBMI tests the tier avx512 on a processor without VBMI.
func TestCtxWithoutVBMI(t *testing.T) {
	if best < avx512 || !hasVBMI {
		return // TestCtx covers this processor
	}
	defer func() { hasVBMI = true }()
	hasVBMI = false
	TestCtx(t)
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
		switch {
		case !lists("avx2", "bmi1", "bmi2", "popcnt", "abm"):
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
		best tier
		name string
		want tier
	}{
		{avx512, "", avx512},
		{avx512, "avx512", avx512},
		{avx512, "avx2", avx2},
		{avx512, "portable", portable},
		{avx2, "avx512", avx2},
		{avx2, "avx2", avx2},
		{portable, "avx512", portable},
		{avx512, "AVX2", avx512},
		{avx512, "neon", avx512},
		{avx2, "0", avx2},
		{avx512, "avx2 ", avx512},
	} {
		if got := allowed(c.best, c.name); got != c.want {
			t.Errorf("%s=%q on a machine with %s: %s, want %s", tierVariable, c.name, c.best, got,
				c.want)
		}
	}
}

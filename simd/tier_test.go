package simd

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// eachTier runs f once for every tier of the machine.
func eachTier(t *testing.T, f func(t *testing.T)) {
	for _, name := range Tiers() {
		t.Run(name, func(t *testing.T) {
			defer SetTier(SetTier(name))
			if Tier() != name {
				t.Fatalf("running %s", Tier())
			}
			f(t)
		})
	}
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
			case !assembled || !has("avx2 bmi1 bmi2 popcnt"):
				return "portable"
			case !has("avx512f avx512bw avx512dq avx512vl"):
				return "avx2"
			}
			return "avx512"
		}
	}
	return ""
}

// TestDetect: a tier that the processor has and that does not run is an error, not something to pass over.
func TestDetect(t *testing.T) {
	all := Tiers()
	if len(all) == 0 || all[0] != "portable" || !assembled && len(all) != 1 {
		t.Fatalf("tiers %q with assembly %v", all, assembled)
	}
	want := processor(t)
	if want != "" && all[len(all)-1] != want {
		t.Errorf("best tier %s; the operating system's list says %s", all[len(all)-1], want)
	}
	if name := os.Getenv(tierVariable); slices.Contains(all, name) && Tier() != name {
		t.Errorf("%s=%s, but %s runs", tierVariable, name, Tier())
	} else if !slices.Contains(tierNames[:], name) && Tier() != all[len(all)-1] {
		t.Errorf("%s=%q, but %s runs", tierVariable, name, Tier())
	}
	t.Logf("%s of %q", Tier(), all)
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

// TestVectorsRun: every tier above the portable one has kernels of its own, which are what runs.
func TestVectorsRun(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		want := current() != portable
		var a, b DecodeGroup
		var states [Lanes]uint32
		one, two := decodeLanesVector(&a), decodeLanes2Vector(&a, &b)
		_, enc := encodeLanesVector(&states, new(EncodeTable), nil, nil, 0)
		_, match := matchLenVector(make([]byte, matchStep), make([]byte, matchStep))
		hist := histogramVector(new([256]uint32), make([]byte, 5000))
		_, _, _, exec := Execute(nil, 0, nil, []sequence(nil))
		_, repeat := ResolveRepeat([]sequence(nil), nil, nil, nil, nil, nil, new(uint), new([4]uint32))
		_, plain := ResolvePlain([]sequence(nil), nil, nil, nil, nil)
		if one != want || two != want || enc != want || match != want || hist != want {
			t.Errorf("decoders %v and %v, encoder %v, comparison %v, histogram %v", one, two, enc, match, hist)
		}
		f := [256]uint16{1000, 1048}
		built, _ := buildVector(new(DecodeTable), &f)
		if (built > 0) != want {
			t.Errorf("table: %d entries", built)
		}
		_, rest := checksumVector(0, make([]byte, 1<<12))
		if flags, err := os.ReadFile("/proc/cpuinfo"); err == nil {
			want := current() == avx512 && slices.Contains(strings.Fields(string(flags)), "vpclmulqdq")
			if sum := len(rest) == 0; sum != want {
				t.Errorf("checksum %v", sum)
			}
		}
		if exec != want || repeat != want || plain != want {
			t.Errorf("sequences: copying %v, resolving %v and %v", exec, repeat, plain)
		}
	})
}

func TestSetTier(t *testing.T) {
	start := Tier()
	var wg sync.WaitGroup
	for _, name := range Tiers() {
		// At any time, by anybody.
		wg.Go(func() { SetTier(name) })
	}
	wg.Wait()
	SetTier(start)
	for _, name := range []string{"", "Portable", "avx1024"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("tier %q was taken", name)
				}
			}()
			SetTier(name)
		}()
	}
	if Tier() != start {
		t.Errorf("%s instead of %s", Tier(), start)
	}
}

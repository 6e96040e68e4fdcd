package cpu

import (
	"os"
	"slices"
	"sync"
	"testing"
)

// TestDetect fails if a tier that the processor has is not in use.
func TestDetect(t *testing.T) {
	all := Tiers()
	if len(all) == 0 || all[0] != "portable" || assembled != (len(all) > 1) {
		t.Fatalf("tiers %q; assembly in this build: %v", all, assembled)
	}
	want := processor(t)
	if want != "" && all[len(all)-1] != want {
		t.Errorf("best tier %s, but the processor has %s", all[len(all)-1], want)
	}
	if name := os.Getenv(tierVariable); slices.Contains(all, name) && Current().String() != name {
		t.Errorf("%s=%s, but the tier in use is %s", tierVariable, name, Current())
	} else if !slices.Contains(tierNames[:], name) && Current().String() != all[len(all)-1] {
		t.Errorf("%s=%q, but the tier in use is %s", tierVariable, name, Current())
	}
	t.Logf("tier %s of %q", Current(), all)
}

func TestSetTier(t *testing.T) {
	start := Current().String()
	var wg sync.WaitGroup
	for _, name := range Tiers() {
		wg.Go(func() { SetTier(name) }) // must be safe at any time
	}
	wg.Wait()
	SetTier(start)
	for _, name := range []string{"", "Portable", "avx1024", "NEON"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("SetTier(%q): no panic", name)
				}
			}()
			SetTier(name)
		}()
	}
	if got := Current().String(); got != start {
		t.Errorf("tier in use: %s, want %s", got, start)
	}
}

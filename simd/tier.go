package simd

import (
	"os"
	"slices"
	"sync/atomic"
)

// tier is a set of instructions that kernels are written for. A higher one has all of the lower ones. Which there are beside portable, and their names, tierNames, is up to
// the processor that the program is for.
type tier int32

const portable tier = 0 // plain Go

func (t tier) String() string { return tierNames[t] }

// tierVariable is the environment variable that names the highest tier to be used: portable, neon, avx2 or avx512. A tier that the
// machine does not have, and any other value, changes nothing.
const tierVariable = "PZ_SIMD"

// best is the highest tier of the machine; without assembly in the build it is portable.
var best = detect()

// active is the tier that runs. Any kernel of any tier gives the same bytes, so it may change at any time.
var active = func() *atomic.Int32 {
	t := new(atomic.Int32)
	t.Store(int32(allowed(best, os.Getenv(tierVariable))))
	return t
}()

// allowed is the tier to begin with if the environment names one.
func allowed(best tier, name string) tier {
	if t := slices.Index(tierNames[:], name); t >= 0 {
		return min(tier(t), best)
	}
	return best
}

func current() tier { return tier(active.Load()) }

// Tier names the instructions that the kernels use: "portable", on amd64 "avx2" or "avx512", on arm64 "neon". It is the best that the machine has, unless the environment
// variable PZ_SIMD names a lower one; with the build tag noasm it is always "portable".
func Tier() string { return current().String() }

// Tiers names the tiers that this program can run on this machine, from the lowest, "portable", to the highest.
func Tiers() []string { return slices.Clone(tierNames[:best+1]) }

// SetTier has all kernels use the instructions of the given tier and returns the name of the one used before. It is there for
// tests and benchmarks: results do not depend on it, and it may be called at any time, by any goroutine. It panics if the machine has no such tier.
func SetTier(name string) (before string) {
	for t := range best + 1 {
		if t.String() == name {
			return tier(active.Swap(int32(t))).String()
		}
	}
	panic("simd: no tier " + name)
}

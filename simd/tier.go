package simd

import (
	"os"
	"slices"
	"sync/atomic"
)

// tier is a set of instructions that kernels are written for. A tier includes all lower ones. The
// files tier_*.go declare the tiers of each processor and their names, tierNames.
type tier int32

const portable tier = 0 // plain Go

func (t tier) String() string { return tierNames[t] }

// tierVariable is the environment variable that names the highest tier to use.
const tierVariable = "PZ_SIMD"

// best is the highest tier of the machine. Without assembly in the build it is portable.
var best = detect()

// active is the tier in use. It may change at any time, because all tiers give the same results.
var active = func() *atomic.Int32 {
	t := new(atomic.Int32)
	t.Store(int32(allowed(best, os.Getenv(tierVariable))))
	return t
}()

// allowed returns the tier to start with on a machine with the tier best, if tierVariable has the
// value name.
func allowed(best tier, name string) tier {
	if t := slices.Index(tierNames[:], name); t >= 0 {
		return min(tier(t), best)
	}
	return best
}

func current() tier { return tier(active.Load()) }

// Tier returns the name of the tier in use: "portable"; "avx2" or "avx512" on amd64; "neon" on
// arm64. It is the highest tier of the machine, unless the environment variable PZ_SIMD names a
// lower one. With the build tag noasm it is "portable".
func Tier() string { return current().String() }

// Tiers returns the names of the tiers that this program can run on this machine, from "portable"
// to the highest.
func Tiers() []string { return slices.Clone(tierNames[:best+1]) }

// SetTier makes all kernels use the given tier, and returns the name of the one used before. It is
// for tests and benchmarks. It is safe for concurrent use, also with kernels, because results do
// not depend on the tier. It panics if the machine has no such tier.
func SetTier(name string) (before string) {
	for t := range best + 1 {
		if t.String() == name {
			return tier(active.Swap(int32(t))).String()
		}
	}
	panic("simd: no tier " + name)
}

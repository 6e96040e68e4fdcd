// Package cpu says which instructions packages simd and internal/kernels use: the tier. It asks the
// processor once, at start-up. Package simd describes the tiers, the variable PZ_SIMD and the build
// tag noasm.
package cpu

import (
	"os"
	"slices"
	"sync/atomic"
)

// Tier is a set of instructions that kernels are written for. A tier includes all lower ones. The
// files cpu_*.go declare the tiers of each processor and their names, tierNames.
type Tier int32

// Portable is the lowest tier: plain Go.
const Portable Tier = 0

func (t Tier) String() string { return tierNames[t] }

// tierVariable is the environment variable that names the highest tier to use.
const tierVariable = "PZ_SIMD"

// best is what Best returns.
var best = detect()

// active is the tier in use. It may change at any time, because all tiers give the same results.
var active = func() *atomic.Int32 {
	t := new(atomic.Int32)
	t.Store(int32(allowed(best, os.Getenv(tierVariable))))
	return t
}()

// allowed returns the tier to start with on a machine with the tier best, if tierVariable has the
// value name.
func allowed(best Tier, name string) Tier {
	if t := slices.Index(tierNames[:], name); t >= 0 {
		return min(Tier(t), best)
	}
	return best
}

// Best returns the highest tier of the machine. Without assembly in the build it is Portable.
func Best() Tier { return best }

// Current returns the tier in use.
func Current() Tier { return Tier(active.Load()) }

// Tiers returns the names of the tiers that this program can run on this machine, from "portable"
// to the highest.
func Tiers() []string { return slices.Clone(tierNames[:best+1]) }

// SetTier makes all kernels use the given tier, and returns the name of the one used before. It is
// safe for concurrent use, also with kernels. It panics if the machine has no such tier.
func SetTier(name string) (before string) {
	for t := range best + 1 {
		if t.String() == name {
			return Tier(active.Swap(int32(t))).String()
		}
	}
	panic("simd: no tier " + name)
}

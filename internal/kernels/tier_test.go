package kernels

import (
	"runtime"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/cpu"
)

// eachTier runs f once for each tier of the machine.
func eachTier(t *testing.T, f func(t *testing.T)) {
	for _, name := range cpu.Tiers() {
		t.Run(name, func(t *testing.T) {
			defer cpu.SetTier(cpu.SetTier(name))
			if got := cpu.Current().String(); got != name {
				t.Fatalf("tier in use: %s, want %s", got, name)
			}
			f(t)
		})
	}
}

// hasKernels reports whether the tier in use has the kernels of amd64: all that there are.
func hasKernels() bool { return runtime.GOARCH == "amd64" && hasExecute() }

// hasExecute reports whether the tier in use has a kernel for Execute, as on arm64.
func hasExecute() bool { return cpu.Current() != cpu.Portable }

// bestHasKernels reports whether the highest tier of the machine has the kernels of amd64.
var bestHasKernels = runtime.GOARCH == "amd64" && cpu.Best() != cpu.Portable

// TestKernelsRun checks for each tier that exactly the kernels run that it should have.
func TestKernelsRun(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		for _, f := range slices.Concat(
			laneKernelsRun(), ctxKernelsRun(), sequenceKernelsRun(), zstdKernelsRun()) {
			if name, ran := f(); ran != hasKernels() {
				t.Errorf("%s: kernel ran: %v, want %v", name, ran, hasKernels())
			}
		}
		if _, _, _, ran := Execute(nil, 0, nil, []sequence(nil)); ran != hasExecute() {
			t.Errorf("Execute: kernel ran: %v, want %v", ran, hasExecute())
		}
	})
}

func laneKernelsRun() []func() (name string, ran bool) {
	return []func() (string, bool){
		func() (string, bool) {
			return "DecodeLanes", decodeLanesKernel(new(DecodeGroup))
		},
		func() (string, bool) {
			ok := decodeLanes2Kernel(new(DecodeGroup), new(DecodeGroup))
			return "DecodeLanes2", ok
		},
		func() (string, bool) {
			_, ok := encodeLanesKernel(new([Lanes]uint32), new(EncodeTable), nil, nil, 0)
			return "EncodeLanes", ok
		},
		func() (string, bool) {
			built, _ := buildDecodeTableKernel(new(DecodeTable), &[256]uint16{1000, 1048})
			return "DecodeTable.Build", built > 0
		},
		func() (string, bool) {
			ok := markDisplacementsKernel(make([]uint64, 1), make([]byte, 66))
			return "MarkX86Displacements", ok
		},
		inflateKernelRuns,
		func() (string, bool) {
			ok := pathCostsKernel(new(PathPrices), nil, nil, nil, nil, 0, 0, 0)
			return "PathCosts", ok
		},
		treeKernelsRun,
	}
}

func ctxKernelsRun() []func() (name string, ran bool) {
	return []func() (string, bool){
		func() (string, bool) {
			_, _, ok := decodeCtxKernel(new(CtxLanes), 0, new(CtxTable), nil, nil, nil)
			return "DecodeCtx", ok
		},
		func() (string, bool) {
			words := [2][]byte{
				make([]byte, RoundBytes+WordSlack),
				make([]byte, RoundBytes+WordSlack),
			}
			rounds, _ := DecodeCtx2(
				new([2]CtxLanes),
				new(CtxTable),
				[]uint64{^uint64(0)},
				make([]byte, CtxRound),
				words,
			)
			return "DecodeCtx2", rounds == 1
		},
		func() (string, bool) {
			_, _, _, ok := MarkRunStarts(nil, 0, nil, nil)
			return "MarkRunStarts", ok
		},
		func() (string, bool) {
			var at [Lanes]int
			for l := range at {
				at[l] = l * 100
			}
			rounds := deinterleaveKernel(make([]byte, Lanes*100), &at, make([]byte, 8*CtxRound), 8)
			return "Deinterleave", rounds == 8
		},
		func() (string, bool) {
			ok := cheapestTablesKernel(make([]uint8, 1), make([]uint32, 1), nil, nil, new(CtxPrices))
			return "CheapestTables", ok
		},
		func() (string, bool) {
			return "NonZero", nonZeroKernel(new([4]uint64), new([256]uint32))
		},
		func() (string, bool) {
			_, ok := encodeCtxKernel(nil, nil, nil, nil, nil, 0, 0, nil, 0)
			return "EncodeCtx", ok
		},
	}
}

func sequenceKernelsRun() []func() (name string, ran bool) {
	var none []sequence
	return []func() (string, bool){
		func() (string, bool) {
			_, ok := DecodeTokensRepeat(
				none, nil, nil, nil, nil, nil, new(uint), new([4]uint32), new([4]uint32))
			return "DecodeTokensRepeat", ok
		},
		func() (string, bool) {
			_, ok := DecodeTokensPlain(none, nil, nil, nil, nil)
			return "DecodeTokensPlain", ok
		},
		func() (string, bool) {
			_, _, ok := EncodeOffsets(nil, make([]byte, 1), nil, none, new(OffsetState))
			return "EncodeOffsets", ok
		},
		func() (string, bool) {
			_, _, _, ok := EncodeLengths(nil, nil, nil, none)
			return "EncodeLengths", ok
		},
		func() (string, bool) {
			p := SingleParse{At: 1, Repeat: 1, Shift: 63}
			_, ok := ParseSingle(&p, make([]byte, 16), make([]uint32, 2), none)
			return "ParseSingle", ok
		},
		func() (string, bool) { return "ParseDouble", HasDouble() },
		func() (string, bool) {
			ok := HasRowHash(8) && HasRowHash(16) && HasRowHash(32)
			return "ParseRowHash", ok
		},
		func() (string, bool) { return "ParseCandidates", HasCandidates() },
		func() (string, bool) { return "ParseHashChain", HasHashChain() },
	}
}

package simd

import (
	"os"
	"slices"
	"sync"
	"testing"
)

// eachTier runs f once for each tier of the machine.
func eachTier(t *testing.T, f func(t *testing.T)) {
	for _, name := range Tiers() {
		t.Run(name, func(t *testing.T) {
			defer SetTier(SetTier(name))
			if Tier() != name {
				t.Fatalf("tier in use: %s, want %s", Tier(), name)
			}
			f(t)
		})
	}
}

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
	if name := os.Getenv(tierVariable); slices.Contains(all, name) && Tier() != name {
		t.Errorf("%s=%s, but the tier in use is %s", tierVariable, name, Tier())
	} else if !slices.Contains(tierNames[:], name) && Tier() != all[len(all)-1] {
		t.Errorf("%s=%q, but the tier in use is %s", tierVariable, name, Tier())
	}
	t.Logf("tier %s of %q", Tier(), all)
}

// kernels says which functions have a kernel.
type kernels struct {
	lanes        bool // DecodeTable.Build, DecodeLanes, DecodeLanes2, EncodeLanes
	ctx          bool // DecodeCtx, EncodeCtx, MarkRunStarts, Deinterleave, CheapestTables, NonZero
	ctx2         bool // DecodeCtx2
	match        bool // MatchLen
	histogram    bool // Histogram
	displacement bool // MarkX86Displacements
	execute      bool // Execute
	decodeTokens bool // DecodeTokensRepeat, DecodeTokensPlain
	encode       bool // EncodeOffsets, EncodeLengths
	parse        bool // all parsers, PathCosts, trees
	crc32c       bool // CRC32C
	shortCRC     bool // CRC32C of at most 2 KiB
	zstd         bool // ExecuteNear, DecodeHuffman4, DecodeSequences, and the encoder's
	inflate      bool // Inflate, InflateSymbols, ResolveSymbols
}

// TestKernelsRun checks for each tier that exactly the kernels run that it should have.
func TestKernelsRun(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		want := has(current())
		for _, f := range []func() (name string, ran, want bool){
			func() (string, bool, bool) {
				return "DecodeLanes", decodeLanesKernel(new(DecodeGroup)), want.lanes
			},
			func() (string, bool, bool) {
				ok := decodeLanes2Kernel(new(DecodeGroup), new(DecodeGroup))
				return "DecodeLanes2", ok, want.lanes
			},
			func() (string, bool, bool) {
				_, ok := encodeLanesKernel(new([Lanes]uint32), new(EncodeTable), nil, nil, 0)
				return "EncodeLanes", ok, want.lanes
			},
			func() (string, bool, bool) {
				built, _ := buildDecodeTableKernel(new(DecodeTable), &[256]uint16{1000, 1048})
				return "DecodeTable.Build", built > 0, want.lanes
			},
			func() (string, bool, bool) {
				_, ok := matchLenKernel(make([]byte, matchStep), make([]byte, matchStep))
				return "MatchLen", ok, want.match
			},
			func() (string, bool, bool) {
				ok := histogramKernel(new([256]uint32), make([]byte, 5000))
				return "Histogram", ok, want.histogram
			},
			func() (string, bool, bool) {
				ok := markDisplacementsKernel(make([]uint64, 1), make([]byte, 66))
				return "MarkX86Displacements", ok, want.displacement
			},
			func() (string, bool, bool) {
				_, rest := crc32cKernel(0, make([]byte, 1<<12))
				return "CRC32C", len(rest) == 0, want.crc32c
			},
			func() (string, bool, bool) {
				_, rest := crc32cKernel(0, make([]byte, 1001))
				return "CRC32C of short content", len(rest) == 0, want.shortCRC
			},
			func() (string, bool, bool) { return inflateKernelRuns(want) },
			func() (string, bool, bool) {
				ok := pathCostsKernel(new(PathPrices), nil, nil, nil, nil, 0, 0, 0)
				return "PathCosts", ok, want.parse
			},
			func() (string, bool, bool) { return treeKernelsRun(want) },
		} {
			if name, ran, want := f(); ran != want {
				t.Errorf("%s: kernel ran: %v, want %v", name, ran, want)
			}
		}
		for _, f := range slices.Concat(
			ctxKernelsRun(want), sequenceKernelsRun(want), zstdKernelsRun(want)) {
			if name, ran, want := f(); ran != want {
				t.Errorf("%s: kernel ran: %v, want %v", name, ran, want)
			}
		}
	})
}

func ctxKernelsRun(want kernels) []func() (name string, ran, want bool) {
	return []func() (string, bool, bool){
		func() (string, bool, bool) {
			_, _, ok := decodeCtxKernel(new(CtxLanes), 0, new(CtxTable), nil, nil, nil)
			return "DecodeCtx", ok, want.ctx
		},
		func() (string, bool, bool) {
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
			return "DecodeCtx2", rounds == 1, want.ctx2
		},
		func() (string, bool, bool) {
			_, _, _, ok := MarkRunStarts(nil, 0, nil, nil)
			return "MarkRunStarts", ok, want.ctx
		},
		func() (string, bool, bool) {
			var at [Lanes]int
			for l := range at {
				at[l] = l * 100
			}
			rounds := deinterleaveKernel(make([]byte, Lanes*100), &at, make([]byte, 8*CtxRound), 8)
			return "Deinterleave", rounds == 8, want.ctx
		},
		func() (string, bool, bool) {
			ok := cheapestTablesKernel(make([]uint8, 1), make([]uint32, 1), nil, nil, new(CtxPrices))
			return "CheapestTables", ok, want.ctx
		},
		func() (string, bool, bool) {
			return "NonZero", nonZeroKernel(new([4]uint64), new([256]uint32)), want.ctx
		},
		func() (string, bool, bool) {
			_, ok := encodeCtxKernel(nil, nil, nil, nil, nil, 0, 0, nil, 0)
			return "EncodeCtx", ok, want.ctx
		},
	}
}

func sequenceKernelsRun(want kernels) []func() (name string, ran, want bool) {
	var none []sequence
	return []func() (string, bool, bool){
		func() (string, bool, bool) {
			_, _, _, ok := Execute(nil, 0, nil, none)
			return "Execute", ok, want.execute
		},
		func() (string, bool, bool) {
			_, ok := DecodeTokensRepeat(
				none, nil, nil, nil, nil, nil, new(uint), new([4]uint32), new([4]uint32))
			return "DecodeTokensRepeat", ok, want.decodeTokens
		},
		func() (string, bool, bool) {
			_, ok := DecodeTokensPlain(none, nil, nil, nil, nil)
			return "DecodeTokensPlain", ok, want.decodeTokens
		},
		func() (string, bool, bool) {
			_, _, ok := EncodeOffsets(nil, make([]byte, 1), nil, none, new(OffsetState))
			return "EncodeOffsets", ok, want.encode
		},
		func() (string, bool, bool) {
			_, _, _, ok := EncodeLengths(nil, nil, nil, none)
			return "EncodeLengths", ok, want.encode
		},
		func() (string, bool, bool) {
			p := SingleParse{At: 1, Repeat: 1, Shift: 63}
			_, ok := ParseSingle(&p, make([]byte, 16), make([]uint32, 2), none)
			return "ParseSingle", ok, want.parse
		},
		func() (string, bool, bool) { return "ParseDouble", HasDouble(), want.parse },
		func() (string, bool, bool) {
			ok := HasRowHash(8) && HasRowHash(16) && HasRowHash(32)
			return "ParseRowHash", ok, want.parse
		},
		func() (string, bool, bool) { return "ParseCandidates", HasCandidates(), want.parse },
		func() (string, bool, bool) { return "ParseHashChain", HasHashChain(), want.parse },
	}
}

func TestSetTier(t *testing.T) {
	start := Tier()
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
	if Tier() != start {
		t.Errorf("tier in use: %s, want %s", Tier(), start)
	}
}

package simd

import (
	"os"
	"slices"
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

// TestDetect: a tier that the processor has and that does not run is an error, not something to pass over.
func TestDetect(t *testing.T) {
	all := Tiers()
	if len(all) == 0 || all[0] != "portable" || assembled != (len(all) > 1) {
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

// TestKernelsRun: every tier has the kernels that it should have, and these are what runs.
func TestKernelsRun(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		want := has(current())
		var a, b DecodeGroup
		var states [Lanes]uint32
		one, two := decodeLanesKernel(&a), decodeLanes2Kernel(&a, &b)
		_, enc := encodeLanesKernel(&states, new(EncodeTable), nil, nil, 0)
		_, match := matchLenKernel(make([]byte, matchStep), make([]byte, matchStep))
		hist := histogramKernel(new([256]uint32), make([]byte, 5000))
		_, _, _, exec := Execute(nil, 0, nil, []sequence(nil))
		_, repeat := DecodeTokensRepeat([]sequence(nil), nil, nil, nil, nil, nil, new(uint), new([4]uint32), new([4]uint32))
		_, plain := DecodeTokensPlain([]sequence(nil), nil, nil, nil, nil)
		if one != want.lanes || two != want.lanes || enc != want.lanes || match != want.match || hist != want.histogram {
			t.Errorf("decoders %v and %v, encoder %v, comparison %v, histogram %v", one, two, enc, match, hist)
		}
		f := [256]uint16{1000, 1048}
		built, _ := buildDecodeTableKernel(new(DecodeTable), &f)
		if (built > 0) != want.lanes {
			t.Errorf("table: %d entries", built)
		}
		if markDisplacements := markDisplacementsKernel(make([]uint64, 1), make([]byte, 66)); markDisplacements != want.markDisplacements {
			t.Errorf("markDisplacements %v", markDisplacements)
		}
		_, rest := crc32cKernel(0, make([]byte, 1<<12))
		if sum := len(rest) == 0; sum != want.checksum {
			t.Errorf("checksum %v", sum)
		}
		if _, parse := ParseSingle(&SingleParse{At: 1, Repeat: 1, Shift: 63}, make([]byte, 16), make([]uint32, 2), []sequence(nil)); parse != want.parse {
			t.Errorf("parsing %v", parse)
		}
		if rowHash := HasRowHash(8) && HasRowHash(16); rowHash != want.parse {
			t.Errorf("parsing by rows %v", rowHash)
		}
		if double := HasDouble(); double != want.parse {
			t.Errorf("parsing by two tables %v", double)
		}
		_, _, offsets := EncodeOffsets(nil, make([]byte, 1), nil, []sequence(nil), 64)
		if _, _, _, lengths := EncodeLengths(nil, nil, nil, []sequence(nil)); offsets != want.put || lengths != want.put {
			t.Errorf("streams: offsets %v, lengths %v", offsets, lengths)
		}
		_, _, chained := decodeCtxKernel(new(CtxLanes), 0, new(CtxTable), nil, nil, nil)
		if chained != want.chained {
			t.Errorf("chained runs %v", chained)
		}
		if _, _, _, marks := MarkRunStarts(nil, 0, nil, nil); marks != want.chained {
			t.Errorf("marking %v", marks)
		}
		both := 0
		if want.both {
			both = 1
		}
		words := [2][]byte{make([]byte, RoundBytes+WordSlack), make([]byte, RoundBytes+WordSlack)}
		if rounds, _ := DecodeCtx2(new([2]CtxLanes), new(CtxTable), []uint64{^uint64(0)}, make([]byte, CtxRound), words); rounds != both {
			t.Errorf("chained runs in step: %d rounds", rounds)
		}
		var at [Lanes]int
		for l := range at {
			at[l] = l * 100
		}
		scattered := 0
		if want.chained {
			scattered = 8
		}
		if rounds := deinterleaveKernel(make([]byte, Lanes*100), &at, make([]byte, 8*CtxRound), 8); rounds != scattered {
			t.Errorf("scattering: %d rounds", rounds)
		}
		if exec != want.execute || repeat != want.resolve || plain != want.resolve {
			t.Errorf("sequences: copying %v, resolving %v and %v", exec, repeat, plain)
		}
	})
}

// kernels says for which tasks there is assembly; lanes is decoding, coding and the tables for it, chained with what comes before and behind it, marking and scattering, and both is two groups in step.
type kernels struct{ lanes, chained, both, match, histogram, markDisplacements, execute, resolve, checksum, parse, put bool }

func TestSetTier(t *testing.T) {
	start := Tier()
	var wg sync.WaitGroup
	for _, name := range Tiers() {
		// At any time, by anybody.
		wg.Go(func() { SetTier(name) })
	}
	wg.Wait()
	SetTier(start)
	for _, name := range []string{"", "Portable", "avx1024", "NEON"} {
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

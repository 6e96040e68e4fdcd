package lz77

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/simd"
)

// guarded returns n bytes with slack behind them. intact reports whether the canaries around both
// are unchanged.
func guarded(n, slack int) (p []byte, intact func() bool) {
	const guard = 64
	all := make([]byte, guard+n+slack+guard)
	for i := range all {
		all[i] = 0xc5
	}
	intact = func() bool {
		front, back := all[:guard], all[guard+n+slack:]
		want := bytes.Repeat([]byte{0xc5}, guard)
		return bytes.Equal(front, want) && bytes.Equal(back, want)
	}
	return all[guard : guard+n+slack : guard+n+slack], intact
}

// randomLen prefers lengths around 16, 32 and 48, where Execute takes another path.
func randomLen(r *rand.Rand) int {
	switch r.IntN(8) {
	case 0:
		return r.IntN(400)
	case 1:
		return 0
	default:
		return 16*(1+r.IntN(3)) + r.IntN(5) - 2
	}
}

// randomSequences returns valid sequences that begin at position at, and their literals.
func randomSequences(r *rand.Rand, at int) (seqs []Sequence, lits []byte) {
	for range 1 + r.IntN(12) {
		s := Sequence{LitLen: uint32(randomLen(r)), MatchLen: uint32(randomLen(r))}
		at += int(s.LitLen)
		if at < 16 {
			s.LitLen += 16
			at += 16
		}
		if s.Offset = uint32(16 + r.IntN(25)); r.IntN(3) == 0 || int(s.Offset) > at {
			s.Offset = uint32(16 + r.IntN(at-15)) // up to the very beginning
		}
		at += int(s.MatchLen)
		seqs = append(seqs, s)
	}
	n := r.IntN(20)
	for i := range seqs {
		n += int(seqs[i].LitLen)
	}
	lits = make([]byte, n)
	for i := range lits {
		lits[i] = byte(r.Uint32())
	}
	return seqs, lits
}

// eachTier runs f in every tier.
func eachTier(t *testing.T, f func(t *testing.T)) {
	for _, tier := range simd.Tiers() {
		t.Run(tier, func(t *testing.T) {
			defer simd.SetTier(simd.SetTier(tier))
			f(t)
		})
	}
}

func TestExecute(t *testing.T) { eachTier(t, testExecute) }

func testExecute(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	rounds := 30_000
	if small() {
		rounds = 5000
	}
	for range rounds {
		prefix := make([]byte, r.IntN(3)*r.IntN(60))
		for i := range prefix {
			prefix[i] = byte(r.Uint32())
		}
		seqs, lits := randomSequences(r, len(prefix))
		want, wantRest, ok := naive(prefix, lits, seqs)
		if !ok {
			t.Fatal("randomSequences returned invalid sequences")
		}
		dst, dstIntact := guarded(len(want), Slack)
		src, srcIntact := guarded(len(lits), Slack)
		copy(dst, prefix)
		copy(src, lits)
		end, rest, ok := Execute(dst, len(prefix), src, seqs)
		if !ok || end != len(want) || !bytes.Equal(dst[:end], want) {
			t.Fatalf("%v after %d bytes: wrong content", seqs, len(prefix))
		}
		if len(rest) != len(wantRest)+Slack || !bytes.Equal(rest[:len(wantRest)], wantRest) {
			t.Fatalf("%v: wrong literals left", seqs)
		}
		if !dstIntact() || !srcIntact() || !bytes.Equal(src[:len(lits)], lits) {
			t.Fatalf("%v: wrote outside dst, or to the literals", seqs)
		}
	}
}

// TestExecuteOverlap tries all short offsets with all lengths around the steps of 16 bytes.
func TestExecuteOverlap(t *testing.T) { eachTier(t, testExecuteOverlap) }

func testExecuteOverlap(t *testing.T) {
	for offset := 16; offset <= 40; offset++ {
		for n := range 120 {
			lits := make([]byte, offset+Slack)
			for i := range offset {
				lits[i] = byte(i*7 + 1)
			}
			seqs := []Sequence{{LitLen: uint32(offset), MatchLen: uint32(n), Offset: uint32(offset)}}
			want, _, _ := naive(nil, lits[:offset], seqs)
			dst, intact := guarded(offset+n, Slack)
			if end, _, ok := Execute(dst, 0, lits, seqs); !ok || !bytes.Equal(dst[:end], want) || !intact() {
				t.Fatalf("offset %d, %d bytes: wrong", offset, n)
			}
		}
	}
}

// TestExecuteOffset: Execute rejects an offset that reaches back beyond the beginning of dst, by
// one byte or by far.
func TestExecuteOffset(t *testing.T) { eachTier(t, testExecuteOffset) }

func testExecuteOffset(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 5000 {
		seqs, lits := randomSequences(r, 0)
		bad := r.IntN(len(seqs))
		at, total := 0, 0
		for i, s := range seqs {
			if i < bad {
				at += int(s.MatchLen)
			}
			if i <= bad {
				at += int(s.LitLen)
			}
			total += int(s.LitLen + s.MatchLen)
		}
		seqs[bad].Offset = uint32(at + 1)
		if r.IntN(2) == 0 {
			seqs[bad].Offset = uint32(at+1) + r.Uint32N(1<<31)>>r.IntN(31)
		}
		dst, intact := guarded(total, Slack)
		_, _, ok := Execute(dst, 0, append(lits, make([]byte, Slack)...), seqs)
		if ok || !intact() {
			t.Fatalf("offset %d at %d: ok %v", seqs[bad].Offset, at, ok)
		}
	}
}

// TestExecuteAnything: with arguments that break the rules Execute may panic, but it touches
// nothing outside the slices.
func TestExecuteAnything(t *testing.T) { eachTier(t, testExecuteAnything) }

func testExecuteAnything(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	panics := 0
	for range 20_000 {
		seqs := make([]Sequence, 1+r.IntN(8))
		for i := range seqs {
			seqs[i] = Sequence{
				LitLen: uint32(randomLen(r)), MatchLen: uint32(randomLen(r)), Offset: 1 + r.Uint32N(60),
			}
			if r.IntN(20) == 0 {
				seqs[i].LitLen = r.Uint32()
			}
			if r.IntN(20) == 0 {
				seqs[i].MatchLen = r.Uint32()
			}
		}
		dst, dstIntact := guarded(r.IntN(300), r.IntN(Slack+1))
		lits, litsIntact := guarded(r.IntN(300), r.IntN(Slack+1))
		func() {
			defer func() {
				if recover() != nil {
					panics++
				}
			}()
			Execute(dst, r.IntN(20), lits, seqs)
		}()
		if !dstIntact() || !litsIntact() {
			t.Fatalf("%v: wrote outside", seqs)
		}
	}
	if panics == 0 {
		t.Error("no call panicked: the arguments are too tame")
	}
}

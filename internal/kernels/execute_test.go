package kernels

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// executeNaively is the definition of Execute. It stops after n sequences.
func executeNaively(dst []byte, at int, lits []byte, seqs []sequence, n int) (done, end, used int) {
	for _, q := range seqs[:n] {
		litLen, matchLen, offset := int64(q.LitLen), int64(q.MatchLen), int64(q.Offset)
		if litLen > int64(len(lits)-used-CopySlack) ||
			litLen+matchLen > int64(len(dst)-at-CopySlack) || offset > int64(at)+litLen {
			break
		}
		lit, match, off := int(q.LitLen), int(q.MatchLen), int(q.Offset)
		copy(dst[at:], lits[used:used+lit])
		at, used = at+lit, used+lit
		for range match {
			dst[at] = dst[at-off]
			at++
		}
		done++
	}
	return done, at, used
}

// randomCopies makes n sequences for position at, and returns their literals and the position
// behind them. Lengths lie around the steps of the kernels. The offset of one in bad reaches too
// far; 0 means none.
func randomCopies(r *rand.Rand, n, at, bad int) (seqs []sequence, lits, size int) {
	length := func() int {
		switch r.IntN(10) {
		case 0:
			return r.IntN(400)
		case 1, 2:
			return 0
		default:
			return max(0, 16*(1+r.IntN(5))+r.IntN(5)-2)
		}
	}
	size = at
	for range n {
		q := sequence{LitLen: uint32(length()), MatchLen: uint32(length())}
		if size+int(q.LitLen) < 16 {
			q.LitLen += 16
		}
		size += int(q.LitLen)
		lits += int(q.LitLen)
		q.Offset = 16 + r.Uint32N(60)
		if r.IntN(3) == 0 || int(q.Offset) > size {
			q.Offset = 16 + r.Uint32N(uint32(size-15))
		}
		if bad > 0 && r.IntN(bad) == 0 {
			q.Offset = uint32(size+1) + r.Uint32()>>(1+r.IntN(31))
		}
		size += int(q.MatchLen)
		seqs = append(seqs, q)
	}
	return seqs, lits, size
}

// runExecute compares Execute with the definition.
func runExecute(t *testing.T, dst []byte, at int, lits []byte, seqs []sequence) {
	t.Helper()
	checkExecute(t, Execute[sequence], hasExecute(), dst, at, lits, seqs)
}

// checkExecute compares execute, of which the tier has a kernel or not, with the definition.
func checkExecute(
	t *testing.T, execute func([]byte, int, []byte, []sequence) (done, end, used int, ok bool),
	kernel bool, dst []byte, at int, lits []byte, seqs []sequence,
) {
	t.Helper()
	want := bytes.Clone(dst)
	done, end, used, ok := execute(dst, at, lits, seqs)
	if ok != kernel {
		t.Fatalf("kernel %v, want %v", ok, kernel)
	}
	most, wantEnd, wantUsed := executeNaively(want, at, lits, seqs, len(seqs))
	if ok && done != most && wantEnd < at+maxCallContent-1000 && most < maxCallTokens {
		t.Fatalf("%d of %d sequences, want %d", done, len(seqs), most)
	}
	if done != most {
		_, wantEnd, wantUsed = executeNaively(want, at, lits, seqs, min(done, most))
	}
	if done > most || end != wantEnd || used != wantUsed || !bytes.Equal(dst[:end], want[:end]) {
		t.Fatalf("%d of %d sequences to %d with %d literals, want %d, %d, %d; or content differs",
			done, len(seqs), end, used, most, wantEnd, wantUsed)
	}
}

func TestExecute(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(23, 24))
		for i := range scaled(20_000) {
			at := r.IntN(2) * r.IntN(60)
			n := r.IntN(12)
			switch {
			case i%200 == 0:
				n = r.IntN(4000)
			case i%10 == 0: // enough for the kernel to sample lengths
				n = 60 + r.IntN(100)
			}
			seqs, lits, size := randomCopies(r, n, at, r.IntN(2)*(30+3*n))
			// As much room as necessary, or less, or more.
			dst := make([]byte, max(at, size+CopySlack+r.IntN(3)*(r.IntN(60)-40)))
			from := make([]byte, max(0, lits+CopySlack+r.IntN(3)*(r.IntN(60)-40)))
			for _, p := range [][]byte{dst, from} {
				for i := range p {
					p[i] = byte(r.Uint32())
				}
			}
			runExecute(t, dst, at, from, seqs)
		}
		// One sequence of every length and short offset.
		for off := uint32(16); off <= 70; off++ {
			for n := range uint32(140) {
				lits := make([]byte, off+CopySlack)
				for i := range lits {
					lits[i] = byte(i*7 + 1)
				}
				runExecute(t, make([]byte, off+n+CopySlack), 0, lits, []sequence{{off, n, off}})
			}
		}
		for _, q := range []sequence{
			{1 << 31, 4, 16}, {1<<32 - 1, 1<<32 - 1, 1<<32 - 1}, {0, 1<<32 - 1, 16},
			{0, 1 << 31, 1 << 31}, {20, 10, 1 << 31},
		} {
			runExecute(t, make([]byte, 100), 40, make([]byte, 100), []sequence{q})
		}
	})
}

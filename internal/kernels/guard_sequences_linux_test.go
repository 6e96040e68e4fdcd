package kernels

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// TestGuardPagesSequences decodes arbitrary tokens, and executes arbitrary sequences, between guard
// pages.
func TestGuardPagesSequences(t *testing.T) {
	const most = 300
	var mem [5]guarded
	for i := range mem {
		mem[i] = newGuarded(t, 4*most+200)
	}
	seqs := newGuarded(t, 2*most*sequenceBytes)
	content, lits := newGuarded(t, 100_000), newGuarded(t, 50_000)
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(25, 26))
		for i := range scaled(10_000) {
			c := randomTokens(r, i%2 == 0, r.IntN(most), []int{0, 10, 100}[r.IntN(3)])
			for i, p := range []*[]byte{&c.tokens, &c.litLens, &c.matchLens, &c.codes, &c.extra} {
				if r.IntN(4) == 0 {
					*p = (*p)[:r.IntN(len(*p)+1)]
				}
				if r.IntN(8) == 0 {
					for i := range *p {
						(*p)[i] = byte(r.Uint32())
					}
				}
				*p = mem[i].put(r, *p)
			}
			c.run(t, seqs.sequences(r, len(c.tokens)))
		}
		for range scaled(10_000) {
			dst, from, in := tryCopies(t, r, content, lits, seqs, randomCopies, runExecute)
			Execute(dst, r.IntN(len(dst)+50), from, in)
		}
	})
}

// tryCopies calls run with sequences that generate returns, and with enough room, a little less, or
// a little more. It returns the memory that it has used, with arbitrary numbers as sequences.
func tryCopies(
	t *testing.T, r *rand.Rand, content, lits, seqs guarded,
	generate func(r *rand.Rand, n, at, bad int) (q []sequence, used, size int),
	run func(t *testing.T, dst []byte, at int, lits []byte, seqs []sequence),
) (dst, from []byte, in []sequence) {
	at, n := r.IntN(2)*r.IntN(60), r.IntN(40)
	if r.IntN(4) == 0 {
		n = 60 + r.IntN(100) // enough for the kernel to sample lengths
	}
	q, used, size := generate(r, n, at, r.IntN(2)*3*n)
	dst = content.put(r, make([]byte, max(at, size+CopySlack+r.IntN(3)*(r.IntN(60)-40))))
	from = lits.put(r, make([]byte, max(0, used+CopySlack+r.IntN(3)*(r.IntN(60)-40))))
	in = seqs.sequences(r, len(q))
	copy(in, q)
	run(t, dst, at, from, in)
	for i := range in {
		in[i] = sequence{r.Uint32() >> r.IntN(32), r.Uint32() >> r.IntN(32), r.Uint32() >> r.IntN(32)}
	}
	return dst, from, in
}

// TestGuardPagesMarkRunStarts runs with tokens, lengths and marks between guard pages.
func TestGuardPagesMarkRunStarts(t *testing.T) {
	const most, words = 100, 20
	room, from, lens := newGuarded(t, 8*words), newGuarded(t, most), newGuarded(t, 2*most)
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(75, 76))
		for range scaled(20_000) {
			tokens, litLens := randomRuns(r, r.IntN(most))
			placed := room.put(r, make([]byte, 8*r.IntN(words+1)))
			bits := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(placed))), len(placed)/8)
			tryMarkRunStarts(t, bits, randomBits(r, bits), from.put(r, tokens),
				lens.put(r, litLens))
		}
	})
}

// TestGuardPagesEncodeSequences encodes sequences between guard pages.
func TestGuardPagesEncodeSequences(t *testing.T) {
	const most = 1500
	mem, seqs := [3]guarded{
		newGuarded(t, most),
		newGuarded(t, most+1),
		newGuarded(t, 4*most+10),
	}, newGuarded(t, most*sequenceBytes)
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(45, 46))
		for range scaled(3000) {
			q := randomSequences(r, r.IntN([]int{20, 100, most}[r.IntN(3)]), r.IntN(3)*r.IntN(100))
			in := seqs.sequences(r, len(q))
			copy(in, q)
			runEncode(t, r, in, func(k int, p []byte) []byte { return mem[k].put(r, p) })
		}
		// Any room for offsets of 18 bits: the kernel stays within it, and too little causes a
		// panic.
		in := seqs.sequences(r, 20)
		for i := range in {
			in[i] = sequence{1, 4, 1<<20 + 5*uint32(i)}
		}
		for room := range 70 {
			extra := mem[2].last(make([]byte, room))
			func() {
				defer func() {
					if panicked := recover() != nil; panicked != (room < 19*18/8+8) &&
						hasKernels() {
						t.Errorf("EncodeOffsets with room for %d extra bytes: panic %v", room,
							panicked)
					}
				}()
				st := OffsetState{Repeats: [4]uint32{64, 64, 64}}
				EncodeOffsets(make([]byte, len(in)), make([]byte, len(in)+1), extra, in, &st)
			}()
		}
	})
}

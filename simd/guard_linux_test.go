package simd

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// guarded is memory between two pages that may be neither read nor written.
type guarded []byte

func newGuarded(t testing.TB, size int) guarded {
	page := unix.Getpagesize()
	size = (size + page - 1) &^ (page - 1)
	m, err := unix.Mmap(-1, 0, size+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(m) })
	for _, p := range [][]byte{m[:page], m[page+size:]} {
		if err := unix.Mprotect(p, unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return m[page : page+size : page+size]
}

// last is p at the end, right before the forbidden page, and first at the start.
func (g guarded) last(p []byte) []byte  { return g[len(g)-copy(g[len(g)-len(p):], p):] }
func (g guarded) first(p []byte) []byte { n := copy(g, p); return g[:n:n] }

func (g guarded) put(r *rand.Rand, p []byte) []byte {
	if r.IntN(2) == 0 {
		return g.first(p)
	}
	return g.last(p)
}

// TestGuardPages lets the kernels work at the edge of what they may touch; a step outside ends the test program. What they do must not depend on
// where it is.
func TestGuardPages(t *testing.T) {
	const rounds = 40
	var dst, words [2]guarded
	for i := range dst {
		dst[i] = newGuarded(t, rounds*Lanes+Lanes)
		words[i] = newGuarded(t, rounds*RoundBytes+RoundBytes)
	}
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(15, 16))
		for round := range scaled(1500) {
			var want, got [2]*DecodeGroup
			var out [2][2][]byte
			var f [2]*[256]uint16
			for i := range want {
				n := r.IntN(rounds)
				// Enough words, or so few that they are used to the last one that the kernels may use.
				w := r.IntN(n*RoundBytes + 1)
				if r.IntN(3) == 0 {
					w = r.IntN(2*RoundBytes + 2)
				}
				want[i], f[i] = randomGroup(r, n, r.IntN(Lanes), w)
				g := *want[i]
				got[i] = &g
				g.Dst = dst[i].put(r, g.Dst)
				g.Words = words[i].put(r, g.Words)
				out[i] = [2][]byte{want[i].Dst, g.Dst}
			}
			if round%2 == 0 {
				decodeAll(want[:1], f[:1])
				DecodeLanes(got[0])
			} else {
				decodeAll(want[:], f[:])
				DecodeLanes2(got[0], got[1])
			}
			for i := range want {
				if got[i].States != want[i].States || len(got[i].Words) != len(want[i].Words) || !bytes.Equal(out[i][0], out[i][1]) {
					t.Fatalf("round %d: group %d differs", round, i)
				}
			}
		}
		var tab EncodeTable
		in, room := dst[0], words[0]
		for range scaled(1500) {
			f := randomFreqs(r)
			tab.Build(&f)
			run := randomRun(r, &f, Lanes*r.IntN(rounds))
			size := 2 * len(run)
			var a, b [Lanes]uint32
			for i := range a {
				a[i] = StateMin + r.Uint32N(1<<31-StateMin)
			}
			b = a
			// As large as asked for, with a page behind it or in front.
			w := room.put(r, make([]byte, size))
			at := EncodeLanes(&a, &tab, in.put(r, run), w, size)
			check := make([]byte, size)
			if want := encodeNaively(&b, &f, run, check, size); at != want || a != b || !bytes.Equal(w[at:], check[at:]) {
				t.Fatal("encoder differs")
			}
		}
	})
}

// TestGuardPagesBytes does the same with comparing, counting and checks.
func TestGuardPagesBytes(t *testing.T) {
	const most = 2000
	mem := [2]guarded{newGuarded(t, most), newGuarded(t, most)}
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(17, 18))
		for range scaled(20_000) {
			p := make([]byte, r.IntN(most+1))
			if r.IntN(2) == 0 {
				p = p[:min(len(p), r.IntN(140))]
			}
			for i := range p {
				p[i] = byte(r.Uint32N(3))
			}
			a, b := mem[0].put(r, p), mem[1].put(r, p)
			want := len(p)
			if n := r.IntN(2*len(p) + 1); n < len(p) {
				b[n] ^= 0x40
				want = n
			}
			if got := MatchLen(a, b); got != want {
				t.Fatalf("%d of %d bytes equal: %d", want, len(p), got)
			}
			if CRC32C(1, a) != crcBits(1, a) {
				t.Fatalf("%d bytes: wrong check", len(a))
			}
			var counts, naive [256]uint32
			for _, c := range b {
				naive[c]++
			}
			if Histogram(&counts, b); counts != naive {
				t.Fatalf("%d bytes: wrong counts", len(b))
			}
		}
	})
}

// TestGuardPagesMarkX86Displacements: what is looked at is no more than the places and two bytes before them, and no more is written than the masks.
func TestGuardPagesMarkX86Displacements(t *testing.T) {
	const most = 30
	mem := newGuarded(t, most*64+2)
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(19, 20))
		for range scaled(2000) {
			n := r.IntN(most + 1)
			p := mem.put(r, displacementBytes(r, 64*n+2))
			got, want := make([]uint64, n+1), make([]uint64, n+1)
			markDisplacementsNaively(want[:n], p)
			if MarkX86Displacements(got[:n], p); !slices.Equal(got, want) {
				t.Fatalf("%d masks differ", n)
			}
		}
	})
}

// sequences is room for n sequences at the start or at the end.
func (g guarded) sequences(r *rand.Rand, n int) []sequence {
	p := g.put(r, make([]byte, n*sequenceBytes))
	return unsafe.Slice((*sequence)(unsafe.Pointer(unsafe.SliceData(p))), n)
}

const sequenceBytes = int(unsafe.Sizeof(sequence{}))

// TestGuardPagesSequences does the same with resolving tokens and carrying out sequences, whatever they are.
func TestGuardPagesSequences(t *testing.T) {
	const most = 300
	var mem [5]guarded
	for i := range mem {
		mem[i] = newGuarded(t, 4*most+200)
	}
	seqs, content, lits := newGuarded(t, 2*most*sequenceBytes), newGuarded(t, 100_000), newGuarded(t, 50_000)
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
			at := r.IntN(2) * r.IntN(60)
			n := r.IntN(40)
			if r.IntN(4) == 0 {
				n = 60 + r.IntN(100) // where the kernel looks which way is better
			}
			q, used, size := randomCopies(r, n, at, r.IntN(2)*3*n)
			dst := content.put(r, make([]byte, max(at, size+CopySlack+r.IntN(3)*(r.IntN(60)-40))))
			from := lits.put(r, make([]byte, max(0, used+CopySlack+r.IntN(3)*(r.IntN(60)-40))))
			in := seqs.sequences(r, len(q))
			copy(in, q)
			runExecute(t, dst, at, from, in)
			// Any numbers at all.
			for i := range in {
				in[i] = sequence{r.Uint32() >> r.IntN(32), r.Uint32() >> r.IntN(32), r.Uint32() >> r.IntN(32)}
			}
			Execute(dst, r.IntN(len(dst)+50), from, in)
		}
	})
}

// TestGuardPagesParseSingle does the same with parsing.
func TestGuardPagesParseSingle(t *testing.T) {
	const most = 5000
	content, tables, seqs := newGuarded(t, most), newGuarded(t, 4<<10), newGuarded(t, most*sequenceBytes)
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(37, 38))
		for range scaled(3000) {
			src := content.put(r, randomContent(r, 16+r.IntN([]int{100, most - 16}[r.IntN(2)])))
			p, table := randomParse(r, src)
			room := tables.put(r, make([]byte, 4*len(table)))
			in := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(room))), len(table))
			copy(in, table)
			runParse(t, p, src, in, seqs.sequences(r, r.IntN(len(src)/4)))
		}
	})
}

// TestGuardPagesRowHash does the same with parsing by rows, and with rows that have anything at all.
func TestGuardPagesRowHash(t *testing.T) {
	const most = 5000
	content, tables, seqs := newGuarded(t, most), newGuarded(t, 4*32<<8), newGuarded(t, most*sequenceBytes)
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(53, 54))
		for range scaled(3000) {
			c := randomRowHash(r, content.put(r, randomContent(r, 16+r.IntN([]int{100, most - 16}[r.IntN(2)]))))
			room := tables.put(r, make([]byte, 4*len(c.rows)))
			in := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(room))), len(c.rows))
			copy(in, c.rows)
			out := seqs.sequences(r, c.room)
			c.run(t, c.src, in, out)
			if HasRowHash(c.p.Depth) {
				for i := range in {
					in[i] = r.Uint32() >> r.IntN(32)
				}
				p := c.p
				ParseRowHash(&p, c.src, in, c.costs, out, c.costsValid)
				if n := max(c.p.End, 0); n <= len(in) {
					candidates := in[len(in)-n:] // up to the guard page
					p := c.p
					ParseCandidates(&p, c.src, candidates, c.costs, out, c.costsValid)
				}
			}
		}
	})
}

// TestGuardPagesParseDouble does the same with parsing by two tables.
func TestGuardPagesParseDouble(t *testing.T) {
	const most = 5000
	content, seqs := newGuarded(t, most), newGuarded(t, most*sequenceBytes)
	tables := [2]guarded{newGuarded(t, 4<<10), newGuarded(t, 4<<10)}
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(63, 64))
		for range scaled(4000) {
			c := randomDouble(r, content.put(r, randomContent(r, 16+r.IntN([]int{100, most - 16}[r.IntN(2)]))))
			var in [2][]uint32
			for i, table := range [][]uint32{c.long, c.short} {
				room := tables[i].put(r, make([]byte, 4*len(table)))
				in[i] = unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(room))), len(table))
				copy(in[i], table)
			}
			c.run(t, c.src, in[0], in[1], seqs.sequences(r, c.room))
		}
	})
}

// TestGuardPagesEncodeSequences does the same with what sequences become.
func TestGuardPagesEncodeSequences(t *testing.T) {
	const most = 1500
	mem, seqs := [3]guarded{newGuarded(t, most), newGuarded(t, most+1), newGuarded(t, 4*most+10)}, newGuarded(t, most*sequenceBytes)
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(45, 46))
		for range scaled(3000) {
			q := randomSequences(r, r.IntN([]int{20, 100, most}[r.IntN(3)]), r.IntN(3)*r.IntN(100))
			in := seqs.sequences(r, len(q))
			copy(in, q)
			runEncode(t, r, in, func(k int, p []byte) []byte { return mem[k].put(r, p) })
		}
		// Whatever room there is for offsets of 18 bits: nothing behind it is touched, and too little is noticed.
		in := seqs.sequences(r, 20)
		for i := range in {
			in[i] = sequence{1, 4, 1<<20 + 5*uint32(i)}
		}
		for room := range 70 {
			extra := mem[2].last(make([]byte, room))
			func() {
				defer func() {
					if panicked := recover() != nil; panicked != (room < 19*18/8+8) && has(current()).put {
						t.Errorf("%d bytes: panic %v", room, panicked)
					}
				}()
				EncodeOffsets(make([]byte, len(in)), make([]byte, len(in)+1), extra, in, 64)
			}()
		}
	})
}

// TestBuild holds tables for decoding, between pages that may not be touched, to the definition.
func TestBuild(t *testing.T) {
	const size = 4 * slots
	mem := newGuarded(t, size)
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(29, 30))
		try := func(f *[256]uint16) {
			p := mem.put(r, make([]byte, size))
			got := (*DecodeTable)(unsafe.Pointer(unsafe.SliceData(p)))
			if got.Build(f); *got != *buildNaively(f) {
				t.Fatalf("table of %v differs", f)
			}
		}
		for range scaled(3000) {
			f := randomFreqs(r)
			try(&f)
		}
		// The last symbol is where steps of eight do not fit.
		for n := uint16(1); n < 40; n++ {
			for _, a := range []int{0, 1, 15, 16, 100} {
				var f [256]uint16
				f[a], f[a+1+r.IntN(255-a)] = slots-n, n
				try(&f)
				f = [256]uint16{}
				f[a], f[a+1+r.IntN(255-a)] = n, slots-n
				try(&f)
			}
		}
	})
}

func buildNaively(f *[256]uint16) *DecodeTable {
	t, i := new(DecodeTable), 0
	for sym, n := range f {
		for k := range n {
			t[i] = uint32(sym) | uint32(n)<<8 | uint32(k)<<19
			i++
		}
	}
	return t
}

// TestGuardPagesCtx does the same with chained runs, of which marks, symbols and both groups' words have a place.
func TestGuardPagesCtx(t *testing.T) {
	const rounds = 40
	room, bits := newGuarded(t, rounds*CtxRound), newGuarded(t, 8*rounds)
	from := [2]guarded{newGuarded(t, rounds*RoundBytes), newGuarded(t, rounds*RoundBytes)}
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(37, 38))
		tab := new(CtxTable)
		for i := range scaled(10_000) {
			if i%50 == 0 {
				randomCtxTable(r, tab)
			}
			words := randomWords(r, rounds*RoundBytes)
			for half := range words {
				words[half] = from[half].put(r, words[half])
			}
			marks := randomMarks(r, r.IntN(rounds+1))
			placed := bits.put(r, make([]byte, 8*len(marks)))
			if len(marks) > 0 {
				own := unsafe.Slice((*uint64)(unsafe.Pointer(&placed[0])), len(marks))
				copy(own, marks)
				marks = own
			}
			tryCtx(t, r, tab, marks, room.put(r, make([]byte, r.IntN(rounds*CtxRound+1))), words)
		}
	})
}

// TestGuardPagesDeinterleave does the same with symbols on their way to the pieces.
func TestGuardPagesDeinterleave(t *testing.T) {
	const rounds = 40
	to, from := newGuarded(t, 2*rounds*CtxRound), newGuarded(t, rounds*CtxRound)
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(57, 58))
		for range scaled(2000) {
			n := r.IntN(rounds + 1)
			tryDeinterleave(t, r, to.put(r, make([]byte, n*CtxRound+r.IntN(n*CtxRound+1))), from.put(r, make([]byte, n*CtxRound)))
		}
	})
}

// TestGuardPagesMarkRunStarts does the same with tokens, lengths and marks.
func TestGuardPagesMarkRunStarts(t *testing.T) {
	const most, words = 100, 20
	room, from, lens := newGuarded(t, 8*words), newGuarded(t, most), newGuarded(t, 2*most)
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(75, 76))
		for range scaled(20_000) {
			tokens, litLens := randomRuns(r, r.IntN(most))
			placed := room.put(r, make([]byte, 8*r.IntN(words+1)))
			bits := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(placed))), len(placed)/8)
			tryMarkRunStarts(t, bits, randomBits(r, bits), from.put(r, tokens), lens.put(r, litLens))
		}
	})
}

// TestGuardPagesPrefetch asks for what no table can have, with what is asked for at the end of a page.
func TestGuardPagesPrefetch(t *testing.T) {
	const most = 100
	room, from := newGuarded(t, most), newGuarded(t, 4*most)
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(95, 96))
		for range scaled(2000) {
			table, placed := room.put(r, make([]byte, r.IntN(most+1))), from.put(r, make([]byte, 4*r.IntN(most+1)))
			for i := range placed {
				placed[i] = byte(r.Uint32())
			}
			at := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(placed))), len(placed)/4)
			Prefetch(table, at, ^uint32(0))
			Prefetch(table, at, r.Uint32()>>r.IntN(32))
		}
	})
}

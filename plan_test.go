package compress

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// inPieces compresses content in pieces that end at the given blocks, and joins them. The
// descriptions of pieces travel as bytes, and in reverse order.
func inPieces(t testing.TB, content []byte, ends []int64, opts ...Option) []byte {
	t.Helper()
	p, err := NewPlan(int64(len(content)), opts...)
	if err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	var pieces []*Piece
	first := int64(0)
	for _, last := range ends {
		before := body.Len()
		from, to := p.Input(first, last)
		piece, err := p.Encode(&body, bytes.NewReader(content[from:to]), first, last)
		if err != nil {
			t.Fatalf("blocks %d … %d: %v", first, last-1, err)
		}
		if piece.First() != first || piece.Last() != last || piece.Size() != int64(body.Len()-before) {
			t.Fatalf("piece of blocks %d … %d with %d bytes in place of %d … %d with %d",
				piece.First(), piece.Last()-1, piece.Size(), first, last-1, body.Len()-before)
		}
		pieces = append([]*Piece{transport(t, piece)}, pieces...)
		first = last
	}
	trailer, err := p.Trailer(pieces...)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(p.Header(), body.Bytes(), trailer)
}

// transport returns what arrives of a piece as bytes.
func transport(t testing.TB, p *Piece) *Piece {
	t.Helper()
	data, err := p.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var q Piece
	if err := q.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	return &q
}

// cuts returns ends of pieces for so many blocks, chosen by a seed.
func cuts(blocks int64, seed uint64) (ends []int64) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	for at := int64(0); at < blocks; {
		at = min(blocks, at+1+rnd.Int64N(5))
		ends = append(ends, at)
	}
	return ends
}

func blocksOfPlan(n, blockSize int) int64 { return int64((n + blockSize - 1) / blockSize) }

// TestPlan checks that pieces make the file that a Writer makes.
func TestPlan(t *testing.T) {
	checkGoroutines(t)
	when := time.Unix(1_700_000_000, 0)
	for name, content := range testContents() {
		for _, p := range Pipelines() {
			for _, more := range [][]Option{{WithLevel(1)}, {WithChecksum(false), WithName("a.txt", when)}} {
				opts := append(more, WithPipeline(p.Name), WithBlockSize(testBlock), WithConcurrency(2))
				want := encode(t, content, append(opts, WithContentSize(int64(len(content))))...)
				plan, err := NewPlan(int64(len(content)), opts...)
				if err != nil {
					t.Fatal(err)
				}
				if n := blocksOfPlan(len(content), plan.BlockSize()); plan.Blocks() != n {
					t.Fatalf("%s: %d blocks in place of %d", name, plan.Blocks(), n)
				}
				for seed := range uint64(2) {
					got := inPieces(t, content, cuts(plan.Blocks(), seed), opts...)
					equal(t, got, want, fmt.Sprint(name, " by ", p.Name))
				}
			}
		}
	}
}

// TestPlanInput checks what a piece needs of the content.
func TestPlanInput(t *testing.T) {
	const size = 10*65536 + 5
	for _, c := range []struct {
		format      Format
		first, last int64
		from, to    int64
	}{
		{PZ, 0, 1, 0, 65536},
		{PZ, 3, 5, 3 * 65536, 5 * 65536},
		{Gzip, 0, 2, 0, 2 * 65536},
		{Gzip, 3, 5, 3*65536 - 32768, 5 * 65536},
		{Zstd, 10, 11, 10 * 65536, size},
		{Zstd, 10, 99, 10 * 65536, size},
	} {
		p, err := NewPlan(size, WithFormat(c.format), WithBlockSize(65536))
		if err != nil {
			t.Fatal(err)
		}
		if from, to := p.Input(c.first, c.last); from != c.from || to != c.to {
			t.Errorf(".%v blocks %d … %d: %d … %d in place of %d … %d",
				c.format, c.first, c.last-1, from, to, c.from, c.to)
		}
	}
}

// TestPlanErrors checks what the methods of a Plan refuse.
func TestPlanErrors(t *testing.T) {
	content := mixedBytes(5*testBlock + 3)
	p, err := NewPlan(int64(len(content)), WithFormat(Gzip), WithBlockSize(testBlock))
	if err != nil {
		t.Fatal(err)
	}
	encode := func(p *Plan, first, last int64) *Piece {
		from, to := p.Input(first, last)
		piece, err := p.Encode(io.Discard, bytes.NewReader(content[from:to]), first, last)
		if err != nil {
			t.Fatal(err)
		}
		return piece
	}
	a, b, all := encode(p, 0, 2), encode(p, 2, 6), encode(p, 0, 6)
	other, err := NewPlan(int64(len(content)), WithFormat(Gzip), WithBlockSize(testBlock), WithLevel(1))
	if err != nil {
		t.Fatal(err)
	}
	for name, pieces := range map[string][]*Piece{
		"no piece":       {},
		"no first piece": {b},
		"no last piece":  {a},
		"a piece twice":  {a, b, b},
		"overlap":        {a, all},
		"another plan":   {a, encode(other, 2, 6)},
	} {
		if _, err := p.Trailer(pieces...); !errors.Is(err, ErrOption) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	for _, blocks := range [][2]int64{{-1, 1}, {0, 0}, {2, 1}, {5, 7}, {6, 7}} {
		_, err := p.Encode(io.Discard, bytes.NewReader(content), blocks[0], blocks[1])
		if !errors.Is(err, ErrOption) {
			t.Errorf("blocks %d … %d: error %v", blocks[0], blocks[1]-1, err)
		}
	}
	from, to := p.Input(2, 4)
	for _, n := range []int64{0, 1, 2*testBlock - 1, 2 * testBlock, to - from - 1} {
		_, err := p.Encode(io.Discard, bytes.NewReader(content[:n]), 2, 4)
		if !errors.Is(err, ErrContentSize) {
			t.Errorf("input of %d bytes: error %v", n, err)
		}
	}
	wrong := errors.New("wrong")
	if _, err := p.Encode(brokenWriter{wrong}, bytes.NewReader(content), 0, 1); err != wrong {
		t.Errorf("broken writer: error %v", err)
	}
	if _, err := NewPlan(-1); !errors.Is(err, ErrOption) {
		t.Errorf("negative size: error %v", err)
	}
	if a, b := encode(p, 0, 2), transport(t, a); a.Size() != b.Size() {
		t.Errorf("after errors a piece of %d bytes in place of %d", a.Size(), b.Size())
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write(p []byte) (int, error) { return 0, w.err }

// FuzzPlan checks that any pieces of any content make the file that a Writer makes, and that a Piece
// accepts no other bytes than its own.
func FuzzPlan(f *testing.F) {
	f.Add(mixedBytes(5*testBlock+7), uint64(1), uint8(2), uint8(1))
	f.Add(textBytes(4*testBlock, 2), uint64(2), uint8(3), uint8(6))
	f.Add([]byte{}, uint64(3), uint8(1), uint8(4))
	f.Fuzz(func(t *testing.T, content []byte, seed uint64, pipe, level uint8) {
		all := Pipelines()
		opts := []Option{
			WithPipeline(all[int(pipe)%len(all)].Name), WithLevel(1 + int(level)%MaxLevel),
			WithBlockSize(testBlock), WithConcurrency(2),
		}
		want, err := AppendEncode(nil, content, opts...)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := NewPlan(int64(len(content)), opts...)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, inPieces(t, content, cuts(plan.Blocks(), seed), opts...), want, "file")

		var piece Piece
		if piece.UnmarshalBinary(content) == nil {
			again, err := piece.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			equal(t, pieceBytes(t, transport(t, &piece)), again, "piece")
		}
	})
}

// TestPieceDamage flips each bit of a description.
func TestPieceDamage(t *testing.T) {
	plan, err := NewPlan(3*testBlock, WithBlockSize(testBlock))
	if err != nil {
		t.Fatal(err)
	}
	piece, err := plan.Encode(io.Discard, bytes.NewReader(mixedBytes(3*testBlock)), 0, 3)
	if err != nil {
		t.Fatal(err)
	}
	data := pieceBytes(t, piece)
	for i := range 8 * len(data) {
		data[i/8] ^= 1 << (i % 8)
		if err := new(Piece).UnmarshalBinary(data); !errors.Is(err, ErrCorrupt) {
			t.Errorf("bit %d: error %v", i, err)
		}
		data[i/8] ^= 1 << (i % 8)
	}
}

// pieceBytes returns a piece as bytes.
func pieceBytes(t *testing.T, p *Piece) []byte {
	data, err := p.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestReaderAtRecover restores a damaged file in ranges of blocks. Together they give what Recover
// gives for the whole file.
func TestReaderAtRecover(t *testing.T) {
	content := mixedBytes(20*testBlock + 5)
	for _, f := range []Format{PZ, Zstd} {
		opts := []Option{WithFormat(f), WithBlockSize(testBlock), WithZeroFill(true)}
		file := encode(t, content, opts...)
		ra := openAt(t, file, opts...)
		n := int64(0)
		for b := range ra.Blocks() {
			n++
			if b.Number%7 == 3 {
				file[b.Offset+b.Size-9] ^= 0x10
			}
		}
		var want, got bytes.Buffer
		var wantDamage, gotDamage []string
		note := func(to *[]string) func(Damage) error {
			return func(d Damage) error {
				*to = append(*to, fmt.Sprint(d))
				return nil
			}
		}
		if err := recoverFrom(&want, file, note(&wantDamage), opts...); err != nil {
			t.Fatal(err)
		}
		if len(wantDamage) != 3 {
			t.Fatalf(".%v: %d damaged places: %q", f, len(wantDamage), wantDamage)
		}
		first := int64(0)
		for _, last := range cuts(n, 5) {
			if err := ra.Recover(&got, first, last, note(&gotDamage)); err != nil {
				t.Fatal(err)
			}
			first = last
		}
		equal(t, got.Bytes(), want.Bytes(), f.String())
		if fmt.Sprint(gotDamage) != fmt.Sprint(wantDamage) {
			t.Errorf(".%v: damage %q in place of %q", f, gotDamage, wantDamage)
		}
		err := ra.Recover(io.Discard, 0, n, func(d Damage) error { return d.Err })
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf(".%v: error %v", f, err)
		}
		for _, blocks := range [][2]int64{{-1, 1}, {1, 0}, {0, n + 1}} {
			if err := ra.Recover(io.Discard, blocks[0], blocks[1], nil); !errors.Is(err, ErrOption) {
				t.Errorf(".%v: blocks %d … %d: %v", f, blocks[0], blocks[1]-1, err)
			}
		}
		if err := ra.Recover(io.Discard, n, n, nil); err != nil {
			t.Errorf(".%v: no blocks: %v", f, err)
		}
	}
}

package output

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

func blocksOfPlan(n, blockSize int) int64 { return int64((n + blockSize - 1) / blockSize) }

// TestPlan checks that pieces make the file that a Writer makes.
func TestPlan(t *testing.T) {
	bbtest.CheckGoroutines(t)
	when := time.Unix(1_700_000_000, 0)
	for name, content := range bbtest.TestContents() {
		for _, p := range bridge.Pipelines() {
			var other compress.WriterOption = compress.WithChecksum(false)
			if p.Format == compress.Gzip {
				other = compress.WithName("a.txt", when)
			}
			for _, more := range []compress.WriterOption{compress.WithLevel(1), other} {
				opts := []compress.WriterOption{
					more, bridge.Pipeline(p.Name), bridge.Frames(), compress.WithBlockSize(bbtest.BlockSize),
					compress.WithConcurrency(2),
				}
				want := bbtest.Encode(t, content,
					append(opts, compress.WithContentSize(int64(len(content))))...)
				plan, err := compress.NewPlan(int64(len(content)), opts...)
				if err != nil {
					t.Fatal(err)
				}
				if n := blocksOfPlan(len(content), plan.BlockSize()); plan.Blocks() != n {
					t.Fatalf("%s: %d blocks in place of %d", name, plan.Blocks(), n)
				}
				for seed := range uint64(2) {
					got := bbtest.EncodePlanned(t, content, bbtest.PieceEnds(plan.Blocks(), seed), opts...)
					bbtest.Equal(t, got, want, fmt.Sprint(name, " by ", p.Name))
				}
			}
		}
	}
}

// TestPlanInput checks what a piece needs of the content.
func TestPlanInput(t *testing.T) {
	const size = 10*65536 + 5
	for _, c := range []struct {
		format      compress.Format
		first, last int64
		from, to    int64
	}{
		{compress.PZ, 0, 1, 0, 65536},
		{compress.PZ, 3, 5, 3 * 65536, 5 * 65536},
		{compress.Gzip, 0, 2, 0, 2 * 65536},
		{compress.Gzip, 3, 5, 3*65536 - 32768, 5 * 65536},
		{compress.Zstd, 10, 11, 10 * 65536, size},
		{compress.Zstd, 10, 99, 10 * 65536, size},
	} {
		p, err := compress.NewPlan(size, compress.WithFormat(c.format), compress.WithBlockSize(65536))
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
	content := bbtest.MixedBytes(5*bbtest.BlockSize + 3)
	p, err := compress.NewPlan(int64(len(content)), compress.WithFormat(compress.Gzip),
		compress.WithBlockSize(bbtest.BlockSize))
	if err != nil {
		t.Fatal(err)
	}
	encode := func(p *compress.Plan, first, last int64) *compress.Piece {
		from, to := p.Input(first, last)
		piece, err := p.Encode(io.Discard, bytes.NewReader(content[from:to]), first, last)
		if err != nil {
			t.Fatal(err)
		}
		return piece
	}
	a, b, all := encode(p, 0, 2), encode(p, 2, 6), encode(p, 0, 6)
	other, err := compress.NewPlan(int64(len(content)), compress.WithFormat(compress.Gzip),
		compress.WithBlockSize(bbtest.BlockSize), compress.WithLevel(1))
	if err != nil {
		t.Fatal(err)
	}
	for name, pieces := range map[string][]*compress.Piece{
		"no piece":       {},
		"no first piece": {b},
		"no last piece":  {a},
		"a piece twice":  {a, b, b},
		"overlap":        {a, all},
		"another plan":   {a, encode(other, 2, 6)},
	} {
		if _, err := p.Trailer(pieces...); !errors.Is(err, compress.ErrOption) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	for _, blocks := range [][2]int64{{-1, 1}, {0, 0}, {2, 1}, {5, 7}, {6, 7}} {
		_, err := p.Encode(io.Discard, bytes.NewReader(content), blocks[0], blocks[1])
		if !errors.Is(err, compress.ErrOption) {
			t.Errorf("blocks %d … %d: error %v", blocks[0], blocks[1]-1, err)
		}
	}
	from, to := p.Input(2, 4)
	for _, n := range []int64{0, 1, 2*bbtest.BlockSize - 1, 2 * bbtest.BlockSize, to - from - 1} {
		_, err := p.Encode(io.Discard, bytes.NewReader(content[:n]), 2, 4)
		if !errors.Is(err, compress.ErrContentSize) {
			t.Errorf("input of %d bytes: error %v", n, err)
		}
	}
	wrong := errors.New("wrong")
	if _, err := p.Encode(brokenWriter{wrong}, bytes.NewReader(content), 0, 1); err != wrong {
		t.Errorf("broken writer: error %v", err)
	}
	if _, err := compress.NewPlan(-1); !errors.Is(err, compress.ErrOption) {
		t.Errorf("negative size: error %v", err)
	}
	if a, b := encode(p, 0, 2), bbtest.Transport(t, a); a.Size() != b.Size() {
		t.Errorf("after errors a piece of %d bytes in place of %d", a.Size(), b.Size())
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write(p []byte) (int, error) { return 0, w.err }

// FuzzPlan checks that any pieces of any content make the file that a Writer makes, and that a
// Piece accepts no other bytes than its own.
func FuzzPlan(f *testing.F) {
	f.Add(bbtest.MixedBytes(5*bbtest.BlockSize+7), uint64(1), uint8(2), uint8(1))
	f.Add(bbtest.TextBytes(4*bbtest.BlockSize, 2), uint64(2), uint8(3), uint8(6))
	f.Add([]byte{}, uint64(3), uint8(1), uint8(4))
	f.Fuzz(func(t *testing.T, content []byte, seed uint64, pipe, level uint8) {
		all := bridge.Pipelines()
		opts := []compress.WriterOption{
			bridge.Pipeline(all[int(pipe)%len(all)].Name), bridge.Frames(),
			compress.WithLevel(1 + int(level)%compress.MaxLevel),
			compress.WithBlockSize(bbtest.BlockSize), compress.WithConcurrency(2),
		}
		want, err := compress.AppendEncode(nil, content, opts...)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := compress.NewPlan(int64(len(content)), opts...)
		if err != nil {
			t.Fatal(err)
		}
		bbtest.Equal(t, bbtest.EncodePlanned(t, content, bbtest.PieceEnds(plan.Blocks(), seed),
			opts...), want, "file")

		var piece compress.Piece
		if piece.UnmarshalBinary(content) == nil {
			again, err := piece.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			bbtest.Equal(t, pieceBytes(t, bbtest.Transport(t, &piece)), again, "piece")
		}
	})
}

// TestPieceDamage flips each bit of a description.
func TestPieceDamage(t *testing.T) {
	plan, err := compress.NewPlan(3*bbtest.BlockSize, compress.WithBlockSize(bbtest.BlockSize))
	if err != nil {
		t.Fatal(err)
	}
	piece, err := plan.Encode(io.Discard, bytes.NewReader(bbtest.MixedBytes(3*bbtest.BlockSize)), 0, 3)
	if err != nil {
		t.Fatal(err)
	}
	data := pieceBytes(t, piece)
	for i := range 8 * len(data) {
		data[i/8] ^= 1 << (i % 8)
		if err := new(compress.Piece).UnmarshalBinary(data); !errors.Is(err, compress.ErrCorrupt) {
			t.Errorf("bit %d: error %v", i, err)
		}
		data[i/8] ^= 1 << (i % 8)
	}
}

// pieceBytes returns a piece as bytes.
func pieceBytes(t *testing.T, p *compress.Piece) []byte {
	data, err := p.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestReaderAtRecover restores a damaged file in ranges of blocks. Together they give what Recover
// gives for the whole file.
func TestReaderAtRecover(t *testing.T) {
	content := bbtest.MixedBytes(20*bbtest.BlockSize + 5)
	for _, f := range []compress.Format{compress.PZ, compress.Zstd} {
		zeros := compress.WithZeroFill(true)
		file := bbtest.Encode(t, content, compress.WithFormat(f), compress.WithSeekable(bbtest.BlockSize))
		ra := bbtest.OpenAt(t, file, zeros)
		n := int64(0)
		for b := range ra.Blocks() {
			n++
			if b.Number%7 == 3 {
				file[b.Offset+b.Size-9] ^= 0x10
			}
		}
		var want, got bytes.Buffer
		var wantDamage, gotDamage []string
		blocks := map[int64]bool{}
		note := func(to *[]string) func(compress.Damage) error {
			return func(d compress.Damage) error {
				d.Err = nil // a search says more exactly what is wrong
				*to = append(*to, fmt.Sprint(d))
				blocks[d.Block] = true
				return nil
			}
		}
		if err := bbtest.RecoverFrom(&want, file, note(&wantDamage), zeros); err != nil {
			t.Fatal(err)
		}
		if len(blocks) != 3 { // of a frame that is damaged a part may come back
			t.Fatalf(".%v: %d damaged blocks: %q", f, len(blocks), wantDamage)
		}
		first := int64(0)
		for _, last := range bbtest.PieceEnds(n, 5) {
			if err := ra.Recover(&got, first, last, note(&gotDamage)); err != nil {
				t.Fatal(err)
			}
			first = last
		}
		bbtest.Equal(t, got.Bytes(), want.Bytes(), f.String())
		if fmt.Sprint(gotDamage) != fmt.Sprint(wantDamage) {
			t.Errorf(".%v: damage %q in place of %q", f, gotDamage, wantDamage)
		}
		err := ra.Recover(io.Discard, 0, n, func(d compress.Damage) error { return d.Err })
		if !errors.Is(err, compress.ErrCorrupt) {
			t.Errorf(".%v: error %v", f, err)
		}
		for _, blocks := range [][2]int64{{-1, 1}, {1, 0}, {0, n + 1}} {
			if err := ra.Recover(io.Discard, blocks[0], blocks[1], nil); !errors.Is(err, compress.ErrOption) {
				t.Errorf(".%v: blocks %d … %d: %v", f, blocks[0], blocks[1]-1, err)
			}
		}
		if err := ra.Recover(io.Discard, n, n, nil); err != nil {
			t.Errorf(".%v: no blocks: %v", f, err)
		}
	}
}

// TestPosition checks that a position counts each block of content once, in all formats, and is
// never behind the blocks written.
func TestPosition(t *testing.T) {
	mixed := corpus.ByName("mixed").Make(3*bbtest.BlockSize + 1)
	content := append(append(mixed, make([]byte, 2*bbtest.BlockSize)...),
		corpus.ByName("random").Make(bbtest.BlockSize)...)
	size := int64(len(content))
	for _, format := range []compress.Format{compress.PZ, compress.Gzip, compress.Zstd} {
		for level := compress.MinLevel; level <= compress.MaxLevel; level++ {
			if !testenv.All() && level%4 != int(format)%4 {
				continue // each finder is in the list of one format
			}
			for name, more := range map[string][]compress.WriterOption{
				"":         nil,
				"auto":     {compress.WithTuning(compress.TuneAuto)},
				"long":     {compress.WithLongDistance(1 << 20)},
				"large":    {compress.WithBlockSize(1 << 17)},
				"1 worker": {compress.WithConcurrency(1)},
			} {
				if name == "long" && format != compress.PZ {
					continue
				}
				t.Run(fmt.Sprint(format, level, name), func(t *testing.T) {
					var n atomic.Int64
					check := compress.WithProgress(func(p compress.Progress) {
						if at := n.Load(); at < p.Content || at > size {
							t.Errorf("position %d of %d with %d bytes written", at, size, p.Content)
						}
					})
					opts := append([]compress.WriterOption{compress.WithFormat(format),
						compress.WithLevel(level), check, bridge.Position(&n),
						compress.WithBlockSize(bbtest.BlockSize)}, more...)
					bbtest.Encode(t, content, opts...)
					if got := n.Load(); got != size {
						t.Errorf("Writer: position %d, want %d", got, size)
					}
					n.Store(0)
					if _, err := compress.AppendEncode(
						nil, content, opts...,
					); err != nil || n.Load() != size {
						t.Errorf("AppendEncode: position %d, want %d; %v", n.Load(), size, err)
					}
				})
			}
		}
	}
}

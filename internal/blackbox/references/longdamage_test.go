package references

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// damaged returns a copy of file with a flipped bit in the payload of a block.
func damaged(file []byte, b compress.BlockInfo) []byte {
	bad := slices.Clone(file)
	bad[b.Offset+b.Size-1] ^= 1
	return bad
}

// TestLongDistanceRecover damages each block. It costs the block, and what later blocks repeat of
// it, with an intact index and without one. The header states how much content there is.
func TestLongDistanceRecover(t *testing.T) {
	content := bbtest.VersionsOf(12, 5000, 3)
	opts := append(longOptions(), compress.WithContentSize(int64(len(content))))
	file := bbtest.Encode(t, content, opts...)
	spread := 0 // blocks whose damage others share
	var blocks []compress.BlockInfo
	for b := range bbtest.OpenAt(t, file).Blocks() {
		blocks = append(blocks, b)
	}
	for k, b := range blocks {
		for _, cut := range []int{0, 40} { // of the index
			bad := damaged(file, b)
			bad = bad[:len(bad)-cut]
			filled, list := bbtest.RecoverAll(t, bad, compress.WithZeroFill(true))
			if len(filled) != len(content) {
				t.Fatalf("block %d: %d bytes, want %d", k, len(filled), len(content))
			}
			lost, at := int64(0), int64(0)
			for _, d := range list {
				if d.Kind == compress.DamageFrame {
					continue
				}
				bbtest.Equal(t, filled[at:d.ContentOffset], content[at:d.ContentOffset], "between damage")
				size := d.Content
				if d.Kind == compress.DamageWindow {
					size = d.Span
					spread++
				}
				at = d.ContentOffset + size
				wrong := int64(0)
				for i := d.ContentOffset; i < at; i++ {
					if filled[i] != content[i] {
						wrong++
					}
				}
				if wrong > d.Content {
					t.Errorf("block %d: %d bytes are lost, reported are %d", k, wrong, d.Content)
				}
				if d.Kind == compress.DamageWindow && !errors.Is(d.Err, compress.ErrCorrupt) {
					t.Errorf("block %d: %v", k, d.Err)
				}
				lost += d.Content
			}
			bbtest.Equal(t, filled[at:], content[at:], "behind the damage")
			got, _ := bbtest.RecoverAll(t, bad)
			if int64(len(got)) != int64(len(content))-lost {
				t.Errorf("block %d: saved %d bytes of %d, %d are lost", k, len(got), len(content), lost)
			}
			if len(list) == 0 || list[0].Kind == compress.DamageWindow {
				t.Errorf("block %d: %+v", k, list)
			}
		}
		// Other readers stop at the block, or fail where they need it.
		got, err := bbtest.Decode(damaged(file, b), compress.WithConcurrency(2))
		if !bbtest.IsDamage(err) || !bytes.Equal(got, content[:b.ContentOffset]) {
			t.Errorf("block %d: Reader: %d bytes, %v", k, len(got), err)
		}
		r := bbtest.OpenAt(t, damaged(file, b))
		for _, c := range blocks {
			p := make([]byte, c.Content)
			_, err := r.ReadAt(p, c.ContentOffset)
			var e *compress.Error
			switch {
			case err == nil && c.Number != b.Number && bytes.Equal(p, content[c.ContentOffset:][:len(p)]):
			case err == nil || !errors.As(err, &e) || e.Block != c.Number || !bbtest.IsDamage(err):
				t.Errorf("block %d of a file with damage to %d: %v", c.Number, b.Number, err)
			}
		}
	}
	if spread < 10 {
		t.Errorf("%d blocks repeat others", spread)
	}
}

// TestLongDistanceHeader recovers a stream whose header and index are lost, in front of another one
// and behind one. Its blocks must not repeat blocks of the others.
func TestLongDistanceHeader(t *testing.T) {
	a, b := bbtest.VersionsOf(12, 5000, 3), bbtest.VersionsOf(9, 6000, 3)
	one, two := bbtest.Encode(t, a, longOptions()...), bbtest.Encode(t, b, longOptions()...)
	bad := slices.Concat(one, two, one)
	for at := range 12 {
		p := slices.Clone(bad)
		p[at] ^= 0xff
		p[len(one)+at] ^= 0xff
		p = p[:len(p)-1]
		got, list := bbtest.RecoverAll(t, p)
		if want := slices.Concat(a, b, a); !bytes.Equal(got, want) {
			t.Errorf("byte %d of headers: %d bytes of %d, %+v", at, len(got), len(want), list)
		}
	}
}

// TestLongDistanceBitFlips flips bits all over a file. All readers report that.
func TestLongDistanceBitFlips(t *testing.T) {
	piece := bbtest.TextBytes(3000, 1)
	content := slices.Concat(piece, make([]byte, 4000), piece, bbtest.TextBytes(3000, 2), piece)
	file := bbtest.Encode(t, content, compress.WithLongDistance(compress.MinWindow),
		compress.WithBlockSize(bbtest.BlockSize))
	one, two := bbtest.NewReader(t, nil, compress.WithConcurrency(1)),
		bbtest.NewReader(t, nil, compress.WithConcurrency(3))
	step := 1
	if testenv.Race {
		step = 7
	}
	for bit := 0; bit < 8*len(file); bit += step {
		bad := slices.Clone(file)
		bad[bit/8] ^= 1 << (bit % 8)
		one.Reset(bytes.NewReader(bad))
		got, err := io.ReadAll(one)
		if !bbtest.IsDamage(err) || !bytes.HasPrefix(content, got) {
			t.Fatalf("bit %d: %d bytes, %v", bit, len(got), err)
		}
		two.Reset(bytes.NewReader(bad))
		if more, merr := io.ReadAll(two); len(more) != len(got) || merr.Error() != err.Error() {
			t.Fatalf("bit %d: %v with one worker, %v with three", bit, err, merr)
		}
		if bit%5 != 0 {
			continue
		}
		r, err := bbtest.OpenFile(bad, compress.WithConcurrency(2))
		if err == nil {
			p := make([]byte, len(content))
			var n int
			n, err = r.ReadAt(p, 0)
			if !bytes.Equal(p[:n], content[:n]) {
				t.Fatalf("bit %d: ReaderAt: wrong content", bit)
			}
			r.Close()
		}
		if !bbtest.IsDamage(err) {
			t.Fatalf("bit %d: ReaderAt: %v", bit, err)
		}
	}
}

// TestLongDistanceForeignSource puts a block of another file in the place of a source. All blocks
// are intact, and yet what the second one repeats is wrong: it counts as lost.
func TestLongDistanceForeignSource(t *testing.T) {
	twice := func(seed uint64) (content, file []byte, blocks []compress.BlockInfo) {
		part := corpus.ByName("random").MakeSeed(1<<13, seed)
		content = slices.Concat(part, part)
		file = bbtest.Encode(t, content, longOptions()...)
		for b := range bbtest.OpenAt(t, file).Blocks() {
			blocks = append(blocks, b)
		}
		return content, file, blocks
	}
	content, file, blocks := twice(1)
	_, other, _ := twice(2)
	first := blocks[0]
	bad := slices.Clone(file)
	copy(bad[first.Offset:first.Offset+first.Size], other[first.Offset:])
	if _, err := bbtest.Decode(bad); !errors.Is(err, compress.ErrChecksum) {
		t.Errorf("Reader: %v", err)
	}
	filled, list := bbtest.RecoverAll(t, bad, compress.WithZeroFill(true))
	if len(list) != 1 || list[0].Kind != compress.DamageWindow || list[0].Content == 0 ||
		!errors.Is(list[0].Err, compress.ErrChecksum) {
		t.Fatalf("%+v", list)
	}
	for i := len(content) / 2; i < len(content); i++ {
		if filled[i] != content[i] && filled[i] != 0 {
			t.Fatalf("byte %d is wrong", i)
		}
	}
}

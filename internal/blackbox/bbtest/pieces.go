package bbtest

import (
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress"
)

// FlushBlock is the block size of tests with flushes, in bytes. Pieces of half a block are long for
// an lz77.Incremental.
const FlushBlock = 32 << 10

// SplitAtRandom cuts content at random places: mostly short pieces, some longer than a block.
func SplitAtRandom(content []byte, r *rand.Rand) (pieces [][]byte) {
	for len(content) > 0 {
		n := r.IntN(300)
		switch r.IntN(20) {
		case 0:
			n = r.IntN(20_000)
		case 1:
			n = r.IntN(3 * FlushBlock)
		case 2:
			n = FlushBlock
		case 3:
			n = 1
		}
		n = min(n, len(content))
		pieces, content = append(pieces, content[:n]), content[n:]
	}
	return pieces
}

// FlushPieces writes pieces with a Flush after each, in writes of at most chunk bytes. It returns
// the file and its size after each Flush.
func FlushPieces(
	t testing.TB, pieces [][]byte, chunk int, opts ...compress.WriterOption,
) (file []byte, sizes []int) {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(t, &b, opts...)
	for _, p := range pieces {
		for len(p) > 0 {
			n := min(chunk, len(p))
			if _, err := w.Write(p[:n]); err != nil {
				t.Fatal(err)
			}
			p = p[n:]
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, b.Len())
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), sizes
}

// DecodeAll decompresses a file with a Reader, and fails the test on an error.
func DecodeAll(t testing.TB, file []byte) []byte {
	t.Helper()
	got, err := io.ReadAll(NewReader(t, bytes.NewReader(file)))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// EncodePlanned compresses content in pieces that end at the given blocks, and joins them. The
// descriptions of pieces travel as bytes, and in reverse order.
func EncodePlanned(t testing.TB, content []byte, ends []int64, opts ...compress.WriterOption) []byte {
	t.Helper()
	p, err := compress.NewPlan(int64(len(content)), opts...)
	if err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	var pieces []*compress.Piece
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
		pieces = append([]*compress.Piece{Transport(t, piece)}, pieces...)
		first = last
	}
	trailer, err := p.Trailer(pieces...)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(p.Header(), body.Bytes(), trailer)
}

// Transport returns what arrives of a piece as bytes.
func Transport(t testing.TB, p *compress.Piece) *compress.Piece {
	t.Helper()
	data, err := p.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var q compress.Piece
	if err := q.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	return &q
}

// PieceEnds returns ends of pieces for so many blocks, chosen by a seed.
func PieceEnds(blocks int64, seed uint64) (ends []int64) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	for at := int64(0); at < blocks; {
		at = min(blocks, at+1+rnd.Int64N(5))
		ends = append(ends, at)
	}
	return ends
}

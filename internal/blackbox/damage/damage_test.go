// Package damage tests what readers make of damaged and hostile files, and of readers and writers
// that fail, through the public API.
package damage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/internal/testenv"
)

// TestBitFlips checks that each flipped bit gives an error of the right type and no wrong content,
// and that all readers agree.
func TestBitFlips(t *testing.T) {
	file, content, _ := bbtest.DamageFile(t)
	bits := len(file) * 8
	step := 1
	if !testenv.All() {
		step = 13
	}
	var readers []*compress.Reader
	for _, workers := range bbtest.WorkerCounts {
		readers = append(readers, bbtest.NewReader(t, nil, compress.WithConcurrency(workers)))
	}
	var out bytes.Buffer
	for bit := 0; bit < bits; bit += step {
		bad := slices.Clone(file)
		bad[bit/8] ^= 1 << (bit % 8)
		var first error
		var size int
		for i, r := range readers {
			r.Reset(bytes.NewReader(bad))
			out.Reset()
			_, err := r.WriteTo(&out)
			if !bbtest.IsDamage(err) {
				t.Fatalf("bit %d: error %v is none for damage", bit, err)
			}
			if !bytes.HasPrefix(content, out.Bytes()) {
				t.Fatalf("bit %d: wrong content", bit)
			}
			if i == 0 {
				first, size = err, out.Len()
			} else if err.Error() != first.Error() || out.Len() != size {
				t.Fatalf("bit %d: %d bytes and %q with one worker, %d bytes and %q with %d workers",
					bit, size, first, out.Len(), err, bbtest.WorkerCounts[i])
			}
		}
		got, err := compress.AppendDecode(nil, bad)
		if err == nil || err.Error() != first.Error() || len(got) != size {
			t.Fatalf("bit %d: AppendDecode: %d bytes, %v; Reader: %d bytes, %v",
				bit, len(got), err, size, first)
		}
	}
}

// TestBitFlipsReaderAt checks that a ReaderAt reports a flipped bit, when it opens the file or when
// it reads the block.
func TestBitFlipsReaderAt(t *testing.T) {
	file, content, _ := bbtest.DamageFile(t)
	got := make([]byte, len(content))
	for bit := 0; bit < len(file)*8; bit += 3 {
		bad := slices.Clone(file)
		bad[bit/8] ^= 1 << (bit % 8)
		r, err := bbtest.OpenFile(bad, compress.WithConcurrency(2))
		if err == nil {
			var n int
			n, err = r.ReadAt(got, 0)
			if !bytes.Equal(got[:n], content[:n]) {
				t.Fatalf("bit %d: wrong content", bit)
			}
			r.Close()
		}
		if !bbtest.IsDamage(err) {
			t.Fatalf("bit %d: error %v is none for damage", bit, err)
		}
	}
}

// TestTruncation cuts the file at every byte.
func TestTruncation(t *testing.T) {
	testenv.Slow(t)
	file, content, ends := bbtest.DamageFile(t)
	for _, workers := range bbtest.WorkerCounts {
		r := bbtest.NewReader(t, nil, compress.WithConcurrency(workers))
		for n := 0; n < len(file); n++ {
			if slices.Contains(ends, n) {
				continue // all streams are whole
			}
			r.Reset(bytes.NewReader(file[:n]))
			got, err := io.ReadAll(r)
			if !errors.Is(err, compress.ErrTruncated) || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%d bytes: %v", n, err)
			}
			if !bytes.HasPrefix(content, got) {
				t.Fatalf("%d bytes: wrong content", n)
			}
			if _, err := compress.AppendDecode(nil, file[:n]); !errors.Is(err, compress.ErrTruncated) {
				t.Fatalf("%d bytes: AppendDecode: %v", n, err)
			}
			_, atErr := compress.NewReaderAt(bytes.NewReader(file[:n]), int64(n))
			if !errors.Is(atErr, compress.ErrTruncated) {
				t.Fatalf("%d bytes: NewReaderAt: %v", n, atErr)
			}
			var e, ae *compress.Error
			if !errors.As(err, &e) || !errors.As(atErr, &ae) || ae.Stream != e.Stream ||
				ae.Block != e.Block ||
				ae.Offset != e.Offset ||
				ae.Offset > int64(n) {
				t.Fatalf("%d bytes: Reader: %v; NewReaderAt: %v", n, err, atErr)
			}
			// The file has become shorter than the caller says.
			if r, err := compress.NewReaderAt(bytes.NewReader(file[:n]), int64(len(file))); err == nil {
				t.Fatalf("%d bytes: NewReaderAt with a wrong size: %v", n, r.Info())
			}
		}
	}
}

// TestContentBeforeDamage checks that readers return all blocks in front of a damaged one, and that
// a ReaderAt returns those behind it too.
func TestContentBeforeDamage(t *testing.T) {
	content := bbtest.MixedBytes(16 * bbtest.BlockSize)
	file := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize))
	var at []int64
	for b := range bbtest.OpenAt(t, file).Blocks() {
		at = append(at, b.Offset)
	}
	for k, offset := range at {
		for _, where := range []int64{0, 5, 9, 13, pzfile.BlockHeaderSize} {
			bad := slices.Clone(file)
			bad[offset+where] ^= 1
			for _, workers := range bbtest.WorkerCounts {
				got, err := bbtest.Decode(bad, compress.WithConcurrency(workers))
				var e *compress.Error
				if !errors.As(err, &e) || !errors.Is(err, compress.ErrCorrupt) || e.Block != int64(k) ||
					e.Offset != offset {
					t.Fatalf("block %d: %v", k, err)
				}
				bbtest.Equal(t, got, content[:k*bbtest.BlockSize], fmt.Sprint("block ", k))
			}
			r := bbtest.OpenAt(t, bad)
			for i := range at {
				p := make([]byte, bbtest.BlockSize)
				n, err := r.ReadAt(p, int64(i*bbtest.BlockSize))
				if i == k {
					if !errors.Is(err, compress.ErrCorrupt) || n != 0 {
						t.Fatalf("block %d: %v", k, err)
					}
				} else if err != nil || !bytes.Equal(p, content[i*bbtest.BlockSize:(i+1)*bbtest.BlockSize]) {
					t.Fatalf("block %d with block %d damaged: %v", i, k, err)
				}
			}
		}
	}
}

// TestSwappedBlocks checks that the check of a block covers its number.
func TestSwappedBlocks(t *testing.T) {
	file := bbtest.Encode(t, bbtest.RandomBytes(3*bbtest.BlockSize, 1),
		compress.WithBlockSize(bbtest.BlockSize))
	const size = pzfile.BlockHeaderSize + bbtest.BlockSize
	a, b := file[pzfile.MinHeaderSize:][:size], file[pzfile.MinHeaderSize+size:][:size]
	bad := slices.Concat(file[:pzfile.MinHeaderSize], b, a, file[pzfile.MinHeaderSize+2*size:])
	if _, err := bbtest.Decode(bad); !errors.Is(err, compress.ErrChecksum) {
		t.Errorf("error %v, want ErrChecksum", err)
	}
}

// TestIgnoreChecksum checks that WithChecksum(false) makes all readers accept wrong checks.
func TestIgnoreChecksum(t *testing.T) {
	content := bbtest.RandomBytes(3*bbtest.BlockSize, 1)
	file := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize))
	file[pzfile.MinHeaderSize+pzfile.BlockHeaderSize+5] ^= 1
	content[5] ^= 1
	if _, err := bbtest.Decode(file); !errors.Is(err, compress.ErrChecksum) {
		t.Errorf("error %v, want ErrChecksum", err)
	}
	bbtest.CheckAllReaders(t, file, content, compress.WithChecksum(false))
}

package compress

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/internal/testenv"
)

// damageFile returns a file, its content, and the ends of its streams. Two streams have several blocks.
// In the second one flushes end blocks of all kinds. Small streams of all kinds surround it.
func damageFile(t testing.TB) (file, content []byte, ends []int) {
	a := slices.Concat(textBytes(testBlock, 1), make([]byte, testBlock), randomBytes(90, 2))
	pieces := [][]byte{textBytes(20, 3), textBytes(700, 4), make([]byte, 50), textBytes(30, 5)}
	b := slices.Concat(pieces...)
	one := encode(t, a, WithBlockSize(testBlock))
	two, _ := flushPieces(t, pieces, len(b), WithBlockSize(testBlock), WithContentSize(int64(len(b))))
	streams := [][]byte{one}
	content = a
	add := func(p []byte, opts ...Option) {
		streams = append(streams, encode(t, p, opts...))
		content = append(content, p...)
	}
	add(textBytes(300, 6))
	add(make([]byte, 50))
	add(nil)
	streams, content = append(streams, two), append(content, b...)
	add(textBytes(20, 7), WithPipeline("lzr"))
	add(textBytes(200, 8), WithPipeline("lzr"))
	for _, p := range streams {
		file = append(file, p...)
		ends = append(ends, len(file))
	}
	return file, content, ends
}

// isDamage reports whether err is one of the errors that a damaged file may give.
func isDamage(err error) bool {
	kinds := []error{ErrFormat, ErrVersion, ErrChecksum, ErrCorrupt, ErrTruncated}
	return slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(err, kind) })
}

// TestBitFlips checks that each flipped bit gives an error of the right type and no wrong content,
// and that all readers agree.
func TestBitFlips(t *testing.T) {
	file, content, _ := damageFile(t)
	bits := len(file) * 8
	step := 1
	if !testenv.All() {
		step = 13
	}
	var readers []*Reader
	for _, workers := range workerCounts {
		readers = append(readers, newReader(t, nil, WithConcurrency(workers)))
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
			if !isDamage(err) {
				t.Fatalf("bit %d: error %v is none for damage", bit, err)
			}
			if !bytes.HasPrefix(content, out.Bytes()) {
				t.Fatalf("bit %d: wrong content", bit)
			}
			if i == 0 {
				first, size = err, out.Len()
			} else if err.Error() != first.Error() || out.Len() != size {
				t.Fatalf("bit %d: %d bytes and %q with one worker, %d bytes and %q with %d workers",
					bit, size, first, out.Len(), err, workerCounts[i])
			}
		}
		got, err := AppendDecode(nil, bad)
		if err == nil || err.Error() != first.Error() || len(got) != size {
			t.Fatalf("bit %d: AppendDecode: %d bytes, %v; Reader: %d bytes, %v",
				bit, len(got), err, size, first)
		}
	}
}

// TestBitFlipsReaderAt checks that a ReaderAt reports a flipped bit, when it opens the file or when
// it reads the block.
func TestBitFlipsReaderAt(t *testing.T) {
	file, content, _ := damageFile(t)
	got := make([]byte, len(content))
	for bit := 0; bit < len(file)*8; bit += 3 {
		bad := slices.Clone(file)
		bad[bit/8] ^= 1 << (bit % 8)
		r, err := openFile(bad, WithConcurrency(2))
		if err == nil {
			var n int
			n, err = r.ReadAt(got, 0)
			if !bytes.Equal(got[:n], content[:n]) {
				t.Fatalf("bit %d: wrong content", bit)
			}
			r.Close()
		}
		if !isDamage(err) {
			t.Fatalf("bit %d: error %v is none for damage", bit, err)
		}
	}
}

// TestTruncation cuts the file at every byte.
func TestTruncation(t *testing.T) {
	testenv.Slow(t)
	file, content, ends := damageFile(t)
	for _, workers := range workerCounts {
		r := newReader(t, nil, WithConcurrency(workers))
		for n := 0; n < len(file); n++ {
			if slices.Contains(ends, n) {
				continue // all streams are whole
			}
			r.Reset(bytes.NewReader(file[:n]))
			got, err := io.ReadAll(r)
			if !errors.Is(err, ErrTruncated) || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%d bytes: %v", n, err)
			}
			if !bytes.HasPrefix(content, got) {
				t.Fatalf("%d bytes: wrong content", n)
			}
			if _, err := AppendDecode(nil, file[:n]); !errors.Is(err, ErrTruncated) {
				t.Fatalf("%d bytes: AppendDecode: %v", n, err)
			}
			_, atErr := NewReaderAt(bytes.NewReader(file[:n]), int64(n))
			if !errors.Is(atErr, ErrTruncated) {
				t.Fatalf("%d bytes: NewReaderAt: %v", n, atErr)
			}
			var e, ae *Error
			if !errors.As(err, &e) || !errors.As(atErr, &ae) || ae.Stream != e.Stream ||
				ae.Block != e.Block ||
				ae.Offset != e.Offset ||
				ae.Offset > int64(n) {
				t.Fatalf("%d bytes: Reader: %v; NewReaderAt: %v", n, err, atErr)
			}
			// The file has become shorter than the caller says.
			if r, err := NewReaderAt(bytes.NewReader(file[:n]), int64(len(file))); err == nil {
				t.Fatalf("%d bytes: NewReaderAt with a wrong size: %v", n, r.Info())
			}
		}
	}
}

// TestContentBeforeDamage checks that readers return all blocks in front of a damaged one, and that
// a ReaderAt returns those behind it too.
func TestContentBeforeDamage(t *testing.T) {
	content := mixedBytes(16 * testBlock)
	file := encode(t, content, WithBlockSize(testBlock))
	var at []int64
	for b := range openAt(t, file).Blocks() {
		at = append(at, b.Offset)
	}
	for k, offset := range at {
		for _, where := range []int64{0, 5, 9, 13, pzfile.BlockHeaderSize} {
			bad := slices.Clone(file)
			bad[offset+where] ^= 1
			for _, workers := range workerCounts {
				got, err := decode(bad, WithConcurrency(workers))
				var e *Error
				if !errors.As(err, &e) || !errors.Is(err, ErrCorrupt) || e.Block != int64(k) ||
					e.Offset != offset {
					t.Fatalf("block %d: %v", k, err)
				}
				equal(t, got, content[:k*testBlock], fmt.Sprint("block ", k))
			}
			r := openAt(t, bad)
			for i := range at {
				p := make([]byte, testBlock)
				n, err := r.ReadAt(p, int64(i*testBlock))
				if i == k {
					if !errors.Is(err, ErrCorrupt) || n != 0 {
						t.Fatalf("block %d: %v", k, err)
					}
				} else if err != nil || !bytes.Equal(p, content[i*testBlock:(i+1)*testBlock]) {
					t.Fatalf("block %d with block %d damaged: %v", i, k, err)
				}
			}
		}
	}
}

// TestSwappedBlocks checks that the check of a block covers its number.
func TestSwappedBlocks(t *testing.T) {
	file := encode(t, randomBytes(3*testBlock, 1), WithBlockSize(testBlock))
	const size = pzfile.BlockHeaderSize + testBlock
	a, b := file[pzfile.MinHeaderSize:][:size], file[pzfile.MinHeaderSize+size:][:size]
	bad := slices.Concat(file[:pzfile.MinHeaderSize], b, a, file[pzfile.MinHeaderSize+2*size:])
	if _, err := decode(bad); !errors.Is(err, ErrChecksum) {
		t.Errorf("error %v, want ErrChecksum", err)
	}
}

// TestIgnoreChecksum checks that WithChecksum(false) makes all readers accept wrong checks.
func TestIgnoreChecksum(t *testing.T) {
	content := randomBytes(3*testBlock, 1)
	file := encode(t, content, WithBlockSize(testBlock))
	file[pzfile.MinHeaderSize+pzfile.BlockHeaderSize+5] ^= 1
	content[5] ^= 1
	if _, err := decode(file); !errors.Is(err, ErrChecksum) {
		t.Errorf("error %v, want ErrChecksum", err)
	}
	checkAllReaders(t, file, content, WithChecksum(false))
}

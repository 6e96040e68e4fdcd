package refdec

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/testenv"
)

func goldenFiles(t testing.TB) map[string][]byte { return filesIn(t, "golden") }

// filesIn returns the .pz files in a directory of testdata.
func filesIn(t testing.TB, dir string) map[string][]byte { return filesOf(t, dir, ".pz") }

// filesOf returns the files in a directory of testdata that have an extension.
func filesOf(t testing.TB, dir, extension string) map[string][]byte {
	paths, err := filepath.Glob(filepath.Join("..", "..", "testdata", dir, "*"+extension))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no %s files in %s: %v", extension, dir, err)
	}
	files := make(map[string][]byte)
	for _, path := range paths {
		files[filepath.Base(path)], err = os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestGolden decodes the golden files with the decoder of this package, and in all ways that the
// library has.
func TestGolden(t *testing.T) {
	for name, file := range goldenFiles(t) {
		t.Run(name, func(t *testing.T) {
			content, err := agree(t, file)
			if err != nil {
				t.Fatal(err)
			}
			if err := readers(file, content); err != nil {
				t.Error(err)
			}
			if len(content) > 8<<20 && !testenv.All() {
				return
			}
			if _, err := agree(t, append(file[:len(file):len(file)], file...)); err != nil {
				t.Errorf("concatenated with itself: %v", err)
			}
		})
	}
}

// readers returns an error if Readers and a ReaderAt do not read the content from a file.
func readers(file, content []byte) error {
	for _, n := range []int{1, 3} {
		got, err := readAll(file, n)
		if err != nil || !bytes.Equal(got, content) {
			return fmt.Errorf("Reader with %d workers: %d bytes of %d, %w", n, len(got), len(content), err)
		}
	}
	r, err := openAt(file)
	if err != nil {
		return err
	}
	defer r.Close()
	got, err := io.ReadAll(io.NewSectionReader(r, 0, r.Size()))
	if err != nil || !bytes.Equal(got, content) {
		return fmt.Errorf("ReaderAt: %d bytes of %d, %w", len(got), len(content), err)
	}
	random := rand.New(rand.NewPCG(1, 0))
	for range min(50, len(content)) {
		at := random.IntN(len(content))
		p := make([]byte, min(len(content)-at, 1+random.IntN(10_000)))
		if _, err := r.ReadAt(p, int64(at)); err != nil || !bytes.Equal(p, content[at:at+len(p)]) {
			return fmt.Errorf("ReadAt of %d bytes at %d: %w", len(p), at, err)
		}
	}
	return nil
}

// options returns those of all decoders of the library.
func options() []compress.ReaderOption {
	return []compress.ReaderOption{jsonDictionary().option(), compress.WithMaxMemory(plenty)}
}

// readAll returns what a Reader with n workers reads.
func readAll(file []byte, n int) ([]byte, error) {
	src := struct{ io.Reader }{bytes.NewReader(file)}
	r, err := compress.NewReader(src, append(options(), compress.WithConcurrency(n))...)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func openAt(file []byte) (*compress.ReaderAt, error) {
	return compress.NewReaderAt(bytes.NewReader(file), int64(len(file)), options()...)
}

// TestManyBlocks decodes a stream with more blocks than a short header counts. Its last block
// repeats the first one, from as far away as is allowed. Its bytes are pinned as those of golden
// files are.
func TestManyBlocks(t *testing.T) {
	const last = 1<<16 + 1
	pieces := slices.Repeat([]contentBlock{fill('x', 1).short()}, last+1)
	text := []byte(house)
	pieces[1] = stored(text)
	pieces[1<<16] = fill('y', 2)
	pieces[last] = codedPiece(list([]int{1 << 16}, [][4]int{{0, len(text), 0, 0}}, kindEmpty, nil), text)
	var b builder
	b.stream(streamHead(12, flagContentChecks|flagWindow, minLogWindow, 1), pieces...)
	const want = "cf84308a30d70899ae01499b8261b0075eb30072791be1901f94914eaee75964"
	if got := fmt.Sprintf("%x", sha256.Sum256(b.file)); got != want {
		t.Errorf("%d bytes with SHA-256 %s, want %s", len(b.file), got, want)
	}
	if got, err := agree(t, b.file); err != nil || !bytes.Equal(got, b.content) {
		t.Fatalf("%d bytes, %v, want %d", len(got), err, len(b.content))
	}
	if err := readers(b.file, b.content); err != nil {
		t.Error(err)
	}
	if testenv.Emulated() {
		return
	}
	got, err := decodePython(t, testenv.Tool(t, "python3"), b.file)
	if err != nil || !bytes.Equal(got, b.content) {
		t.Errorf("decode.py: %d bytes, %v, want %d", len(got), err, len(b.content))
	}
	// The same with a source that is one block farther away.
	pieces[last].block.payload = list([]int{1<<16 + 1}, [][4]int{{0, len(text), 0, 0}}, kindEmpty, nil)
	pieces[0] = pieces[1]
	b = builder{}
	b.stream(streamHead(12, flagContentChecks|flagWindow, minLogWindow, 1), pieces...)
	if _, err := agree(t, b.file); err == nil {
		t.Error("a source 65,537 blocks away is accepted")
	}
}

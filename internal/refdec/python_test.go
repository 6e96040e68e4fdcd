package refdec

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// decodePython decodes a file with decode.py. Its author knew FORMAT.md and no other decoder.
func decodePython(t *testing.T, python string, file []byte) (content []byte, err error) {
	t.Helper()
	return decodePythonWith(t, python, file, nil)
}

// decodePythonWith is decodePython with a dictionary, nil for that of all tests.
func decodePythonWith(t *testing.T, python string, file, dictionary []byte) (content []byte, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.pz")
	if err := os.WriteFile(path, file, 0o666); err != nil {
		t.Fatal(err)
	}
	dict := filepath.Join("..", "..", "testdata", "dictionary", "json.dict")
	if dictionary != nil {
		dict = path + ".dict"
		if err := os.WriteFile(dict, dictionary, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return exec.Command(python, "decode.py", "--dictionary", dict, path).Output()
}

// TestPython decodes the golden files with decode.py, and some damaged ones. It must agree with the
// decoders in Go.
func TestPython(t *testing.T) {
	testenv.Slow(t)
	python := testenv.Tool(t, "python3")
	flips := 0
	if testenv.All() {
		flips = 5
	}
	for name, file := range goldenFiles(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, uint64(len(file))))
			for i := range 1 + flips {
				bad := slices.Clone(file)
				if i > 0 {
					bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
				}
				want, werr := agree(t, bad)
				got, err := decodePython(t, python, bad)
				if !bytes.Equal(got, want) || (err == nil) != (werr == nil) {
					t.Errorf("decode.py: %d bytes, %v; refdec: %d bytes, %v", len(got), err, len(want), werr)
				}
			}
		})
	}
}

package parity

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write missing golden files")

// TestGolden heals golden files. They must stay so for ever. One has the code over GF(2^16) with
// small slices, and is compared with FORMAT.md. The other has two zones as a Writer makes them,
// with which internal/refdec compares it.
func TestGolden(t *testing.T) {
	golden := filepath.Join("..", "testdata", "golden")
	zone, err := os.ReadFile(filepath.Join(golden, "literals.pz"))
	if err != nil {
		t.Fatal(err)
	}
	const slices, parity = 213, 44
	large := append(bytes.Clone(zone), specSection(zone, 0, 64, parity, false, true)...)
	path := filepath.Join(golden, "built-parity-16.pz")
	file, err := os.ReadFile(path)
	if os.IsNotExist(err) && *update {
		file, err = large, os.WriteFile(path, large, 0o666)
	}
	if err != nil || !bytes.Equal(file, large) || (len(zone)+63)/64 != slices {
		t.Fatalf("%s: %d bytes, %v, differ from %d of FORMAT.md", path, len(file), err, len(large))
	}
	heal(t, file, 3*64, parity*64)

	file, err = os.ReadFile(filepath.Join(golden, "built-parity.pz"))
	if err != nil {
		t.Fatal(err)
	}
	heal(t, file, 0, 7*64)
}

// heal damages n bytes of a file at an offset and repairs them.
func heal(t *testing.T, file []byte, at, n int) {
	t.Helper()
	if !checkRepaired(t, "as it is", file, file).Intact() {
		t.Error("a golden file is not intact")
	}
	bad := bytes.Clone(file)
	clear(bad[at : at+n])
	checkRepaired(t, "damaged", bad, file)
}

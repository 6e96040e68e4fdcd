package parity

import (
	"bytes"
	"encoding/binary"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write missing golden files")

// TestGolden compares the sections of golden files with FORMAT.md and heals the files. They must
// stay so for ever. One has two zones as the Writer makes them. The other has the code over
// GF(2^16) with small slices.
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
	rest := file
	for _, last := range []bool{false, true} {
		at := bytes.Index(rest, []byte("PZ\x01\x00\x81"))
		if at < 0 {
			t.Fatal("no section")
		}
		size := int(binary.LittleEndian.Uint64(rest[at+5:]))
		// The zones have 1.6 KB: 25 or 26 slices, and a quarter of it as parity.
		want := specSection(rest[:at], uint64(len(file)-len(rest)), 64, 7, false, last)
		if got := rest[at:][:size]; !bytes.Equal(got, want) {
			t.Errorf("zone of %d bytes: section of %d bytes, want %d", at, len(got), len(want))
		}
		rest = rest[at+size:]
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

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
	if r, err := Verify(bytes.NewReader(file), int64(len(file))); err != nil || !r.Intact() {
		t.Errorf("Verify: %+v, %v", r, err)
	}
	bad := bytes.Clone(file)
	clear(bad[at : at+n])
	got, r, err := repaired(t, bad)
	if err != nil || !bytes.Equal(got, file) {
		t.Errorf("Repair: %d bytes, %+v, %v", len(got), r, err)
	}
}

// TestPacketRules breaks the rules of a packet's header, one at a time.
func TestPacketRules(t *testing.T) {
	le := binary.LittleEndian
	g := geometry{offset: 1 << 20, size: 1 << 20, slice: 1 << 10, parity: 100, last: true}
	whole := g.appendPacketHeader(nil, 7, make([]byte, 64))
	field := func(at, size int, value uint64) []byte {
		p := bytes.Clone(whole)
		copy(p[at:at+size], le.AppendUint64(nil, value))
		le.PutUint32(p[44:], checksum(p[:44]))
		return p
	}
	last := uint64(g.packets() - 1)
	for _, c := range []struct {
		name  string
		valid bool
		p     []byte
	}{
		{"as it is", true, whole},
		{"first byte", false, field(0, 1, 'p')},
		{"place 2^62", true, field(8, 8, 1<<62)},
		{"place above 2^62", false, field(8, 8, 1<<62+1)},
		{"empty zone", false, field(24, 4, 0)},
		{"zone above 256 MiB", false, field(24, 4, 1<<28+1)},
		{"zone of 16,384 slices", true, field(24, 4, 1<<24)},
		{"zone of 16,385 slices", false, field(24, 4, 1<<24+1)},
		{"slices of 0 bytes", false, field(28, 4, 0)},
		{"slices of 65,536 bytes", false, field(28, 4, 1<<16)}, // 16 of them, so M is too large
		{"slices of 8,192 bytes", true, field(28, 4, 1<<13)},   // 128 of them
		{"slices of 65,600 bytes", false, field(28, 4, 1<<16+64)},
		{"slices of 1,056 bytes", false, field(28, 4, 1056)},
		{"no parity", false, field(32, 2, 0)},
		{"as much parity as slices", true, field(32, 2, 1024)},
		{"more", false, field(32, 2, 1025)},
		{"bit 1", true, field(34, 1, 3)},
		{"bit 2", false, field(34, 1, 4)},
		{"byte 35", false, field(35, 1, 1)},
		{"last packet", true, field(36, 4, last)},
		{"behind the last packet", false, field(36, 4, last+1)},
		{"check", false, append(bytes.Clone(whole[:44]), 0, 0, 0, 0)},
		{"cut", false, whole[:47]},
	} {
		if h, ok := parsePacketHeader(c.p); ok != c.valid {
			t.Errorf("%s: %+v, %v", c.name, h, ok)
		}
	}
	wide := geometry{size: 1 << 28, slice: 1 << 16, parity: 1}
	if _, ok := parsePacketHeader(wide.appendPacketHeader(nil, 0, nil)); !ok {
		t.Error("256 MiB in slices of 65,536 bytes: refused")
	}
}

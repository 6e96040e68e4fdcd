package zstfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os/exec"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/internal/zstframe"
)

func TestChecksum(t *testing.T) {
	// The published digests of XXH64 with seed 0.
	for s, want := range map[string]uint32{"": 0x51D8E999, "a": 0xA98C6E5B, "abc": 0xAD770999} {
		if got := Checksum([]byte(s)); got != want {
			t.Errorf("%q: %#x, want %#x", s, got, want)
		}
	}
}

func TestSkippable(t *testing.T) {
	for kind := range 16 {
		p := append(appendSkippableHeader([]byte("before"), kind, 7), "content"...)[6:]
		got, n, err := ParseSkippable(p)
		if got != kind || n != 7 || err != nil || string(p[SkippableHeaderSize:]) != "content" ||
			!IsSkippable(p) || IsFrame(p) {
			t.Errorf("kind %d: %d, %d bytes, %v", kind, got, n, err)
		}
		if _, _, err := ParseSkippable(p[:7]); !errors.Is(err, errShort) {
			t.Errorf("cut: %v", err)
		}
		if _, err := zstframe.HeaderSize(p); !errors.Is(err, errMagic) {
			t.Errorf("as a frame: %v", err)
		}
	}
	p := (&Header{SingleSegment: true}).Append(nil)
	if _, _, err := ParseSkippable(append(p, 0, 0)); !errors.Is(err, errMagic) || !IsFrame(p) ||
		IsSkippable(p) || IsFrame(p[:3]) {
		t.Errorf("frame: %v", err)
	}
}

// TestWhole assembles a file of stored blocks. The zstd program reads it.
func TestWhole(t *testing.T) {
	var file, content []byte
	var entries []Entry
	for i := range 5 {
		piece := bytes.Repeat([]byte{byte('a' + i)}, 100*i)
		at := len(file)
		h := Header{ContentSize: int64(len(piece)), SingleSegment: i%2 == 0, Window: zstframe.MinWindow << i,
			Checksum: i%3 == 0}
		file = h.Append(file)
		file = append(file, byte(1|len(piece)<<3), byte(len(piece)>>5), 0)
		file = append(file, piece...)
		if h.Checksum {
			file = binary.LittleEndian.AppendUint32(file, Checksum(piece))
		}
		entries = append(entries, Entry{uint32(len(file) - at), uint32(len(piece)), Checksum(piece)})
		content = append(content, piece...)
	}
	file = AppendSeekTable(file, entries, true)
	if got, err := readTable(file); err != nil || !slices.Equal(got, entries) {
		t.Errorf("seek table: %v", err)
	}
	cmd := exec.Command(testenv.Tool(t, "zstd"), "-dc")
	cmd.Stdin = bytes.NewReader(file)
	if got, err := cmd.Output(); err != nil || !bytes.Equal(got, content) {
		t.Errorf("zstd: %v", err)
	}
}

// seekFile returns a file of frames with the given content sizes and a seek table. The frames are
// zeros.
func seekFile(sums bool, contents ...uint32) (file []byte, entries []Entry) {
	for i, n := range contents {
		file = append(file, make([]byte, 20+i)...)
		entries = append(entries, Entry{Size: uint32(20 + i), Content: n})
		if sums {
			entries[i].Sum = uint32(i) * 0x01010101
		}
	}
	return AppendSeekTable(file, entries, sums), entries
}

// readTable reads the seek table of a file.
func readTable(file []byte) ([]Entry, error) {
	size := int64(len(file))
	f, err := ParseSeekFooter(file[max(0, size-SeekFooterSize):], size)
	if err != nil {
		return nil, err
	}
	at := size - f.TableSize()
	return f.AppendEntries(nil, file[at:], at)
}

func TestSeekTable(t *testing.T) {
	for _, sums := range []bool{false, true} {
		for _, contents := range [][]uint32{nil, {0}, {1, 100, 20 * growth}, make([]uint32, 1000)} {
			file, entries := seekFile(sums, contents...)
			got, err := readTable(file)
			if err != nil || !slices.Equal(got, entries) {
				t.Fatalf("%t, %d frames: %v", sums, len(contents), err)
			}
			if len(file) > 200 {
				continue
			}
			for n := range file {
				if _, err := readTable(file[:n]); err == nil {
					t.Errorf("%t, %d frames, cut to %d of %d bytes: accepted", sums, len(contents),
						n, len(file))
				}
			}
			if _, err := readTable(append([]byte{0}, file...)); !errors.Is(err, errField) {
				t.Errorf("%t, %d frames, a byte more in front: %v", sums, len(contents), err)
			}
		}
	}
}

// TestSeekTableBytes compares a table of one frame with the format's description.
func TestSeekTableBytes(t *testing.T) {
	want := []byte{0x5E, 0x2A, 0x4D, 0x18, 21, 0, 0, 0, 100, 0, 0, 0, 0, 1, 0, 0, 0xEF, 0xBE, 0xAD,
		0xDE, 1, 0, 0, 0, 0x80, 0xB1, 0xEA, 0x92, 0x8F}
	if got := AppendSeekTable(nil, []Entry{{100, 256, 0xDEADBEEF}}, true); !bytes.Equal(got, want) {
		t.Errorf("% x, want % x", got, want)
	}
}

func TestHostileSeekTables(t *testing.T) {
	file, _ := seekFile(true, 1, 2, 3)
	table := len(file) - int(SeekFooter{3, true}.TableSize())
	footer := len(file) - SeekFooterSize
	change := func(at int, v uint32) []byte {
		bad := bytes.Clone(file)
		binary.LittleEndian.PutUint32(bad[at:], v)
		return bad
	}
	for _, c := range []struct {
		what string
		file []byte
		want error
	}{
		{"empty", nil, errShort},
		{"other magic number", change(footer+5, 0x8F92EAB0), errMagic},
		{"one frame fewer", change(footer, 2), errMagic},
		{"one frame more", change(footer, 4), errMagic},
		{"2^27 frames", change(footer, 1<<27), errField},
		{"2^32-1 frames", change(footer, 1<<32-1), errField},
		{"other kind", change(table, SkippableMagic), errField},
		{"no skippable frame", change(table, zstframe.Magic), errMagic},
		{"other size", change(table+4, 46), errField},
		{"reserved bits", append(append(bytes.Clone(file[:footer+4]), 0x84), file[footer+5:]...), errField},
		{"frame of nothing", change(table+8, 0), errField},
		{"frame longer", change(table+8, 21), errField},
		{"frame far longer", change(table+8, 1<<32-1), errField},
		{"content impossible", change(table+12, 20*growth+1), errField},
	} {
		if _, err := readTable(c.file); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	if _, err := (SeekFooter{3, true}).AppendEntries(nil, file[table+1:],
		int64(table)); !errors.Is(err, errShort) {
		t.Errorf("table cut: %v", err)
	}
}

// TestTableOffset checks the position in the error about a table that lists more than is in front
// of it.
func TestTableOffset(t *testing.T) {
	const before = 20
	file := AppendSeekTable(make([]byte, before), []Entry{{Size: 1000, Content: 1}}, false)
	_, err := ReadIndex(bytes.NewReader(file), int64(len(file)), new(container.Limits))
	var e *errs.Error
	if !errors.As(err, &e) || e.Kind != errs.Corrupt || e.Part != errs.PartIndex || e.Offset != before {
		t.Errorf("%+v, want errs.Corrupt in the index at byte %d", err, before)
	}
}

// TestClaimAllocs makes sure that parsing allocates nothing on the word of a footer.
func TestClaimAllocs(t *testing.T) {
	p := binary.LittleEndian.AppendUint32([]byte{0, 0, 0, 8, 0}, SeekTableMagic) // 2^27 frames
	f, err := ParseSeekFooter(p, 1<<62)
	if err != nil || f.Frames != MaxSeekFrames {
		t.Fatal(f, err)
	}
	table := make([]byte, 100)
	if n := testing.AllocsPerRun(10, func() {
		if _, err := f.AppendEntries(nil, table, 1<<61); err != errShort {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzSeekTable(f *testing.F) {
	for _, sums := range []bool{false, true} {
		file, _ := seekFile(sums, 1, 2, 3)
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		entries, err := readTable(file)
		if err != nil {
			return
		}
		footer, _ := ParseSeekFooter(file[len(file)-SeekFooterSize:], int64(len(file)))
		at := len(file) - int(footer.TableSize())
		again := AppendSeekTable(nil, entries, footer.Sums)
		again[len(again)-5] |= file[len(file)-5] & 3 // bits that do not matter
		if !bytes.Equal(again, file[at:]) {
			t.Errorf("%x is written again as %x", file[at:], again)
		}
		sum := 0
		for _, e := range entries {
			sum += int(e.Size)
		}
		if sum != at {
			t.Errorf("frames of %d bytes in %d", sum, at)
		}
	})
}

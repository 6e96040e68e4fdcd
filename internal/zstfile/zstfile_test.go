package zstfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os/exec"
	"slices"
	"testing"

	kzstd "github.com/klauspost/compress/zstd"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/testenv"
)

var headers = []Header{
	{ContentSize: 0, SingleSegment: true},
	{ContentSize: 255, SingleSegment: true, Window: 255, Checksum: true},
	{ContentSize: 256, SingleSegment: true, Window: 256},
	{ContentSize: 1<<16 + 255, SingleSegment: true, Window: 1<<16 + 255},
	{ContentSize: 1<<16 + 256, SingleSegment: true, Window: 1<<16 + 256, Checksum: true},
	{ContentSize: 1<<32 - 1, SingleSegment: true, Window: 1<<32 - 1},
	{ContentSize: 1 << 32, SingleSegment: true, Window: 1 << 32},
	{ContentSize: 1<<63 - 1, Window: MaxWindow, Checksum: true},
	{ContentSize: -1, Window: MinWindow},
	{ContentSize: -1, Window: 8 << 20, Checksum: true, Dictionary: 255},
	{ContentSize: 0, Window: MinWindow + 128, Dictionary: 256},
	{ContentSize: 255, Window: 15 << 10, Dictionary: 1<<16 - 1},
	{ContentSize: 256, Window: 9 << 20, Dictionary: 1 << 16},
	{ContentSize: 1 << 20, Window: 1 << 20, Dictionary: 1<<32 - 1},
}

func TestHeader(t *testing.T) {
	for _, h := range headers {
		p := h.Append([]byte("before"))[6:]
		size, err := HeaderSize(p)
		if err != nil || size != len(p) {
			t.Fatalf("%+v: %d of %d bytes, %v", h, size, len(p), err)
		}
		got, n, err := ParseHeader(append(slices.Clip(p), 0xff, 0xff))
		if err != nil || got != h || n != size {
			t.Errorf("%+v, %v, want %+v", got, err, h)
		}
		for i := range p {
			if _, _, err := ParseHeader(p[:i]); !errors.Is(err, ErrShort) {
				t.Errorf("%+v cut to %d of %d bytes: %v", h, i, len(p), err)
			}
		}
		for i := range MagicSize {
			bad := bytes.Clone(p)
			bad[i] ^= 0x10
			if _, _, err := ParseHeader(bad); !errors.Is(err, ErrMagic) {
				t.Errorf("%+v, byte %d changed: %v", h, i, err)
			}
		}
		p[4] |= flagReserved
		if _, _, err := ParseHeader(p); !errors.Is(err, ErrField) {
			t.Errorf("%+v, reserved bit: %v", h, err)
		}
	}
}

// TestHeaderBytes compares headers with RFC 8878, section 3.1.1.1.
func TestHeaderBytes(t *testing.T) {
	for _, c := range []struct {
		h    Header
		want []byte
	}{
		{Header{ContentSize: 5, SingleSegment: true, Checksum: true}, []byte{0x28, 0xB5, 0x2F, 0xFD,
			0x24, 5}},
		{Header{ContentSize: 256, SingleSegment: true}, []byte{0x28, 0xB5, 0x2F, 0xFD, 0x60, 0, 0}},
		{Header{ContentSize: 5, Window: 1 << 20}, []byte{0x28, 0xB5, 0x2F, 0xFD, 0x80, 0x50, 5, 0, 0, 0}},
		{Header{ContentSize: -1, Window: 1<<20 + 1, Dictionary: 7}, []byte{0x28, 0xB5, 0x2F, 0xFD,
			0x01, 0x51, 7}},
	} {
		if got := c.h.Append(nil); !bytes.Equal(got, c.want) {
			t.Errorf("%+v: % x, want % x", c.h, got, c.want)
		}
	}
	huge := []byte{0x28, 0xB5, 0x2F, 0xFD, 0xE0, 0, 0, 0, 0, 0, 0, 0, 0x80}
	if _, _, err := ParseHeader(huge); !errors.Is(err, ErrField) {
		t.Errorf("content of 2^63 bytes: %v", err)
	}
}

func TestWindow(t *testing.T) {
	last := int64(0)
	for b := range 256 {
		size := windowSize(byte(b))
		if size <= last || windowByte(size) != byte(b) || windowByte(last+1) != byte(b) {
			t.Errorf("descriptor %d is %d bytes, and those are descriptor %d", b, size, windowByte(size))
		}
		last = size
	}
	if windowSize(0) != MinWindow || last != MaxWindow {
		t.Errorf("windows from %d to %d", windowSize(0), last)
	}
}

func TestChecksum(t *testing.T) {
	// The published digests of XXH64 with seed 0.
	for s, want := range map[string]uint32{"": 0x51D8E999, "a": 0xA98C6E5B, "abc": 0xAD770999} {
		if got := Checksum([]byte(s)); got != want {
			t.Errorf("%q: %#x, want %#x", s, got, want)
		}
	}
}

func TestBlockHeader(t *testing.T) {
	head := func(last, kind, size int) []byte {
		v := last | kind<<1 | size<<3
		return []byte{byte(v), byte(v >> 8), byte(v >> 16)}
	}
	for _, c := range []struct {
		p    []byte
		want Block
		err  error
	}{
		{head(0, 0, 0), Block{}, nil},
		{head(1, 0, MaxBlock), Block{true, MaxBlock, MaxBlock}, nil},
		{head(0, 1, MaxBlock), Block{false, 1, MaxBlock}, nil},
		{head(1, 2, 77), Block{true, 77, -1}, nil},
		{head(0, 3, 77), Block{}, ErrField},
		{head(0, 0, MaxBlock+1), Block{}, ErrField},
		{head(0, 1, 1<<21-1), Block{}, ErrField},
		{[]byte{0, 0}, Block{}, ErrShort},
	} {
		got, err := ParseBlockHeader(c.p)
		if !errors.Is(err, c.err) || err == nil && got != c.want {
			t.Errorf("% x: %+v, %v, want %+v, %v", c.p, got, err, c.want, c.err)
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
		if _, _, err := ParseSkippable(p[:7]); !errors.Is(err, ErrShort) {
			t.Errorf("cut: %v", err)
		}
		if _, err := HeaderSize(p); !errors.Is(err, ErrMagic) {
			t.Errorf("as a frame: %v", err)
		}
	}
	p := headers[0].Append(nil)
	if _, _, err := ParseSkippable(append(p, 0, 0)); !errors.Is(err, ErrMagic) || !IsFrame(p) ||
		IsSkippable(p) || IsFrame(p[:3]) {
		t.Errorf("frame: %v", err)
	}
}

// TestWhole assembles a file of stored blocks and lets other decoders read it.
func TestWhole(t *testing.T) {
	var file, content []byte
	var entries []Entry
	for i := range 5 {
		piece := bytes.Repeat([]byte{byte('a' + i)}, 100*i)
		at := len(file)
		h := Header{ContentSize: int64(len(piece)), SingleSegment: i%2 == 0, Window: MinWindow << i,
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
	d, err := kzstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if got, err := d.DecodeAll(file, nil); err != nil || !bytes.Equal(got, content) {
		t.Errorf("klauspost: %v", err)
	}
	cmd := exec.Command(testenv.Tool(t, "zstd"), "-dc")
	cmd.Stdin = bytes.NewReader(file)
	if got, err := cmd.Output(); err != nil || !bytes.Equal(got, content) {
		t.Errorf("zstd: %v", err)
	}
}

// FuzzHeader compares ParseHeader with klauspost's parser.
func FuzzHeader(f *testing.F) {
	for _, h := range headers {
		f.Add(h.Append(nil))
	}
	f.Add(append(appendSkippableHeader(nil, 3, 20), make([]byte, 20)...))
	f.Fuzz(func(t *testing.T, p []byte) {
		h, size, err := ParseHeader(p)
		var k kzstd.Header
		// It wants to see the header of the first block as well, and refuses windows beyond what it
		// can decode.
		kerr := k.Decode(append(slices.Clip(p), 1, 0, 0))
		if err != nil {
			if kerr == nil && !k.Skippable && !errors.Is(err, ErrField) && !errors.Is(err, ErrShort) {
				t.Fatalf("%x: %v, klauspost takes it for %+v", p, err, k)
			}
			return
		}
		if again, _, err := ParseHeader(h.Append(nil)); err != nil || again != h {
			t.Fatalf("%x: %+v is written as %+v, %v", p, h, again, err)
		}
		if kerr != nil {
			return
		}
		size64 := int64(-1)
		if k.HasFCS {
			size64 = int64(k.FrameContentSize)
		}
		if size64 != h.ContentSize || k.SingleSegment != h.SingleSegment ||
			k.HasCheckSum != h.Checksum || k.DictionaryID != h.Dictionary ||
			!h.SingleSegment && int64(k.WindowSize) != h.Window || k.HeaderSize != size {
			t.Fatalf("%x: %+v, %d bytes, klauspost: %+v", p, h, size, k)
		}
	})
}

func FuzzBlockHeader(f *testing.F) {
	f.Add([]byte{1, 0, 0})
	f.Add([]byte{0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, p []byte) {
		b, err := ParseBlockHeader(p)
		if err == nil && (b.Size < 0 || b.Size > MaxBlock || b.Content > MaxBlock ||
			b.Content < -1 || b.Last != (p[0]&1 == 1)) {
			t.Errorf("%x: %+v", p, b)
		}
	})
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
			if _, err := readTable(append([]byte{0}, file...)); !errors.Is(err, ErrField) {
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
		{"empty", nil, ErrShort},
		{"other magic number", change(footer+5, 0x8F92EAB0), ErrMagic},
		{"one frame fewer", change(footer, 2), ErrMagic},
		{"one frame more", change(footer, 4), ErrMagic},
		{"2^27 frames", change(footer, 1<<27), ErrField},
		{"2^32-1 frames", change(footer, 1<<32-1), ErrField},
		{"other kind", change(table, SkippableMagic), ErrField},
		{"no skippable frame", change(table, Magic), ErrMagic},
		{"other size", change(table+4, 46), ErrField},
		{"reserved bits", append(append(bytes.Clone(file[:footer+4]), 0x84), file[footer+5:]...), ErrField},
		{"frame of nothing", change(table+8, 0), ErrField},
		{"frame longer", change(table+8, 21), ErrField},
		{"frame far longer", change(table+8, 1<<32-1), ErrField},
		{"content impossible", change(table+12, 20*growth+1), ErrField},
	} {
		if _, err := readTable(c.file); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	if _, err := (SeekFooter{3, true}).AppendEntries(nil, file[table+1:],
		int64(table)); !errors.Is(err, ErrShort) {
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
		if _, err := f.AppendEntries(nil, table, 1<<61); err != ErrShort {
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

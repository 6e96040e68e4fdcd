package compress

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/internal/zstfile"
)

// TestStandardTruncation cuts the files at every byte, or at every third one by default. All
// readers must report it alike.
func TestStandardTruncation(t *testing.T) {
	testenv.Slow(t)
	readers := allReaders(t)
	for _, f := range standardFiles(t) {
		step := 3
		if testenv.All() {
			step = 1
		}
		for n := range f.file {
			whole := slices.Contains(f.whole, n)
			if n%step != 0 && !whole && n > 40 && n < len(f.file)-40 {
				continue
			}
			what := fmt.Sprint(f.name, " of ", n, " bytes")
			got, err := decodeSame(t, readers, f.file[:n], what)
			if !bytes.HasPrefix(f.content, got) {
				t.Fatalf("%s: wrong content", what)
			}
			_, atErr := NewReaderAt(bytes.NewReader(f.file[:n]), int64(n))
			info, infoErr := ReadInfo(bytes.NewReader(f.file[:n]), int64(n))
			// A .zst file without its seek table is complete too.
			if whole || f.name == "seekable" && err == nil {
				if f.name != "gzip" && errors.Is(atErr, ErrNoIndex) {
					atErr = nil
				}
				if err != nil || atErr != nil || infoErr != nil ||
					info.Content != int64(len(got)) {
					t.Fatalf("%s: %v; %v; %v", what, err, atErr, infoErr)
				}
				continue
			}
			if !errors.Is(err, ErrTruncated) || !errors.Is(infoErr, ErrTruncated) {
				t.Fatalf("%s: %v; ReadInfo: %v", what, err, infoErr)
			}
			if !errors.Is(atErr, ErrTruncated) {
				t.Fatalf("%s: NewReaderAt: %v", what, atErr)
			}
		}
	}
}

// TestStandardBitFlips flips bits. All readers must give the same result: an error of the right
// type or the right content, since all files have checks.
func TestStandardBitFlips(t *testing.T) {
	readers := allReaders(t)
	for _, f := range standardFiles(t) {
		step := 7
		if !testenv.All() {
			step = 61
		}
		for bit := 0; bit < 8*len(f.file); bit += step {
			bad := slices.Clone(f.file)
			bad[bit/8] ^= 1 << (bit % 8)
			what := fmt.Sprint(f.name, ", bit ", bit)
			got, err := decodeSame(t, readers, bad, what)
			switch {
			case err == nil && !bytes.Equal(got, f.content):
				t.Fatalf("%s: wrong content without an error", what)
			case err != nil && !isDamage(err) && !errors.Is(err, ErrMemory):
				t.Fatalf("%s: %v", what, err)
			}
			r, err := openFile(bad)
			if err == nil {
				got := make([]byte, len(f.content))
				n, readErr := r.ReadAt(got, 0)
				if n = min(n, len(f.content)); !bytes.Equal(got[:n], f.content[:n]) ||
					readErr == nil && n < len(got) {
					t.Fatalf("%s: ReaderAt: wrong content, %v", what, readErr)
				}
				err = readErr
				r.Close()
			}
			if err != nil && err != io.EOF && !isDamage(err) && !errors.Is(err, ErrMemory) &&
				!errors.Is(err, ErrNoIndex) {
				t.Fatalf("%s: ReaderAt: %v", what, err)
			}
		}
	}
}

// A damageCase is a damaged file with the content and the error that readers must return.
type damageCase struct {
	name    string
	file    []byte
	content []byte
	kind    error
}

// checkDamage reads the files with all readers.
func checkDamage(t *testing.T, cases []damageCase) {
	t.Helper()
	readers := allReaders(t)
	for _, c := range cases {
		got, err := decodeSame(t, readers, c.file, c.name)
		var e *Error
		if !errors.Is(err, c.kind) || !errors.As(err, &e) || !bytes.Equal(got, c.content) ||
			errors.Is(err, ErrTrailing) != (c.kind == ErrTrailing) {
			t.Errorf("%s: %d bytes, %v; want %d bytes, %v",
				c.name, len(got), err, len(c.content), c.kind)
		}
	}
}

// patch returns p with other bytes at an offset. A negative one counts from the end.
func patch(p []byte, at int, v ...byte) []byte {
	p = slices.Clone(p)
	if at < 0 {
		at += len(p)
	}
	copy(p[at:], v)
	return p
}

// flip returns p with the lowest bit flipped at an offset. A negative one counts from the end.
func flip(p []byte, at int) []byte {
	if at < 0 {
		at += len(p)
	}
	return patch(p, at, p[at]^1)
}

// TestTrailingData reads files with other data behind them.
func TestTrailingData(t *testing.T) {
	text := textBytes(3*testBlock, 1)
	gz, zst, pz := gzipMember(t, text), zstdStream(t, text, 1000), encode(t, text)
	zeros := make([]byte, 10)
	checkDamage(t, []damageCase{
		{"gzip, text", slices.Concat(gz, []byte("text")), text, ErrTrailing},
		{"gzip, one byte", slices.Concat(gz, []byte("x")), text, ErrTrailing},
		{"gzip, zeros and text", slices.Concat(gz, zeros, []byte("x")), text, ErrTrailing},
		{"gzip, zeros and a member", slices.Concat(gz, zeros, gz), text, ErrTrailing},
		{"gzip, zstd", slices.Concat(gz, zst), text, ErrTrailing},
		{"gzip, pz", slices.Concat(gz, pz), text, ErrTrailing},
		{"pz, gzip", slices.Concat(pz, gz), text, ErrTrailing},
		{"pz, zstd", slices.Concat(pz, zst), text, ErrTrailing},
		{"zstd, gzip", slices.Concat(zst, gz), text, ErrCorrupt},
		{"zstd, zero", slices.Concat(zst, zeros[:1]), text, ErrCorrupt},
		{"zstd, damaged frame", slices.Concat(zst, flip(zst, 0)), text, ErrCorrupt},
	})
}

// TestGzipDamage checks the error of each kind of damage of .gz files.
func TestGzipDamage(t *testing.T) {
	text := textBytes(3*testBlock, 1)
	gz := gzipMember(t, text)
	checked := gzfile.Header{HeaderCRC: true}
	header, err := checked.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	long := bytes.Repeat([]byte("n"), 1<<18)
	endless := append([]byte("\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x03"), long...)
	badCRC := slices.Concat([]byte("\x1f\x8b\x08\x0a\x00\x00\x00\x00\x00\x03"), long,
		[]byte("\x00\x01\x02"))
	method := patch(gz, 2, 9)
	checkDamage(t, []damageCase{
		{"CRC", flip(gz, -8), text, ErrChecksum},
		{"size", flip(gz, -4), text, ErrCorrupt},
		{"header CRC", slices.Concat(flip(header, -1), gz[10:]), nil, ErrChecksum},
		{"method", method, nil, ErrFormat},
		{"method of a second member", slices.Concat(gz, method), text, ErrVersion},
		{"flags", patch(gz, 3, 0x20), nil, ErrCorrupt},
		{"header without an end", endless, nil, ErrTruncated},
		{"header CRC behind a long name", badCRC, nil, ErrChecksum},
	})
}

// TestZstdDamage checks the error of each kind of damage of .zst files.
func TestZstdDamage(t *testing.T) {
	const window = 1 << 10
	text := textBytes(3*testBlock, 1)
	zst := zstdStream(t, text, 1000)
	frame := func(h zstfile.Header) []byte { return storedFrame(h, text[:100]) }
	head := func(h zstfile.Header, block ...byte) []byte { return append(h.Append(nil), block...) }
	unsized := zstfile.Header{ContentSize: -1, Window: window}
	checkDamage(t, []damageCase{
		{"checksum", flip(zst, -1), text, ErrChecksum},
		{"reserved bit", patch(zst, 4, zst[4]|8), nil, ErrCorrupt},
		{
			"dictionary",
			frame(zstfile.Header{ContentSize: 100, Window: window, Dictionary: 77}),
			nil, ErrVersion,
		},
		{
			"less content than announced",
			frame(zstfile.Header{ContentSize: 101, Window: window}), nil, ErrCorrupt,
		},
		{
			"more content than announced",
			frame(zstfile.Header{ContentSize: 99, Window: window}), text[:99], ErrCorrupt,
		},
		{
			"block type",
			head(zstfile.Header{ContentSize: 10, Window: window}, 7, 0, 0), nil, ErrCorrupt,
		},
		{"block size", head(unsized, 1, 0, 0xff), nil, ErrCorrupt},
		{"block larger than the window", storedFrame(unsized, text[:2000]), nil, ErrCorrupt},
		{"window", frame(zstfile.Header{ContentSize: -1, Window: 1 << 40}), nil, ErrMemory},
		{
			"missing large frame",
			head(zstfile.Header{ContentSize: 1 << 60, SingleSegment: true}), nil, ErrMemory,
		},
	})

	// The third frame is damaged: readers return the first two.
	sized := encode(t, text, WithFormat(Zstd), WithBlockSize(testBlock))
	at := frameAt(t, sized, 2)
	got, err := decodeSame(t, allReaders(t), flip(sized, at+20), "third frame")
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, ErrCorrupt) {
		t.Fatalf("third frame: %v", err)
	}
	if e.Block != 2 || e.Offset != int64(at) || len(got) != 2*testBlock {
		t.Errorf("third frame: %d bytes, block %d at %d", len(got), e.Block, e.Offset)
	}
}

// TestStandardIgnoreChecksum checks that WithChecksum(false) makes readers accept wrong checks.
func TestStandardIgnoreChecksum(t *testing.T) {
	text := textBytes(3*testBlock, 1)
	sized := encode(t, text, WithFormat(Zstd), WithBlockSize(testBlock))
	readers := allReaders(t, WithChecksum(false))
	for name, bad := range map[string][]byte{
		"member":       flip(gzipMember(t, text), -8),
		"frame":        flip(zstdStream(t, text, 1000), -1),
		"sized frames": flip(sized, frameAt(t, sized, 1)-1),
	} {
		got, err := decodeSame(t, readers[:len(readers)-1], bad, name)
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

// TestStandardDamagedFrame damages a block of a frame with a content size: its header, its content, or
// the checksum of the frame. Readers must return the content of the blocks in front of it.
func TestStandardDamagedFrame(t *testing.T) {
	text := textBytes(400_000, 1)
	const size = 100_000
	h := zstfile.Header{ContentSize: int64(len(text)), Window: 1 << 19, Checksum: true}
	whole := storedFrame(zstfile.Header{ContentSize: 100, Window: 1 << 10}, text[:100])
	frame := storedFrame(h, slices.Collect(slices.Chunk(text, size))...)
	file := append(slices.Clone(whole), frame...)
	readers, all := allReaders(t), append(text[:100:100], text...)
	for block := range 4 {
		at := len(whole) + len(h.Append(nil)) + block*(3+size)
		for name, bad := range map[string][]byte{
			"block type": patch(file, at, file[at]|6),
			"content":    patch(file, at, file[at]|4),
		} {
			got, err := decodeSame(t, readers, bad, name)
			var e *Error
			if !errors.As(err, &e) || !errors.Is(err, ErrCorrupt) || e.Block != 1 ||
				len(got) != 100+block*size || !bytes.HasPrefix(all, got) {
				t.Errorf("%s of block %d: %d bytes, %v", name, block, len(got), err)
			}
		}
	}
	got, err := decodeSame(t, readers, flip(file, -1), "checksum")
	if !errors.Is(err, ErrChecksum) || !bytes.Equal(got, all) {
		t.Errorf("checksum: %d bytes, %v", len(got), err)
	}
}

// TestStandardCutFrame cuts a frame with a content size. Although the frame is one block, readers
// must return the content of its whole inner blocks, if memory suffices to decode them in order.
func TestStandardCutFrame(t *testing.T) {
	text := textBytes(400_000, 1)
	for _, single := range []bool{false, true} {
		h := zstfile.Header{
			ContentSize:   int64(len(text)),
			Window:        1 << 19,
			SingleSegment: single,
			Checksum:      true,
		}
		blocks := slices.Collect(slices.Chunk(text, 100_000))
		whole := storedFrame(zstfile.Header{ContentSize: 100, Window: 1 << 10}, text[:100])
		file := append(slices.Clone(whole), storedFrame(h, blocks...)...)
		head := len(whole) + len(h.Append(nil))
		readers, tight := allReaders(t), allReaders(t, WithMaxMemory(3300<<10))
		for cut := head + 1; cut < len(file); cut += 1 + cut/8 {
			inner := min(4, (cut-head)/(3+100_000)) // whole blocks of the frame
			for i, list := range [][]*Reader{readers, tight[:len(tight)-1]} {
				want := []int{100 + 100_000*inner, 100}[i]
				got, err := decodeSame(t, list, file[:cut], fmt.Sprint(cut))
				var e *Error
				if !errors.As(err, &e) || !errors.Is(err, ErrTruncated) || e.Block != 1 ||
					e.Offset != int64(cut) ||
					len(got) != want ||
					!bytes.HasPrefix(append(text[:100:100], text...), got) {
					t.Errorf("cut to %d of %d bytes, single segment %v: %d bytes, want %d; %v", cut,
						len(file), single, len(got), want, err)
				}
			}
		}
	}
}

// TestDamagedOffset has a large window, an offset beyond the content, and behind it a block whose
// header is wrong. The error does not depend on whether the decoder knows that the content is
// short.
func TestDamagedOffset(t *testing.T) {
	file := []byte("\x28\xb5\x2f\xfd\x00\x9d" + // a window of 832 MiB
		"\x68\x00\x00" + "thirteenbytes" +
		"\x4c\x00\x00" + "\x00" + "\x01\x54\x00\x12\x00\x00\x00\x04" + // an offset of 262,141
		"\xff\xff\xff")
	opt := WithMaxMemory(1 << 40)
	_, err := AppendDecode(nil, file, opt)
	_, readErr := decode(file, opt)
	if !errors.Is(err, ErrCorrupt) || readErr == nil || err.Error() != readErr.Error() {
		t.Errorf("AppendDecode: %v; Reader: %v", err, readErr)
	}
}

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
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/internal/zstfile"
)

// TestStandardTruncation cuts the files at every byte, or at every third one by default. All
// readers must report it alike.
func TestStandardTruncation(t *testing.T) {
	testenv.Slow(t)
	readers := bbtest.AllReaders(t)
	for _, f := range bbtest.StandardFiles(t) {
		step := 3
		if testenv.All() {
			step = 1
		}
		for n := range f.File {
			whole := slices.Contains(f.Whole, n)
			if n%step != 0 && !whole && n > 40 && n < len(f.File)-40 {
				continue
			}
			what := fmt.Sprint(f.Name, " of ", n, " bytes")
			got, err := bbtest.DecodeSame(t, readers, f.File[:n], what)
			if !bytes.HasPrefix(f.Content, got) {
				t.Fatalf("%s: wrong content", what)
			}
			_, atErr := compress.NewReaderAt(bytes.NewReader(f.File[:n]), int64(n))
			info, infoErr := bbtest.FileInfo(f.File[:n])
			// A .zst file without its seek table is complete too.
			if whole || f.Name == "seekable" && err == nil {
				if f.Name != "gzip" && errors.Is(atErr, compress.ErrNoIndex) {
					atErr = nil
				}
				if err != nil || atErr != nil || infoErr != nil ||
					info.Content != int64(len(got)) {
					t.Fatalf("%s: %v; %v; %v", what, err, atErr, infoErr)
				}
				continue
			}
			if !errors.Is(err, compress.ErrTruncated) || !errors.Is(infoErr, compress.ErrTruncated) {
				t.Fatalf("%s: %v; ReadInfo: %v", what, err, infoErr)
			}
			if !errors.Is(atErr, compress.ErrTruncated) {
				t.Fatalf("%s: NewReaderAt: %v", what, atErr)
			}
		}
	}
}

// TestStandardBitFlips flips bits. All readers must give the same result: an error of the right
// type or the right content, since all files have checks.
func TestStandardBitFlips(t *testing.T) {
	readers := bbtest.AllReaders(t)
	for _, f := range bbtest.StandardFiles(t) {
		step := 7
		if !testenv.All() {
			step = 61
		}
		for bit := 0; bit < 8*len(f.File); bit += step {
			bad := slices.Clone(f.File)
			bad[bit/8] ^= 1 << (bit % 8)
			what := fmt.Sprint(f.Name, ", bit ", bit)
			got, err := bbtest.DecodeSame(t, readers, bad, what)
			switch {
			case err == nil && !bytes.Equal(got, f.Content):
				t.Fatalf("%s: wrong content without an error", what)
			case err != nil && !bbtest.IsDamage(err) && !errors.Is(err, compress.ErrMemory):
				t.Fatalf("%s: %v", what, err)
			}
			r, err := bbtest.OpenFile(bad)
			if err == nil {
				got := make([]byte, len(f.Content))
				n, readErr := r.ReadAt(got, 0)
				if n = min(n, len(f.Content)); !bytes.Equal(got[:n], f.Content[:n]) ||
					readErr == nil && n < len(got) {
					t.Fatalf("%s: ReaderAt: wrong content, %v", what, readErr)
				}
				err = readErr
				r.Close()
			}
			if err != nil && err != io.EOF && !bbtest.IsDamage(err) && !errors.Is(err, compress.ErrMemory) &&
				!errors.Is(err, compress.ErrNoIndex) {
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
	readers := bbtest.AllReaders(t)
	for _, c := range cases {
		got, err := bbtest.DecodeSame(t, readers, c.file, c.name)
		var e *compress.Error
		if !errors.Is(err, c.kind) || !errors.As(err, &e) || !bytes.Equal(got, c.content) ||
			errors.Is(err, compress.ErrTrailing) != (c.kind == compress.ErrTrailing) {
			t.Errorf("%s: %d bytes, %v; want %d bytes, %v",
				c.name, len(got), err, len(c.content), c.kind)
		}
	}
}

// TestTrailingData reads files with other data behind them.
func TestTrailingData(t *testing.T) {
	text := bbtest.TextBytes(3*bbtest.BlockSize, 1)
	gz, zst, pz := bbtest.GzipMember(t, text), bbtest.ZstdStream(t, text, 1000), bbtest.Encode(t, text)
	zeros := make([]byte, 10)
	checkDamage(t, []damageCase{
		{"gzip, text", slices.Concat(gz, []byte("text")), text, compress.ErrTrailing},
		{"gzip, one byte", slices.Concat(gz, []byte("x")), text, compress.ErrTrailing},
		{"gzip, zeros and text", slices.Concat(gz, zeros, []byte("x")), text, compress.ErrTrailing},
		{"gzip, zeros and a member", slices.Concat(gz, zeros, gz), text, compress.ErrTrailing},
		{"gzip, zstd", slices.Concat(gz, zst), text, compress.ErrTrailing},
		{"gzip, pz", slices.Concat(gz, pz), text, compress.ErrTrailing},
		{"pz, gzip", slices.Concat(pz, gz), text, compress.ErrTrailing},
		{"pz, zstd", slices.Concat(pz, zst), text, compress.ErrTrailing},
		{"zstd, gzip", slices.Concat(zst, gz), text, compress.ErrCorrupt},
		{"zstd, zero", slices.Concat(zst, zeros[:1]), text, compress.ErrCorrupt},
		{"zstd, damaged frame", slices.Concat(zst, bbtest.Flip(zst, 0)), text, compress.ErrCorrupt},
	})
}

// TestGzipDamage checks the error of each kind of damage of .gz files.
func TestGzipDamage(t *testing.T) {
	text := bbtest.TextBytes(3*bbtest.BlockSize, 1)
	gz := bbtest.GzipMember(t, text)
	checked := gzfile.Header{HeaderCRC: true}
	header, err := checked.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	long := bytes.Repeat([]byte("n"), 1<<18)
	endless := append([]byte("\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x03"), long...)
	badCRC := slices.Concat([]byte("\x1f\x8b\x08\x0a\x00\x00\x00\x00\x00\x03"), long,
		[]byte("\x00\x01\x02"))
	method := bbtest.Patch(gz, 2, 9)
	checkDamage(t, []damageCase{
		{"CRC", bbtest.Flip(gz, -8), text, compress.ErrChecksum},
		{"size", bbtest.Flip(gz, -4), text, compress.ErrCorrupt},
		{"header CRC", slices.Concat(bbtest.Flip(header, -1), gz[10:]), nil, compress.ErrChecksum},
		{"method", method, nil, compress.ErrFormat},
		{"method of a second member", slices.Concat(gz, method), text, compress.ErrVersion},
		{"flags", bbtest.Patch(gz, 3, 0x20), nil, compress.ErrCorrupt},
		{"header without an end", endless, nil, compress.ErrTruncated},
		{"header CRC behind a long name", badCRC, nil, compress.ErrChecksum},
	})
}

// TestZstdDamage checks the error of each kind of damage of .zst files.
func TestZstdDamage(t *testing.T) {
	const window = 1 << 10
	text := bbtest.TextBytes(3*bbtest.BlockSize, 1)
	zst := bbtest.ZstdStream(t, text, 1000)
	frame := func(h zstfile.Header) []byte { return bbtest.StoredFrame(h, text[:100]) }
	head := func(h zstfile.Header, block ...byte) []byte { return append(h.Append(nil), block...) }
	unsized := zstfile.Header{ContentSize: -1, Window: window}
	checkDamage(t, []damageCase{
		{"checksum", bbtest.Flip(zst, -1), text, compress.ErrChecksum},
		{"reserved bit", bbtest.Patch(zst, 4, zst[4]|8), nil, compress.ErrCorrupt},
		{
			"dictionary",
			frame(zstfile.Header{ContentSize: 100, Window: window, Dictionary: 77}),
			nil, compress.ErrVersion,
		},
		{
			"less content than announced",
			frame(zstfile.Header{ContentSize: 101, Window: window}), nil, compress.ErrCorrupt,
		},
		{
			"less content than announced, in order behind a frame without a size",
			slices.Concat(frame(unsized), frame(zstfile.Header{ContentSize: 101, Window: window})),
			text[:100], compress.ErrCorrupt,
		},
		{
			"more content than announced",
			frame(zstfile.Header{ContentSize: 99, Window: window}), text[:99], compress.ErrCorrupt,
		},
		{
			"block type",
			head(zstfile.Header{ContentSize: 10, Window: window}, 7, 0, 0), nil, compress.ErrCorrupt,
		},
		{"block size", head(unsized, 1, 0, 0xff), nil, compress.ErrCorrupt},
		{"block larger than the window", bbtest.StoredFrame(unsized, text[:2000]), nil, compress.ErrCorrupt},
		{"window", frame(zstfile.Header{ContentSize: -1, Window: 1 << 40}), nil, compress.ErrMemory},
		{
			"missing large frame",
			head(zstfile.Header{ContentSize: 1 << 60, SingleSegment: true}), nil, compress.ErrMemory,
		},
	})

	// The third frame is damaged: readers return the first two.
	sized := bbtest.Encode(t, text, compress.WithFormat(compress.Zstd),
		compress.WithSeekable(bbtest.BlockSize))
	at := bbtest.FrameAt(t, sized, 2)
	got, err := bbtest.DecodeSame(t, bbtest.AllReaders(t), bbtest.Flip(sized, at+20), "third frame")
	var e *compress.Error
	if !errors.As(err, &e) || !errors.Is(err, compress.ErrCorrupt) {
		t.Fatalf("third frame: %v", err)
	}
	if e.Block != 2 || e.Offset != int64(at) || len(got) != 2*bbtest.BlockSize {
		t.Errorf("third frame: %d bytes, block %d at %d", len(got), e.Block, e.Offset)
	}
}

// TestStandardIgnoreChecksum checks that WithChecksum(false) makes readers accept wrong checks.
func TestStandardIgnoreChecksum(t *testing.T) {
	text := bbtest.TextBytes(3*bbtest.BlockSize, 1)
	sized := bbtest.Encode(t, text, compress.WithFormat(compress.Zstd),
		compress.WithSeekable(bbtest.BlockSize))
	readers := bbtest.AllReaders(t, compress.WithChecksum(false))
	for name, bad := range map[string][]byte{
		"member":       bbtest.Flip(bbtest.GzipMember(t, text), -8),
		"frame":        bbtest.Flip(bbtest.ZstdStream(t, text, 1000), -1),
		"sized frames": bbtest.Flip(sized, bbtest.FrameAt(t, sized, 1)-1),
	} {
		got, err := bbtest.DecodeSame(t, readers[:len(readers)-1], bad, name)
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

// TestStandardDamagedFrame damages a block of a frame with a content size: its header, its content,
// or the checksum of the frame. Readers must return the content of the blocks in front of it.
func TestStandardDamagedFrame(t *testing.T) {
	text := bbtest.TextBytes(400_000, 1)
	const size = 100_000
	h := zstfile.Header{ContentSize: int64(len(text)), Window: 1 << 19, Checksum: true}
	whole := bbtest.StoredFrame(zstfile.Header{ContentSize: 100, Window: 1 << 10}, text[:100])
	frame := bbtest.StoredFrame(h, slices.Collect(slices.Chunk(text, size))...)
	file := append(slices.Clone(whole), frame...)
	readers, all := bbtest.AllReaders(t), append(text[:100:100], text...)
	for block := range 4 {
		at := len(whole) + len(h.Append(nil)) + block*(3+size)
		for name, bad := range map[string][]byte{
			"block type": bbtest.Patch(file, at, file[at]|6),
			"content":    bbtest.Patch(file, at, file[at]|4),
		} {
			got, err := bbtest.DecodeSame(t, readers, bad, name)
			var e *compress.Error
			if !errors.As(err, &e) || !errors.Is(err, compress.ErrCorrupt) || e.Block != 1 ||
				len(got) != 100+block*size || !bytes.HasPrefix(all, got) {
				t.Errorf("%s of block %d: %d bytes, %v", name, block, len(got), err)
			}
		}
	}
	got, err := bbtest.DecodeSame(t, readers, bbtest.Flip(file, -1), "checksum")
	if !errors.Is(err, compress.ErrChecksum) || !bytes.Equal(got, all) {
		t.Errorf("checksum: %d bytes, %v", len(got), err)
	}
}

// TestStandardCutFrame cuts a frame with a content size. Although the frame is one block, readers
// must return the content of its whole inner blocks, if memory suffices to decode them in order.
func TestStandardCutFrame(t *testing.T) {
	text := bbtest.TextBytes(400_000, 1)
	for _, single := range []bool{false, true} {
		h := zstfile.Header{
			ContentSize:   int64(len(text)),
			Window:        1 << 19,
			SingleSegment: single,
			Checksum:      true,
		}
		blocks := slices.Collect(slices.Chunk(text, 100_000))
		whole := bbtest.StoredFrame(zstfile.Header{ContentSize: 100, Window: 1 << 10}, text[:100])
		file := append(slices.Clone(whole), bbtest.StoredFrame(h, blocks...)...)
		head := len(whole) + len(h.Append(nil))
		readers, tight := bbtest.AllReaders(t), bbtest.AllReaders(t, compress.WithMaxMemory(3300<<10))
		for cut := head + 1; cut < len(file); cut += 1 + cut/8 {
			inner := min(4, (cut-head)/(3+100_000)) // whole blocks of the frame
			for i, list := range [][]*compress.Reader{readers, tight[:len(tight)-1]} {
				want := []int{100 + 100_000*inner, 100}[i]
				got, err := bbtest.DecodeSame(t, list, file[:cut], fmt.Sprint(cut))
				var e *compress.Error
				if !errors.As(err, &e) || !errors.Is(err, compress.ErrTruncated) || e.Block != 1 ||
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
	opt := compress.WithMaxMemory(1 << 40)
	_, err := compress.AppendDecode(nil, file, opt)
	_, readErr := bbtest.Decode(file, opt)
	if !errors.Is(err, compress.ErrCorrupt) || readErr == nil || err.Error() != readErr.Error() {
		t.Errorf("AppendDecode: %v; Reader: %v", err, readErr)
	}
}

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

// Every truncation is noticed, alike by all.
func TestForeignTruncation(t *testing.T) {
	testenv.Slow(t)
	readers := allReaders(t)
	for _, f := range foreignFiles(t) {
		for n := range f.file {
			what := fmt.Sprint(f.name, " of ", n, " bytes")
			got, err := sameEverywhere(t, readers, f.file[:n], what)
			if !bytes.HasPrefix(f.content, got) {
				t.Fatalf("%s: wrong content", what)
			}
			_, aerr := NewReaderAt(bytes.NewReader(f.file[:n]), int64(n))
			info, ierr := ReadInfo(bytes.NewReader(f.file[:n]), int64(n))
			// Without its seek table a .zst file is whole as well.
			if slices.Contains(f.whole, n) || f.name == "seekable" && err == nil {
				if err != nil || !errors.Is(aerr, ErrNoIndex) || ierr != nil || info.Content != int64(len(got)) {
					t.Fatalf("%s: %v; %v; %v", what, err, aerr, ierr)
				}
				continue
			}
			if !errors.Is(err, ErrTruncated) || !errors.Is(ierr, ErrTruncated) {
				t.Fatalf("%s: %v; ReadInfo: %v", what, err, ierr)
			}
			if want := ErrTruncated; !errors.Is(aerr, want) && !(f.name == "gzip" && errors.Is(aerr, ErrNoIndex)) {
				t.Fatalf("%s: NewReaderAt: %v", what, aerr)
			}
		}
	}
}

// Flipped bits give the same result however many workers there are, a typed error if any, and no wrong content where there is a check.
func TestForeignBitFlips(t *testing.T) {
	readers := allReaders(t)
	for _, f := range foreignFiles(t) {
		step := 7
		if !testenv.All() {
			step = 61
		}
		for bit := 0; bit < 8*len(f.file); bit += step {
			bad := slices.Clone(f.file)
			bad[bit/8] ^= 1 << (bit % 8)
			what := fmt.Sprint(f.name, ", bit ", bit)
			got, err := sameEverywhere(t, readers, bad, what)
			switch {
			case err == nil && !bytes.Equal(got, f.content):
				t.Fatalf("%s: wrong content, and no error", what)
			case err != nil && classOf(err) == nil && !errors.Is(err, ErrMemory):
				t.Fatalf("%s: %v", what, err)
			}
			r, err := NewReaderAt(bytes.NewReader(bad), int64(len(bad)))
			if err == nil {
				got := make([]byte, len(f.content))
				n, rerr := r.ReadAt(got, 0)
				if n = min(n, len(f.content)); !bytes.Equal(got[:n], f.content[:n]) || rerr == nil && n < len(got) {
					t.Fatalf("%s: ReaderAt: wrong content, %v", what, rerr)
				}
				err = rerr
				r.Close()
			}
			if err != nil && err != io.EOF && classOf(err) == nil && !errors.Is(err, ErrMemory) && !errors.Is(err, ErrNoIndex) {
				t.Fatalf("%s: ReaderAt: %v", what, err)
			}
		}
	}
}

// What is wrong with a file is said with the right class, after all content in front of it.
func TestForeignDamage(t *testing.T) {
	text := textBytes(3*testBlock, 1)
	gz, zst := gzipOf(t, text), zstdStream(t, text, 1000)
	sized := encode(t, text, WithPipeline("lzf"), WithBlockSize(testBlock))
	patch := func(p []byte, at int, v ...byte) []byte {
		p = slices.Clone(p)
		if at < 0 {
			at += len(p)
		}
		copy(p[at:], v)
		return p
	}
	checked := gzfile.Header{HeaderCRC: true}
	header, _ := checked.Append(nil)
	readers := allReaders(t)
	raw := func(h zstfile.Header) []byte { return zstdRaw(h, text[:100]) }
	for _, c := range []struct {
		name    string
		file    []byte
		content []byte
		kind    error
	}{
		{"gzip, garbage", append(slices.Clone(gz), "garbage"...), text, ErrTrailing},
		{"gzip, one byte", append(slices.Clone(gz), 'x'), text, ErrTrailing},
		{"gzip, zeros and garbage", append(slices.Clone(gz), "\x00\x00\x00x"...), text, ErrTrailing},
		{"gzip, zeros and a member", slices.Concat(gz, make([]byte, 10), gz), text, ErrTrailing},
		{"gzip, zstd", append(slices.Clone(gz), zst...), text, ErrTrailing},
		{"gzip, pz", append(slices.Clone(gz), encode(t, text)...), text, ErrTrailing},
		{"pz, gzip", append(encode(t, text), gz...), text, ErrTrailing},
		{"pz, zstd", append(encode(t, text), zst...), text, ErrTrailing},
		{"zstd, gzip", append(slices.Clone(zst), gz...), text, ErrCorrupt},
		{"zstd, zero", append(slices.Clone(zst), 0), text, ErrCorrupt},
		{"zstd, magic number of a second frame", append(slices.Clone(zst), patch(zst, 0, zst[0]^1)...), text, ErrCorrupt},
		{"gzip, CRC", patch(gz, -8, gz[len(gz)-8]^1), text, ErrChecksum},
		{"gzip, size", patch(gz, -4, gz[len(gz)-4]^1), text, ErrCorrupt},
		{"gzip, header CRC", append(patch(header, -1, header[len(header)-1]^1), gz[10:]...), nil, ErrChecksum},
		{"gzip, method", patch(gz, 2, 9), nil, ErrFormat},
		{"gzip, method of a second member", append(slices.Clone(gz), patch(gz, 2, 9)...), text, ErrVersion},
		{"gzip, flags", patch(gz, 3, 0x20), nil, ErrCorrupt},
		{"gzip, header without an end", append([]byte("\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x03"), bytes.Repeat([]byte("n"), 1<<18)...), nil, ErrTruncated},
		{"gzip, header CRC behind a long name", slices.Concat([]byte("\x1f\x8b\x08\x0a\x00\x00\x00\x00\x00\x03"), bytes.Repeat([]byte("n"), 1<<18), []byte("\x00\x01\x02")), nil, ErrChecksum},
		{"zstd, checksum", patch(zst, -1, zst[len(zst)-1]^1), text, ErrChecksum},
		{"zstd, dictionary", raw(zstfile.Header{ContentSize: 100, Window: 1 << 10, Dictionary: 77}), nil, ErrVersion},
		{"zstd, reserved bit", patch(zst, 4, zst[4]|8), nil, ErrCorrupt},
		{"zstd, less content than announced", raw(zstfile.Header{ContentSize: 101, Window: 1 << 10}), nil, ErrCorrupt},
		{"zstd, more content than announced", raw(zstfile.Header{ContentSize: 99, Window: 1 << 10}), nil, ErrCorrupt},
		{"zstd, block type", append((&zstfile.Header{ContentSize: 10, Window: 1 << 10}).Append(nil), 7, 0, 0), nil, ErrCorrupt},
		{"zstd, block size", append((&zstfile.Header{ContentSize: -1, Window: 1 << 10}).Append(nil), 1, 0, 0xff), nil, ErrCorrupt},
		{"zstd, block larger than the window", zstdRaw(zstfile.Header{ContentSize: -1, Window: 1 << 10}, text[:2000]), nil, ErrCorrupt},
		{"zstd, window", raw(zstfile.Header{ContentSize: -1, Window: 1 << 40}), nil, ErrMemory},
		{"zstd, large frame that is not there", (&zstfile.Header{ContentSize: 1 << 60, SingleSegment: true}).Append(nil), nil, ErrMemory},
	} {
		got, err := sameEverywhere(t, readers, c.file, c.name)
		var e *Error
		if !errors.Is(err, c.kind) || !errors.As(err, &e) || !bytes.Equal(got, c.content) || errors.Is(err, ErrTrailing) != (c.kind == ErrTrailing) {
			t.Errorf("%s: %d bytes, %v; want %d and %v", c.name, len(got), err, len(c.content), c.kind)
		}
	}
	// The third frame of several is damaged: two come out.
	var e *Error
	got, err := sameEverywhere(t, readers, patch(sized, frameAt(t, sized, 2)+20, sized[frameAt(t, sized, 2)+20]^1), "third frame")
	if !errors.As(err, &e) || !errors.Is(err, ErrCorrupt) || e.Block != 2 || e.Offset != int64(frameAt(t, sized, 2)) || len(got) != 2*testBlock {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	// Checks that are to be ignored are.
	ignore := allReaders(t, WithChecksum(false))
	for _, bad := range [][]byte{patch(gz, -8, gz[len(gz)-8]^1), patch(zst, -1, zst[len(zst)-1]^1), patch(sized, frameAt(t, sized, 1)-1, sized[frameAt(t, sized, 1)-1]^1)} {
		if got, err := sameEverywhere(t, ignore[:len(ignore)-1], bad, "ignored"); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
}

// A frame that says how much it holds is a block, but if it is cut short, what there is of it comes out, as of any other; unless memory does not suffice for that.
func TestForeignCutFrame(t *testing.T) {
	text := textBytes(400_000, 1)
	for _, single := range []bool{false, true} {
		h := zstfile.Header{ContentSize: int64(len(text)), Window: 1 << 19, SingleSegment: single, Checksum: true}
		blocks := slices.Collect(slices.Chunk(text, 100_000))
		whole := zstdRaw(zstfile.Header{ContentSize: 100, Window: 1 << 10}, text[:100])
		file := append(slices.Clone(whole), zstdRaw(h, blocks...)...)
		head := len(whole) + len(h.Append(nil))
		readers, tight := allReaders(t), allReaders(t, WithMaxMemory(3300<<10))
		for cut := head + 1; cut < len(file); cut += 1 + cut/8 {
			var there int
			for there = 0; there < 4 && cut >= head+(there+1)*(3+100_000); {
				there++
			}
			for i, list := range [][]*Reader{readers, tight[:len(tight)-1]} {
				want := []int{100 + 100_000*there, 100}[i]
				got, err := sameEverywhere(t, list, file[:cut], fmt.Sprint(cut))
				var e *Error
				if !errors.As(err, &e) || !errors.Is(err, ErrTruncated) || e.Block != 1 || e.Offset != int64(cut) || len(got) != want || !bytes.HasPrefix(append(text[:100:100], text...), got) {
					t.Errorf("cut to %d of %d bytes, single segment %v: %d bytes, want %d; %v", cut, len(file), single, len(got), want, err)
				}
			}
		}
	}
}

package compress

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	kzstd "github.com/klauspost/compress/zstd"

	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/zstfile"
)

// gzipOf is a member of Go's compress/gzip.
func gzipOf(t testing.TB, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(content)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// zstdStream is a frame that does not say how much content it has, and is flushed after every piece.
func zstdStream(t testing.TB, content []byte, piece int, opts ...kzstd.EOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := kzstd.NewWriter(&b, append([]kzstd.EOption{kzstd.WithEncoderConcurrency(1)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(content); i += piece {
		w.Write(content[i:min(i+piece, len(content))])
		w.Flush()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// zstdRaw is a frame of stored blocks.
func zstdRaw(h zstfile.Header, blocks ...[]byte) []byte {
	p := h.Append(nil)
	for i, b := range blocks {
		v := len(b) << 3
		if i == len(blocks)-1 {
			v |= 1
		}
		p = append(append(p, byte(v), byte(v>>8), byte(v>>16)), b...)
	}
	if h.Checksum {
		p = binary.LittleEndian.AppendUint32(p, zstfile.Checksum(slices.Concat(blocks...)))
	}
	return p
}

// A foreignFile is a small file of several members or frames, of all sorts.
type foreignFile struct {
	name          string
	file, content []byte
	whole         []int // offsets at which a file that ends there is whole
}

func foreignFiles(t testing.TB) []foreignFile {
	text, noise := textBytes(2*testBlock+50, 1), randomBytes(300, 2)
	build := func(name string, parts ...[]byte) foreignFile {
		f := foreignFile{name: name}
		for i := 0; i < len(parts); i += 2 {
			f.file, f.content = append(f.file, parts[i]...), append(f.content, parts[i+1]...)
			f.whole = append(f.whole, len(f.file))
		}
		return f
	}
	header := gzfile.Header{Name: "name", Comment: "comment", Extra: []byte("XX\x01\x00y"), HeaderCRC: true}
	full, err := header.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	full = append(full, gzipOf(t, noise)[gzfile.MinHeaderSize:]...)
	h := zstfile.Header{ContentSize: -1, Window: 1 << 20, Checksum: true}
	return []foreignFile{
		build("gzip", gzipOf(t, text), text, full, noise, gzipOf(t, nil), nil, encode(t, noise, WithPipeline("deflate")), noise),
		build("zstd",
			zstfile.AppendSkippable(nil, 3, []byte("skip me")), nil,
			zstdStream(t, text, 700), text,
			zstdRaw(zstfile.Header{ContentSize: 300, Window: 1 << 10, Checksum: true}, noise[:100], noise[100:]), noise,
			zstdRaw(h, nil), nil,
			zstdRaw(zstfile.Header{ContentSize: 0, SingleSegment: true}, nil), nil,
			zstdRaw(h, noise), noise),
		build("seekable", encode(t, text, WithPipeline("lzf"), WithBlockSize(testBlock)), text),
	}
}

// readTo decodes src with r, or with AppendDecode if r is nil.
func readTo(r *Reader, file []byte) ([]byte, error) {
	if r == nil {
		return AppendDecode(nil, file)
	}
	r.Reset(plain{bytes.NewReader(file)})
	return io.ReadAll(r)
}

// allReaders are Readers of several numbers of workers, and nil for AppendDecode.
func allReaders(t *testing.T, opts ...Option) (list []*Reader) {
	for _, workers := range workerCounts {
		list = append(list, newReader(t, nil, append(opts, WithConcurrency(workers))...))
	}
	return append(list, nil)
}

// sameEverywhere decodes a file in all ways, and fails if they do not agree.
func sameEverywhere(t *testing.T, readers []*Reader, file []byte, what string) (content []byte, err error) {
	t.Helper()
	content, err = readTo(readers[0], file)
	for i, r := range readers[1:] {
		got, gerr := readTo(r, file)
		if fmt.Sprint(gerr) != fmt.Sprint(err) || !bytes.Equal(got, content) {
			t.Fatalf("%s: %d bytes and %v with one worker, %d and %v with reader %d", what, len(content), err, len(got), gerr, i+1)
		}
	}
	return content, err
}

func TestForeign(t *testing.T) {
	checkGoroutines(t)
	readers := allReaders(t)
	for _, f := range foreignFiles(t) {
		got, err := sameEverywhere(t, readers, f.file, f.name)
		if err != nil {
			t.Fatal(f.name, err)
		}
		equal(t, got, f.content, f.name)
		for name, wrap := range map[string]func(io.Reader) io.Reader{
			"one byte": iotest.OneByteReader, "half": iotest.HalfReader, "data with EOF": iotest.DataErrReader,
		} {
			got, err := io.ReadAll(newReader(t, wrap(bytes.NewReader(f.file))))
			if err != nil {
				t.Fatal(f.name, name, err)
			}
			equal(t, got, f.content, f.name+", "+name)
		}
		if err := iotest.TestReader(newReader(t, bytes.NewReader(f.file)), f.content); err != nil {
			t.Error(f.name, err)
		}
	}
}

// Every truncation is noticed, alike by all.
func TestForeignTruncation(t *testing.T) {
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
		if testing.Short() {
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

// frameAt is the offset of a frame of a file with a seek table.
func frameAt(t testing.TB, file []byte, n int) int {
	t.Helper()
	f, err := zstfile.ParseSeekFooter(file[len(file)-zstfile.SeekFooterSize:], int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	table := len(file) - int(f.TableSize())
	list, err := f.AppendEntries(nil, file[table:], int64(table))
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, e := range list[:n] {
		at += int(e.Size)
	}
	return at
}

// Limits hold, and what a header claims is not allocated.
func TestForeignLimits(t *testing.T) {
	text := textBytes(200_000, 1)
	frame := func(h zstfile.Header) []byte { return append(h.Append(nil), 1, 0, 0) }
	for name, file := range map[string][]byte{
		"window":         frame(zstfile.Header{ContentSize: -1, Window: 128 << 20}),
		"single segment": frame(zstfile.Header{ContentSize: 100 << 20, SingleSegment: true}),
		"block":          frame(zstfile.Header{ContentSize: 32 << 20, SingleSegment: true}),
		"skippable":      {0x50, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0xff, 1, 2},
	} {
		decode(file) // what the first one takes
		if n := allocated(func() { AppendDecode(nil, file) }); n > 4<<20 {
			t.Errorf("%s: AppendDecode took %d bytes for %d", name, n, len(file))
		}
		if n := allocated(func() { decode(file) }); n > 4<<20 {
			t.Errorf("%s: Reader took %d bytes for %d", name, n, len(file))
		}
	}
	// A seek table claims many frames, or much content.
	footer := func(n uint32) []byte {
		p := binary.LittleEndian.AppendUint32(make([]byte, 100), n)
		p = binary.LittleEndian.AppendUint32(append(p, 0x80), zstfile.SeekTableMagic)
		copy(p, zstdRaw(zstfile.Header{ContentSize: 1, Window: 1 << 10}, []byte("x")))
		return p
	}
	for _, n := range []uint32{5, 1 << 20, 1 << 27, 1<<32 - 1} {
		file := footer(n)
		if got := allocated(func() {
			if _, err := NewReaderAt(bytes.NewReader(file), int64(len(file))); classOf(err) == nil {
				t.Errorf("%d frames: %v", n, err)
			}
		}); got > 200<<10 {
			t.Errorf("%d frames: %d bytes", n, got)
		}
	}
	for name, file := range map[string][]byte{
		"gzip": gzipOf(t, text), "zstd": zstdStream(t, text, 50_000), "frames": encode(t, text, WithPipeline("lzf"), WithBlockSize(1<<16)),
	} {
		for _, limit := range []int64{0, 1, 70_000, int64(len(text)) - 1, int64(len(text))} {
			readers := allReaders(t, WithMaxDecodedSize(limit))
			got, err := sameEverywhere(t, readers[:len(readers)-1], file, name)
			if limit == int64(len(text)) {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			} else if !errors.Is(err, ErrTooLarge) || int64(len(got)) > limit || !bytes.HasPrefix(text, got) {
				t.Errorf("%s, limit %d: %d bytes, %v", name, limit, len(got), err)
			}
			if _, err := ReadInfo(bytes.NewReader(file), int64(len(file)), WithMaxDecodedSize(limit)); (err == nil) != (limit == int64(len(text))) {
				t.Errorf("%s, limit %d: ReadInfo: %v", name, limit, err)
			}
		}
		if _, err := decode(file, WithMaxMemory(50_000)); !errors.Is(err, ErrMemory) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A window that is too large for the limit, and one that is not.
	wide := zstdStream(t, text, 50_000, kzstd.WithWindowSize(16<<20))
	if _, err := decode(wide, WithMaxMemory(16<<20)); !errors.Is(err, ErrMemory) {
		t.Error(err)
	}
	if got, err := decode(wide, WithMaxMemory(32<<20)); err != nil || !bytes.Equal(got, text) {
		t.Error(err)
	}
	seekable := encode(t, textBytes(1<<20, 1), WithPipeline("lzf"), WithBlockSize(1<<20))
	if _, err := NewReaderAt(bytes.NewReader(seekable), int64(len(seekable)), WithMaxMemory(1<<20)); !errors.Is(err, ErrMemory) {
		t.Error(err)
	}
}

// The format has no limit for names and comments, and gzip reads such files: so do we, without keeping what we have no use for.
func TestLongGzipHeader(t *testing.T) {
	text := textBytes(1000, 1)
	gz := gzipOf(t, text)
	with := func(flags byte, strings ...string) []byte {
		p := slices.Clone(gz[:gzfile.MinHeaderSize])
		p[3] = flags
		for _, s := range strings {
			p = append(append(p, s...), 0)
		}
		return append(p, gz[gzfile.MinHeaderSize:]...)
	}
	long := strings.Repeat("n", 3*inputBuffer)
	for _, c := range []struct {
		file []byte
		name string
	}{
		{with(1<<3, long), ""},
		{with(1<<3|1<<4, long, long), ""},
		{with(1<<3|1<<4, "name", long), "name"},
		{with(1<<4, long), ""},
	} {
		file := append(slices.Clone(gz), c.file...)
		if got, err := sameEverywhere(t, allReaders(t), file, c.name); err != nil || !bytes.Equal(got, slices.Concat(text, text)) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		if info, err := ReadInfo(bytes.NewReader(file), int64(len(file))); err != nil || info.Content != 2000 {
			t.Errorf("%+v, %v", info, err)
		}
		if name, _, err := ReadName(bytes.NewReader(c.file)); err != nil || name != c.name {
			t.Errorf("%q, %v; want %q", name, err, c.name)
		}
	}
}

// A Reader goes from one format to another, in any state.
func TestForeignReset(t *testing.T) {
	checkGoroutines(t)
	text := mixedBytes(50_000)
	files := foreignFiles(t)
	files = append(files, foreignFile{"pz", encode(t, text, WithBlockSize(testBlock)), text, nil})
	r := newReader(t, nil, WithConcurrency(2))
	for i := range 60 {
		f := files[i*7%len(files)]
		r.Reset(bytes.NewReader(f.file))
		switch i % 4 {
		case 0:
			io.ReadFull(r, make([]byte, 1+i*100))
		case 1:
			io.ReadFull(r, make([]byte, 100))
			r.Close()
		case 2:
			r.Reset(bytes.NewReader(f.file[:len(f.file)/2]))
			io.Copy(io.Discard, r)
		}
		f = files[i*5%len(files)]
		r.Reset(bytes.NewReader(f.file))
		got, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(f.name, err)
		}
		equal(t, got, f.content, f.name)
	}
}

// Errors of the reader underneath come through as they are, and nothing hangs or stays.
func TestForeignFailingReader(t *testing.T) {
	checkGoroutines(t)
	for _, f := range foreignFiles(t) {
		for _, workers := range workerCounts {
			r := newReader(t, nil, WithConcurrency(workers))
			for n := 0; n < len(f.file); n += 11 {
				deadline(t, fmt.Sprint(f.name, " that fails at byte ", n), func() {
					r.Reset(io.MultiReader(bytes.NewReader(f.file[:n]), iotest.ErrReader(errTest)))
					if got, err := io.ReadAll(r); err != errTest || !bytes.HasPrefix(f.content, got) {
						t.Errorf("%s, byte %d: %v", f.name, n, err)
					}
				})
			}
		}
	}
}

// What was flushed comes out before more comes in.
func TestForeignFlush(t *testing.T) {
	checkGoroutines(t)
	for _, p := range Pipelines() {
		deadline(t, p.Name, func() {
			pr, pw := io.Pipe()
			r := newReader(t, pr, WithConcurrency(2))
			parts := make(chan []byte)
			go func() {
				w := newWriter(t, pw, WithPipeline(p.Name), WithBlockSize(testBlock))
				for p := range parts {
					w.Write(p)
					w.Flush()
				}
				w.Close()
				pw.Close()
			}()
			for _, n := range []int{1, 100, testBlock, 3*testBlock + 1, 5} {
				part := textBytes(n, uint64(n))
				parts <- part
				got := make([]byte, n)
				if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got, part) {
					t.Errorf("%s: %d bytes: %v", p.Name, n, err)
				}
			}
			close(parts)
			if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
				t.Errorf("%s: %d, %v", p.Name, n, err)
			}
		})
	}
}

// Also from a frame that has a large window: whoever flushes wants it to be read.
func TestForeignFlushWindow(t *testing.T) {
	checkGoroutines(t)
	for _, window := range []int{0, 16 << 20, 64 << 20} {
		pr, pw := io.Pipe()
		opts := []kzstd.EOption{kzstd.WithEncoderConcurrency(1)}
		if window > 0 {
			opts = append(opts, kzstd.WithWindowSize(window))
		}
		w, err := kzstd.NewWriter(pw, opts...)
		if err != nil {
			t.Fatal(err)
		}
		parts := make(chan []byte)
		go func() {
			for p := range parts {
				w.Write(p)
				w.Flush()
			}
			w.Close()
			pw.Close()
		}()
		r := newReader(t, pr)
		deadline(t, fmt.Sprint("window of ", window), func() {
			for i := range 5 {
				part := textBytes(200+i, uint64(i))
				parts <- part
				got := make([]byte, len(part))
				if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got, part) {
					t.Errorf("window of %d: %v", window, err)
				}
			}
			close(parts)
			if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
				t.Errorf("window of %d: %d, %v", window, n, err)
			}
		})
	}
	// A header alone is not worth the window.
	pr, pw := io.Pipe()
	head := (&zstfile.Header{ContentSize: -1, Window: 128 << 20}).Append(nil)
	got := allocated(func() {
		go func() {
			for _, b := range head {
				pw.Write([]byte{b})
			}
			pw.Close()
		}()
		if _, err := io.ReadAll(newReader(t, pr)); !errors.Is(err, ErrTruncated) {
			t.Error(err)
		}
	})
	if got > 4<<20 {
		t.Errorf("%d bytes of memory for a header", got)
	}
}

// Frames that say how much content they have and others by turns share their memory.
func TestFramesByTurns(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector makes pools forget")
	}
	const frames = 2000
	sized := zstdRaw(zstfile.Header{ContentSize: 1, SingleSegment: true}, []byte("a"))
	small := zstdRaw(zstfile.Header{ContentSize: -1, Window: 1 << 10}, []byte("b"))
	wide := zstdRaw(zstfile.Header{ContentSize: -1, Window: 4 << 20}, []byte("c"))
	for name, c := range map[string]struct{ file, content []byte }{
		"small": {slices.Concat(sized, small), []byte("ab")},
		"wide":  {slices.Concat(sized, wide, small, sized, wide), []byte("acbac")},
	} {
		file, content := bytes.Repeat(c.file, frames), bytes.Repeat(c.content, frames)
		for way, decode := range map[string]func() ([]byte, error){
			"Reader": func() ([]byte, error) {
				return io.ReadAll(newReader(t, plain{bytes.NewReader(file)}, WithMaxMemory(16<<20), WithConcurrency(2)))
			},
			"AppendDecode": func() ([]byte, error) { return AppendDecode(nil, file, WithMaxMemory(16<<20), WithConcurrency(2)) },
		} {
			got := allocated(func() {
				if p, err := decode(); err != nil || !bytes.Equal(p, content) {
					t.Errorf("%s, %s: %d bytes, %v", name, way, len(p), err)
				}
			})
			if got > 16<<20 {
				t.Errorf("%s, %s: %d bytes allocated for %d frames", name, way, got, len(content))
			}
		}
	}
}

// Frames and pieces cost no allocations once it runs.
func TestForeignAllocations(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector makes pools forget, those of the decoders as well")
	}
	const blocks = 300
	content := mixedBytes(blocks * testBlock)
	var members []byte
	for i := 0; i < len(content); i += testBlock {
		members = append(members, gzipOf(t, content[i:i+testBlock])...)
	}
	src := bytes.NewReader(nil)
	for name, file := range map[string][]byte{
		"frames": encode(t, content, WithPipeline("lzf"), WithBlockSize(testBlock)), "members": members, "stream": zstdStream(t, content, testBlock),
	} {
		r := newReader(t, nil, WithConcurrency(2))
		run := func() {
			src.Reset(file)
			r.Reset(src)
			if n, err := r.WriteTo(io.Discard); n != int64(len(content)) || err != nil {
				t.Fatal(name, n, err)
			}
		}
		for range 3 {
			run()
		}
		runtime.GC() // pools of the decoders
		run()
		if n := mallocs(run); n > blocks/4 {
			t.Errorf("%s: %d allocations for %d blocks", name, n, blocks)
		}
	}
	file := encode(t, content, WithPipeline("lzf"), WithBlockSize(testBlock))
	ra := openAt(t, file, WithConcurrency(2))
	p := make([]byte, len(content))
	for range 3 {
		ra.ReadAt(p, 0)
	}
	if n := mallocs(func() { ra.ReadAt(p, 0) }); n > blocks/4 {
		t.Errorf("ReadAt: %d allocations for %d blocks", n, blocks)
	}
}

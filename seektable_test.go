package compress

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/gopz/compress/internal/zstfile"
)

// table is a seek table of entries.
func table(sums bool, list ...zstfile.Entry) []byte {
	return zstfile.AppendSeekTable(nil, list, sums)
}

func entry(frame, content []byte) zstfile.Entry {
	return zstfile.Entry{Size: uint32(len(frame)), Content: uint32(len(content)), Sum: zstfile.Checksum(content)}
}

// A ReaderAt finds its way through frames of all sorts, through files that follow one another, and with several goroutines.
func TestSeekableZstd(t *testing.T) {
	content := mixedBytes(30*testBlock + 99)
	ours := encode(t, content, WithPipeline("lzf"), WithBlockSize(testBlock))
	plainFrame := zstdStream(t, content[:1000], 300)
	skip := skippable(5, []byte("nothing"))
	empty := zstdRaw(zstfile.Header{ContentSize: -1, Window: 1 << 10, Checksum: true}, nil)
	zero := zstdRaw(zstfile.Header{ContentSize: 0, SingleSegment: true}, nil)
	odd := slices.Concat(skip, plainFrame, empty, zero, plainFrame,
		table(false, entry(skip, nil), entry(plainFrame, content[:1000]), entry(empty, nil), entry(zero, nil), entry(plainFrame, content[:1000])))
	noChecks := encode(t, content, WithPipeline("lzf"), WithBlockSize(testBlock), WithChecksum(false))
	for _, c := range []struct {
		name          string
		file, content []byte
	}{
		{"ours", ours, content},
		{"no checks", noChecks, content},
		{"odd", odd, slices.Concat(content[:1000], content[:1000])},
		{"several", slices.Concat(ours, odd, encode(t, nil, WithPipeline("lzf")), noChecks), slices.Concat(content, content[:1000], content[:1000], content)},
		{"empty", encode(t, nil, WithPipeline("lzf")), nil},
	} {
		checkAllReaders(t, c.file, c.content, WithConcurrency(2))
		if err := iotest.TestReader(openAt(t, c.file), c.content); err != nil {
			t.Error(c.name, err)
		}
		r := openAt(t, c.file, WithConcurrency(2))
		if info := r.Info(); info.Format != Zstd || !info.Seekable || info.Content != int64(len(c.content)) || info.Size != int64(len(c.file)) {
			t.Errorf("%s: %+v", c.name, info)
		}
		info, err := ReadInfo(bytes.NewReader(c.file), int64(len(c.file)))
		if err != nil || info.Format != Zstd || !info.Seekable || info.Content != int64(len(c.content)) {
			t.Errorf("%s: %+v, %v", c.name, info, err)
		}
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				rnd := rand.New(rand.NewPCG(1, uint64(g)))
				for range 100 {
					off, n := rnd.IntN(len(c.content)+1), rnd.IntN(3*testBlock)
					p := make([]byte, n)
					got, err := r.ReadAt(p, int64(off))
					if !bytes.Equal(p[:got], c.content[off:min(off+n, len(c.content))]) || err != nil && err != io.EOF {
						t.Errorf("%s: ReadAt(%d, %d): %d, %v", c.name, n, off, got, err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
}

// A seek table that lies gives an error, and never wrong content.
func TestFalseSeekTable(t *testing.T) {
	content := textBytes(3000, 1)
	a, b := zstdStream(t, content[:1000], 400), zstdRaw(zstfile.Header{ContentSize: 2000, SingleSegment: true, Checksum: true}, content[1000:])
	ea, eb := entry(a, content[:1000]), entry(b, content[1000:])
	frames := slices.Concat(a, b)
	with := func(change func(*zstfile.Entry), e zstfile.Entry) zstfile.Entry {
		change(&e)
		return e
	}
	bad := func(f func(p []byte)) []byte {
		p := table(true, ea, eb)
		f(p)
		return p
	}
	for _, c := range []struct {
		name  string
		table []byte
		kind  error
	}{
		{"right", table(true, ea, eb), nil},
		{"no sums", table(false, ea, eb), nil},
		{"sum", table(true, with(func(e *zstfile.Entry) { e.Sum++ }, ea), eb), ErrChecksum},
		{"sum of the second", table(true, ea, with(func(e *zstfile.Entry) { e.Sum++ }, eb)), ErrChecksum},
		{"more content", table(true, with(func(e *zstfile.Entry) { e.Content++ }, ea), eb), ErrCorrupt},
		{"less content", table(true, with(func(e *zstfile.Entry) { e.Content-- }, ea), eb), ErrCorrupt},
		{"much more content", table(true, with(func(e *zstfile.Entry) { e.Content *= 300 }, ea), eb), ErrCorrupt},
		{"no content", table(true, with(func(e *zstfile.Entry) { e.Content = 0 }, ea), eb), ErrCorrupt},
		{"less of the second", table(true, ea, with(func(e *zstfile.Entry) { e.Content-- }, eb)), ErrCorrupt},
		{"sizes", table(true, with(func(e *zstfile.Entry) { e.Size++ }, ea), with(func(e *zstfile.Entry) { e.Size-- }, eb)), ErrCorrupt},
		{"sizes, the other way", table(true, with(func(e *zstfile.Entry) { e.Size-- }, ea), with(func(e *zstfile.Entry) { e.Size++ }, eb)), ErrCorrupt},
		{"too large", table(true, ea, with(func(e *zstfile.Entry) { e.Size++ }, eb)), ErrCorrupt},
		{"one frame for two", table(true, zstfile.Entry{Size: uint32(len(frames)), Content: 3000, Sum: zstfile.Checksum(content)}), ErrCorrupt},
		{"second frame only", table(true, eb), ErrNoIndex},
		{"reserved bits", bad(func(p []byte) { p[len(p)-5] |= 4 }), ErrCorrupt},
		{"number of frames", bad(func(p []byte) { p[len(p)-9]++ }), ErrCorrupt},
		{"magic", bad(func(p []byte) { p[len(p)-1]++ }), ErrNoIndex},
		{"skippable frame's size", bad(func(p []byte) { p[4]++ }), ErrCorrupt},
		{"none", nil, ErrNoIndex},
	} {
		file := append(slices.Clone(frames), c.table...)
		got := make([]byte, len(content))
		n := 0
		r, err := NewReaderAt(bytes.NewReader(file), int64(len(file)), WithConcurrency(2))
		if err == nil {
			n, err = r.ReadAt(got, 0)
			if err == io.EOF {
				err = nil
			}
			r.Close()
		}
		var e *Error
		if !bytes.Equal(got[:n], content[:n]) || c.kind == nil && err != nil || c.kind != nil && (!errors.Is(err, c.kind) || !errors.As(err, &e)) {
			t.Errorf("%s: %d bytes, %v; want %v", c.name, n, err, c.kind)
		}
		// A sum that is not wanted does not matter.
		if errors.Is(c.kind, ErrChecksum) {
			checkSum := openAt(t, file, WithChecksum(false))
			if n, err := checkSum.ReadAt(got, 0); n != len(got) || err != nil && err != io.EOF {
				t.Errorf("%s: without checks: %v", c.name, err)
			}
		}
	}
	// The frame's own check counts where the table has none.
	file := append(slices.Clone(frames), table(false, ea, eb)...)
	binary.LittleEndian.PutUint32(file[len(frames)-4:], 1)
	if _, err := openAt(t, file).ReadAt(make([]byte, len(content)), 0); !errors.Is(err, ErrChecksum) {
		t.Error(err)
	}
	// Where both have one, the frame's has to be right as well.
	file = append(slices.Clone(frames), table(true, ea, eb)...)
	file[len(frames)-2] ^= 4
	if _, err := openAt(t, file).ReadAt(make([]byte, len(content)), 0); !errors.Is(err, ErrChecksum) {
		t.Error(err)
	}
	checkSum := openAt(t, file, WithChecksum(false))
	if n, err := checkSum.ReadAt(make([]byte, len(content)), 0); n != len(content) || err != nil && err != io.EOF {
		t.Errorf("without checks: %d bytes, %v", n, err)
	}
}

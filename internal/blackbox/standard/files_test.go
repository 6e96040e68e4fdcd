// Package standard tests .gz and .zst files of the library and of other programs, through the
// public API.
package standard

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/internal/zstfile"
)

// TestFrameWriter checks that the zstd program reads the frames of bbtest.FrameWriter.
func TestFrameWriter(t *testing.T) {
	content := bbtest.MixedBytes(300_000)
	for _, piece := range []int{100, 1000, 5000, 200_000, 400_000} {
		for _, window := range []int64{1 << 20, 8 << 20} {
			file := bbtest.ZstdWindow(t, content, piece, window)
			bbtest.Equal(t, bbtest.DecodeReference(t, "lzf", file), content, fmt.Sprint("pieces of ", piece))
		}
	}
}

// TestWriteStandard checks that reference decoders read our files, and that their bytes do not
// depend on workers and the sizes of writes.
func TestWriteStandard(t *testing.T) {
	levels := []int{1, 4, 6, 9}
	if !testenv.All() {
		levels = []int{1, 6}
	}
	for _, pipe := range bbtest.StandardPipelines {
		t.Run(pipe, func(t *testing.T) { testWriteStandard(t, pipe, levels) })
	}
}

func testWriteStandard(t *testing.T, pipe string, levels []int) {
	for _, n := range []int{0, 1, 2, bbtest.BlockSize - 1, bbtest.BlockSize, bbtest.BlockSize + 1,
		9*bbtest.BlockSize + 5} {
		content := bbtest.MixedBytes(n)
		for _, level := range levels {
			opts := []compress.WriterOption{
				bridge.Pipeline(pipe), compress.WithLevel(level),
				compress.WithBlockSize(bbtest.BlockSize),
			}
			want := bbtest.Encode(t, content, opts...)
			bbtest.Equal(t, bbtest.DecodeReference(t, pipe, want), content,
				fmt.Sprint(n, " bytes, level ", level))
			for _, workers := range bbtest.WorkerCounts {
				opts := append(opts, compress.WithConcurrency(workers))
				var b bytes.Buffer
				w := bbtest.NewWriter(t, &b, opts...)
				for p := content; len(p) > 0; {
					m := min(len(p), 1+len(p)/3)
					w.Write(p[:m])
					p = p[m:]
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				bbtest.Equal(t, b.Bytes(), want,
					fmt.Sprint("several writes, ", workers, " workers"))
				b.Reset()
				w.Reset(&b)
				if _, err := w.ReadFrom(bbtest.OnlyReader{Reader: bytes.NewReader(content)}); err != nil {
					t.Fatal(err)
				}
				w.Close()
				bbtest.Equal(t, b.Bytes(), want, fmt.Sprint("ReadFrom, ", workers, " workers"))
				opts = append(opts, compress.WithContentSize(-1))
				got, err := compress.AppendEncode([]byte("before"), content, opts...)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(bbtest.DecodeReference(t, pipe, got[6:]), content) {
					t.Error("AppendEncode")
				}
			}
		}
	}
}

// TestFlushStandard checks that reference decoders return everything written before a Flush.
func TestFlushStandard(t *testing.T) {
	for _, pipe := range bbtest.StandardPipelines {
		t.Run(pipe, func(t *testing.T) { testFlushStandard(t, pipe) })
	}
}

func testFlushStandard(t *testing.T, pipe string) {
	var b bytes.Buffer
	content := bbtest.TextBytes(5*bbtest.BlockSize, 1)
	w := bbtest.NewWriter(t, &b, bridge.Pipeline(pipe), compress.WithBlockSize(bbtest.BlockSize))
	done := 0
	for _, at := range []int{0, 1, 100, bbtest.BlockSize + 100, 4 * bbtest.BlockSize} {
		w.Write(content[done:at])
		done = at
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		var got []byte
		if pipe == "deflate" {
			r, err := gzip.NewReader(bytes.NewReader(b.Bytes()))
			if err != nil {
				if at == 0 {
					continue
				}
				t.Fatal(err)
			}
			got, err = io.ReadAll(r)
			if err != io.ErrUnexpectedEOF {
				t.Error(err)
			}
		} else if at > 0 {
			got = bbtest.DecodeCutFrame(t, b.Bytes())
		}
		bbtest.Equal(t, got, content[:at], fmt.Sprint("at ", at))
	}
	w.Write(content[4*bbtest.BlockSize:])
	w.Close()
	bbtest.Equal(t, bbtest.DecodeReference(t, pipe, b.Bytes()), content, "whole")
}

// TestGzipHeader writes names and times.
func TestGzipHeader(t *testing.T) {
	when := time.Date(2001, 2, 3, 4, 5, 6, 789, time.UTC)
	for _, c := range []struct {
		opt  compress.WriterOption
		name string
		time time.Time
	}{
		{compress.WithLevel(5), "", time.Time{}},
		{compress.WithName("notes.txt", when), "notes.txt", when.Truncate(time.Second)},
		{compress.WithName("", time.Unix(-5, 0)), "", time.Time{}},
		{compress.WithName("", time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)), "", time.Time{}},
	} {
		file := bbtest.Encode(t, []byte("text"), compress.WithFormat(compress.Gzip), c.opt)
		r, err := gzip.NewReader(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if r.Name != c.name || !r.ModTime.Equal(c.time) {
			t.Errorf("%q %v, want %q %v", r.Name, r.ModTime, c.name, c.time)
		}
	}
	// gzip writes the bytes of a name as they are, and so does the Writer.
	for _, name := range []string{"наука", "gr\u00fcn", "bytes \xff\xfe", strings.Repeat("n", 5000)} {
		file := bbtest.Encode(t, nil, compress.WithFormat(compress.Gzip), compress.WithName(name, when))
		if !bytes.Contains(file, []byte(name+"\x00")) {
			t.Errorf("no name in %.50q", file)
		}
	}
	long := bbtest.Encode(t, nil, bridge.Pipeline("deflate"),
		compress.WithName(string(bbtest.TextBytes(1<<17, 1)), when))
	bbtest.DecodeReference(t, "deflate", long)
	for _, name := range []string{"a/b", "a\x00b"} {
		if _, err := compress.NewWriter(
			io.Discard, compress.WithName(name, when),
		); !errors.Is(err, compress.ErrOption) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestSeekTable checks the frames that the seek table of a .zst file lists.
func TestSeekTable(t *testing.T) {
	for _, checks := range []bool{true, false} {
		for _, n := range []int{0, 5, 10*bbtest.BlockSize + 7} {
			t.Run(fmt.Sprint(n, " bytes, checks ", checks), func(t *testing.T) {
				testSeekTable(t, n, checks)
			})
		}
	}
	if _, err := compress.NewWriter(
		io.Discard, bridge.Pipeline("lzf"), compress.WithBlockSize(16<<20),
	); !errors.Is(err, compress.ErrOption) {
		t.Errorf("error %v, want ErrOption", err)
	}
	ra := bbtest.OpenAt(t, bbtest.Encode(t, make([]byte, 8<<20+1), bridge.Pipeline("lzf"),
		compress.WithLevel(9), compress.WithSeekable(0)))
	if got := ra.Block(0).Content; got != 8<<20 {
		t.Errorf("blocks of %d bytes at level 9", got)
	}
}

func testSeekTable(t *testing.T, n int, checks bool) {
	content := bbtest.MixedBytes(n)
	file := bbtest.Encode(t, content, bridge.Pipeline("lzf"), compress.WithSeekable(bbtest.BlockSize),
		compress.WithChecksum(checks))
	f, err := zstfile.ParseSeekFooter(file[len(file)-zstfile.SeekFooterSize:],
		int64(len(file)))
	if n <= bbtest.BlockSize {
		// One frame needs no table: the file must be as small as the one of zstd.
		bbtest.Equal(t, bbtest.DecodeReference(t, "lzf", file), content, "frame")
		if err == nil {
			t.Error("a seek table of one frame")
		}
		return
	}
	if err != nil || f.Sums != checks || f.Frames != max(1, (n+bbtest.BlockSize-1)/bbtest.BlockSize) {
		t.Fatalf("%+v, %v", f, err)
	}
	at := len(file) - int(f.TableSize())
	list, err := f.AppendEntries(nil, file[at:], int64(at))
	if err != nil {
		t.Fatal(err)
	}
	for p := file; len(list) > 0; list = list[1:] {
		e := list[0]
		part := content[:e.Content]
		bbtest.Equal(t, bbtest.DecodeReference(t, "lzf", p[:e.Size]), part, "frame")
		if checks && e.Sum != zstfile.Checksum(part) {
			t.Errorf("checksum %08x, want %08x", e.Sum, zstfile.Checksum(part))
		}
		p, content = p[e.Size:], content[e.Content:]
	}
	if len(content) > 0 {
		t.Errorf("no frame holds the last %d bytes", len(content))
	}
}

// TestReadStandard reads all files with all readers, and from readers that return few bytes.
func TestReadStandard(t *testing.T) {
	bbtest.CheckGoroutines(t)
	readers := bbtest.AllReaders(t)
	for _, f := range bbtest.StandardFiles(t) {
		got, err := bbtest.DecodeSame(t, readers, f.File, f.Name)
		if err != nil {
			t.Fatal(f.Name, err)
		}
		bbtest.Equal(t, got, f.Content, f.Name)
		for name, wrap := range map[string]func(io.Reader) io.Reader{
			"one byte":      iotest.OneByteReader,
			"half":          iotest.HalfReader,
			"data with EOF": iotest.DataErrReader,
		} {
			got, err := io.ReadAll(bbtest.NewReader(t, wrap(bytes.NewReader(f.File))))
			if err != nil {
				t.Fatal(f.Name, name, err)
			}
			bbtest.Equal(t, got, f.Content, f.Name+", "+name)
		}
		if err := iotest.TestReader(bbtest.NewReader(t, bytes.NewReader(f.File)), f.Content); err != nil {
			t.Error(f.Name, err)
		}
	}
}

// TestLongGzipHeader reads members with very long names and comments, which the format allows.
func TestLongGzipHeader(t *testing.T) {
	text := bbtest.TextBytes(1000, 1)
	gz := bbtest.GzipMember(t, text)
	with := func(flags byte, strings ...string) []byte {
		p := slices.Clone(gz[:gzfile.MinHeaderSize])
		p[3] = flags
		for _, s := range strings {
			p = append(append(p, s...), 0)
		}
		return append(p, gz[gzfile.MinHeaderSize:]...)
	}
	long := strings.Repeat("n", 3*container.InputBuffer)
	for _, member := range [][]byte{
		with(1<<3, long), with(1<<3|1<<4, long, long), with(1<<3|1<<4, "name", long), with(1<<4, long),
	} {
		file := append(slices.Clone(gz), member...)
		if got, err := bbtest.DecodeSame(t, bbtest.AllReaders(t), file, "long"); err != nil ||
			!bytes.Equal(got, slices.Concat(text, text)) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		if info, err := bbtest.FileInfo(file); err != nil ||
			info.Content != 2000 {
			t.Errorf("%+v, %v", info, err)
		}
	}
}

// TestStandardReset resets a Reader from one format to another, in any state.
func TestStandardReset(t *testing.T) {
	bbtest.CheckGoroutines(t)
	text := bbtest.MixedBytes(50_000)
	files := bbtest.StandardFiles(t)
	files = append(files, bbtest.StandardFile{Name: "pz",
		File: bbtest.Encode(t, text, compress.WithBlockSize(bbtest.BlockSize)), Content: text, Whole: nil})
	r := bbtest.NewReader(t, nil, compress.WithConcurrency(2))
	for i := range 60 {
		f := files[i*7%len(files)]
		r.Reset(bytes.NewReader(f.File))
		switch i % 4 {
		case 0:
			io.ReadFull(r, make([]byte, 1+i*100))
		case 1:
			io.ReadFull(r, make([]byte, 100))
			r.Close()
		case 2:
			r.Reset(bytes.NewReader(f.File[:len(f.File)/2]))
			io.Copy(io.Discard, r)
		}
		f = files[i*5%len(files)]
		r.Reset(bytes.NewReader(f.File))
		got, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(f.Name, err)
		}
		bbtest.Equal(t, got, f.Content, f.Name)
	}
}

// TestStandardFailingReader lets the underlying reader fail at many bytes.
func TestStandardFailingReader(t *testing.T) {
	bbtest.CheckGoroutines(t)
	for _, f := range bbtest.StandardFiles(t) {
		for _, workers := range bbtest.WorkerCounts {
			r := bbtest.NewReader(t, nil, compress.WithConcurrency(workers))
			for n := 0; n < len(f.File); n += 11 {
				bbtest.MustFinish(t, fmt.Sprint(f.Name, ", failing at byte ", n), func() {
					r.Reset(io.MultiReader(bytes.NewReader(f.File[:n]), iotest.ErrReader(bbtest.ErrTest)))
					if got, err := io.ReadAll(r); !errors.Is(err, bbtest.ErrTest) ||
						!bytes.HasPrefix(f.Content, got) {
						t.Errorf("%s, byte %d: %v", f.Name, n, err)
					}
				})
			}
		}
	}
}

package compress

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"testing"
	"time"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/internal/zstfile"
)

// decodeReference decodes a .gz file with compress/gzip or a .zst file with the zstd program, which
// has the window that every decoder should support. Without the program it skips the test.
func decodeReference(t testing.TB, pipe string, file []byte) []byte {
	t.Helper()
	if pipe != "deflate" {
		return runTool(t, file, testenv.Tool(t, "zstd"), "-dc", "-M8MB")
	}
	r, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	p, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("error after %d bytes: %v", len(p), err)
	}
	return p
}

// decodeCutFrame returns what the zstd program decodes of a file whose last frame goes on. The
// program reports that as an error.
func decodeCutFrame(t testing.TB, file []byte) []byte {
	t.Helper()
	c := exec.Command(testenv.Tool(t, "zstd"), "-dc", "-M8MB")
	c.Stdin = bytes.NewReader(file)
	p, err := c.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || !bytes.Contains(exit.Stderr, []byte("premature")) {
		t.Errorf("zstd: %v", err)
	}
	return p
}

// standardPipelines are the pipelines of .gz and .zst.
var standardPipelines = []string{"deflate", "lzf"}

// TestWriteStandard checks that reference decoders read our files, and that their bytes do not
// depend on workers and the sizes of writes.
func TestWriteStandard(t *testing.T) {
	levels := []int{1, 4, 6, 9}
	if !testenv.All() {
		levels = []int{1, 6}
	}
	for _, pipe := range standardPipelines {
		t.Run(pipe, func(t *testing.T) { testWriteStandard(t, pipe, levels) })
	}
}

func testWriteStandard(t *testing.T, pipe string, levels []int) {
	for _, n := range []int{0, 1, 2, testBlock - 1, testBlock, testBlock + 1, 9*testBlock + 5} {
		content := mixedBytes(n)
		for _, level := range levels {
			opts := []Option{WithPipeline(pipe), WithLevel(level), WithBlockSize(testBlock)}
			want := encode(t, content, opts...)
			equal(t, decodeReference(t, pipe, want), content,
				fmt.Sprint(n, " bytes, level ", level))
			for _, workers := range workerCounts {
				opts := append(opts, WithConcurrency(workers))
				var b bytes.Buffer
				w := newWriter(t, &b, opts...)
				for p := content; len(p) > 0; {
					m := min(len(p), 1+len(p)/3)
					w.Write(p[:m])
					p = p[m:]
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				equal(t, b.Bytes(), want,
					fmt.Sprint("several writes, ", workers, " workers"))
				b.Reset()
				w.Reset(&b)
				if _, err := w.ReadFrom(onlyReader{bytes.NewReader(content)}); err != nil {
					t.Fatal(err)
				}
				w.Close()
				equal(t, b.Bytes(), want, fmt.Sprint("ReadFrom, ", workers, " workers"))
				opts = append(opts, WithContentSize(-1))
				got, err := AppendEncode([]byte("before"), content, opts...)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(decodeReference(t, pipe, got[6:]), content) {
					t.Error("AppendEncode")
				}
			}
		}
	}
}

// TestFlushStandard checks that reference decoders return everything written before a Flush.
func TestFlushStandard(t *testing.T) {
	for _, pipe := range standardPipelines {
		t.Run(pipe, func(t *testing.T) { testFlushStandard(t, pipe) })
	}
}

func testFlushStandard(t *testing.T, pipe string) {
	var b bytes.Buffer
	content := textBytes(5*testBlock, 1)
	w := newWriter(t, &b, WithPipeline(pipe), WithBlockSize(testBlock))
	for _, at := range []int{0, 1, 100, testBlock + 100, 4 * testBlock} {
		done := w.in
		w.Write(content[done:at])
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
			got = decodeCutFrame(t, b.Bytes())
		}
		equal(t, got, content[:at], fmt.Sprint("at ", at))
	}
	w.Write(content[4*testBlock:])
	w.Close()
	equal(t, decodeReference(t, pipe, b.Bytes()), content, "whole")
}

// TestGzipHeader writes names and times.
func TestGzipHeader(t *testing.T) {
	when := time.Date(2001, 2, 3, 4, 5, 6, 789, time.UTC)
	for _, c := range []struct {
		opt  Option
		name string
		time time.Time
	}{
		{WithLevel(5), "", time.Time{}},
		{WithName("notes.txt", when), "notes.txt", when.Truncate(time.Second)},
		{WithName("", time.Unix(-5, 0)), "", time.Time{}},
		{WithName("", time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)), "", time.Time{}},
	} {
		file := encode(t, []byte("text"), WithFormat(Gzip), c.opt)
		r, err := gzip.NewReader(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if r.Name != c.name || !r.ModTime.Equal(c.time) {
			t.Errorf("%q %v, want %q %v", r.Name, r.ModTime, c.name, c.time)
		}
	}
	// gzip writes the bytes of a name as they are, and so does the Writer.
	file := encode(t, nil, WithFormat(Gzip), WithName("наука", when))
	if !bytes.Contains(file, []byte("наука\x00")) {
		t.Errorf("no name in %q", file)
	}
	long := encode(t, nil, WithPipeline("deflate"), WithName(string(textBytes(1<<17, 1)), when))
	decodeReference(t, "deflate", long)
	for _, name := range []string{"a/b", "a\x00b"} {
		if _, err := NewWriter(io.Discard, WithName(name, when)); !errors.Is(err, ErrOption) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestSeekTable checks the frames that the seek table of a .zst file lists.
func TestSeekTable(t *testing.T) {
	for _, checks := range []bool{true, false} {
		for _, n := range []int{0, 5, 10*testBlock + 7} {
			t.Run(fmt.Sprint(n, " bytes, checks ", checks), func(t *testing.T) {
				testSeekTable(t, n, checks)
			})
		}
	}
	if _, err := NewWriter(
		io.Discard, WithPipeline("lzf"), WithBlockSize(16<<20),
	); !errors.Is(err, ErrOption) {
		t.Errorf("error %v, want ErrOption", err)
	}
	if w := newWriter(t, io.Discard, WithPipeline("lzf"), WithLevel(9)); w.opt.blockSize != 8<<20 {
		t.Error(w.opt.blockSize)
	}
}

func testSeekTable(t *testing.T, n int, checks bool) {
	content := mixedBytes(n)
	file := encode(t, content, WithPipeline("lzf"), WithBlockSize(testBlock),
		WithChecksum(checks))
	f, err := zstfile.ParseSeekFooter(file[len(file)-zstfile.SeekFooterSize:],
		int64(len(file)))
	if err != nil || f.Sums != checks || f.Frames != max(1, (n+testBlock-1)/testBlock) {
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
		equal(t, decodeReference(t, "lzf", p[:e.Size]), part, "frame")
		if checks && e.Sum != zstfile.Checksum(part) {
			t.Errorf("checksum %08x, want %08x", e.Sum, zstfile.Checksum(part))
		}
		p, content = p[e.Size:], content[e.Content:]
	}
	if len(content) > 0 {
		t.Errorf("no frame holds the last %d bytes", len(content))
	}
}

// TestEndMemory checks that the index or seek table at the end of a stream is made in a buffer of
// its size, as WriterMemory documents.
func TestEndMemory(t *testing.T) {
	for _, p := range Pipelines() {
		o, err := newWriterOptions([]Option{WithPipeline(p.Name)})
		if err != nil {
			t.Fatal(err)
		}
		var all framers
		b := container.Block{Kind: container.Fill, Payload: 1, Raw: 4096}
		for n := 100_000; n < 101_024; n += 128 {
			f := all.beginFile(&o)
			for range n {
				f.BlockTrailer(f.BlockHeader(nil, b), b)
			}
			if end := f.Trailer(nil, 1, 1); cap(end) > len(end)+16<<10 {
				t.Errorf("%s: a buffer of %d bytes for %d", p.Name, cap(end), len(end))
			}
		}
	}
}

package refzst

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// encode compresses content to .zst with the library.
func encode(t testing.TB, content []byte, opts ...compress.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := compress.NewWriter(&b, append(opts, compress.WithFormat(compress.Zstd))...)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(content)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// checkContent decodes a file and compares the content.
func checkContent(t *testing.T, name string, file, dict, want []byte) {
	t.Helper()
	var b bytes.Buffer
	err := Decode(&b, bytes.NewReader(file), dict, math.MaxInt64)
	if err != nil || !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%s: %v; %d bytes, want %d", name, err, b.Len(), len(want))
	}
}

// TestLibrary decodes what the library writes: all kinds of content at all levels.
func TestLibrary(t *testing.T) {
	testenv.Slow(t)
	for _, kind := range corpus.Kinds() {
		for level := 1; level <= 9; level++ {
			for _, size := range []int{0, 1, 1000, 100_000} {
				content := kind.Make(size)
				file := encode(t, content, compress.WithLevel(level))
				name := fmt.Sprint(kind.Name, ", level ", level, ", size ", size)
				checkContent(t, name, file, nil, content)
			}
		}
	}
}

// TestFlushes decodes frames that continue from flush to flush.
func TestFlushes(t *testing.T) {
	content := corpus.ByName("mixed").Make(300_000)
	for _, opts := range [][]compress.WriterOption{nil, {compress.WithSeekable(0)}} {
		var b bytes.Buffer
		w, err := compress.NewWriter(&b, append(opts, compress.WithFormat(compress.Zstd))...)
		if err != nil {
			t.Fatal(err)
		}
		for p := range slices.Chunk(content, 7777) {
			w.Write(p)
			w.Flush()
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		checkContent(t, "flushed", b.Bytes(), nil, content)
	}
}

// runZstd runs the program zstd on content.
func runZstd(t testing.TB, content []byte, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(testenv.Tool(t, "zstd"), append([]string{"-qc"}, args...)...)
	cmd.Stdin = bytes.NewReader(content)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestZstd decodes what the program zstd writes, from standard input and with a known size.
func TestZstd(t *testing.T) {
	testenv.Slow(t)
	contents := map[string][]byte{
		"empty": nil, "byte": {'x'}, "text": corpus.ByName("text").Make(1000),
	}
	for _, kind := range corpus.Kinds() {
		contents["all"] = append(contents["all"], kind.Make(20_000)...)
	}
	for _, args := range [][]string{
		{"-1"}, {"-3"}, {"-9"}, {"-19"}, {"--ultra", "-22", "--long=27"}, {"--fast=5", "--no-check"},
		{"-3", "--zstd=wlog=10"}, {"-3", "-B1", "--rsyncable"},
	} {
		for name, content := range contents {
			file := runZstd(t, content, args...)
			checkContent(t, fmt.Sprint(name, args), file, nil, content)
			file = runZstd(t, content, append(args, fmt.Sprint("--stream-size=", len(content)))...)
			checkContent(t, fmt.Sprint(name, args, " with the size"), file, nil, content)
		}
	}
}

// TestWindow decodes content that is larger than its window, and with long offsets.
func TestWindow(t *testing.T) {
	part := corpus.ByName("random").Make(900_000)
	content := slices.Concat(part, corpus.ByName("text").Make(2_000_000), part)
	for _, args := range [][]string{{"--long=22"}, {"--zstd=wlog=15"}, {"--zstd=wlog=20"}} {
		file := runZstd(t, content, args...)
		checkContent(t, fmt.Sprint(args), file, nil, content)
	}
}

// TestMemory decodes with limits. A frame needs its window and a block, but no more than its
// content.
func TestMemory(t *testing.T) {
	content := corpus.ByName("text").Make(2_000_000)
	wide := runZstd(t, content, "--long=27")
	narrow := runZstd(t, content, "--zstd=wlog=18")
	for _, c := range []struct {
		name  string
		file  []byte
		limit int64
		want  error
	}{
		{"window of 2^27", wide, 2_000_000 + maxBlock, nil},
		{"window of 2^27", wide, 1_000_000, ErrMemory},
		{"window of 2^18", narrow, 1<<18 + maxBlock, nil},
		{"window of 2^18", narrow, 1 << 18, ErrMemory},
		{"no content", headed([]byte{0, 0xFF}, rawBlock("")), maxBlock, nil},
	} {
		if err := Decode(io.Discard, bytes.NewReader(c.file), nil, c.limit); !errors.Is(err, c.want) {
			t.Errorf("%s, limit %d: %v, want %v", c.name, c.limit, err, c.want)
		}
	}
}

// TestClaims decodes small files that claim much. They take little memory.
func TestClaims(t *testing.T) {
	testenv.Measures(t)
	for name, file := range map[string][]byte{
		"window":    headed([]byte{0, 0xFF}, coded(rawLiterals(1, "abc"), same(1, 3, 0, 0))),
		"size":      headed(append([]byte{0xE0}, bytes.Repeat([]byte{0xFF}, 8)...), rawBlock("abc")),
		"skippable": []byte("\x50\x2A\x4D\x18\xFF\xFF\xFF\xFFxyz"),
		"sequences": wideFrame(coded(rawLiterals(1, "abc"),
			[]byte{255, 255, 255, modes(1, 1, 1), 0, 0, 0, 1})),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		Decode(io.Discard, bytes.NewReader(file), nil, math.MaxInt64)
		runtime.ReadMemStats(&after)
		got := after.TotalAlloc - before.TotalAlloc
		if got > 1<<20 {
			t.Errorf("%s: takes %d bytes of memory", name, got)
		}
	}
}

// TestTruncated cuts a file at each byte.
func TestTruncated(t *testing.T) {
	content := corpus.ByName("text").Make(3000)
	file := slices.Concat(encode(t, content[:1000]),
		encode(t, content[1000:]))
	checkContent(t, "whole", file, nil, content)
	ends := 0
	for n := range file {
		got, err := decode(file[:n])
		if !bytes.HasPrefix(content, []byte(got)) {
			t.Fatalf("%d bytes: another content", n)
		}
		if err == nil && (got == "" || len(got) == 1000) {
			ends++ // a frame's end
		} else if !errors.Is(err, ErrTruncated) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if ends > 4 {
		t.Errorf("%d prefixes are whole files", ends)
	}
}

// TestFlippedBits flips each bit of a file with a checksum.
func TestFlippedBits(t *testing.T) {
	for _, size := range []int{20, 1500} {
		content := corpus.ByName("text").Make(size)
		file := runZstd(t, content, "-19")
		if file[4]&4 == 0 {
			t.Fatal("no checksum")
		}
		same := 0
		for i := range 8 * len(file) {
			file[i/8] ^= 1 << (i % 8)
			got, err := decode(file)
			file[i/8] ^= 1 << (i % 8)
			if err == nil && got != string(content) {
				t.Errorf("size %d, bit %d: another content without an error", size, i)
			}
			if err == nil {
				same++
			}
		}
		// The window's size may change, an unused bit, and offsets that lead to the same bytes.
		if same > 8*len(file)/20 {
			t.Errorf("size %d: %d bits of %d change nothing", size, same, 8*len(file))
		}
	}
}

// TestDictionary decodes frames with dictionaries of zstd and with plain ones.
func TestDictionary(t *testing.T) {
	formatted, err := os.ReadFile(filepath.Join("..", "..", "testdata", "dictionary", "json.dict"))
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string][]byte{
		"formatted": formatted, "plain": formatted[2000:], "short": []byte("1234567"),
	} {
		dict, err := compress.NewDictionary(p)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "dict")
		if err := os.WriteFile(path, p, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{0, 10, 1000, 30_000, 400_000} {
			content := corpus.ByName("json").Make(size)
			for _, level := range []int{1, 6, 9} {
				file := encode(t, content, compress.WithDictionary(dict), compress.WithLevel(level))
				checkContent(t, fmt.Sprint(name, size, level), file, p, content)
			}
			for _, args := range [][]string{{"-1"}, {"-19"}, {"--no-dictID"}, {"--zstd=wlog=12"}} {
				file := runZstd(t, content, append(args, "-D", path)...)
				checkContent(t, fmt.Sprint(name, size, args), file, p, content)
			}
		}
	}
	dict, _ := compress.NewDictionary(formatted)
	file := encode(t, []byte("abc"), compress.WithDictionary(dict))
	if _, err := decode(file); !errors.Is(err, ErrDictionary) {
		t.Errorf("without the dictionary: %v", err)
	}
	for n := 8; n <= 140; n++ { // its last repeat offset is 8, and its content begins at byte 133
		err := Decode(io.Discard, bytes.NewReader(file), formatted[:n], math.MaxInt64)
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("%d bytes of the dictionary: %v", n, err)
		}
	}
	for name, d := range map[string][]byte{
		"number 0": slices.Concat(formatted[:4], make([]byte, 4), formatted[8:]),
		"offset 0": slices.Concat(formatted[:121], make([]byte, 4), formatted[125:]),
		"table":    slices.Concat(formatted[:8], []byte{0}, formatted[9:]),
	} {
		err := Decode(io.Discard, bytes.NewReader(file), d, math.MaxInt64)
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestForeignErrors returns errors of the source and of the destination.
func TestForeignErrors(t *testing.T) {
	broken := errors.New("broken")
	file := encode(t, corpus.ByName("text").Make(1000))
	for _, n := range []int{0, 2, 8, 100} {
		src := io.MultiReader(bytes.NewReader(file[:n]), iotest.ErrReader(broken))
		if err := Decode(io.Discard, src, nil, math.MaxInt64); !errors.Is(err, broken) {
			t.Errorf("source fails behind %d bytes: %v", n, err)
		}
	}
	r, w := io.Pipe()
	r.CloseWithError(broken)
	if err := Decode(w, bytes.NewReader(file), nil, math.MaxInt64); !errors.Is(err, broken) {
		t.Errorf("destination fails: %v", err)
	}
	defer func() {
		if p := recover(); p != "panic" {
			t.Errorf("panic of the destination: %v", p)
		}
	}()
	Decode(panicking{}, bytes.NewReader(file), nil, math.MaxInt64)
}

type panicking struct{}

func (panicking) Write([]byte) (int, error) { panic("panic") }

// FuzzDecode compares with the library where both accept a file.
func FuzzDecode(f *testing.F) {
	for _, c := range handMade {
		f.Add(c.file)
	}
	for _, c := range refused {
		f.Add(c.file)
	}
	for _, kind := range corpus.Kinds() {
		f.Add(encode(f, kind.Make(2000), compress.WithLevel(6)))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		const most = 1 << 22
		var b limited
		if err := Decode(&b, bytes.NewReader(file), nil, most); err != nil {
			return
		}
		r, err := compress.NewReader(bytes.NewReader(file))
		if err != nil {
			return
		}
		defer r.Close()
		want, err := io.ReadAll(r)
		if err == nil && !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%d bytes, but the library returns %d", b.Len(), len(want))
		}
	})
}

// limited takes 4 MiB.
type limited struct{ bytes.Buffer }

func (b *limited) Write(p []byte) (int, error) {
	if b.Len()+len(p) > 1<<22 {
		return 0, io.ErrShortBuffer
	}
	return b.Buffer.Write(p)
}

func BenchmarkDecode(b *testing.B) {
	for _, name := range []string{"text", "json", "exe"} {
		content := corpus.ByName(name).Make(4 << 20)
		for _, level := range []int{1, 9} {
			file := encode(b, content, compress.WithLevel(level))
			b.Run(fmt.Sprint(name, "/", level), func(b *testing.B) {
				b.SetBytes(int64(len(content)))
				for range b.N {
					err := Decode(io.Discard, bytes.NewReader(file), nil, math.MaxInt64)
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

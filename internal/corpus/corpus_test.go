package corpus

import (
	"bytes"
	"compress/flate"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// want pins the first 100,000 bytes of every kind with seed 0: their CRC-32, and bounds for their
// compressed size at level 6 of compress/flate, divided by their size.
var want = map[string]struct {
	crc    uint32
	lo, hi float64
}{
	"text":    {0x1b34e8c2, 0.33, 0.37},
	"log":     {0x47f8fc02, 0.24, 0.28},
	"json":    {0xeb0456f2, 0.13, 0.17},
	"source":  {0x761274a1, 0.23, 0.27},
	"records": {0x6da07d37, 0.28, 0.33},
	"columns": {0x94b036dd, 0.32, 0.36},
	"dna":     {0xe3a347c0, 0.28, 0.32},
	"image":   {0x794ec8d0, 0.52, 0.56},
	"exe":     {0x06f7f865, 0.48, 0.52},
	"runs":    {0xf3713cd6, 0.34, 0.38},
	"far":     {0x3a382446, 0.99, 1.01},
	"short":   {0x17423926, 0.68, 0.72},
	"sparse":  {0xfad08603, 0.00, 0.01},
	"skewed":  {0x76088f4a, 0.29, 0.33},
	"flat":    {0xda364581, 0.99, 1.01},
	"zeros":   {0xd411957d, 0.00, 0.01},
	"random":  {0x564ac8e4, 0.99, 1.01},
	"packed":  {0xe011c19e, 0.99, 1.01},
	"mixed":   {0x8fc749bc, 0.32, 0.36},
}

func TestPinned(t *testing.T) {
	for _, k := range Kinds() {
		data := k.Make(100_000)
		w, ok := want[k.Name]
		crc, ratio := crc32.ChecksumIEEE(data), deflated(data)
		if !ok || crc != w.crc || ratio < w.lo || ratio > w.hi {
			t.Errorf("%s: CRC %#08x, ratio %.3f; want %#08x, %.3f to %.3f",
				k.Name, crc, ratio, w.crc, w.lo, w.hi)
		}
	}
	if len(want) != len(Kinds()) {
		t.Errorf("%d kinds are pinned, want all %d", len(want), len(Kinds()))
	}
}

// deflated returns the compressed size of data divided by its size.
func deflated(data []byte) float64 {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, 6)
	if err != nil {
		panic(err)
	}
	if _, err := w.Write(data); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return float64(b.Len()) / float64(len(data))
}

func TestSmallerSizeIsPrefix(t *testing.T) {
	for _, k := range Kinds() {
		for seed := range uint64(3) {
			whole := k.MakeSeed(70_000, seed)
			for _, n := range []int{0, 1, 2, 63, 64, 4095, 4096, 65537, 70_000} {
				data := k.MakeSeed(n, seed)
				if len(data) != n || cap(data) != n {
					t.Fatalf("%s: %d bytes with capacity %d, want %d",
						k.Name, len(data), cap(data), n)
				}
				if !bytes.Equal(data, whole[:n]) {
					t.Fatalf("%s, seed %d: %d bytes are not a prefix of %d",
						k.Name, seed, n, len(whole))
				}
			}
		}
	}
}

func TestSeedsDiffer(t *testing.T) {
	for _, k := range Kinds() {
		// Seeds change nearly constant data late, hence 1 MiB.
		same := bytes.Equal(k.MakeSeed(1<<20, 1), k.MakeSeed(1<<20, 2))
		if same != (k.Name == "zeros") {
			t.Errorf("%s: equal data for two seeds: %v", k.Name, same)
		}
	}
}

func TestByName(t *testing.T) {
	for _, k := range Kinds() {
		if got := ByName(k.Name); got.Name != k.Name {
			t.Errorf("ByName(%q) = %q", k.Name, got.Name)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic for an unknown name")
		}
	}()
	ByName("nosuch")
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	content := map[string]string{"a file": "one", "sub/b": "two", "sub/empty": ""}
	for name, s := range content {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(s), 0o666); err != nil {
			t.Fatal(err)
		}
	}

	t.Setenv(testenv.EnvCorpus, "")
	if n := len(Files(t)); n != len(Kinds()) {
		t.Errorf("without %s: %d files, want %d", testenv.EnvCorpus, n, len(Kinds()))
	}
	t.Setenv(testenv.EnvCorpus, dir)
	got := map[string]string{}
	for _, f := range Files(t)[len(Kinds()):] {
		data := f.Data(t)
		if len(data) != f.Size {
			t.Errorf("%s: %d bytes, Size is %d", f.Name, len(data), f.Size)
		}
		got[f.Name] = string(data)
	}
	if fmt.Sprint(got) != fmt.Sprint(content) {
		t.Errorf("got %v, want %v", got, content)
	}
	if _, err := realFiles(filepath.Join(dir, "nosuch")); err == nil {
		t.Error("no error for a missing directory")
	}
}

// BenchmarkMake measures the generators, which should reach 100 MB/s.
func BenchmarkMake(b *testing.B) {
	for _, k := range Kinds() {
		b.Run(k.Name, func(b *testing.B) {
			b.SetBytes(1 << 20)
			for b.Loop() {
				k.Make(1 << 20)
			}
		})
	}
}

package inflate

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gopz/compress/internal/codec/deflate"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/deflatetest"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/lz77"
)

// checkFind compares FindBlock with its slow version in [from, to), and in all shorter ranges that
// begin behind a place found.
func checkFind(t *testing.T, src []byte, from, to int64) (found int) {
	t.Helper()
	for bit := from; ; found++ {
		want := findSlowly(src, bit, to)
		if got := FindBlock(src, bit, to); got != want {
			t.Fatalf("%d bytes from bit %d to %d: bit %d, want %d\n%x", len(src), bit, to, got, want, src)
		}
		if want < 0 {
			return found
		}
		if got := FindBlock(src, want, want+1); got != want {
			t.Fatalf("bit %d alone: %d", want, got)
		}
		bit = want + 1
	}
}

// checkBlocks looks for the blocks of a stream that FindBlock should find.
func checkBlocks(t *testing.T, name string, src []byte) (found int) {
	t.Helper()
	expect := func(bit int64) {
		if bit >= 8*int64(len(src)) {
			return
		}
		found++
		for _, from := range []int64{bit, max(bit-1, 0), max(bit-100, 0)} {
			got := FindBlock(src, from, bit+1)
			for got >= 0 && got < bit {
				got = FindBlock(src, got+1, bit+1)
			}
			if got != bit {
				t.Errorf("%s: %d, want the block at bit %d of %d bytes", name, got, bit, len(src))
			}
		}
	}
	for _, b := range blocksOf(t, src) {
		if b.dynamic {
			expect(b.bit)
		}
		if b.emptyNotFinal {
			expect(b.next)
			if got := FindFlush(src, b.next-8, b.next+1); b.next < 8*int64(len(src)) && got != b.next {
				t.Errorf("%s: %d, want the flush at bit %d", name, got, b.next)
			}
		}
	}
	return found
}

func TestFindTools(t *testing.T) {
	size := 300_000
	if testing.Short() {
		size = 150_000
	}
	for _, tool := range [][]string{
		{"gzip", "-1"}, {"gzip", "-6"}, {"gzip", "-9"}, {"pigz", "-6"}, {"pigz", "-b128", "-p2"},
		{"pigz", "-11", "-I1"}, {"libdeflate-gzip", "-1"}, {"libdeflate-gzip", "-6"},
		{"libdeflate-gzip", "-12"}, {"7z", "a", "-tgzip", "-si", "-so", "x"},
		{"zopfli", "-c", "--i1"}, {"bgzip", "-c"},
	} {
		t.Run(fmt.Sprint(tool), func(t *testing.T) {
			content := mixed(size)
			if tool[0] == "zopfli" || tool[1] == "-11" {
				content = content[:100_000]
			}
			if tool[0] == "bgzip" {
				content = content[:60_000] // one member
			}
			found := checkBlocks(t, tool[0], memberOf(t, content, tool[0], tool[1:]...))
			t.Log(found, "blocks")
			if found == 0 && tool[0] != "bgzip" {
				t.Error("no block to find")
			}
		})
	}
}

// mixed returns content of all kinds.
func mixed(size int) (p []byte) {
	kinds := corpus.Kinds()
	for _, k := range kinds {
		p = append(p, k.Make(size/len(kinds))...)
	}
	return p
}

// memberOf returns the Deflate stream of the .gz file that a program makes.
func memberOf(t *testing.T, content []byte, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(testenv.Tool(t, name), args...)
	if name == "zopfli" { // it reads no pipe
		file := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd.Args = append(cmd.Args, file)
	}
	cmd.Stdin = bytes.NewReader(content)
	p, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	rest := p[10:]
	if p[3]&4 != 0 { // FEXTRA
		rest = rest[2+int(rest[0])+int(rest[1])<<8:]
	}
	if p[3]&8 != 0 { // FNAME
		rest = rest[bytes.IndexByte(rest, 0)+1:]
	}
	return rest // with the trailer, which is no part of the stream
}

func TestFindStandard(t *testing.T) {
	content := mixed(150_000)
	for level := -2; level <= 9; level++ {
		checkBlocks(t, fmt.Sprint("level ", level), standard(t, content, level))
		found := checkBlocks(t, fmt.Sprint("level ", level, ", flushed"), flushed(t, content, level, 20_000))
		if found < 7 {
			t.Errorf("level %d: %d blocks", level, found)
		}
	}
}

// TestFindOwn looks for blocks of package deflate, which pz writes.
func TestFindOwn(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var e deflate.Encoder
	var src []byte
	for i := range 30 {
		content := make([]byte, 1+r.IntN(20_000))
		for k := range content {
			content[k] = byte(r.NormFloat64()*float64(i)) & 0x7f
		}
		var seqs []lz77.Sequence
		src = e.Append(src, content, seqs, i == 29)
	}
	if found := checkBlocks(t, "own", src); found < 29 {
		t.Error(found, "blocks")
	}
}

// TestFindHeaders looks for headers of every kind, at every bit, in full and cut short.
func TestFindHeaders(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rounds := 3000
	if testing.Short() || testenv.Race {
		rounds = 300
	}
	found := 0
	for i := range rounds {
		w := new(deflatetest.BitWriter)
		front := r.IntN(200)
		for range front {
			w.Bits(r.IntN(2), 1)
		}
		randomHeader(r, w)
		end := int64(w.N)
		if !isDynamic(w.P, int64(front)) {
			t.Fatalf("header %d is wrong: %x from bit %d", i, w.P, front)
		}
		if got := FindBlock(w.P, int64(front), int64(front)+1); got != int64(front) {
			t.Fatalf("header %d: %d, want %d", i, got, front)
		}
		if got := FindBlock(w.P[:(end-1)/8], int64(front), int64(front)+1); got >= 0 {
			t.Fatalf("header %d, cut short: %d", i, got)
		}
		for range r.IntN(8 * 1300) {
			w.Bits(r.IntN(2), 1)
		}
		from := int64(r.IntN(front + 1))
		found += checkFind(t, w.P, from, end)
		for range 5 {
			bad := bytes.Clone(w.P)
			bit := front + r.IntN(int(end)-front)
			bad[bit/8] ^= 1 << (bit % 8)
			found += checkFind(t, bad, int64(front), int64(front)+1)
		}
	}
	t.Log(found, "found")
	if found < rounds {
		t.Error(found, "found")
	}
}

// TestFindRange asks for ranges of all kinds.
func TestFindRange(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var w deflatetest.BitWriter
	for w.N < 8*3*findPiece {
		switch r.IntN(4) {
		case 0:
			for w.N%8 > 0 {
				w.Bits(0, 1)
			}
			w.Bits(0, 16).Bits(0xffff, 16)
		case 1:
			randomHeader(r, &w)
		default:
			for range r.IntN(1000) {
				w.Bits(r.IntN(2), 1)
			}
		}
	}
	src := w.P
	size := 8 * int64(len(src))
	if n := checkFind(t, src, 0, size); n < 50 {
		t.Error(n, "found")
	}
	checkFind(t, src, -5, size+100)
	for range 1000 {
		from := r.Int64N(size)
		to := min(from+r.Int64N(1+r.Int64N(8000)), size)
		checkFind(t, src, from, to)
		cut := src[:from/8+r.Int64N(int64(len(src))-from/8)]
		checkFind(t, cut, from, min(to, from+100))
	}
	for _, x := range [][2]int64{
		{size, size + 1}, {size, size}, {10, 10}, {10, 5}, {-9, 0}, {1 << 62, 1<<63 - 1},
	} {
		if got := FindBlock(src, x[0], x[1]); got >= 0 {
			t.Errorf("%d to %d: %d", x[0], x[1], got)
		}
	}
	if got := FindBlock(nil, 0, 1<<62); got != -1 {
		t.Error(got)
	}
}

func TestFindAllocations(t *testing.T) {
	testenv.Measures(t)
	src := standard(t, text(300_000), 6)
	if n := testing.AllocsPerRun(10, func() { FindBlock(src, 1, 8*int64(len(src))) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzFindBlock compares FindBlock with its slow version.
func FuzzFindBlock(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := range 5 {
		w := new(deflatetest.BitWriter).Bits(r.IntN(1<<n), n)
		f.Add(randomHeader(r, w).P, uint16(n), uint16(100))
	}
	f.Add([]byte("a\x00\x00\xff\xffb"), uint16(0), uint16(1000))
	f.Fuzz(func(t *testing.T, src []byte, from, to uint16) {
		if len(src) > 3000 {
			return
		}
		checkFind(t, src, int64(from), int64(to))
	})
}

// BenchmarkFindBlock reports the places found, which are wrong ones unless the data is deflated.
func BenchmarkFindBlock(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 8<<20)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	for _, tt := range []struct {
		name string
		src  []byte
	}{
		{"noise", noise},
		{"zeros", make([]byte, 1<<20)},
		{"text", text(1 << 20)},
		{"deflated", standard(b, text(8<<20), 6)},
	} {
		b.Run(tt.name, func(b *testing.B) {
			b.SetBytes(int64(len(tt.src)))
			found := 0
			for b.Loop() {
				found = 0
				for bit := int64(0); ; found++ {
					if bit = 1 + FindBlock(tt.src, bit, 8*int64(len(tt.src))); bit == 0 {
						break
					}
				}
			}
			b.ReportMetric(float64(found), "found")
		})
	}
}

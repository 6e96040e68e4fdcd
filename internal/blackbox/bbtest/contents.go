package bbtest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/pipeline"
)

// BlockSize is the block size of most tests in bytes: the smallest, so that little content makes
// many blocks.
const BlockSize = compress.MinBlockSize

// SmallContent is where content begins to be worth a worker, in bytes: for less, the goroutine of
// the caller may do the work itself.
const SmallContent = 64 << 10

// RandomBytes returns n bytes that do not compress.
func RandomBytes(n int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	return p
}

// TextBytes returns n bytes of words.
func TextBytes(n int, seed uint64) []byte {
	words := strings.Fields("the block of a stream is read and then coded into bytes so that " +
		"another reader may decode it from any place in order without loss")
	r := rand.New(rand.NewPCG(seed, 2))
	var b bytes.Buffer
	for b.Len() < n {
		b.WriteString(words[r.IntN(len(words))])
		b.WriteByte(" \n"[r.IntN(20)/19])
	}
	return b.Bytes()[:n]
}

// MixedBytes returns n bytes that make blocks of every kind: coded, stored and fill blocks.
func MixedBytes(n int) []byte {
	var p []byte
	for i := 0; len(p) < n; i++ {
		switch i % 3 {
		case 0:
			p = append(p, TextBytes(5000, uint64(i))...)
		case 1:
			p = append(p, RandomBytes(5000, uint64(i))...)
		case 2:
			p = append(p, make([]byte, 9000)...)
		}
	}
	return p[:n]
}

// TestContents returns contents around the edges of blocks, by name.
func TestContents() map[string][]byte {
	c := map[string][]byte{"empty": {}, "mixed": MixedBytes(20*BlockSize + 77)}
	for _, n := range []int{
		1, 2, 15, BlockSize - 1, BlockSize, BlockSize + 1, 3 * BlockSize, 3*BlockSize + 1,
	} {
		c[fmt.Sprint("random ", n)] = RandomBytes(n, uint64(n))
		c[fmt.Sprint("text ", n)] = TextBytes(n, uint64(n))
		c[fmt.Sprint("zeros ", n)] = make([]byte, n)
	}
	return c
}

// VersionsOf returns content that repeats itself over long distances: pieces of so many bytes, and
// then the same pieces in another order and with edits, so many times.
func VersionsOf(pieces, size, times int) []byte {
	var p []byte
	for v := range times {
		for i := range pieces {
			k := (i*7 + v*3) % pieces
			var piece []byte
			switch k % 4 {
			case 0:
				piece = RandomBytes(size, uint64(k))
			case 1:
				piece = make([]byte, size)
				copy(piece, RandomBytes(size/8, uint64(k)))
			default:
				piece = TextBytes(size, uint64(k))
			}
			if k%5 == v {
				piece = slices.Insert(piece, size/3, byte(v), byte(k))
			}
			p = append(p, piece...)
		}
	}
	return p
}

// LogLines returns n lines of JSON, about 120 bytes each.
func LogLines(n int) (lines [][]byte) {
	r := rand.New(rand.NewPCG(1, 2))
	levels := []string{"info", "info", "info", "warn", "debug", "error"}
	paths := []string{
		"/api/v1/items", "/api/v1/users", "/api/v2/orders", "/health", "/login", "/static/app.js",
	}
	at := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	for range n {
		at = at.Add(time.Duration(r.IntN(50)) * time.Millisecond)
		status := 200
		if r.IntN(4) == 0 {
			status = 404
		}
		lines = append(lines, fmt.Appendf(nil,
			`{"ts":%q,"level":%q,"user":%d,"path":%q,"status":%d,"ms":%d,"msg":"done"}`+"\n",
			at.Format("2006-01-02T15:04:05.000Z"), levels[r.IntN(len(levels))], 1000+r.IntN(100),
			paths[r.IntN(len(paths))], status, r.IntN(40)))
	}
	return lines
}

// SlowContent returns how many bytes of a file the slowest levels compress where time is short: a
// block, and a part of the next one.
func SlowContent(name string, level int) int {
	return pipeline.ByName(name).BlockSize(level) + 1<<20
}

// TestDictionaries returns a dictionary of "zstd --train", content without a header, and content of
// a few bytes.
func TestDictionaries(t testing.TB) map[string][]byte {
	t.Helper()
	trained, err := os.ReadFile(Data("dictionary", "json.dict"))
	if err != nil {
		t.Fatal(err)
	}
	var raw []byte
	for i := range 40 {
		raw = append(raw, corpus.Document(uint64(1000+i))...)
	}
	return map[string][]byte{"trained": trained, "raw": raw, "short": raw[100:109]}
}

// NewDictionary returns a dictionary, and fails the test on an error.
func NewDictionary(t testing.TB, p []byte) *compress.Dictionary {
	t.Helper()
	d, err := compress.NewDictionary(p)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Data returns the path of a file below testdata in the root of the repository, for the tests of a
// package beside this one.
func Data(elem ...string) string {
	return filepath.Join(append([]string{"..", "..", "..", "testdata"}, elem...)...)
}

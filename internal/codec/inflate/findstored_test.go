package inflate

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/deflatetest"
	"github.com/gopz/compress/internal/testenv"
)

// storedSlowly is FindStored by the rules that its comment states.
func storedSlowly(src []byte, from, to int64) int64 {
	stored := func(at int, last byte) (size int, ok bool) {
		if at+5 > len(src) || src[at] > last || src[at+1] != ^src[at+3] || src[at+2] != ^src[at+4] {
			return 0, false
		}
		return int(src[at+1]) + int(src[at+2])<<8, true
	}
	for bit := (max(from, 0) + 7) &^ 7; bit < min(to, 8*int64(len(src))); bit += 8 {
		size, ok := stored(int(bit>>3), 0)
		next := int(bit>>3) + 5 + size
		if !ok || size == 0 || next >= len(src) {
			continue
		}
		if _, ok := stored(next, 1); ok || isDynamic(src, 8*int64(next)) {
			return bit
		}
	}
	return -1
}

// checkStored compares FindStored with its slow version in [from, to), and behind each place found.
func checkStored(t *testing.T, src []byte, from, to int64) (found int) {
	t.Helper()
	for bit := from; ; found++ {
		want := storedSlowly(src, bit, to)
		if got := FindStored(src, bit, to); got != want {
			t.Fatalf("%d bytes from bit %d to %d: bit %d, want %d", len(src), bit, to, got, want)
		}
		if want < 0 {
			return found
		}
		if got := FindStored(src, want, want+1); got != want {
			t.Fatalf("bit %d alone: %d", want, got)
		}
		bit = want + 1
	}
}

// randomBytes returns n random bytes.
func randomBytes(seed byte, n int) []byte {
	p := make([]byte, n)
	rand.NewChaCha8([32]byte{seed}).Read(p)
	return p
}

// TestFindStored makes streams of blocks, and damages headers.
func TestFindStored(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rounds := 300
	if testing.Short() || testenv.Race {
		rounds = 50
	}
	sizes := []int{0, 1, 2, 255, 256, 1000, 65535}
	found := 0
	for range rounds {
		var list []deflatetest.Block
		for range 2 + r.IntN(6) {
			b := deflatetest.Block{Kind: 2 * r.IntN(2)}
			if b.Kind == 0 {
				b.Stored = randomBytes(byte(r.Uint32()), sizes[r.IntN(len(sizes))])
				b.BadSize = r.IntN(5) == 0
				b.Padding = max(0, r.IntN(8)-6)
			} else {
				b = randomDynamic(r)
			}
			list = append(list, b)
		}
		src := deflatetest.PutTogether(r, list)
		if r.IntN(3) == 0 {
			src = src[:r.IntN(len(src)+1)]
		}
		size := 8 * int64(len(src))
		found += checkStored(t, src, 0, size)
		checkStored(t, src, -3, size+100)
		if size > 0 {
			from := r.Int64N(size)
			checkStored(t, src, from, from+r.Int64N(size))
		}
	}
	if found < rounds/4 {
		t.Error(found, "found")
	}
	for _, x := range [][2]int64{{10, 10}, {10, 5}, {-9, 0}, {1 << 62, 1<<63 - 1}} {
		if got := FindStored(make([]byte, 100), x[0], x[1]); got >= 0 {
			t.Errorf("%d to %d: %d", x[0], x[1], got)
		}
	}
}

// TestFindStoredTools looks for the rows of stored blocks that programs write.
func TestFindStoredTools(t *testing.T) {
	noise := randomBytes(1, 400_000)
	rows := func(t *testing.T, src []byte) {
		blocks := blocksOf(t, src)
		rows, bit := 0, int64(1) // the first block may begin at bit 0
		for i := 1; i+1 < len(blocks); i++ {
			if blocks[i-1].stored && blocks[i].stored && blocks[i+1].stored && blocks[i].bit&7 == 0 {
				rows++
				if bit = FindStored(src, bit, 8*int64(len(src))); bit != blocks[i].bit {
					t.Fatalf("bit %d, want %d", bit, blocks[i].bit)
				}
				bit++
			}
		}
		if rows == 0 {
			t.Fatalf("%d blocks, and no row of stored ones", len(blocks))
		}
	}
	for _, tool := range [][]string{
		{"gzip", "-6"}, {"pigz", "-6"}, {"libdeflate-gzip", "-6"}, {"7z", "a", "-tgzip", "-si", "-so", "x"},
		{"zopfli", "-c", "--i1"},
	} {
		t.Run(fmt.Sprint(tool), func(t *testing.T) {
			rows(t, memberOf(t, noise, tool[0], tool[1:]...))
		})
	}
	t.Run("Go", func(t *testing.T) { rows(t, standard(t, noise, 6)) })
}

// TestFindStoredNoise looks for places in data without stored blocks.
func TestFindStoredNoise(t *testing.T) {
	for name, src := range map[string][]byte{
		"noise":    randomBytes(2, 4<<20),
		"zeros":    make([]byte, 1<<20),
		"ones":     bytes.Repeat([]byte{255}, 1<<20),
		"text":     text(1 << 20),
		"deflated": standard(t, text(2<<20), 6),
	} {
		if bit := FindStored(src, 0, 8*int64(len(src))); bit >= 0 {
			t.Errorf("%s: bit %d", name, bit)
		}
	}
}

// FuzzFindStored compares FindStored with its slow version.
func FuzzFindStored(f *testing.F) {
	f.Add([]byte("a\x00\x01\x00\xfe\xffb\x01\x00\x00\xff\xff"), uint16(0), uint16(1000))
	f.Add([]byte("\x00\x02\x00\xfd\xffbc\x00\x01\x00\xfe\xffd"), uint16(0), uint16(9))
	f.Fuzz(func(t *testing.T, src []byte, from, to uint16) {
		if len(src) > 3000 {
			return
		}
		checkStored(t, src, int64(from), int64(to))
	})
}

func BenchmarkFindStored(b *testing.B) {
	for _, tt := range []struct {
		name string
		src  []byte
	}{
		{"noise", randomBytes(3, 8<<20)},
		{"zeros", make([]byte, 1<<20)},
		{"text", text(1 << 20)},
		{"deflated", standard(b, text(8<<20), 6)},
	} {
		b.Run(tt.name, func(b *testing.B) {
			b.SetBytes(int64(len(tt.src)))
			for b.Loop() {
				FindStored(tt.src, 0, 8*int64(len(tt.src)))
			}
		})
	}
}

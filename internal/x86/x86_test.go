package x86

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// step performs the step at position i as docs/FORMAT.md defines it. add is the number that it adds
// to a displacement.
func step(p []byte, i int, add int64) {
	branch := p[i] == 0xe8 || p[i] == 0xe9
	access := i >= 2 && (p[i-2] == 0x48 || p[i-2] == 0x4c) &&
		(p[i-1] == 0x8b || p[i-1] == 0x8d) && p[i]%8 == 5 && p[i] < 0x40
	if !branch && !access || p[i+4] != 0 && p[i+4] != 0xff {
		return
	}
	const span = 1 << 25
	v := int64(int32(binary.LittleEndian.Uint32(p[i+1:])))
	v = ((v+add)%span + span) % span
	if v >= span/2 {
		v -= span
	}
	binary.LittleEndian.PutUint32(p[i+1:], uint32(v))
}

func naiveEncode(p []byte) []byte {
	p = bytes.Clone(p)
	for i := 0; i+5 <= len(p); i++ {
		step(p, i, int64(i)+5)
	}
	return p
}

func naiveDecode(p []byte) []byte {
	p = bytes.Clone(p)
	for i := len(p) - 5; i >= 0; i-- {
		step(p, i, -int64(i)-5)
	}
	return p
}

// check compares encode and decode with the definition, and with each other.
func check(t testing.TB, p []byte) {
	t.Helper()
	for _, c := range []struct {
		what     string
		do, undo func(p []byte, checkpoint func())
		naive    func([]byte) []byte
	}{{"encode", encode, decode, naiveEncode}, {"decode", decode, encode, naiveDecode}} {
		// The surrounding bytes must not matter, nor change.
		room := around(p)
		q := room[8 : 8+len(p)]
		c.do(q, nil)
		if want := c.naive(p); !bytes.Equal(q, want) {
			t.Fatalf("%s of % x is % x, want % x", c.what, p, q, want)
		}
		c.undo(q, nil)
		if !bytes.Equal(room, around(p)) {
			t.Fatalf("%s of % x, undone, is % x", c.what, p, q)
		}
	}
}

func around(p []byte) []byte {
	q := append([]byte{0xe8, 0xff, 0xe9, 0xe8, 0, 0xff, 0x48, 0x8b}, p...)
	return append(q, 0, 0, 0xff, 0xff, 0xe8, 0xff, 0xe8, 0xe9)
}

// TestExample is the example of docs/FORMAT.md.
func TestExample(t *testing.T) {
	for _, c := range [][2]string{
		{
			"90 e8 0a 00 00 00 48 8d 05 05 00 00 00 e9 ff ff ff ff",
			"90 e8 10 00 00 00 48 8d 05 12 00 00 00 e9 11 00 00 00",
		},
		{"e8 02 00 e8 00 00 00 ff", "e8 07 00 e8 08 00 00 ff"},
	} {
		src, want := unhex(t, c[0]), unhex(t, c[1])
		p := bytes.Clone(src)
		encode(p, nil)
		if !bytes.Equal(p, want) {
			t.Errorf("% x becomes % x, want % x", src, p, want)
		}
		decode(p, nil)
		if !bytes.Equal(p, src) {
			t.Errorf("% x: encoded and decoded to % x", src, p)
		}
	}
}

func unhex(t *testing.T, s string) []byte {
	p, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestAllShort tries all strings of up to nine bytes from an alphabet of the most relevant bytes
// and an irrelevant one. It tries them alone and where words of eight positions are examined. For
// loads, which depend on more bytes, the strings have up to seven.
func TestAllShort(t *testing.T) {
	for _, c := range []struct {
		letters string
		longest int
	}{{"\xe8\xe9\x00\xff\x7f", 9}, {"\x48\x8b\x05\x00\xe8\x8d", 7}} {
		if testing.Short() {
			c.longest -= 2
		}
		for n := range c.longest + 1 {
			p := make([]byte, n)
			long := make([]byte, n+14)
			digits := make([]int, n)
			for k := 0; ; k++ {
				for i, d := range digits {
					p[i] = c.letters[d]
				}
				if n < 7 || k%5 == 0 { // the longest ones take time
					check(t, p)
				}
				copy(long[k%14:], p)
				q := bytes.Clone(long)
				decode(q, nil)
				if !bytes.Equal(q, naiveDecode(long)) {
					t.Fatalf("decode of % x is % x, want % x", long, q, naiveDecode(long))
				}
				encode(q, nil)
				if !bytes.Equal(q, long) {
					t.Fatalf("% x: encoded and decoded to % x", long, q)
				}
				i := 0
				for i < n {
					digits[i]++
					if digits[i] < len(c.letters) {
						break
					}
					digits[i] = 0
					i++
				}
				if i == n {
					break
				}
			}
		}
	}
}

// TestRandom tries strings over small alphabets, in which many steps overlap, and all kinds of
// data.
func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, alphabet := range []string{
		"\xe8\x00", "\xe8\xe9\x00\xff", "\xe8\xff\xfe\x01\x10", "\xe9\x00\x00\x00\xff\x80\x7f\x90",
		"\x48\x4c\x8b\x8d\x05\x3d\x00\x00\xff\xff\xe8", "\x48\x8b\x05\x00",
	} {
		for n := range 500 {
			p := make([]byte, n)
			for i := range p {
				p[i] = alphabet[r.IntN(len(alphabet))]
			}
			check(t, p)
		}
	}
	for _, k := range corpus.Kinds() {
		check(t, k.Make(20_000))
	}
}

// TestFar tries positions of 25 bits and more.
func TestFar(t *testing.T) {
	p := make([]byte, 1<<25+100)
	for _, at := range []int{
		0, 1<<24 - 9, 1<<24 - 4, 1<<24 + 7, 1<<25 - 12, 1<<25 - 5, 1 << 25, len(p) - 5,
	} {
		copy(p[at:], []byte{0xe8 + byte(at&1), 1, 0xff, 0x7f, 0xff})
	}
	want := naiveEncode(p)
	src := bytes.Clone(p)
	encode(p, nil)
	if !bytes.Equal(p, want) {
		t.Error("encode differs from the definition")
	}
	decode(p, nil)
	if !bytes.Equal(p, src) {
		t.Error("decode differs from the definition")
	}
}

// TestCandidates compares words of eight positions with the definition. It tries all values of each
// relevant byte, at all positions, with the other bytes right or nearly right.
func TestCandidates(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	forms := []string{"\x48\x8b\x05ABC\x00", "\x4c\x8d\x3dABC\xff", "XX\xe8ABC\xff", "XX\xe9ABC\x00"}
	found := 0
	for k := range 1 << 17 {
		v := make([]byte, view)
		for i := range v {
			v[i] = byte(r.Uint32())
			if k%2 == 0 {
				v[i] = "\x48\x4c\x8b\x8d\x89\x8f\x05\xc5\xe8\xe9\x00\xff\xfe\x01"[r.IntN(14)]
			}
		}
		place := r.IntN(word)
		copy(v[place:], forms[r.IntN(len(forms))])
		v[place+[]int{0, 1, 2, 6}[r.IntN(4)]] = byte(k >> 1)
		got := candidates(v)
		for i := range word {
			want := uint64(0)
			if candidate(v, i+lookBehind) {
				want = 0x80
				found++
			}
			if got>>(8*i)&0xff != want {
				t.Fatalf("candidates(% x) is %x at place %d", v, got, i)
			}
		}
	}
	if found < 1<<14 {
		t.Errorf("only %d candidates", found)
	}
}

// FuzzFilter encodes and decodes anything.
func FuzzFilter(f *testing.F) {
	f.Add([]byte("\x90\xe8\x0a\x00\x00\x00\xe9\x05\x00\x00\x00\xe8\xff\xff\xff\xff"),
		[]byte("\x01\x02\x05"))
	f.Add([]byte("\xe8\x02\x00\xe8\x00\x00\x00\xff"), []byte("\x02\x00\x05\x00\x03"))
	f.Add([]byte("\xe8\xe8\xe8\xe8\xe8\x00\xff\x00\xff\xe9\xe9\xff\xff\xff\xff\x00"),
		[]byte("\x01\x00\x20"))
	f.Add([]byte("\x48\x8b\x05\x00\x00\x00\x00\x4c\x8d\x3d\x00\xe8\xff\xff\x00\xff"),
		[]byte("\x01\x00\x10"))
	f.Add(corpus.ByName("exe").Make(300), []byte("\x01\x80\x00\xa0\x00"))
	var c Chooser
	f.Fuzz(func(t *testing.T, p, src []byte) {
		check(t, p)
		p = bytes.Clone(p)
		both(t, p, c.Choose(p))
		ranges, rest, err := Ranges(src, len(p))
		if err != nil {
			return
		}
		if !bytes.Equal(append(bytes.Clone(ranges), rest...), src) {
			t.Fatalf("ranges % x and % x of % x", ranges, rest, src)
		}
		both(t, p, ranges)
	})
}

// both checks that Encode and Decode are inverses.
func both(t testing.TB, p, ranges []byte) {
	t.Helper()
	if ranges == nil {
		return
	}
	q := bytes.Clone(p)
	Encode(q, ranges, nil)
	Decode(q, ranges, nil)
	if !bytes.Equal(p, q) {
		t.Fatalf("ranges % x: % x encoded and decoded to % x", ranges, p, q)
	}
	Decode(q, ranges, nil)
	Encode(q, ranges, nil)
	if !bytes.Equal(p, q) {
		t.Fatalf("ranges % x: % x decoded and encoded to % x", ranges, p, q)
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, name := range []string{"exe", "random", "text"} {
		p := corpus.ByName(name).Make(1 << 20)
		encode(p, nil)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(p)))
			for range b.N {
				decode(p, nil)
			}
		})
	}
}

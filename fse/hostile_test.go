package fse

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/corpus"
)

// bitString is a string of 0 and 1 for descriptions that an encoder would not write.
type bitString []byte

// put appends n bits of v.
func (b bitString) put(v, n int) bitString {
	for i := range n {
		b = append(b, byte(v>>i&1))
	}
	return b
}

func (b bitString) bytes() (p []byte) {
	for i, bit := range b {
		if i%8 == 0 {
			p = append(p, 0)
		}
		p[i/8] |= bit << (i % 8)
	}
	return p
}

func TestHostileDescriptions(t *testing.T) {
	// Accuracy log 5. Probability 16 is written as 17 of 0 to 33; the first 30 values take 5 bits,
	// the others 6. The next value is one of 0 to 17; 14 of them take 4 bits, so 17 is written as
	// 17+14.
	half := bitString{}.put(0, 4).put(17, 5)
	var d Distribution
	good := half.put(17+14, 5).bytes()
	n, err := d.Read(good, 5, 2)
	if err != nil || n != 2 || d.Len != 2 || d.Prob[0] != 16 || d.Prob[1] != 16 {
		t.Fatalf("two symbols: %d bytes, %v, %v", n, err, d.Prob[:d.Len])
	}
	open := Distribution{Log: 12, Len: MaxSymbols}
	for i := range open.Prob {
		open.Prob[i] = 3
	}
	for _, c := range []struct {
		what string
		code []byte
	}{
		{"empty", nil},
		{"log only", bitString{}.put(0, 4).bytes()},
		{"log 13", bitString{}.put(8, 4).put(0, 100).bytes()},
		{"log 20", bitString{}.put(15, 4).put(0, 100).bytes()},
		{"endless zeros",
			append(half.put(1, 4).put(7, 3).bytes(), bytes.Repeat([]byte{0xff}, 100)...)},
		{"256 symbols and no end", append(open.Append(nil), bytes.Repeat([]byte{0x55}, 100)...)},
		{"cut", good[:1]},
	} {
		_, err := d.Read(c.code, MaxLog, MaxSymbols)
		if ce := CorruptError(""); !errors.As(err, &ce) {
			t.Errorf("%s: error %v, %v", c.what, err, d.Prob[:3])
		}
	}
}

func TestHostileBits(t *testing.T) {
	var d Distribution
	d.Normalize([]uint32{20, 10, 2}, 5, false)
	var e Encoder
	e.Table.Build(&d)
	var dec DecTable
	dec.Build(&d)
	src := []byte{
		0, 1, 0, 0, 2, 1, 0, 0, 1, 0, 0, 0, 1, 0, 2, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1,
	}
	got := make([]byte, len(src))
	for states := 1; states <= 2; states++ {
		code := e.Append(nil, src, states)
		for what, bad := range map[string][]byte{
			"empty":        nil,
			"no mark":      append(bytes.Clone(code), 0),
			"only zeros":   make([]byte, 10),
			"only a mark":  {1},
			"cut in front": code[1:],
			"longer":       append([]byte{0}, code...),
		} {
			err := dec.Decode(got, bad, states)
			if ce := CorruptError(""); !errors.As(err, &ce) {
				t.Errorf("%d states, %s: error %v", states, what, err)
			}
		}
	}
	if _, err := dec.DecodeAll(got, []byte{0, 2}); err == nil {
		t.Error("states cut off: accepted")
	}
	// A symbol without bits continues for ever.
	dec.BuildSymbol(1)
	if _, err := dec.DecodeAll(got, []byte{1}); err == nil {
		t.Error("endless: accepted")
	}
}

// FuzzDecode checks that decoding never panics, and that accepted descriptions and symbols survive
// another round trip.
func FuzzDecode(f *testing.F) {
	var e Encoder
	var d Distribution
	for i, k := range corpus.Kinds() {
		src := k.Make(200)
		counts := histogram(src)
		if distinct(counts) < 2 || distinct(counts) > 1<<9 {
			continue
		}
		d.Normalize(counts, 9, i%2 == 0)
		e.Table.Build(&d)
		f.Add(e.Append(d.Append(nil), src, 1+i%2), uint16(len(src)), i%2 == 1)
	}
	f.Fuzz(func(t *testing.T, p []byte, n uint16, two bool) {
		var d Distribution
		size, err := d.Read(p, MaxLog, MaxSymbols)
		if err != nil {
			return
		}
		// The input may have more bytes than necessary.
		var same Distribution
		size2, err := same.Read(d.Append(nil), MaxLog, MaxSymbols)
		if err != nil || size2 > size || same != d {
			t.Fatalf("description of %d bytes becomes one of %d, error %v", size, size2, err)
		}
		var dec DecTable
		dec.Build(&d)
		all := make([]byte, 300)
		if m, err := dec.DecodeAll(all, p[size:]); err == nil {
			again(t, &d, &dec, all[:m], 2)
		}
		dst := make([]byte, n)
		states := 1
		if two {
			states = 2
		}
		if dec.Decode(dst, p[size:], states) == nil && len(dst) >= states {
			again(t, &d, &dec, dst, states)
		}
	})
}

// again encodes src and decodes it.
func again(t *testing.T, d *Distribution, dec *DecTable, src []byte, states int) {
	t.Helper()
	var e Encoder
	e.Table.Build(d)
	got := make([]byte, len(src))
	err := dec.Decode(got, e.Append(nil, src, states), states)
	if err != nil || !bytes.Equal(got, src) {
		t.Fatalf("%v: %v, want %v", err, got, src)
	}
}

// FuzzRoundTrip encodes and decodes any bytes with any log.
func FuzzRoundTrip(f *testing.F) {
	for _, k := range corpus.Kinds() {
		f.Add(k.Make(300), uint8(9), true)
	}
	f.Fuzz(func(t *testing.T, src []byte, log uint8, rare bool) {
		counts := histogram(src)
		used := distinct(counts)
		l := MinLog + int(log)%(MaxLog-MinLog+1)
		if used < 2 || used > 1<<l {
			return
		}
		var d, read Distribution
		d.Normalize(counts, l, rare)
		p := d.Append(nil)
		if n, err := read.Read(p, l, MaxSymbols); err != nil || n != len(p) || read != d {
			t.Fatalf("description: %v", err)
		}
		var dec DecTable
		dec.Build(&read)
		for states := 1; states <= 2; states++ {
			again(t, &d, &dec, src, states)
		}
	})
}

// TestMutated flips every bit of encoded strings, for all logs and numbers of states.
func TestMutated(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	src := make([]byte, 120)
	for i := range src {
		src[i] = byte(r.IntN(1 + r.IntN(40)))
	}
	var e Encoder
	var d Distribution
	var dec DecTable
	dst := make([]byte, len(src))
	for log := 6; log <= MaxLog; log++ {
		d.Normalize(histogram(src), log, log%2 == 0)
		e.Table.Build(&d)
		code := e.Append(d.Append(nil), src, 2)
		for bit := range 8 * len(code) {
			bad := bytes.Clone(code)
			bad[bit/8] ^= 1 << (bit % 8)
			n, err := d.Read(bad, MaxLog, MaxSymbols)
			if err != nil {
				continue
			}
			sum := 0
			for _, p := range d.Prob[:d.Len] {
				sum += weight(int(p))
			}
			if sum != 1<<d.Log {
				t.Fatalf("bit %d: probabilities sum to %d", bit, sum)
			}
			dec.Build(&d)
			for states := 1; states <= 2; states++ {
				if dec.Decode(dst, bad[n:], states) == nil && bytes.Equal(dst, src) && bit/8 >= n {
					t.Errorf("log %d: flip of bit %d changes nothing", log, bit)
				}
			}
		}
	}
}

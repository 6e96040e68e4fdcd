package inflate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/deflatetest"
)

// mutate changes a few bits or bytes of p.
func mutate(r *rand.Rand, p []byte) []byte {
	for range 1 + r.IntN(3) {
		// Most of what can go wrong is in the header.
		at := r.IntN(len(p))
		if r.IntN(2) == 0 {
			at = r.IntN(min(len(p), 100))
		}
		switch r.IntN(4) {
		case 0:
			p[at] = byte(r.Uint32())
		case 1:
			p = append(p[:at], p[min(len(p), at+1+r.IntN(4)):]...)
		default:
			p[at] ^= 1 << r.IntN(8)
		}
		if len(p) == 0 {
			return p
		}
	}
	return p
}

// TestDamageForgets decodes damaged streams with a fresh and a used Decoder.
func TestDamageForgets(t *testing.T) {
	good := standard(t, text(3000), 6)
	var used Decoder
	// The codes of code lengths have no symbols.
	list := []string{"lY]\x00\x00\x00", "\x05\x00\x00\x00\x00\x00\x00\x00\x00\x00"}
	for bit := range 8 * min(len(good), 200) {
		bad := bytes.Clone(good)
		bad[bit/8] ^= 1 << (bit % 8)
		list = append(list, string(bad), string(good[:bit/8]))
	}
	for _, bad := range list {
		describe := func(d *Decoder) string {
			got := whole(t, d, []byte(bad))
			return fmt.Sprintf("%q, %d bytes, %v", got.content, got.used, got.err)
		}
		want := describe(new(Decoder))
		for range 2 {
			whole(t, &used, good)
			if got := describe(&used); got != want {
				t.Fatalf("%q: %.200s, want %.200s", bad, got, want)
			}
		}
	}
}

// dynamic begins a stream with the header of a final dynamic block. The precode has four bits for
// each length below 16.
func dynamic(literals, offsets []int) *deflatetest.BitWriter {
	w := new(deflatetest.BitWriter)
	w.Bits(1, 1).Bits(2, 2).Bits(len(literals)-257, 5).Bits(len(offsets)-1, 5).Bits(15, 4)
	for _, symbol := range precodeOrder {
		if symbol < 16 {
			w.Bits(4, 3)
		} else {
			w.Bits(0, 3)
		}
	}
	for _, n := range append(literals[:len(literals):len(literals)], offsets...) {
		w.Word(n, 4)
	}
	return w
}

// lengths returns n codeword lengths, of which pairs of symbol and length are not 0.
func lengths(n int, pairs ...int) []int {
	l := make([]int, n)
	for i := 0; i < len(pairs); i += 2 {
		l[pairs[i]] = pairs[i+1]
	}
	return l
}

// repeated returns n codeword lengths.
func repeated(n, length int) []int {
	l := make([]int, n)
	for i := range l {
		l[i] = length
	}
	return l
}

// TestRules decodes what RFC 1951 allows and forbids, as compress/flate does.
func TestRules(t *testing.T) {
	block := func() *deflatetest.BitWriter { return new(deflatetest.BitWriter) }
	aAndEnd := lengths(257, 'a', 1, 256, 1)
	withLength := lengths(258, 'a', 2, 256, 2, 257, 1) // codewords: 257 is 0, a is 10, end is 11
	for _, tt := range []struct {
		name string
		w    *deflatetest.BitWriter
		want string // content, or "" for damage
	}{
		{"one literal", dynamic(aAndEnd, lengths(1)).Word(0, 1).Word(1, 1), "a"},
		{"no offset code, used", dynamic(withLength, lengths(1)).
			Word(2, 2).Word(0, 1).Bits(0, 30), ""},
		{"one offset codeword of one bit", dynamic(withLength, lengths(1, 0, 1)).
			Word(2, 2).Word(0, 1).Word(0, 1).Word(3, 2), "aaaa"},
		{"its other bit", dynamic(withLength, lengths(1, 0, 1)).
			Word(2, 2).Word(0, 1).Word(1, 1).Word(3, 2).Bits(0, 30), ""},
		{"one offset codeword of two bits", dynamic(withLength, lengths(1, 0, 2)).
			Word(2, 2).Word(0, 1).Word(0, 2).Word(3, 2), ""},
		{"incomplete literals", dynamic(lengths(257, 'a', 2, 256, 2), lengths(1)).
			Bits(0, 30), ""},
		{"too many literals", dynamic(lengths(257, 'a', 1, 'b', 1, 256, 1), lengths(1)).
			Bits(0, 30), ""},
		{"too many offsets", dynamic(aAndEnd, repeated(3, 1)).Bits(0, 30), ""},
		{"286 literals, 30 offsets", dynamic(
			lengths(286, 'a', 2, 256, 2, 257, 2, 285, 2), lengths(30, 0, 1, 29, 1)).
			Word(0, 2).Word(1, 2), "a"},
		{"287 literals", dynamic(lengths(287, 'a', 1, 256, 1), lengths(1)).Bits(0, 30), ""},
		{"31 offsets", dynamic(aAndEnd, lengths(31)).Bits(0, 30), ""},
		{"block type 3", block().Bits(7, 3).Bits(0, 30), ""},
		{"static symbol 286", block().Bits(3, 3).Word(0b11000110, 8).Bits(0, 30), ""},
		{"static symbol 287", block().Bits(3, 3).Word(0b11000111, 8).Bits(0, 30), ""},
		{"static offset 30", block().Bits(3, 3).Word(0x30+'a', 8).Word(1, 7).Word(30, 5).
			Bits(0, 30), ""},
		{"static offset 31", block().Bits(3, 3).Word(0x30+'a', 8).Word(1, 7).Word(31, 5).
			Bits(0, 30), ""},
		{"static match", block().Bits(3, 3).Word(0x30+'a', 8).Word(1, 7).Word(0, 5).Word(0, 7), "aaaa"},
		{"offset too far", block().Bits(3, 3).Word(0x30+'a', 8).Word(1, 7).Word(1, 5).Bits(0, 30), ""},
		{"stored", block().Bits(1, 8).Bits(2, 16).Bits(0xfffd, 16).Bits('a', 8).Bits('b', 8), "ab"},
		{"stored, wrong complement", block().Bits(1, 8).Bits(2, 16).Bits(0xfffe, 16).
			Bits('a', 8).Bits('b', 8), ""},
		{"repeat without a length", block().Bits(5, 3).Bits(0, 5).Bits(0, 5).Bits(0, 4).
			Bits(1, 3).Bits(0, 3).Bits(0, 3).Bits(1, 3).Bits(0xffff, 30), ""},
		{"empty precode", block().Bits(5, 3).Bits(0, 5).Bits(0, 5).Bits(0, 4).Bits(0, 12).
			Bits(0, 30), ""},
	} {
		var d Decoder
		got := whole(t, &d, tt.w.P)
		if s := differs(tt.w.P, got, byStandard(tt.w.P)); s != "" {
			t.Errorf("%s: not as compress/flate: %s", tt.name, s)
		}
		var corrupt *CorruptError
		if tt.want != "" && (got.err != nil || string(got.content) != tt.want) ||
			tt.want == "" && !errors.As(got.err, &corrupt) {
			t.Errorf("%s: %q, %v, want %q", tt.name, got.content, got.err, tt.want)
		}
		got = byChunks(t, &d, tt.w.P, always(1), always(1))
		if s := differs(tt.w.P, got, byStandard(tt.w.P)); s != "" {
			t.Errorf("%s, byte by byte: not as compress/flate: %s", tt.name, s)
		}
	}
}

// TestErrorPlace checks the bit that an error names.
func TestErrorPlace(t *testing.T) {
	for n := range 100 {
		w := new(deflatetest.BitWriter).Bits(3, 3)
		for range n {
			w.Word(0x30+'a', 8)
		}
		w.Word(0b11000110, 8).Bits(0, 200)
		for _, size := range []int{1, 7, 1000} {
			var d Decoder
			got := byChunks(t, &d, w.P, always(size), always(50))
			var corrupt *CorruptError
			if !errors.As(got.err, &corrupt) || corrupt.Bit != int64(3+8*n) || corrupt.Error() == "" {
				t.Fatalf("%d literals, chunks of %d: %v", n, size, got.err)
			}
			byteAt, ok := d.Corrupt(fmt.Errorf("wrapped: %w", got.err))
			if _, other := d.Corrupt(io.EOF); !ok || other || byteAt != int64(n+1) {
				t.Fatalf("%d literals: damage at byte %d: %t, and of another error: %t", n, byteAt, ok, other)
			}
			if _, _, err := d.Decode(nil, 0, w.P); err != got.err {
				t.Fatalf("the next call: %v, want %v", err, got.err)
			}
		}
	}
}

// FuzzDecode compares with compress/flate.
func FuzzDecode(f *testing.F) {
	f.Add(standard(f, text(300), 6), uint16(10), uint16(20))
	f.Add(standard(f, text(300), 0), uint16(1), uint16(1))
	f.Add(flushed(f, text(300), 1, 50), uint16(1000), uint16(1000))
	f.Add([]byte("lY]\x00\x00\x00"), uint16(0), uint16(0))
	var d Decoder
	f.Fuzz(func(t *testing.T, src []byte, inputSize, room uint16) {
		if len(src) > 4<<10 {
			return
		}
		want := byStandard(src)
		if s := differs(src, whole(t, &d, src), want); s != "" {
			t.Fatal("at once: ", s)
		}
		got := byChunks(t, &d, src, always(1+int(inputSize)), always(1+int(room)))
		if s := differs(src, got, want); s != "" {
			t.Fatalf("chunks of %d and %d: %s", 1+int(inputSize), 1+int(room), s)
		}
		if want.err != nil && want.err != io.ErrUnexpectedEOF && got.err == nil {
			t.Fatal("accepted damage")
		}
	})
}

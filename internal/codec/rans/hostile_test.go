package rans

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/codec/rans/internal/model"
	"github.com/gopz/compress/simd"
)

// refused fails the test unless the decoder rejects code with the same CorruptError on every tier.
func refused(t *testing.T, what string, code []byte, limit, count int) {
	t.Helper()
	var d Decoder
	var first CorruptError
	for i, tier := range simd.Tiers() {
		defer simd.SetTier(simd.SetTier(tier))
		out := make([][]byte, count)
		ptr := make([]*[]byte, count)
		for i := range out {
			ptr[i] = &out[i]
		}
		_, err := d.Decode(code, same(limit), ptr...)
		ce := CorruptError("")
		if !errors.As(err, &ce) {
			t.Errorf("%s: %s: error %v", what, tier, err)
		}
		if i == 0 {
			first = ce
		} else if ce != first {
			t.Errorf("%s: %s says %q, portable %q", what, tier, ce, first)
		}
	}
}

// halves returns a table in which two symbols cost a bit each.
func halves(a, b byte) *model.Freqs {
	var f model.Freqs
	f[a], f[b] = model.ProbScale/2, model.ProbScale/2
	return &f
}

// coded returns the head of one stream of n symbols with the table of 'a' and 'b'.
func coded(n int) []byte {
	p := binary.AppendUvarint(nil, uint64(n))
	return halves('a', 'b').Append(append(p, byte(modeCoded)|lastSegment))
}

// TestHugeGroup checks sizes of words that overflow when the size of the states is added.
func TestHugeGroup(t *testing.T) {
	for _, n := range []int{100, model.SmallLimit} {
		for size := 1; size <= 256; size++ {
			refused(t, "wrapping size", binary.AppendUvarint(coded(n), uint64(-size)), n, 1)
		}
	}
}

// TestLongVarint checks that numbers may have five bytes, even small ones, but not six.
func TestLongVarint(t *testing.T) {
	var d Decoder
	var out []byte
	ok := []byte{0x83, 0x80, 0x80, 0x80, 0x00, byte(modeSymbol) | lastSegment, 'x'}
	if _, err := d.Decode(ok, same(10), &out); err != nil || string(out) != "xxx" {
		t.Errorf("five bytes: %v", err)
	}
	refused(t, "six bytes", slices.Insert(ok, 1, 0x80), 10, 1)
	refused(t, "endless", bytes.Repeat([]byte{0xff}, 20), 1<<31-1, 1)
	refused(t, "2³²", []byte{0x80, 0x80, 0x80, 0x80, 0x10}, 1<<31-1, 1)
}

func TestHostileHeads(t *testing.T) {
	symbol := func(n uint64) []byte {
		return append(binary.AppendUvarint([]byte{byte(modeSymbol)}, n), 'x')
	}
	last := []byte{byte(modeSymbol) | lastSegment, 'y'}
	stream := func(size uint64, parts ...[]byte) []byte {
		return append(binary.AppendUvarint(nil, size), bytes.Join(parts, nil)...)
	}
	const size = 10_000
	var d Decoder
	var out []byte
	_, err := d.Decode(stream(size, symbol(minSegment), last), same(size), &out)
	if err != nil || len(out) != size || out[minSegment-1] != 'x' || out[minSegment] != 'y' {
		t.Fatalf("two segments: %v", err)
	}
	for _, c := range []struct {
		what string
		code []byte
	}{
		{"nothing", nil},
		{"longer than the limit", stream(size+1, last)},
		{"no head", stream(size)},
		{"mode 3", stream(size, []byte{3 | lastSegment, 0})},
		{"mode 3, not last", stream(size, []byte{3})},
		{"unknown flag", stream(size, []byte{8 | lastSegment, 'y'})},
		{"symbol missing", stream(size, last[:1])},
		{"segment too small", stream(size, symbol(minSegment-1), last)},
		{"segment of 0", stream(size, symbol(0), last)},
		{"segment as long as the stream, not last", stream(size, symbol(size), last)},
		{"segment longer than the stream", stream(size, symbol(size+1), last)},
		{"huge segment", stream(size, symbol(1<<63), last)},
		{"head missing after a segment", stream(size, symbol(minSegment))},
		{"size missing", stream(size, []byte{byte(modeSymbol)})},
		{"stored bytes missing", stream(3, []byte{byte(modeStored) | lastSegment, 'a', 'b'})},
	} {
		refused(t, c.what, c.code, size, 1)
	}
	refused(t, "second stream missing", stream(size, last), size, 2)
}

func TestHostileGroups(t *testing.T) {
	group := func(n int, states []uint32, words ...byte) []byte {
		p := binary.AppendUvarint(coded(n), uint64(len(words)))
		for _, x := range states {
			p = binary.LittleEndian.AppendUint32(p, x)
		}
		return append(p, words...)
	}
	// With 'a' in slots 0 to 1023, state 2¹⁶ decodes to 'a' and becomes 2¹⁵.
	start := func(x uint32) []uint32 {
		return []uint32{x, 2 * MinState, 2 * MinState, 2 * MinState}
	}
	var d Decoder
	var out []byte
	_, err := d.Decode(group(4, start(2*MinState)), same(4), &out)
	if err != nil || string(out) != "aaaa" {
		t.Fatalf("four symbols: %v", err)
	}
	for _, c := range []struct {
		what string
		code []byte
	}{
		{"group missing", coded(4)},
		{"state missing", group(4, start(2 * MinState)[:3])},
		{"state 0", group(4, start(0))},
		{"state below the interval", group(4, start(MinState-1))},
		{"state above the interval", group(4, start(1<<31))},
		{"greatest state", group(4, start(1<<32-1))},
		{"wrong final state", group(4, start(4*MinState))},
		{"wrong final state, unused lane", group(3, start(2*MinState))},
		{"words left over", group(4, start(2*MinState), 0, 0)},
		{"half a word", group(4, start(2*MinState), 0)},
		{"words run out", group(4, start(MinState))},
	} {
		refused(t, c.what, c.code, 4, 1)
		// Bytes behind the group must not serve as its words.
		refused(t, c.what+", bytes behind", append(c.code, make([]byte, 2)...), 4, 1)
	}
}

// TestLimitAllocs checks that a rejected stream causes no allocation.
func TestLimitAllocs(t *testing.T) {
	var d Decoder
	r := rand.New(rand.NewPCG(31, 32))
	for range 100 {
		var out []byte
		code := binary.AppendUvarint(nil, 1001+uint64(r.Uint32()))
		code = append(code, byte(modeSymbol)|lastSegment, 0)
		if _, err := d.Decode(code, same(1000), &out); err == nil || out != nil {
			t.Fatalf("%d bytes allocated, error %v", cap(out), err)
		}
	}
}

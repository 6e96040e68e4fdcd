package ctx

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/rans/internal/model"
	"github.com/gopz/compress/simd"
)

// marker has marks, or an error.
type marker struct {
	marks []byte
	err   error
}

func (m marker) Marks(bits []uint64, n int) error {
	for i, mark := range m.marks[:n] {
		bits[i/64] |= uint64(mark) << (i % 64)
	}
	if n%64 != 0 {
		bits[n/64] |= 1 << 63 // behind the last symbol
	}
	return m.err
}

// linked returns n bytes that depend on the one before, and marks behind which they do not.
func linked(r *rand.Rand, n, alphabet int) (stream, marks []byte) {
	stream, marks = make([]byte, n), make([]byte, n)
	for i := range stream {
		if i == 0 || r.IntN(8) == 0 {
			marks[i] = 1
			stream[i] = byte(r.IntN(alphabet))
			continue
		}
		stream[i] = byte((int(stream[i-1])*7 + int(r.ExpFloat64())) % alphabet)
	}
	return stream, marks
}

// chainDecode decodes on every tier, and fails unless all say the same.
func chainDecode(t testing.TB, d *Decoder, code []byte, limit int, out *[]byte, m MarkSource) (rest []byte, err error) {
	t.Helper()
	var first []byte
	for i, tier := range simd.Tiers() {
		defer simd.SetTier(simd.SetTier(tier))
		r, e := d.Decode(code, limit, out, m)
		if i == 0 {
			rest, err = r, e
			if err == nil {
				first = bytes.Clone(*out)
			}
		} else if e != err || len(r) != len(rest) || e == nil && !bytes.Equal(*out, first) {
			t.Fatalf("%s: %d bytes left over, %v; portable: %d, %v; or the streams differ", tier, len(r), e, len(rest), err)
		}
	}
	return rest, err
}

func chainRoundTrip(t testing.TB, e *Encoder, d *Decoder, stream, marks []byte) []byte {
	t.Helper()
	size := e.Prepare(stream, bytes.Clone(marks))
	code := e.Append([]byte("head"))[4:]
	if d := len(code) - size; max(d, -d) > max(316, size/100) {
		t.Fatalf("%d bytes, estimated as %d", len(code), size)
	}
	var out []byte
	rest, err := chainDecode(t, d, append(code[:len(code):len(code)], "tail"...), len(stream), &out, marker{marks, nil})
	if err != nil {
		t.Fatalf("%d symbols: %v", len(stream), err)
	}
	if string(rest) != "tail" {
		t.Fatalf("%d bytes left over, want 4", len(rest))
	}
	if !bytes.Equal(out, stream) {
		t.Fatalf("%d symbols differ", len(stream))
	}
	if cap(out) < len(out)+model.Slack {
		t.Fatal("no slack")
	}
	return code
}

// order0 returns the size of the stream, in bytes, when coded without contexts.
func order0(stream []byte) int {
	var counts [256]uint32
	for _, s := range stream {
		counts[s]++
	}
	return int(model.Entropy(&counts, uint32(len(stream))) / model.CostBit / 8)
}

func TestChained(t *testing.T) {
	var e Encoder
	var d Decoder
	r := rand.New(rand.NewPCG(1, 2))
	sizes := []int{1, 2, 31, 32, 33, 63, 64, 65, 1000, 4096, model.SmallLimit - 1, model.SmallLimit, model.SmallLimit + 1, model.SmallLimit + 33,
		blockRounds*simd.CtxRound - 1, blockRounds * simd.CtxRound, blockRounds*simd.CtxRound + 1, chainUnit, chainUnit + 4096 - 1, chainUnit + 4096, 300_001}
	for _, n := range sizes {
		for _, alphabet := range []int{1, 2, 3, 50, 256} {
			stream, marks := linked(r, n, alphabet)
			code := chainRoundTrip(t, &e, &d, stream, marks)
			if plain := order0(stream); n >= 100_000 && alphabet == 50 && len(code) > plain*3/4 {
				t.Errorf("%d symbols of %d: %d bytes, and %d without contexts", n, alphabet, len(code), plain)
			}
		}
		chainRoundTrip(t, &e, &d, make([]byte, n), make([]byte, n))
	}
	// Two halves unlike each other take two segments.
	a, marks := linked(r, 2*chainUnit, 40)
	b, more := linked(r, 2*chainUnit, 9)
	marks = append(marks, more...)
	chainRoundTrip(t, &e, &d, append(a, b...), marks)
	if len(e.segs) != 2 || e.segs[0].size != len(marks)/2 {
		t.Errorf("segments: %+v", e.segs)
	}
}

// TestCoarse: in a hurry segments are cut at multiples of a larger unit, and what comes out is not much larger.
func TestCoarse(t *testing.T) {
	var e Encoder
	var d Decoder
	r := rand.New(rand.NewPCG(1, 6))
	a, marks := linked(r, coarseUnit, 40)
	b, more := linked(r, coarseUnit+1000, 9)
	stream, marks := append(a, b...), append(marks, more...)
	for _, n := range []int{1, 1000, model.SmallLimit, coarseUnit, coarseUnit + 1, len(stream)} {
		fine := len(chainRoundTrip(t, &e, &d, stream[:n], marks[:n]))
		size := e.PrepareFast(stream[:n], bytes.Clone(marks[:n]))
		code := e.Append(nil)
		if d := len(code) - size; max(d, -d) > max(316, size/100) || len(code) > fine+fine/20+16 {
			t.Errorf("%d bytes, estimated as %d; %d with fine segments", len(code), size, fine)
		}
		var out []byte
		if rest, err := chainDecode(t, &d, code, n, &out, marker{marks[:n], nil}); err != nil || len(rest) != 0 || !bytes.Equal(out, stream[:n]) {
			t.Fatalf("%d symbols: %v", n, err)
		}
	}
	if len(e.segs) != 2 || e.segs[0].size != coarseUnit {
		t.Errorf("segments: %+v", e.segs)
	}
}

// TestChainedBad changes every byte, and cuts everywhere: nothing but an error or a stream of the right size may come out.
func TestChainedBad(t *testing.T) {
	var e Encoder
	var d Decoder
	r := rand.New(rand.NewPCG(1, 3))
	stream, marks := linked(r, model.SmallLimit+77, 7)
	e.Prepare(stream, bytes.Clone(marks))
	code := e.Append(nil)
	mark := &marker{marks, nil}
	var out []byte
	if _, err := d.Decode(code, len(stream)-1, &out, mark); !errors.As(err, new(model.CorruptError)) {
		t.Error("more than the limit:", err)
	}
	for n := range code {
		if _, err := d.Decode(code[:n], len(stream), &out, mark); !errors.As(err, new(model.CorruptError)) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
		if d.words[0].data != nil || d.words[1].data != nil {
			t.Fatalf("cut to %d bytes: what was to be decoded is kept", n)
		}
	}
	bad := bytes.Clone(code)
	for range 20_000 {
		i, bit := r.IntN(len(bad)), byte(1)<<r.IntN(8)
		bad[i] ^= bit
		rest, err := chainDecode(t, &d, bad, len(stream), &out, mark)
		if err == nil && (len(rest) != 0 && i > 3 || len(out) > len(stream)) || err != nil && !errors.As(err, new(model.CorruptError)) {
			t.Fatalf("byte %d, bit %d: %d bytes, %d left over, %v", i, bit, len(out), len(rest), err)
		}
		bad[i] ^= bit
	}
	want := errors.New("no marks")
	if _, err := d.Decode(code, len(stream), &out, marker{marks, want}); err != want {
		t.Error("the error of the marks:", err)
	}
}

func TestChainedAllocs(t *testing.T) {
	var e Encoder
	var d Decoder
	stream, marks := linked(rand.New(rand.NewPCG(1, 4)), 50_000, 50)
	var code, out []byte
	own := make([]byte, len(marks))
	mark := &marker{marks, nil}
	if n := testing.AllocsPerRun(3, func() {
		copy(own, marks)
		e.Prepare(stream, own)
		code = e.Append(code[:0])
		if _, err := d.Decode(code, len(stream), &out, mark); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzChained(f *testing.F) {
	marks := make([]byte, 1<<16)
	for i := range marks {
		marks[i] = byte(i>>3) & 1
	}
	var e Encoder
	var d Decoder
	add := func(stream []byte, segments int) {
		code := chainRoundTrip(f, &e, &d, stream, marks[:len(stream)])
		if len(e.segs) != segments {
			f.Fatalf("%d segments, want %d", len(e.segs), segments)
		}
		f.Add(code)
	}
	stream, _ := linked(rand.New(rand.NewPCG(1, 5)), 2*chainUnit, 9)
	for _, n := range []int{1, 100, 5000, model.SmallLimit, 2 * chainUnit} {
		add(stream[:n], 1)
	}
	other, _ := linked(rand.New(rand.NewPCG(1, 8)), chainUnit, 40)
	add(append(other, stream...), 2)
	f.Fuzz(func(t *testing.T, code []byte) {
		var d Decoder
		var out []byte
		rest, err := chainDecode(t, &d, code, len(marks), &out, marker{marks, nil})
		if err != nil {
			if !errors.As(err, new(model.CorruptError)) {
				t.Fatal(err)
			}
			return
		}
		// What was decoded can be coded, and comes out again.
		if len(rest) > len(code) {
			t.Fatal("more left over than there was")
		}
		chainRoundTrip(t, new(Encoder), &d, bytes.Clone(out), marks[:len(out)])
	})
}

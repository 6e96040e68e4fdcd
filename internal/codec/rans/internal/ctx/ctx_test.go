package ctx

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/codec/rans/internal/model"
	"github.com/gopz/compress/internal/kernels"
	"github.com/gopz/compress/simd"
)

// marker is a MarkSource with one byte a symbol, and the error it returns.
type marker struct {
	marks []byte
	err   error
}

func (m marker) Marks(bits []uint64, n int) error {
	for i, mark := range m.marks[:n] {
		bits[i/64] |= uint64(mark) << (i % 64)
	}
	if n%64 != 0 {
		bits[n/64] |= 1 << 63 // a bit that the decoder must ignore
	}
	return m.err
}

// linked returns n symbols that depend on their predecessors, except marked ones.
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

// decodeAll decodes on every tier and fails the test unless all results agree.
func decodeAll(
	t testing.TB, d *Decoder, code []byte, limit int, out *[]byte, m MarkSource,
) (rest []byte, err error) {
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
			t.Fatalf("%s: %d bytes left, error %v; portable: %d, %v; or the streams differ",
				tier, len(r), e, len(rest), err)
		}
	}
	return rest, err
}

func roundTrip(t testing.TB, e *Encoder, d *Decoder, stream, marks []byte) []byte {
	t.Helper()
	size := e.Prepare(stream, bytes.Clone(marks))
	code := e.Append([]byte("head"))[4:]
	if d := len(code) - size; max(d, -d) > max(316, size/100) {
		t.Fatalf("%d bytes, estimated as %d", len(code), size)
	}
	var out []byte
	tailed := append(code[:len(code):len(code)], "tail"...)
	rest, err := decodeAll(t, d, tailed, len(stream), &out, marker{marks, nil})
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

func TestRoundTrip(t *testing.T) {
	var e Encoder
	var d Decoder
	r := rand.New(rand.NewPCG(1, 2))
	const small, block = model.SmallLimit, blockRounds * kernels.CtxRound
	sizes := []int{
		1, 2, 31, 32, 33, 63, 64, 65, 1000, 4096, small - 1, small, small + 1, small + 33,
		block - 1, block, block + 1, cutUnit, cutUnit + 4096 - 1, cutUnit + 4096, 300_001,
	}
	for _, n := range sizes {
		for _, alphabet := range []int{1, 2, 3, 50, 256} {
			stream, marks := linked(r, n, alphabet)
			code := roundTrip(t, &e, &d, stream, marks)
			if plain := order0(stream); n >= 100_000 && alphabet == 50 && len(code) > plain*3/4 {
				t.Errorf("%d symbols of %d: %d bytes, %d without contexts",
					n, alphabet, len(code), plain)
			}
		}
		roundTrip(t, &e, &d, make([]byte, n), make([]byte, n))
	}
	// Two halves with different statistics take two segments.
	a, marks := linked(r, 2*cutUnit, 40)
	b, more := linked(r, 2*cutUnit, 9)
	marks = append(marks, more...)
	roundTrip(t, &e, &d, append(a, b...), marks)
	if len(e.segs) != 2 || e.segs[0].size != len(marks)/2 {
		t.Errorf("segments: %+v", e.segs)
	}
}

// TestPrepareFast checks that the fast encoder uses the larger unit and stays within 5% in size.
func TestPrepareFast(t *testing.T) {
	var e Encoder
	var d Decoder
	r := rand.New(rand.NewPCG(1, 6))
	a, marks := linked(r, fastCutUnit, 40)
	b, more := linked(r, fastCutUnit+1000, 9)
	stream, marks := append(a, b...), append(marks, more...)
	for _, n := range []int{1, 1000, model.SmallLimit, fastCutUnit, fastCutUnit + 1, len(stream)} {
		fine := len(roundTrip(t, &e, &d, stream[:n], marks[:n]))
		size := e.PrepareFast(stream[:n], bytes.Clone(marks[:n]))
		code := e.Append(nil)
		if d := len(code) - size; max(d, -d) > max(316, size/100) || len(code) > fine+fine/20+16 {
			t.Errorf("%d bytes, estimated as %d; %d from Prepare", len(code), size, fine)
		}
		var out []byte
		rest, err := decodeAll(t, &d, code, n, &out, marker{marks[:n], nil})
		if err != nil || len(rest) != 0 || !bytes.Equal(out, stream[:n]) {
			t.Fatalf("%d symbols: %v", n, err)
		}
	}
	if len(e.segs) != 2 || e.segs[0].size != fastCutUnit {
		t.Errorf("segments: %+v", e.segs)
	}
}

// TestDamage flips bits and truncates: the decoder must return an error or a stream within limits.
func TestDamage(t *testing.T) {
	var e Encoder
	var d Decoder
	r := rand.New(rand.NewPCG(1, 3))
	stream, marks := linked(r, model.SmallLimit+77, 7)
	e.Prepare(stream, bytes.Clone(marks))
	code := e.Append(nil)
	mark := &marker{marks, nil}
	var out []byte
	corrupt := func(err error) bool { return errors.As(err, new(model.CorruptError)) }
	if _, err := d.Decode(code, len(stream)-1, &out, mark); !corrupt(err) {
		t.Error("a stream longer than the limit:", err)
	}
	for n := range code {
		if _, err := d.Decode(code[:n], len(stream), &out, mark); !corrupt(err) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
		if d.words[0].data != nil || d.words[1].data != nil {
			t.Fatalf("cut to %d bytes: the decoder still refers to its input", n)
		}
	}
	bad := bytes.Clone(code)
	for range 20_000 {
		i, bit := r.IntN(len(bad)), byte(1)<<r.IntN(8)
		bad[i] ^= bit
		rest, err := decodeAll(t, &d, bad, len(stream), &out, mark)
		accepted := err == nil && (len(rest) == 0 || i <= 3) && len(out) <= len(stream)
		if !accepted && !corrupt(err) {
			t.Fatalf("byte %d, bit %d: %d bytes, %d left, error %v",
				i, bit, len(out), len(rest), err)
		}
		bad[i] ^= bit
	}
	want := errors.New("no marks")
	if _, err := d.Decode(code, len(stream), &out, marker{marks, want}); err != want {
		t.Error("error of the mark source:", err)
	}
}

func TestNoAllocs(t *testing.T) {
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

func FuzzDecode(f *testing.F) {
	marks := make([]byte, 1<<16)
	for i := range marks {
		marks[i] = byte(i>>3) & 1
	}
	var e Encoder
	var d Decoder
	add := func(stream []byte, segments int) {
		code := roundTrip(f, &e, &d, stream, marks[:len(stream)])
		if len(e.segs) != segments {
			f.Fatalf("%d segments, want %d", len(e.segs), segments)
		}
		f.Add(code)
	}
	stream, _ := linked(rand.New(rand.NewPCG(1, 5)), 2*cutUnit, 9)
	for _, n := range []int{1, 100, 5000, model.SmallLimit, 2 * cutUnit} {
		add(stream[:n], 1)
	}
	other, _ := linked(rand.New(rand.NewPCG(1, 8)), cutUnit, 40)
	add(append(other, stream...), 2)
	f.Fuzz(func(t *testing.T, code []byte) {
		var d Decoder
		var out []byte
		rest, err := decodeAll(t, &d, code, len(marks), &out, marker{marks, nil})
		if err != nil {
			if !errors.As(err, new(model.CorruptError)) {
				t.Fatal(err)
			}
			return
		}
		// Re-encoding the decoded stream and decoding it again must give the same stream.
		if len(rest) > len(code) {
			t.Fatal("the rest is longer than the input")
		}
		roundTrip(t, new(Encoder), &d, bytes.Clone(out), marks[:len(out)])
	})
}

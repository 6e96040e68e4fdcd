package rans

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/codec/rans/internal/model"
)

// fromDefault returns n symbols whose frequencies are those of a default table.
func fromDefault(r *rand.Rand, stream, n int) []byte {
	p := make([]byte, n)
	for i := range p {
		slot := r.IntN(model.ProbScale)
		for s, f := range model.Default(stream) {
			if slot -= int(f); slot < 0 {
				p[i] = byte(s)
				break
			}
		}
	}
	return p
}

// TestDefaultTables codes streams of all sizes with the default tables. They must be no longer than
// without, and much shorter if they have as many symbols as a small file.
func TestDefaultTables(t *testing.T) {
	plain, e := new(Encoder), &Encoder{Defaults: true}
	var d Decoder
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 2, 5, 15, 16, 40, 200, 1000, 4000, 9000, 40_000} {
		var streams [][]byte
		size := 0
		for k := range model.Defaults + 1 {
			streams = append(streams, fromDefault(r, k%model.Defaults, n))
			size += n
		}
		without, with := roundTrip(t, plain, &d, streams...), roundTrip(t, e, &d, streams...)
		if len(with) > len(without) {
			t.Errorf("%d symbols each: %d bytes, and %d without default tables", n, len(with), len(without))
		}
		if n == 40 && len(with) > len(without)*9/10 {
			t.Errorf("%d symbols each: %d bytes, and %d without default tables", n, len(with), len(without))
		}
	}
	// A symbol that the table lacks, and streams that a group would make longer.
	for _, s := range []string{"text \x00 text \x01 text", "a", "some text", "zzzzzzzzzzzzzzzzzz"} {
		code := roundTrip(t, e, &d, []byte(s))
		if len(code) > len(s)+2 {
			t.Errorf("%q: %d bytes", s, len(code))
		}
	}
}

// TestDefaultTablesHostile checks that the flag of a default table is valid with coded segments of
// the streams that have one, and nowhere else.
func TestDefaultTablesHostile(t *testing.T) {
	for mode := range byte(4) {
		if mode != byte(modeCoded) {
			refused(t, "no coded segment", []byte{1, mode | lastSegment | defaultTable, 'x', 'x'}, 10, 1)
		}
	}
	e := Encoder{Defaults: true}
	var d Decoder
	r := rand.New(rand.NewPCG(5, 6))
	for stream := range model.Defaults {
		p := fromDefault(r, stream, 100)
		streams := make([][]byte, 6)
		streams[stream] = p
		code := roundTrip(t, &e, &d, streams...)
		at := bytes.IndexByte(code, 100) + 1
		if code[at] != byte(modeCoded)|lastSegment|defaultTable {
			t.Fatalf("stream %d: head %#x", stream, code[at])
		}
		// The same bytes as the last stream, which has no default table.
		moved := append(make([]byte, model.Defaults), code[at-1:]...)
		moved = append(moved[:model.Defaults+2], moved[model.Defaults+2+model.Defaults-stream:]...)
		refused(t, "stream without a default table", moved, 1000, 6)
	}
}

// TestDefaultTablesFit checks that every table is one, with the symbols that all content may have.
func TestDefaultTablesFit(t *testing.T) {
	for stream := range model.Defaults {
		sum := 0
		for _, f := range model.Default(stream) {
			sum += int(f)
		}
		if sum != model.ProbScale {
			t.Errorf("table %d adds up to %d", stream, sum)
		}
	}
	for s := range 256 {
		for _, stream := range []int{1, 3, 4} { // tokens and lengths
			if model.Default(stream)[s] == 0 {
				t.Errorf("table %d lacks symbol %d", stream, s)
			}
		}
		// Offsets of 16 to 65,536 have the codes 8 to 59.
		if has := model.Default(2)[s] > 0; has != (8 <= s && s <= 59) {
			t.Errorf("table of offsets: code %d is %v", s, has)
		}
	}
}

package pipeline

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/lzseq"
)

// decodeOne decodes a payload on a workspace of its own choosing, as a worker would.
func decodeOne(ws *workspace, p *Pipeline, e encoded, checks bool) ([]byte, error) {
	s := NewScheduler(1)
	r := s.Start(Config{Pipeline: p, Op: Decompress, Checks: checks})
	defer r.Close()
	b := r.Get()
	b.Src, b.Raw, b.Kind, b.Sum = e.payload, e.raw, e.kind, e.sum
	if !execute(ws, b) {
		return nil, fmt.Errorf("the worker would be lost: %w", b.Err)
	}
	return b.Out(), b.Err
}

// harmless decodes a payload nobody vouches for: an error that says what it is, or content of the
// size announced, and scratch memory within the bound.
func harmless(t testing.TB, ws *workspace, p *Pipeline, e encoded) {
	t.Helper()
	e.sum = 0
	out, err := decodeOne(ws, p, e, false)
	switch {
	case err == nil:
		if len(out) != e.raw {
			t.Fatalf("%d bytes, %d announced", len(out), e.raw)
		}
	case !errors.Is(err, ErrPayload):
		t.Fatalf("error %v", err)
	}
	if got, bound := footprint(ws), p.Memory(Decompress, 1, TuneFixed, max(e.raw, 4096), 1, 0); got > bound {
		t.Fatalf("%d bytes of scratch for a block of %d, Memory says %d", got, e.raw, bound)
	}
}

// TestPayloadFlips: with checks every flipped bit is noticed, be it in bits that make no difference
// to the content.
func TestPayloadFlips(t *testing.T) {
	forEachPipeline(t, func(t *testing.T, p *Pipeline) {
		for _, name := range []string{"text", "runs", "zeros", "random"} {
			src := corpus.ByName(name).Make(1500)
			coded, err := compressAll(NewScheduler(1), p, 5, len(src), src)
			if err != nil {
				t.Fatal(err)
			}
			e := coded[0]
			var ws workspace
			if out, err := decodeOne(&ws, p, e, true); err != nil || !bytes.Equal(out, src) {
				t.Fatalf("%s: undamaged: %v", name, err)
			}
			for i := range 8 * len(e.payload) {
				bad := e
				bad.payload = bytes.Clone(e.payload)
				bad.payload[i/8] ^= 1 << (i % 8)
				if _, err := decodeOne(&ws, p, bad, true); !errors.Is(err, ErrPayload) && !errors.Is(err, ErrChecksum) {
					t.Fatalf("%s: bit %d of %d flipped: error %v", name, i, 8*len(e.payload), err)
				}
				harmless(t, &ws, p, bad)
			}
			for n := range e.payload {
				bad := e
				bad.payload = e.payload[:n:n]
				if _, err := decodeOne(&ws, p, bad, false); !errors.Is(err, ErrPayload) {
					t.Fatalf("%s: cut to %d of %d: error %v", name, n, len(e.payload), err)
				}
			}
			for _, raw := range []int{0, 1, e.raw - 1, e.raw + 1, 2 * e.raw} {
				bad := e
				bad.raw, bad.sum = raw, 0
				if _, err := decodeOne(&ws, p, bad, false); e.kind != Fill && !errors.Is(err, ErrPayload) {
					t.Errorf("%s: size %d in place of %d: error %v", name, raw, e.raw, err)
				}
			}
		}
	})
}

func TestHostilePayloads(t *testing.T) {
	const raw = 10_000
	for _, c := range []struct {
		what string
		kind Kind
		p    string
	}{
		{"kind 0", 0, "x"}, {"kind 4", 4, "x"}, {"kind 255", 255, "x"},
		{"empty fill", Fill, ""}, {"fill of two", Fill, "xx"},
		{"stored, one too few", Stored, string(make([]byte, raw-1))}, {"stored, one too many", Stored, string(make([]byte, raw+1))},
		{"empty", Coded, ""}, {"layout 0", Coded, "\x00\x00\x00\x00\x00\x00\x00"}, {"layout 255", Coded, "\xff"},
		{"nothing behind the layout", Coded, "\x01"}, {"empty streams", Coded, "\x02\x00\x00\x00\x00\x00\x00"},
		{"Dense, flags missing", Coded, "\x03"}, {"Dense of nothing", Coded, "\x03\x00\x00\x00\x00\x00\x00\x00"}, {"Dense, unknown flag", Coded, "\x03\x10" + strings.Repeat("\x00", 6)}, {"Dense, match lengths missing", Coded, "\x03\x08"},
		{"Dense, no ranges", Coded, "\x03\x04"}, {"Dense, ranges of nothing", Coded, "\x03\x04" + strings.Repeat("\x00", 7)}, {"Dense, streams missing", Coded, "\x03\x04\x01\x00\x05"},
		{"Dense, range too long", Coded, "\x03\x04\x01\x00\x91\x4e" + strings.Repeat("\x00", 6)}, {"Dense, filtered nothing", Coded, "\x03\x04\x01\x00\x05" + strings.Repeat("\x00", 6)},
		{"Dense, tokens missing", Coded, "\x03\x01"}, {"Dense, no tokens", Coded, "\x03\x01\x00"}, {"Dense, no tables", Coded, "\x03\x01\x05\x00\x05\x00"},
		{"Dense, 33 tables", Coded, "\x03\x01\x05\x00\x05\x21"}, {"Dense, no maps", Coded, "\x03\x01\x05"}, {"Dense, unknown maps", Coded, "\x03\x01\x05\x09"},
		{"Dense, half a map", Coded, "\x03\x01\x05\x04" + strings.Repeat("a", 255)}, {"Dense, literals missing", Coded, "\x03\x02\x00\x00\x00\x00\x00\x00"},
		{"Dense, literals twice", Coded, "\x03\x02\x01\x05x\x00\x00\x00\x00\x00"},
	} {
		forEachPipeline(t, func(t *testing.T, p *Pipeline) {
			if _, err := decodeOne(new(workspace), p, encoded{[]byte(c.p), raw, c.kind, 0}, false); !errors.Is(err, ErrPayload) {
				t.Errorf("%s: error %v", c.what, err)
			}
		})
	}
	// All streams empty are the empty block, and nothing may follow.
	if out, err := decodeOne(new(workspace), &table[0], encoded{make([]byte, 7), 0, Coded, 0}, false); err == nil {
		t.Errorf("layout 0: %v", out)
	}
	if _, err := decodeOne(new(workspace), &table[0], encoded{[]byte("\x01\x00\x00\x00\x00\x00\x00!"), 0, Coded, 0}, false); !errors.Is(err, ErrPayload) {
		t.Errorf("a byte too many: error %v", err)
	}
}

// TestHostileMemory: every stream claims to be as long as the block may be, at the price of a few
// bytes each.
func TestHostileMemory(t *testing.T) {
	for _, raw := range []int{1 << 12, 1 << 16, 1 << 20, 1 << 22} {
		one := binary.AppendUvarint(nil, uint64(raw))
		one = append(one, 1|4, 'x') // one byte repeated, to the end
		many := binary.AppendUvarint(nil, uint64(raw))
		for left := raw; left > 0; left -= 4096 {
			if left > 4096 {
				many = append(many, 1, 0x80, 0x20, 'x') // the same in the smallest segments there are
			} else {
				many = append(many, 1|4, 'x')
			}
		}
		forEachPipeline(t, func(t *testing.T, p *Pipeline) {
			full := func(l *lzseq.Layout) (p []byte) {
				for _, n := range l.MaxSizes(raw) {
					p = append(binary.AppendUvarint(p, uint64(n)), 1|4, 'x')
				}
				return p
			}
			// Memory stays from block to block, and each layout has streams that are longer than
			// the other's.
			all := new(workspace)
			harmless(t, all, p, encoded{append([]byte{lzseq.Repeat.ID}, full(lzseq.Repeat)...), raw, Coded, 0})
			harmless(t, all, p, encoded{append([]byte{lzseq.Dense.ID, 0}, full(lzseq.Dense)...), raw, Coded, 0})
			for _, stream := range [][]byte{one, many} {
				for layout := byte(1); layout <= 2; layout++ {
					payload := append([]byte{layout}, bytes.Repeat(stream, 6)...)
					harmless(t, new(workspace), p, encoded{payload, raw, Coded, 0})
				}
				harmless(t, new(workspace), p, encoded{slices.Concat([]byte{lzseq.Dense.ID, denseTokens}, hostileChain(raw/2), stream, []byte{0}, stream, stream, stream, stream), raw, Coded, 0})
				harmless(t, new(workspace), p, encoded{slices.Concat([]byte{lzseq.Dense.ID, denseTokens | denseMatches | denseLits}, hostileChain(raw/2), hostileChain(raw/16), []byte{0, 0}, stream, stream, []byte{0}, stream, hostileChain(raw)), raw, Coded, 0})
				harmless(t, all, p, encoded{slices.Concat([]byte{lzseq.Dense.ID, denseLits, 0}, stream, stream, stream, stream, stream, hostileChain(raw)), raw, Coded, 0})
				harmless(t, new(workspace), p, encoded{slices.Concat([]byte{lzseq.Dense.ID, denseLits, 0}, stream, stream, stream, stream, stream, hostileChain(raw)), raw, Coded, 0})
			}
		})
	}
}

// hostileChain claims n symbols in segments as small as may be, of 32 tables each.
func hostileChain(n int) []byte {
	p := append(binary.AppendUvarint(nil, uint64(n)), 0)
	for left := n; left > 0; left -= 1 << 14 {
		p = binary.AppendUvarint(p, uint64(min(left, 1<<14)))
		p = append(p, 32)
		p = append(p, make([]byte, (257*5+7)/8)...)
		for range 32 {
			p = append(p, 0xfb, 0x7f, 0) // frequencies 2047 and 1
		}
	}
	return p
}

// FuzzPayload decodes arbitrary payloads of blocks of any size up to 64 KiB.
func FuzzPayload(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range table {
		if table[i].Format != PZ {
			continue
		}
		for _, k := range corpus.Kinds() {
			coded, err := compressAll(NewScheduler(1), &table[i], 5, 1<<20, k.MakeSeed(20+r.IntN(400), 3))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(coded[0].payload, uint16(coded[0].raw), uint8(coded[0].kind))
		}
	}
	// Chained streams of all kinds, with one group and two, one segment and two.
	for flags := range byte(denseTokens | denseLits | denseX86 | denseMatches + 1) {
		for _, n := range [][2]int{{33_000, 3000}, {13_000, 5000}, {1500, 8300}, {1000, 1000}} {
			s, size := denseStreams(flags, n[0], n[1])
			if payload := new(workspace).encodeDense(nil, s, rangesOf(flags, size)); size < 1<<16 {
				f.Add(payload, uint16(size), uint8(Coded))
			} else {
				f.Fatalf("block of %d bytes", size)
			}
		}
	}
	f.Fuzz(func(t *testing.T, payload []byte, raw uint16, kind uint8) {
		payload = payload[:len(payload):len(payload)]
		for i := range table {
			if table[i].Format != PZ {
				continue
			}
			harmless(t, new(workspace), &table[i], encoded{payload, int(raw), Kind(kind), 0})
		}
	})
}

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

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/lzseq"
)

// decodeOne decodes a payload on the given workspace, as a worker would.
func decodeOne(ws *workspace, p *Pipeline, e encoded, checks bool) ([]byte, error) {
	s := NewScheduler(1)
	r := s.Start(Config{Pipeline: p, Op: Decompress, Checks: checks})
	defer r.Close()
	b := r.Get()
	b.Src, b.Raw, b.Kind, b.Sum = e.payload, e.raw, e.kind, e.sum
	if !execute(ws, b) {
		return nil, fmt.Errorf("a stage panicked: %w", b.Err)
	}
	return b.Out(), b.Err
}

// checkUntrusted decodes a payload of any origin. The result must be an error that wraps
// ErrPayload, or content of the announced size, and scratch memory must stay within Memory.
func checkUntrusted(t testing.TB, ws *workspace, p *Pipeline, e encoded) {
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
	bound := decodeBound(p, max(e.raw, 4096))
	if got := footprint(ws); got > bound {
		t.Fatalf("%d bytes of scratch for a block of %d, Memory says %d", got, e.raw, bound)
	}
}

// TestPayloadFlips: with checks every flipped bit is an error, even where it makes no difference to
// the content.
func TestPayloadFlips(t *testing.T) {
	oneGoroutine(t)
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
				_, err := decodeOne(&ws, p, bad, true)
				if !errors.Is(err, ErrPayload) && !errors.Is(err, ErrChecksum) {
					t.Fatalf("%s: bit %d of %d flipped: error %v", name, i, 8*len(e.payload), err)
				}
				checkUntrusted(t, &ws, p, bad)
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
				_, err := decodeOne(&ws, p, bad, false)
				if e.kind != fillKind && !errors.Is(err, ErrPayload) {
					t.Errorf("%s: size %d in place of %d: error %v", name, raw, e.raw, err)
				}
			}
		}
	})
}

func TestHostilePayloads(t *testing.T) {
	const raw = 10_000
	nulls := func(n int) string { return strings.Repeat("\x00", n) }
	for _, c := range []struct {
		what string
		kind uint8
		p    string
	}{
		{"kind 0", 0, "x"},
		{"kind 4", 4, "x"},
		{"kind 255", 255, "x"},
		{"empty fill", fillKind, ""},
		{"fill of two", fillKind, "xx"},
		{"stored, one too few", storedKind, nulls(raw - 1)},
		{"stored, one too many", storedKind, nulls(raw + 1)},
		{"empty", codedKind, ""},
		{"layout 0", codedKind, nulls(7)},
		{"layout 255", codedKind, "\xff"},
		{"layout alone", codedKind, "\x01"},
		{"empty streams", codedKind, "\x02" + nulls(6)},
		{"Dense, flags missing", codedKind, "\x03"},
		{"Dense of nothing", codedKind, "\x03" + nulls(7)},
		{"Dense, unknown flag", codedKind, "\x03\x10" + nulls(6)},
		{"Dense, match lengths missing", codedKind, "\x03\x08"},
		{"Dense, no ranges", codedKind, "\x03\x04"},
		{"Dense, ranges of nothing", codedKind, "\x03\x04" + nulls(7)},
		{"Dense, streams missing", codedKind, "\x03\x04\x01\x00\x05"},
		{"Dense, range too long", codedKind, "\x03\x04\x01\x00\x91\x4e" + nulls(6)},
		{"Dense, filtered nothing", codedKind, "\x03\x04\x01\x00\x05" + nulls(6)},
		{"Dense, tokens missing", codedKind, "\x03\x01"},
		{"Dense, no tokens", codedKind, "\x03\x01\x00"},
		{"Dense, no tables", codedKind, "\x03\x01\x05\x00\x05\x00"},
		{"Dense, 33 tables", codedKind, "\x03\x01\x05\x00\x05\x21"},
		{"Dense, no maps", codedKind, "\x03\x01\x05"},
		{"Dense, unknown maps", codedKind, "\x03\x01\x05\x09"},
		{"Dense, half a map", codedKind, "\x03\x01\x05\x04" + strings.Repeat("a", 255)},
		{"Dense, literals missing", codedKind, "\x03\x02" + nulls(6)},
		{"Dense, literals twice", codedKind, "\x03\x02\x01\x05x" + nulls(5)},
	} {
		forEachPipeline(t, func(t *testing.T, p *Pipeline) {
			_, err := decodeOne(new(workspace), p, encoded{[]byte(c.p), raw, c.kind, 0}, false)
			if !errors.Is(err, ErrPayload) {
				t.Errorf("%s: error %v", c.what, err)
			}
		})
	}
	// All streams empty are the empty block, and nothing may follow.
	e := encoded{make([]byte, 7), 0, codedKind, 0}
	if out, err := decodeOne(new(workspace), &table[0], e, false); err == nil {
		t.Errorf("layout 0: %v", out)
	}
	e = encoded{[]byte("\x01" + nulls(6) + "!"), 0, codedKind, 0}
	if _, err := decodeOne(new(workspace), &table[0], e, false); !errors.Is(err, ErrPayload) {
		t.Errorf("a byte too many: error %v", err)
	}
}

// TestHostileMemory: every stream claims the greatest length that a block may have, in a few bytes.
func TestHostileMemory(t *testing.T) {
	oneGoroutine(t)
	for _, raw := range []int{1 << 12, 1 << 16, 1 << 20, 1 << 22} {
		one := binary.AppendUvarint(nil, uint64(raw))
		one = append(one, 1|4, 'x') // one byte repeated to the end
		many := binary.AppendUvarint(nil, uint64(raw))
		for left := raw; left > 0; left -= 4096 {
			if left > 4096 {
				many = append(many, 1, 0x80, 0x20, 'x') // the same in the smallest segments
			} else {
				many = append(many, 1|4, 'x')
			}
		}
		forEachPipeline(t, func(t *testing.T, p *Pipeline) {
			check := func(ws *workspace, parts ...[]byte) {
				t.Helper()
				checkUntrusted(t, ws, p, encoded{slices.Concat(parts...), raw, codedKind, 0})
			}
			full := func(l *lzseq.Layout) (p []byte) {
				for _, n := range l.MaxSizes(raw) {
					p = append(binary.AppendUvarint(p, uint64(n)), 1|4, 'x')
				}
				return p
			}
			// Memory stays from block to block, and each layout has streams that are longer than
			// the other's.
			all := new(workspace)
			check(all, []byte{lzseq.Repeat.ID}, full(lzseq.Repeat))
			check(all, []byte{lzseq.Dense.ID, 0}, full(lzseq.Dense))
			for _, s := range [][]byte{one, many} {
				for layout := byte(1); layout <= 2; layout++ {
					check(new(workspace), []byte{layout}, bytes.Repeat(s, 6))
				}
				check(new(workspace), []byte{lzseq.Dense.ID, denseTokens},
					hostileContexts(raw/2), s, []byte{0}, s, s, s, s)
				check(new(workspace), []byte{lzseq.Dense.ID, denseTokens | denseMatches | denseLits},
					hostileContexts(raw/2), hostileContexts(raw/16), []byte{0, 0}, s, s, []byte{0}, s,
					hostileContexts(raw))
				for _, ws := range []*workspace{all, new(workspace)} {
					check(ws, []byte{lzseq.Dense.ID, denseLits, 0}, s, s, s, s, s, hostileContexts(raw))
				}
			}
		})
	}
}

// hostileContexts returns a context-coded stream that claims n symbols in the smallest segments, of
// 32 tables each.
func hostileContexts(n int) []byte {
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
		if table[i].Format != container.PZ {
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
	// Context-coded streams of all kinds, with one group and two, one segment and two.
	for flags := range byte(denseTokens | denseLits | denseX86 | denseMatches + 1) {
		for _, n := range [][2]int{{33_000, 3000}, {13_000, 5000}, {1500, 8300}, {1000, 1000}} {
			s, size := denseStreams(flags, n[0], n[1])
			if size >= 1<<16 {
				f.Fatalf("block of %d bytes", size)
			}
			payload := new(workspace).encodeDense(nil, s, rangesOf(flags, size))
			f.Add(payload, uint16(size), codedKind)
		}
	}
	f.Fuzz(func(t *testing.T, payload []byte, raw uint16, kind uint8) {
		payload = payload[:len(payload):len(payload)]
		for i := range table {
			if table[i].Format != container.PZ {
				continue
			}
			checkUntrusted(t, new(workspace), &table[i], encoded{payload, int(raw), kind, 0})
		}
	})
}

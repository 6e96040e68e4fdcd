package peertest_test

import (
	"bytes"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/klauspost/compress/huff0"

	"github.com/gopz/compress/internal/codec/rans"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/simd"
)

// literals returns the literals of p when matches are found in blocks of 1 MiB. They are what the
// coder compresses in practice, and harder to compress than p.
func literals(p []byte) (lits []byte) {
	const block = 1 << 20
	var m lz77.Matcher
	var seqs []lz77.Sequence
	for ; len(p) > 0; p = p[min(block, len(p)):] {
		b := p[:min(block, len(p))]
		limits := lz77.Limits{MinMatch: 4, MaxOffset: block, Repeats: 3}
		seqs = m.Parse(seqs[:0], b, &lz77.Levels[3], limits)
		for _, s := range seqs {
			lits = append(lits, b[:s.LitLen]...)
			b = b[s.LitLen+s.MatchLen:]
		}
		lits = append(lits, b...)
	}
	return lits
}

// rival is a coder to compare. The results of encode and decode are valid until their next call.
type rival struct {
	encode func(p []byte) []byte
	decode func(code []byte, size int) []byte
	// shortest times for all segments, in seconds
	encoding, decoding float64
	size               int
}

func newHuff0(b *testing.B) *rival {
	e := &huff0.Scratch{Reuse: huff0.ReusePolicyNone}
	d := &huff0.Scratch{}
	var out []byte
	return &rival{
		encode: func(p []byte) []byte {
			code, _, err := huff0.Compress4X(p, e)
			if err != nil {
				b.Fatal(err)
			}
			return code
		},
		decode: func(code []byte, size int) []byte {
			if cap(out) < size {
				out = make([]byte, size)
			}
			s, rest, err := huff0.ReadTable(code, d)
			if err == nil {
				out, err = s.Decoder().Decompress4X(out[:size], rest)
			}
			if err != nil {
				b.Fatal(err)
			}
			return out
		},
	}
}

func newTier(b *testing.B, tier string) *rival {
	var e rans.Encoder
	var d rans.Decoder
	var code, out []byte
	with := func(f func()) {
		before := simd.SetTier(tier)
		f()
		simd.SetTier(before)
	}
	return &rival{
		encode: func(p []byte) []byte {
			with(func() { code = e.Append(code[:0], 0, p) })
			return code
		},
		decode: func(code []byte, size int) []byte {
			with(func() {
				if _, err := d.Decode(code, []int{size}, &out); err != nil {
					b.Fatal(err)
				}
			})
			return out
		},
	}
}

// BenchmarkRANS codes literals in independent segments of 64 KiB, by turns with every tier and with
// huff0 in four streams. PZ_BENCH_FILE names the file that the literals come from. It reports the
// shortest time of each coder. "×huff0" and "×portable" are speeds relative to huff0 and to the
// portable tier.
func BenchmarkRANS(b *testing.B) {
	const segment, most = 1 << 16, 32
	p := corpus.ByName("text").Make(8 << 20)
	if name := os.Getenv("PZ_BENCH_FILE"); name != "" {
		var err error
		p, err = os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
	}
	var segs [][]byte
	p = literals(p[:min(len(p), 16<<20)])
	for ; len(p) >= segment && len(segs) < most; p = p[segment:] {
		segs = append(segs, p[:segment])
	}
	if len(segs) == 0 {
		b.Fatal("too few literals")
	}
	names := append([]string{"huff0"}, simd.Tiers()...)
	rivals := []*rival{newHuff0(b)}
	for _, tier := range simd.Tiers() {
		rivals = append(rivals, newTier(b, tier))
	}
	for _, r := range rivals {
		r.encoding, r.decoding = 1e9, 1e9
	}
	for b.Loop() {
		for _, r := range rivals {
			var encoding, decoding time.Duration
			r.size = 0
			for _, p := range segs {
				start := time.Now()
				code := r.encode(p)
				encoded := time.Now()
				q := r.decode(code, len(p))
				encoding, decoding = encoding+encoded.Sub(start), decoding+time.Since(encoded)
				r.size += len(code)
				if !bytes.Equal(p, q) {
					b.Fatal("the decoded segment differs")
				}
			}
			r.encoding = min(r.encoding, encoding.Seconds())
			r.decoding = min(r.decoding, decoding.Seconds())
		}
	}
	total := float64(len(segs) * segment)
	portable := rivals[slices.Index(names, "portable")]
	for i, r := range rivals {
		b.ReportMetric(total/r.encoding/1e6, names[i]+"-encode-MB/s")
		b.ReportMetric(total/r.decoding/1e6, names[i]+"-decode-MB/s")
		b.ReportMetric(total/float64(r.size), names[i]+"-ratio")
		if i > 0 {
			b.ReportMetric(rivals[0].encoding/r.encoding, names[i]+"-encode-×huff0")
			b.ReportMetric(rivals[0].decoding/r.decoding, names[i]+"-decode-×huff0")
			b.ReportMetric(portable.encoding/r.encoding, names[i]+"-encode-×portable")
			b.ReportMetric(portable.decoding/r.decoding, names[i]+"-decode-×portable")
		}
	}
}

package peertest_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	kzstd "github.com/klauspost/compress/zstd"

	"github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/simd"
)

// greedy finds matches of at least 3 bytes at any distance, repeat offsets first.
func greedy(src []byte) (seqs []lz77.Sequence) {
	last := map[[3]byte]int{}
	repeat, lit := 1, 0
	for i := 0; i+3 <= len(src); {
		key := [3]byte(src[i:])
		from, ok := last[key]
		if i >= repeat && [3]byte(src[i-repeat:]) == key {
			from, ok = i-repeat, true
		}
		last[key] = i
		if !ok {
			i++
			lit++
			continue
		}
		n := 3
		for i+n < len(src) && src[from+n] == src[i+n] {
			n++
		}
		seqs = append(seqs, lz77.Sequence{
			LitLen: uint32(lit), MatchLen: uint32(n), Offset: uint32(i - from),
		})
		repeat, lit = i-from, 0
		for j := i; j < i+n && j+3 <= len(src); j += 1 + n/64 {
			last[[3]byte(src[j:])] = j
		}
		i += n
	}
	return seqs
}

// frame returns a single-segment frame with the content size and the blocks.
func frame(size int, blocks []byte) []byte {
	p := []byte{0x28, 0xB5, 0x2F, 0xFD, 3<<6 | 1<<5}
	return append(binary.LittleEndian.AppendUint64(p, uint64(size)), blocks...)
}

// zstdDecoder is the peer's decoder.
var zstdDecoder = mustDecoder(kzstd.WithDecoderMaxMemory(1 << 30))

func mustDecoder(opts ...kzstd.DOption) *kzstd.Decoder {
	d, err := kzstd.NewReader(nil, append(opts, kzstd.WithDecoderConcurrency(1))...)
	if err != nil {
		panic(err)
	}
	return d
}

// zstdEncoder returns an encoder of the peer with a level.
func zstdEncoder(t testing.TB, level kzstd.EncoderLevel, opts ...kzstd.EOption) *kzstd.Encoder {
	t.Helper()
	opts = append(opts, kzstd.WithEncoderLevel(level), kzstd.WithEncoderConcurrency(1))
	e, err := kzstd.NewWriter(nil, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// checkZstd encodes src and decodes it with the peer. It returns the blocks.
func checkZstd(t testing.TB, e *zstd.Encoder, src []byte, seqs []lz77.Sequence) []byte {
	t.Helper()
	blocks := e.Append(nil, src, seqs)
	got, err := zstdDecoder.DecodeAll(frame(len(src), blocks), nil)
	if err != nil || !bytes.Equal(got, src) {
		t.Fatalf("%d bytes, %d sequences in %d bytes of blocks: decoded %d, %v",
			len(src), len(seqs), len(blocks), len(got), err)
	}
	return blocks
}

// zstdSizes are around the limits of headers and blocks.
var zstdSizes = []int{
	0, 1, 2, 3, 7, 8, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 4095, 4096,
	16383, 16384, 16385, zstd.MaxBlock - 1, zstd.MaxBlock, zstd.MaxBlock + 1, 3*zstd.MaxBlock + 7,
}

// TestZstdWrite decodes our frames with the peer.
func TestZstdWrite(t *testing.T) {
	var e zstd.Encoder
	var m lz77.Matcher
	for _, k := range corpus.Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			all := k.Make(slices.Max(zstdSizes))
			levels := []int{4}
			if testenv.All() {
				levels = []int{1, 4, 7}
			}
			for _, n := range zstdSizes {
				if testing.Short() && n > 20_000 && n != zstd.MaxBlock+1 {
					continue
				}
				src := all[:n]
				if n < 20_000 || testenv.All() {
					checkZstd(t, &e, src, greedy(src)) // slow
				}
				checkZstd(t, &e, src, nil)
				for _, level := range levels {
					checkZstd(t, &e, src, m.Parse(nil, src, &lz77.Levels[level], zstd.Limits))
				}
			}
		})
	}
}

// eachTier runs f with portable code and with the best kernels.
func eachTier(t *testing.T, f func(t *testing.T)) {
	for _, name := range zstdTiers {
		t.Run(name, func(t *testing.T) {
			defer simd.SetTier(simd.SetTier(name))
			f(t)
		})
	}
}

var zstdTiers = func() []string {
	all := simd.Tiers()
	return slices.Compact([]string{all[0], all[len(all)-1]})
}()

// TestZstdRead decodes frames of the peer, which have a checksum. Buffers just hold the content, or
// have slack behind it.
func TestZstdRead(t *testing.T) {
	testenv.Slow(t)
	d := zstd.NewDecoder()
	for level := kzstd.SpeedFastest; level <= kzstd.SpeedBestCompression; level++ {
		enc := zstdEncoder(t, level)
		for _, k := range corpus.Kinds() {
			for _, n := range []int{1, 300, 4000, 300_000} {
				src := k.Make(n)
				code := enc.EncodeAll(src, nil)
				for _, slack := range []int{0, zstd.DecodeSlack} {
					for _, tier := range zstdTiers {
						before := simd.SetTier(tier)
						dst := make([]byte, n+slack)
						size, err := d.DecodeFrame(dst, code, nil, true)
						simd.SetTier(before)
						if err != nil || !bytes.Equal(dst[:size], src) {
							t.Fatalf("level %v, %s, %d bytes, slack %d, tier %s: %d bytes, %v",
								level, k.Name, n, slack, tier, size, err)
						}
					}
				}
			}
		}
	}
}

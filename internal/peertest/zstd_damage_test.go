package peertest_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	kzstd "github.com/klauspost/compress/zstd"

	"github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// smallFrames returns frames of our encoder and of the peer's, without checksums.
func smallFrames(t testing.TB) (all [][]byte) {
	var e zstd.Encoder
	for level := kzstd.SpeedFastest; level <= kzstd.SpeedBestCompression; level++ {
		enc := zstdEncoder(t, level, kzstd.WithEncoderCRC(false))
		for _, k := range corpus.Kinds() {
			all = append(all, enc.EncodeAll(k.Make(200*int(level)), nil))
		}
	}
	for _, k := range corpus.Kinds() {
		for _, n := range []int{50, 700, 2000} {
			src := k.Make(n)
			all = append(all, frame(n, e.Append(nil, src, greedy(src))))
		}
	}
	return all
}

// damage changes a frame in place, mostly behind its header, and returns it, or a part of it.
func damage(r *rand.Rand, p []byte) []byte {
	for range 1 + r.IntN(3) {
		at := r.IntN(len(p))
		if r.IntN(2) == 0 && len(p) > 12 {
			at = 5 + r.IntN(min(len(p)-5, 40))
		}
		switch r.IntN(6) {
		case 0:
			p[at] = byte(r.Uint32())
		case 1:
			p[at]++
		case 2:
			p = append(p[:at], p[min(len(p), at+1+r.IntN(3)):]...)
			if len(p) == 0 {
				return p
			}
		default:
			p[at] ^= 1 << r.IntN(8)
		}
	}
	return p
}

// limitedDecoder is the peer's decoder that decodes no more than its destination holds.
var limitedDecoder = mustDecoder(kzstd.WithDecodeAllCapLimit(true), kzstd.IgnoreChecksum(true),
	kzstd.WithDecoderMaxWindow(1<<40))

// canary is what must remain behind the memory of a Decoder.
const canary = 0xA5C3A5C3A5C3A5C3

// compareDecoders decodes p with both decoders and reports which of them accept it.
func compareDecoders(t testing.TB, d *zstd.Decoder, p, buf, peer []byte, size int) (ours, theirs bool) {
	dst := buf[:size:size]
	binary.LittleEndian.PutUint64(buf[size:], canary)
	n, err := d.DecodeFrame(dst, p, nil, false)
	if binary.LittleEndian.Uint64(buf[size:]) != canary {
		t.Fatalf("%x: bytes behind the buffer are changed", p)
	}
	q, peerErr := limitedDecoder.DecodeAll(p, peer[:0:size])
	if err == nil && peerErr == nil && !bytes.Equal(dst[:n], q) {
		t.Fatalf("%x: %d bytes, klauspost's %d: content differs", p, n, len(q))
	}
	return err == nil, peerErr == nil
}

// TestZstdDamage decodes damaged frames and compares with the peer where both accept them.
func TestZstdDamage(t *testing.T) {
	eachTier(t, testZstdDamage)
}

func testZstdDamage(t *testing.T) {
	count := 100_000 / len(zstdTiers)
	if testenv.All() {
		count *= 10
	}
	if testing.Short() || testenv.Race {
		count /= 20
	}
	const most = 4096
	r := rand.New(rand.NewPCG(7, 8))
	d := zstd.NewDecoder()
	frames := smallFrames(t)
	buf, peer, p := make([]byte, most+8), make([]byte, most), []byte(nil)
	var both, ours, theirs int
	for i := range count {
		p = damage(r, append(p[:0], frames[i%len(frames)]...))
		size := most
		if r.IntN(2) == 0 {
			size = r.IntN(most)
		}
		switch a, b := compareDecoders(t, d, p, buf, peer, size); {
		case a && b:
			both++
		case a:
			ours++
		case b:
			theirs++
		}
	}
	t.Logf("of %d frames both accept %d, only we %d, only klauspost %d", count, both, ours, theirs)
	if both < count/50 {
		t.Errorf("of %d frames both accept only %d", count, both)
	}
}

// FuzzZstdDecode compares with the peer where both accept a frame.
func FuzzZstdDecode(f *testing.F) {
	for _, p := range smallFrames(f) {
		f.Add(p)
	}
	const most = 1 << 18
	d := zstd.NewDecoder()
	buf, peer := make([]byte, most+8), make([]byte, most)
	f.Fuzz(func(t *testing.T, p []byte) {
		compareDecoders(t, d, p, buf, peer, most)
		compareDecoders(t, d, p, buf, peer, most/256)
	})
}

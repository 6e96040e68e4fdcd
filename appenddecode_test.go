package compress

import (
	"bytes"
	"slices"
	"testing"
	"unsafe"
)

// TestAppendDecodeInPlace: content is decoded where the caller wants it, behind what is there, and nothing behind it is touched.
func TestAppendDecodeInPlace(t *testing.T) {
	const front, guard = 100, 64
	var mixed []byte // coded blocks, one of a single byte, a stored one, a short one
	mixed = append(mixed, textBytes(3*testBlock, 1)...)
	mixed = append(mixed, make([]byte, testBlock)...)
	mixed = append(mixed, randomBytes(testBlock, 2)...)
	mixed = append(mixed, textBytes(testBlock/3, 3)...)
	for _, p := range []string{"lzseqr", "lzr"} {
		for _, workers := range workerCounts {
			opts := []Option{WithPipeline(p), WithBlockSize(testBlock), WithConcurrency(workers), WithLevel(9)}
			file := encode(t, mixed, opts...)
			dst := bytes.Repeat([]byte{0x5a}, front+len(mixed)+guard)
			got, err := AppendDecode(dst[:front:front+len(mixed)], file, opts...)
			if err != nil || !bytes.Equal(got[front:], mixed) || !bytes.Equal(got[:front], bytes.Repeat([]byte{0x5a}, front)) {
				t.Fatalf("%s, %d workers: %d bytes, %v", p, workers, len(got), err)
			}
			if unsafe.SliceData(got) != unsafe.SliceData(dst) {
				t.Errorf("%s, %d workers: not in the caller's memory", p, workers)
			}
			if !bytes.Equal(dst[front+len(mixed):], bytes.Repeat([]byte{0x5a}, guard)) {
				t.Errorf("%s, %d workers: wrote behind the content", p, workers)
			}
			// Two streams, of which the first one's header tells the room: the others are appended.
			both, err := AppendDecode(nil, slices.Concat(file, file), opts...)
			if err != nil || !bytes.Equal(both, slices.Concat(mixed, mixed)) {
				t.Fatalf("%s, %d workers: two streams: %d bytes, %v", p, workers, len(both), err)
			}
			// Damage: what is in front of it.
			bad := bytes.Clone(file)
			bad[len(bad)/3] ^= 1
			part, err := AppendDecode(nil, bad, opts...)
			if err == nil || len(part)%testBlock != 0 || !bytes.Equal(part, mixed[:len(part)]) {
				t.Errorf("%s, %d workers: %d bytes in front of damage, %v", p, workers, len(part), err)
			}
		}
	}
}

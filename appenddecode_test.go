package compress

import (
	"bytes"
	"slices"
	"testing"
	"unsafe"
)

// TestAppendDecodeInPlace checks that AppendDecode decodes into the caller's memory behind the
// bytes that are there, and writes nothing beyond the content.
func TestAppendDecodeInPlace(t *testing.T) {
	const front, guard = 100, 64
	var mixed []byte // coded blocks, a fill block, a stored one and a short one
	mixed = append(mixed, textBytes(3*testBlock, 1)...)
	mixed = append(mixed, make([]byte, testBlock)...)
	mixed = append(mixed, randomBytes(testBlock, 2)...)
	mixed = append(mixed, textBytes(testBlock/3, 3)...)
	for _, p := range []string{"lzseqr", "lzr"} {
		for _, workers := range workerCounts {
			opts := []Option{
				WithPipeline(p),
				WithBlockSize(testBlock),
				WithConcurrency(workers),
				WithLevel(9),
			}
			file := encode(t, mixed, opts...)
			dst := bytes.Repeat([]byte{0x5a}, front+len(mixed)+guard)
			got, err := AppendDecode(dst[:front:front+len(mixed)], file, opts...)
			if err != nil || !bytes.Equal(got[front:], mixed) ||
				!bytes.Equal(got[:front], bytes.Repeat([]byte{0x5a}, front)) {
				t.Fatalf("%s, %d workers: %d bytes, %v", p, workers, len(got), err)
			}
			if unsafe.SliceData(got) != unsafe.SliceData(dst) {
				t.Errorf("%s, %d workers: the result is not in the caller's memory", p, workers)
			}
			if !bytes.Equal(dst[front+len(mixed):], bytes.Repeat([]byte{0x5a}, guard)) {
				t.Errorf("%s, %d workers: bytes behind the content have changed", p, workers)
			}
			// The header of the first stream gives the size; the second stream is appended.
			both, err := AppendDecode(nil, slices.Concat(file, file), opts...)
			if err != nil || !bytes.Equal(both, slices.Concat(mixed, mixed)) {
				t.Fatalf("%s, %d workers: two streams: %d bytes, %v", p, workers, len(both), err)
			}
			// AppendDecode returns the blocks in front of damage.
			bad := bytes.Clone(file)
			bad[len(bad)/3] ^= 1
			part, err := AppendDecode(nil, bad, opts...)
			if err == nil || len(part)%testBlock != 0 || !bytes.Equal(part, mixed[:len(part)]) {
				t.Errorf("%s, %d workers: %d bytes of a damaged file, %v", p, workers, len(part),
					err)
			}
		}
	}
}

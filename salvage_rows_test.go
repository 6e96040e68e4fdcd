package compress

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/internal/zstframe"
)

// TestRecoverEqualFrames takes frames out of a row of equal ones. They must be reported, and the
// rest must be at its place. In every other case bytes elsewhere make up for them, so that the seek
// table fits the file.
func TestRecoverEqualFrames(t *testing.T) {
	const from, to = 4, 12 // the row
	content := slices.Concat(textBytes(from*testBlock, 1),
		bytes.Repeat(randomBytes(testBlock, 2), to-from), textBytes(5*testBlock, 3))
	file := encode(t, content, WithFormat(Zstd), WithBlockSize(testBlock))
	size := frameAt(t, file, from+1) - frameAt(t, file, from)
	for _, n := range []int{1, 2, to - from - 1} {
		for first := from; first+n <= to; first++ {
			for _, moved := range []bool{false, true} {
				what := fmt.Sprintf("%d frames from %d on, moved %t", n, first, moved)
				bad := slices.Clone(file)
				at := frameAt(t, file, to+3)
				if moved {
					bad = slices.Insert(bad, at, randomBytes(n*size, 4)...)
				}
				bad = slices.Delete(bad, frameAt(t, file, first), frameAt(t, file, first+n))
				got, list := recoverAll(t, bad, WithZeroFill(true))
				lost, blocks := int64(0), int64(0)
				for _, d := range list {
					lost, blocks = lost+d.Content, blocks+d.Blocks
				}
				if blocks != int64(n) || lost != int64(n*testBlock) || len(got) != len(content) {
					t.Errorf("%s: %d bytes of %d; %+v", what, len(got), len(content), list)
					continue
				}
				if blocks := differentBlocks(got, content); blocks != n {
					t.Errorf("%s: %d blocks are not at their places", what, blocks)
				}
			}
		}
	}
}

// differentBlocks counts the blocks that differ.
func differentBlocks(got, want []byte) (n int) {
	for at := 0; at < len(want); at += testBlock {
		if end := min(at+testBlock, len(want)); !bytes.Equal(got[at:end], want[at:end]) {
			n++
		}
	}
	return n
}

// TestRecoverListedOften saves a frame once that a seek table lists very often.
func TestRecoverListedOften(t *testing.T) {
	content := textBytes(testBlock, 1)
	file := encode(t, content, WithFormat(Zstd), WithBlockSize(testBlock))
	frame := file[:frameAt(t, file, 1)]
	const entries = 1000
	e := zstfile.Entry{
		Size: uint32(len(frame)), Content: testBlock, Sum: zstfile.Checksum(content),
	}
	file = slices.Concat(frame, makeSeekTable(true, slices.Repeat([]zstfile.Entry{e}, entries)...))
	var b bytes.Buffer
	lost := int64(0)
	err := recoverFrom(&b, file, func(d Damage) error {
		lost += d.Blocks
		return nil
	})
	if err != nil || !bytes.Equal(b.Bytes(), content) || lost != entries-1 {
		t.Errorf("%d bytes, %d blocks lost, %v; want %d, %d", b.Len(), lost, err, testBlock,
			entries-1)
	}
}

// TestRecoverContentSize flips a bit in the content size of a frame and deletes a byte of another
// one, with and without checksums. Both frames must be reported, and nothing else may move.
func TestRecoverContentSize(t *testing.T) {
	const cut = 6
	for _, opts := range [][]Option{nil, {WithChecksum(false)}} {
		file, content, frames, _ := seekableParts(t, opts...)
		for flipped := range frames[:len(frames)-1] { // the last one states its size in a byte
			if flipped == cut {
				continue
			}
			_, n, err := zstframe.ParseHeader(frames[flipped])
			if err != nil {
				t.Fatal(err)
			}
			for bit := range 16 { // of the content size
				bad := slices.Clone(file)
				bad[frameAt(t, file, flipped)+n-2+bit/8] ^= 1 << (bit % 8)
				at := frameAt(t, file, cut) + len(frames[cut])/2
				bad = slices.Delete(bad, at, at+1)
				got, list := recoverAll(t, bad, WithZeroFill(true))
				lost := int64(0)
				for _, d := range list {
					lost += d.Blocks
				}
				if len(got) != len(content) || differentBlocks(got, content) > 2 || lost != 2 {
					t.Errorf("bit %d of frame %d, options %d: %d bytes of %d; %+v", bit, flipped,
						len(opts), len(got), len(content), list)
				}
			}
		}
	}
}

package index

import (
	"bytes"
	"errors"
	"testing"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
)

// markHeaders are the headers of a file in which block k begins with the byte 'A'+k and
// HeaderBytes−1 zeros.
type markHeaders struct{ data []byte }

func (h markHeaders) IsAt(k int, off int64) bool {
	return off < int64(len(h.data)) && h.data[off] == byte('A'+k)
}
func (h markHeaders) SetRange(from, to int) {}
func (h markHeaders) BlockAt(p []byte, off int64) int {
	return int(p[0]) - 'A'
}

// relocate returns the offsets of three blocks of 100 bytes, whose index says that they follow one
// another, in data.
func relocate(data []byte, limits *container.Limits, verify Verify) (offsets []int64, err error) {
	x := &File{Size: int64(len(data)), Streams: []Stream{{BlockSize: 100, Blocks: 3}}}
	for k := range 3 {
		x.Blocks = append(x.Blocks, Block{Offset: int64(100 * k), Size: 100, Raw: 1})
	}
	x.Blocks[2].Offset = int64(len(data)) - 100
	s := &Salvage{
		Src: bytes.NewReader(data), Limits: limits, Verify: verify, Size: x.Size, File: x,
	}
	err = s.Relocate(x.Blocks, &x.Streams[0], markHeaders{data})
	for _, b := range x.Blocks {
		offsets = append(offsets, b.Offset)
	}
	return offsets, err
}

// markedFile returns a file with block 0 at its place, block 2 at the end, and the header of block
// 1 at offsets.
func markedFile(size int, offsets ...int) []byte {
	data := make([]byte, size)
	data[0], data[size-100] = 'A', 'C'
	for _, off := range offsets {
		data[off] = 'B'
	}
	return data
}

// TestRelocateDecodesOnce has many copies of the header of a block. No place may be decoded twice,
// and none once the block has been found.
func TestRelocateDecodesOnce(t *testing.T) {
	const copies, good = 50, 150 + 16*20
	var at []int
	for i := range copies {
		at = append(at, 150+16*i)
	}
	data := markedFile(2000, at...)
	tried := map[int64]int{}
	offsets, err := relocate(data, &container.Limits{}, func(f *File, _ int64) (bool, error) {
		tried[f.Blocks[0].Offset]++
		return f.Blocks[0].Offset == good || f.Blocks[0].Offset == 0, nil
	})
	if err != nil || offsets[1] != good || len(tried) != 22 { // block 0 is tried, too
		t.Errorf("block 1 at %d, want %d; %d places tried; %v", offsets[1], good, len(tried), err)
	}
	for off, n := range tried {
		if n != 1 || off > good {
			t.Errorf("the block at %d was decoded %d times", off, n)
		}
	}
}

// TestRelocateMemory has no memory for places, for the index and a block, or for nothing. Relocate
// must say so.
func TestRelocateMemory(t *testing.T) {
	data := markedFile(1000, 300, 400)
	var memory int64
	fails := func(f *File, m int64) (bool, error) {
		memory = m
		return false, errs.OutOfMemory(0, "block")
	}
	const need = StreamMemory + 3*BlockMemory + placeMemory
	_, err := relocate(data, &container.Limits{MaxMemory: need - 1}, fails)
	if !errors.Is(err, errs.Memory) {
		t.Errorf("no memory for places: %v", err)
	}
	if memory != 0 {
		t.Error("a block was decoded without memory")
	}
	_, err = relocate(data, &container.Limits{MaxMemory: need + 50}, fails)
	if !errors.Is(err, errs.Memory) || memory != 50 {
		t.Errorf("no memory for a block: %v; %d bytes, want 50", err, memory)
	}
	ok := func(*File, int64) (bool, error) { return true, nil }
	at, err := relocate(data, &container.Limits{MaxMemory: need}, ok)
	if err != nil || at[1] != 300 {
		t.Errorf("enough memory: block at %d, %v; want 300", at[1], err)
	}
}

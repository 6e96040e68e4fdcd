package x86

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
)

func TestRanges(t *testing.T) {
	const size = 1000
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0x0f} // 2³² − 1
	for _, c := range []struct {
		what string
		src  []byte
		size int // of the ranges; 0 if they are invalid
	}{
		{"one of all", []byte{1, 0, 0xe8, 7, 'x'}, 4},
		{"one of all, in five bytes each", []byte{
			0x81, 0x80, 0x80, 0x80, 0, 0x80, 0x80, 0x80, 0x80, 0, 0xe8, 0x87, 0x80, 0x80, 0, 'x', 'y',
		}, 15},
		{"two", []byte{2, 3, 4, 0, 1}, 5},
		{"the last byte", []byte{1, 0xe7, 7, 1}, 4},
		{"nothing", nil, 0},
		{"none", []byte{0, 'x'}, 0},
		{"no gap", []byte{1}, 0},
		{"no length", []byte{1, 0}, 0},
		{"empty", []byte{1, 5, 0, 'x'}, 0},
		{"second missing", []byte{2, 3, 4}, 0},
		{"second without length", []byte{2, 3, 4, 5}, 0},
		{"a byte too long", []byte{1, 0, 0xe9, 7}, 0},
		{"a byte too far", []byte{1, 1, 0xe8, 7}, 0},
		{"beyond the end", []byte{1, 0xe9, 7, 1}, 0},
		{"two too long", []byte{2, 0, 0xe7, 7, 0, 2}, 0},
		{"six bytes", []byte{0x81, 0x80, 0x80, 0x80, 0x80, 0, 0, 5}, 0},
		{"above 32 bits", []byte{1, 0, 0xff, 0xff, 0xff, 0xff, 0x1f}, 0},
		{"huge", slices.Concat([]byte{1}, huge, huge), 0},
		{"huge length", slices.Concat([]byte{1, 0}, huge), 0},
		{"too many", slices.Concat(huge, bytes.Repeat([]byte{0, 1}, 2*size)), 0},
	} {
		ranges, rest, err := Ranges(c.src, size)
		if c.size == 0 {
			if !errors.Is(err, ErrRanges) {
				t.Errorf("%s: error %v", c.what, err)
			}
		} else if err != nil || !bytes.Equal(ranges, c.src[:c.size]) ||
			!bytes.Equal(rest, c.src[c.size:]) {
			t.Errorf("%s: % x and % x, error %v", c.what, ranges, rest, err)
		}
	}
}

// TestParts checks that each range is filtered by itself and that the rest does not change.
func TestParts(t *testing.T) {
	p := bytes.Repeat([]byte{0x48, 0x8b, 0x0d, 1, 0, 0, 0, 0xe8, 2, 0, 0, 0xff}, 20)
	for _, list := range [][]int{
		{0, 240}, {3, 50}, {0, 7, 0, 8, 0, 9}, {5, 1, 20, 60, 4, 3}, {236, 4},
	} {
		ranges := []byte{byte(len(list) / 2)}
		want := bytes.Clone(p)
		at := 0
		for i := 0; i < len(list); i += 2 {
			ranges = binary.AppendUvarint(ranges, uint64(list[i]))
			ranges = binary.AppendUvarint(ranges, uint64(list[i+1]))
			at += list[i]
			copy(want[at:], naiveEncode(want[at:at+list[i+1]]))
			at += list[i+1]
		}
		got := bytes.Clone(p)
		Encode(got, ranges, nil)
		if !bytes.Equal(got, want) {
			t.Errorf("%v: % x, want % x", list, got, want)
		}
		Decode(got, ranges, nil)
		if !bytes.Equal(got, p) {
			t.Errorf("%v: decoded to % x", list, got)
		}
	}
}

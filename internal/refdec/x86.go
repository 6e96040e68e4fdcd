package refdec

import "encoding/binary"

// An x86Range is a filtered part of a block's content.
type x86Range struct{ begin, end uint64 }

// x86Ranges reads the ranges of a block of n bytes.
func x86Ranges(r *byteReader, n int) ([]x86Range, error) {
	count, err := r.varint()
	if err != nil {
		return nil, err
	}
	if count == 0 {
		return nil, corrupt("no ranges")
	}
	var list []x86Range
	at := uint64(0)
	for range count {
		gap, err := r.varint()
		if err != nil {
			return nil, err
		}
		length, err := r.varint()
		if err != nil {
			return nil, err
		}
		begin := at + gap
		at = begin + length
		if length == 0 || at > uint64(n) {
			return nil, corrupt("range from %d to %d of %d bytes", begin, at, n)
		}
		list = append(list, x86Range{begin, at})
	}
	chose(choiceRanges, min(len(list), 2))
	return list, nil
}

// undoX86 undoes the x86 filter on a range.
func undoX86(p []byte) {
	for i := len(p) - 5; i >= 0; i-- {
		branch := p[i] == 0xe8 || p[i] == 0xe9
		access := i >= 2 && (p[i-2] == 0x48 || p[i-2] == 0x4c) &&
			(p[i-1] == 0x8b || p[i-1] == 0x8d) && p[i]&0xc7 == 5
		if high := p[i+4]; !branch && !access || high != 0 && high != 0xff {
			continue
		}
		if branch {
			chose(choiceStep, 0)
		} else {
			chose(choiceStep, 1)
		}
		v := int64(binary.LittleEndian.Uint32(p[i+1:])) - int64(i+5)
		v &= 1<<25 - 1
		if v >= 1<<24 {
			v -= 1 << 25
		}
		binary.LittleEndian.PutUint32(p[i+1:], uint32(v))
	}
}

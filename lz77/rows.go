package lz77

import (
	"encoding/binary"
	"math/bits"
)

// rows finds the candidates of Recent with a ring of the last Depth positions for each hash. They lie side by side, so that a search
// costs one or two cache misses where a chain costs one for each candidate. Beside each position stands a tag, more bits of the
// hash: a candidate with another tag does not match and is passed over without a look at the block.
type rows struct {
	pos   []int32
	tags  []uint8 // 0 for none
	heads []uint8 // place of the latest position in the row; the older ones follow
	next  int     // first position not entered yet
	log   uint8   // log2 of the entries of a row
	shift uint8   // 32 − log2 of the number of rows
	mask  uint32  // see mix
}

func (r *rows) reset(params *Params, size int) {
	log := tableLog(params.HashLog, size)
	r.log = uint8(bits.Len(uint(params.Depth)) - 1)
	r.shift = 32 - log
	r.mask = mixMask(params.HashBytes)
	r.next = 0
	n := 1 << (log + r.log)
	if cap(r.pos) < n {
		r.pos, r.tags = make([]int32, n), make([]uint8, n)
	}
	r.pos, r.tags = r.pos[:n], r.tags[:n]
	if cap(r.heads) < 1<<log {
		r.heads = make([]uint8, 1<<log)
	}
	r.heads = r.heads[:1<<log]
	clear(r.tags)
	clear(r.heads)
}

// place returns the row of what begins with the 8 bytes v, and its tag.
func (r *rows) place(v uint64) (row int, tag uint8) {
	h := mix(v, r.mask)
	return int(h >> (r.shift & 31)), uint8(h>>((r.shift-7)&31)) | 0x80
}

// insert enters the positions before i.
func (r *rows) insert(src []byte, i int) {
	log, mask := r.log&7, uint8(1)<<(r.log&7)-1
	for p := r.next; p < i; p++ {
		row, tag := r.place(load64(src, p))
		head := (r.heads[row] - 1) & mask
		r.heads[row] = head
		at := row<<log + int(head)
		r.tags[at], r.pos[at] = tag, int32(p)
	}
	r.next = max(r.next, i)
}

// find is Matcher.find.
func (r *rows) find(src []byte, i, minMatch, maxOffset, nice int) (n, offset int) {
	r.insert(src, i)
	v := load64(src, i)
	row, tag := r.place(v)
	log := r.log & 7
	size := 1 << log
	first := row << log
	tags, pos := r.tags[first:first+size], r.pos[first:first+size]

	// One bit for each entry whose tag is right, the latest first.
	var hits uint64
	for at := 0; at+8 <= size; at += 8 {
		x := binary.LittleEndian.Uint64(tags[at:]) ^ uint64(tag)*0x0101010101010101
		// The top bit of each byte that is 0, and then those bits side by side.
		x = ^(x&0x7f7f7f7f7f7f7f7f + 0x7f7f7f7f7f7f7f7f | x) & 0x8080808080808080
		hits |= x >> 7 * 0x0102040810204080 >> 56 << (at & 63)
	}
	head := uint(r.heads[row])
	hits = hits>>(head&63) | hits<<((uint(size)-head)&63)
	if size < 64 {
		hits &= 1<<(size&63) - 1
	}

	best := minMatch - 1
	for ; hits != 0; hits &= hits - 1 {
		c := int(pos[(int(head)+bits.TrailingZeros64(hits))&(len(pos)-1)])
		d := i - c
		if d < MinOffset {
			d = int(farEnough[d&(MinOffset-1)])
			c = i - d
		}
		if d > maxOffset {
			break
		}
		if c >= 0 && src[c+best] == src[i+best] && load32(src, c) == uint32(v) {
			m := extend(src, c, i, 4)
			if k := min(m, nice); k > best && (offset == 0 || score(k-best) > bits.Len32(uint32(d))-bits.Len32(uint32(offset))) {
				best, n, offset = k, m, d
				if k == nice || i+m >= len(src) {
					break
				}
			}
		}
	}
	return n, offset
}

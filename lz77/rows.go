package lz77

import (
	"encoding/binary"
	"math/bits"

	"github.com/gopz/compress/internal/finder"
	"github.com/gopz/compress/internal/kernels"
)

// rows finds the candidates of RowHash: a row, or ring, of the last Depth positions for each hash
// (as zstd's row-based match finder).
//
// The positions of a row lie side by side, so a search costs one or two cache misses; a hash chain
// costs one for each candidate. Each position has a tag, 7 further bits of its hash. A search
// compares 8 tags at a time and passes over candidates with another tag without a load from the
// block.
//
// Cost: a search takes time proportional to Depth, an insertion constant time. Positions that the
// parser passes over are inserted too. Memory: 5·Depth+1 bytes for each hash.
//
// This is the portable code. A kernel keeps entries of another kind in positions and needs neither
// tags nor heads; see kernels.RowHashParse.
type rows struct {
	positions []uint32 // of all rows, or a kernel's entries
	tags      []uint8  // of the positions; 0 for none
	heads     []uint8  // place of the latest position of each row; older ones follow
	next      int      // first position not yet inserted
	log       uint8    // log2 of the positions of a row
	shift     uint8    // 32 − log2 of the number of rows
	mask      uint32   // see rowHash
	base      int      // a kernel's offset for positions, which tells them from those of earlier blocks
}

// entries makes n entries ready for a kernel that parses a block of size bytes. It returns the
// number that the kernel adds to positions.
func (r *rows) entries(n, size int, checkpoint func()) (base uint64) {
	if cap(r.positions) < n {
		r.positions, r.base = make([]uint32, n), 0
	}
	if r.base+size >= 1<<kernels.RowHashBits {
		for left := r.positions[:cap(r.positions)]; len(left) > 0; checkpoint() {
			part := left[:min(len(left), checkpointBytes)]
			clear(part)
			left = left[len(part):]
		}
		r.base = 0
	}
	r.positions = r.positions[:n]
	base = uint64(r.base)
	r.base += size
	return base
}

func (r *rows) reset(params *Params, size int) {
	log := finder.TableLog(params.HashLog, size)
	r.log = uint8(bits.Len(uint(params.Depth)) - 1)
	r.shift = 32 - log
	r.mask = finder.RowHashMask(params.HashBytes)
	r.next = 0
	n := 1 << (log + r.log)
	if cap(r.positions) < n {
		r.positions = make([]uint32, n)
	}
	if cap(r.tags) < n {
		r.tags = make([]uint8, n)
	}
	r.positions, r.tags = r.positions[:n], r.tags[:n]
	r.base = 1 << kernels.RowHashBits // a kernel cannot use the positions of this block
	if cap(r.heads) < 1<<log {
		r.heads = make([]uint8, 1<<log)
	}
	r.heads = r.heads[:1<<log]
	clear(r.tags)
	clear(r.heads)
}

// find returns length and offset of the best candidate at i by the definition of RowHash, for
// matches of least bytes or more. Both are 0 if there is none. Positions must ascend from call to
// call.
func (r *rows) find(src []byte, i, least, maxOffset, nice int) (n, offset int) {
	log, shift, hashMask := r.log&7, r.shift&31, r.mask
	size := 1 << log
	last := uint8(size - 1)

	// Insert the positions passed over since.
	allTags, allPos, heads := r.tags, r.positions, r.heads
	for p := r.next; p < i; p++ {
		h := finder.RowHash(finder.Load64(src, p), hashMask)
		row := int(h >> shift)
		head := (heads[row] - 1) & last
		heads[row] = head
		at := row<<log + int(head)
		allTags[at], allPos[at] = uint8(h>>((shift-7)&31))|0x80, uint32(p)
	}
	r.next = i + 1

	v := finder.Load64(src, i)
	h := finder.RowHash(v, hashMask)
	row, tag := int(h>>shift), uint8(h>>((shift-7)&31))|0x80
	first := row << log
	tags, pos := allTags[first:first+size:first+size], allPos[first:first+size:first+size]

	// One bit for each position with the same tag, the latest first.
	var hits uint64
	for at := 0; at+8 <= size; at += 8 {
		x := binary.LittleEndian.Uint64(tags[at:]) ^ uint64(tag)*0x0101010101010101
		// The top bit of each byte that is 0, then those bits side by side.
		x = ^(x&0x7f7f7f7f7f7f7f7f + 0x7f7f7f7f7f7f7f7f | x) & 0x8080808080808080
		hits |= x >> 7 * 0x0102040810204080 >> 56 << (at & 63)
	}
	head := uint(heads[row])
	hits = hits>>(head&63) | hits<<((uint(size)-head)&63)
	if size < 64 {
		hits &= 1<<(size&63) - 1
	}

	best := least - 1
	ends := uint32(0)
	if i+best < len(src) {
		ends = finder.Load32(src, i+best-3)
	} else {
		hits = 0
	}
	for ; hits != 0; hits &= hits - 1 {
		c := int(pos[(int(head)+bits.TrailingZeros64(hits))&(len(pos)-1)])
		d := i - c
		if d < MinOffset {
			d = int(finder.LeastMultiple[d&(MinOffset-1)])
			if c = i - d; c < 0 {
				continue
			}
		}
		if d > maxOffset {
			break
		}
		// A longer match is equal at the end of the best one.
		if finder.Load32(src, c+best-3) == ends && finder.Load32(src, c) == uint32(v) {
			m := finder.Extend(src, c, i, 4)
			if k := min(m, nice); k > best &&
				(offset == 0 || score(k-best) > bits.Len32(uint32(d))-bits.Len32(uint32(offset))) {
				best, n, offset = k, m, d
				if k == nice || i+m >= len(src) {
					break
				}
				ends = finder.Load32(src, i+best-3)
			}
		}
	}
	slot := uint8(head-1) & last
	heads[row] = slot
	tags[slot], pos[slot] = tag, uint32(i)
	return n, offset
}

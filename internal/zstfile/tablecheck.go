package zstfile

import (
	"encoding/binary"
	"math"
)

const (
	// keptPrefixes is how many frames behind a seek table may be missing from the next table
	// without harm. More of them look like frames that were written twice.
	keptPrefixes = 1 << 10

	// prefixBase is the base of the polynomial hash of frames: any odd number.
	prefixBase = 0x9E3779B97F4A7C15
)

// framesHash stands for the frames from the beginning of a file. Frames without content do not
// count, for a seek table need not list them.
type framesHash struct {
	count int64
	sizes uint64 // hash of compressed and content sizes
	sums  uint64 // hash of checksums
	bare  int64  // frames without a checksum
}

func (h *framesHash) addFrame(size, content uint64, sum uint32, summed bool) {
	if content == 0 {
		return
	}
	h.count++
	h.sizes = h.sizes*prefixBase + mix(size*prefixBase+content)
	h.sums = h.sums*prefixBase + mix(uint64(sum))
	if !summed {
		h.bare++
	}
}

func mix(v uint64) uint64 {
	v ^= v >> 32
	v *= 0xD6E8FEB86659FD93
	return v ^ v>>29
}

// after returns the hash of the frames that follow those of a.
func (h framesHash) after(a *framesHash) framesHash {
	shift, n := uint64(1), h.count-a.count
	for p := uint64(prefixBase); n > 0; n >>= 1 {
		if n&1 != 0 {
			shift *= p
		}
		p *= p
	}
	return framesHash{h.count - a.count, h.sizes - a.sizes*shift, h.sums - a.sums*shift, h.bare - a.bare}
}

// tableCheck compares seek tables with the frames in front of them while a file is read from the
// front. The format has no other means to show that frames are missing, or there twice.
type tableCheck struct {
	all    framesHash
	prefix []framesHash // at the last table, and after each of the first frames behind it

	// The skippable frame being read may be a table with entries of either size.
	plain  tableHash
	summed tableHash
	footer [SeekFooterSize]byte // the last bytes so far
	size   int64                // bytes of the frame behind its header
	left   int64                // bytes in front of the footer still to come
	buf    [4 << 10]byte
}

// tableHash is the hash of the entries of a table.
type tableHash struct {
	framesHash
	entry [12]byte
	have  int
}

func (h *tableHash) write(p []byte, width int) {
	for len(p) > 0 {
		n := copy(h.entry[h.have:width], p)
		p = p[n:]
		if h.have += n; h.have == width {
			h.have = 0
			size, content := binary.LittleEndian.Uint32(h.entry[:]), binary.LittleEndian.Uint32(h.entry[4:])
			h.addFrame(uint64(size), uint64(content), binary.LittleEndian.Uint32(h.entry[8:]), true)
		}
	}
}

// reset begins a file.
func (c *tableCheck) reset() {
	*c = tableCheck{prefix: append(c.prefix[:0], framesHash{})}
}

// frame adds a frame. sum counts only if the frame has a checksum.
func (c *tableCheck) frame(size, content int64, sum uint32, summed bool) {
	c.all.addFrame(uint64(size), uint64(content), sum, summed)
	if content > 0 && len(c.prefix) <= keptPrefixes {
		c.prefix = append(c.prefix, c.all)
	}
}

// enter begins a skippable frame that may be a table, with size bytes behind its header.
func (c *tableCheck) enter(size int64) {
	c.size, c.left = size, size-SeekFooterSize
	c.plain, c.summed = tableHash{}, tableHash{}
}

// write adds bytes of the table.
func (c *tableCheck) write(p []byte) {
	n := int(min(int64(len(p)), c.left))
	c.plain.write(p[:n], 8)
	c.summed.write(p[:n], 12)
	c.left -= int64(n)
	p = p[n:] // of the footer
	copy(c.footer[:], c.footer[len(p):])
	copy(c.footer[len(c.footer)-len(p):], p)
}

// endFrame ends the frame. If it is a table, endFrame compares the frames with those that it lists,
// with their checksums if sums is set, and returns what is wrong, "" for nothing. A frame that
// lists the frames in front of it is a table, though its footer is damaged.
func (c *tableCheck) endFrame(sums bool) (fault string) {
	f, err := ParseSeekFooter(c.footer[:], math.MaxInt64)
	if err != nil || f.TableSize() != SkippableHeaderSize+c.size {
		if c.lists(&c.plain, false) || c.lists(&c.summed, sums) {
			return "the footer of a seek table is damaged"
		}
		return ""
	}
	entries := &c.plain
	if f.Sums {
		entries = &c.summed
	}
	same, known := c.compare(&entries.framesHash, sums && f.Sums)
	c.prefix = append(c.prefix[:0], c.all)
	if known && !same {
		return "the frames in front of a seek table are not those that it lists"
	}
	return ""
}

// lists reports whether the entries are those of the frames, of which there is one or more.
func (c *tableCheck) lists(entries *tableHash, sums bool) bool {
	same, known := c.compare(&entries.framesHash, sums)
	return entries.count > 0 && entries.have == 0 && same && known
}

// compare reports whether the frames are those of a table, and whether that is known.
func (c *tableCheck) compare(said *framesHash, sums bool) (same, known bool) {
	var before framesHash
	switch i := c.all.count - said.count - c.prefix[0].count; {
	case c.all.count == said.count: // the table lists all frames, those of earlier tables too
	case c.all.count < said.count:
		return false, true
	case i < 0:
		// The table begins among frames that an earlier table lists.
		return false, true
	case i >= int64(len(c.prefix)):
		return false, false
	default:
		before = c.prefix[i]
	}
	have := c.all.after(&before)
	same = have.sizes == said.sizes && (!sums || have.bare > 0 || have.sums == said.sums)
	return same, true
}

package compress

import (
	"encoding/binary"
	"math"

	"github.com/gopz/compress/internal/zstfile"
)

const (
	// keptPrefixes is how many frames behind the last seek table may be such that the next table does not list and that do no harm. Others are
	// not told from such as were written twice.
	keptPrefixes = 1 << 10

	// prefixBase is what a hash of frames is a polynomial of; odd, and else of no importance.
	prefixBase = 0x9E3779B97F4A7C15
)

// framesHash stands for the frames from the beginning of a file on. Those without content do not count: a seek table need not list them.
type framesHash struct {
	count int64
	sizes uint64 // hash of compressed and content sizes
	sums  uint64 // hash of checksums
	bare  int64  // frames that have none
}

func (h *framesHash) add(size, content uint64, sum uint32, summed bool) {
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

// behind returns the hash of the frames behind those of a.
func (h framesHash) behind(a *framesHash) framesHash {
	shift, n := uint64(1), h.count-a.count
	for p := uint64(prefixBase); n > 0; n >>= 1 {
		if n&1 != 0 {
			shift *= p
		}
		p *= p
	}
	return framesHash{h.count - a.count, h.sizes - a.sizes*shift, h.sums - a.sums*shift, h.bare - a.bare}
}

// tableCheck compares seek tables with the frames in front of them while a file is read from the front. That shows which frames are
// missing or there twice: the format has nothing else for that.
type tableCheck struct {
	all    framesHash
	prefix []framesHash // at the last table, and after the first frames behind it

	// The skippable frame that is being read may be a table with entries of either size.
	inside bool
	plain  tableHash
	summed tableHash
	footer [zstfile.SeekFooterSize]byte // the last bytes so far
	size   int64                        // of the frame behind its header
	left   int64                        // of that, in front of the footer
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
			h.add(uint64(binary.LittleEndian.Uint32(h.entry[:])), uint64(binary.LittleEndian.Uint32(h.entry[4:])), binary.LittleEndian.Uint32(h.entry[8:]), true)
		}
	}
}

// begin begins a file.
func (c *tableCheck) begin() {
	*c = tableCheck{prefix: append(c.prefix[:0], framesHash{})}
}

// frame adds a frame. sum is not asked for if the frame has no checksum.
func (c *tableCheck) frame(size, content int64, sum uint32, summed bool) {
	c.all.add(uint64(size), uint64(content), sum, summed)
	if content > 0 && len(c.prefix) <= keptPrefixes {
		c.prefix = append(c.prefix, c.all)
	}
}

// enter begins a skippable frame that may be a table of so many bytes behind the header.
func (c *tableCheck) enter(size int64) {
	c.inside, c.size, c.left = true, size, size-zstfile.SeekFooterSize
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

// end is for the end of the frame: if it is a table, it reports whether the frames are those that it lists, sums included. What is no
// table has nothing to say.
func (c *tableCheck) end(sums bool) (ok bool) {
	c.inside = false
	f, err := zstfile.ParseSeekFooter(c.footer[:], math.MaxInt64)
	if err != nil || f.TableSize() != zstfile.SkippableHeaderSize+c.size {
		return true
	}
	said := c.plain.framesHash
	if f.Sums {
		said = c.summed.framesHash
	}
	defer func() { c.prefix = append(c.prefix[:0], c.all) }()
	var before framesHash
	switch i := c.all.count - said.count - c.prefix[0].count; {
	case c.all.count == said.count: // tables in front of this one are nothing but frames to it
	case c.all.count < said.count:
		return false
	case i < 0:
		// It begins among frames that another table has.
		return false
	case i >= int64(len(c.prefix)):
		return true
	default:
		before = c.prefix[i]
	}
	have := c.all.behind(&before)
	return have.sizes == said.sizes && (!sums || !f.Sums || have.bare > 0 || have.sums == said.sums)
}

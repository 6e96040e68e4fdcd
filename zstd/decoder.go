package zstd

import (
	"errors"
	"math"

	"github.com/cespare/xxhash/v2"

	"github.com/gopz/compress/fse"
	"github.com/gopz/compress/huffman"
	"github.com/gopz/compress/lz77"
)

// CorruptError describes why a decoder rejected its input.
type CorruptError string

func (e CorruptError) Error() string { return "zstd: corrupt input: " + string(e) }

// ErrChecksum means that the checksum of a frame does not match its content.
var ErrChecksum = errors.New("zstd: checksum mismatch")

const (
	errShortBlock = CorruptError("block cut short")
	errNoRoom     = CorruptError("more content than there is room for")
)

// DecodeSlack is the room in bytes behind the content with which decoding is fastest. A Decoder may
// overwrite it.
const DecodeSlack = 96

// BlockHeaderSize is the size of a block header in bytes.
const BlockHeaderSize = blockHeader

// minWindow is the minimum window in bytes (RFC 8878, section 3.1.1.1.2).
const minWindow = 1 << 10

// A Decoder decodes the blocks of frames. Its state carries on from block to block: repeat offsets,
// the Huffman code and the FSE tables. It allocates nothing. A Decoder must not be used
// concurrently.
//
// A compressed block is decoded in two steps. First its literals go to a buffer. Then its sequences
// are decoded in batches that stay in the fastest cache, and each batch is carried out.
type Decoder struct {
	before   []byte // content of the frame in front of dst
	window   uint32 // largest offset
	maxBlock int    // maximum content of a block

	repeats [3]uint32
	known   bool // whether huff has the code of an earlier block
	huff    huffman.LiteralDecoder
	tables  seqTables

	lits  []byte // literals of the block that are left, and slack behind them
	batch [batchSize]lz77.Sequence

	dist    fse.Distribution
	builder fse.PackedBuilder
	litBuf  [MaxBlock + lz77.Slack]byte
	hash    xxhash.Digest
}

// NewDecoder returns a Decoder. Reset must come before the first block.
func NewDecoder() *Decoder { return new(Decoder) }

// Reset begins a frame. window is the largest offset in bytes, as the frame header states it.
func (d *Decoder) Reset(window int64) {
	window = max(window, minWindow)
	d.window = uint32(min(window, maxOffset, math.MaxInt))
	d.maxBlock = int(min(window, MaxBlock))
	d.repeats = [3]uint32{1, 4, 8}
	d.known, d.before = false, nil
	d.tables.known = [kinds]bool{}
}

// SetBefore tells the Decoder that the content of the frame in front of dst[0] ends with before,
// for the next blocks and until Reset. Blocks are decoded faster without it. before must not
// overlap the dst of Block.
func (d *Decoder) SetBefore(before []byte) { d.before = before }

// blockHead is the header of a block (RFC 8878, section 3.1.1.2).
type blockHead struct {
	last bool
	kind int
	size int // of the content of a raw or RLE block, of the bytes of a compressed one
}

func parseBlockHead(p []byte) (h blockHead, err error) {
	v := int(p[0]) | int(p[1])<<8 | int(p[2])<<16
	h = blockHead{last: v&1 != 0, kind: v >> 1 & 3, size: v >> 3}
	switch {
	case h.size > MaxBlock:
		return h, CorruptError("block too large")
	case h.kind > compressedBlock:
		return h, CorruptError("reserved block type")
	}
	return h, nil
}

// bytes returns the number of bytes behind the header that belong to the block.
func (h *blockHead) bytes() int {
	if h.kind == rleBlock {
		return 1
	}
	return h.size
}

// BlockSize returns how many bytes follow the block header p of BlockHeaderSize bytes, and whether
// the block is the last of its frame.
func BlockSize(p []byte) (size int, last bool, err error) {
	h, err := parseBlockHead(p)
	return h.bytes(), h.last, err
}

// Block decodes the block at the front of src, with its header. dst[:at] is the content of the
// frame so far, or at least a window of it. Block writes the content of the block behind it. end is
// the position behind the content, used the size of the block in bytes. The block may use up all of
// dst; it may overwrite bytes of dst behind end. All errors are a CorruptError, and leave the
// Decoder unusable until Reset.
func (d *Decoder) Block(dst []byte, at int, src []byte) (end, used int, last bool, err error) {
	if len(src) < BlockHeaderSize {
		return at, 0, false, errShortBlock
	}
	h, err := parseBlockHead(src)
	if err != nil {
		return at, 0, false, err
	}
	used = BlockHeaderSize + h.bytes()
	if len(src) < used {
		return at, 0, false, errShortBlock
	}
	if h.kind != compressedBlock {
		if h.size > d.maxBlock {
			return at, 0, false, CorruptError("block larger than the window")
		}
		if h.size > len(dst)-at {
			return at, 0, false, errNoRoom
		}
	}
	switch body, to := src[BlockHeaderSize:used:used], dst[at:]; h.kind {
	case rawBlock:
		copy(to, body)
		end = at + h.size
	case rleBlock:
		fill(to[:h.size], body[0])
		end = at + h.size
	default:
		end, err = d.compressed(dst, at, body)
	}
	return end, used, h.last, err
}

// fill sets all bytes of p to c.
func fill(p []byte, c byte) {
	if len(p) == 0 {
		return
	}
	p[0] = c
	for n := 1; n < len(p); n *= 2 {
		copy(p[n:], p[:n])
	}
}

// compressed decodes the body of a compressed block.
func (d *Decoder) compressed(dst []byte, at int, src []byte) (end int, err error) {
	n, count, err := d.literals(src)
	if err != nil {
		return at, err
	}
	s, err := d.sequenceHeader(src[n:])
	if err != nil {
		return at, err
	}
	limit := min(len(dst)-at, d.maxBlock)
	if count > limit {
		return at, errNoRoom
	}
	end = at
	if s.count > 0 {
		if end, count, err = d.sequences(dst, at, limit, count, s); err != nil {
			return at, err
		}
	}
	// The slack behind the literals makes this a copy without a loop for a few of them.
	if lits := d.lits; count <= 16 && len(dst)-end >= 16 {
		*(*[16]byte)(dst[end:]) = *(*[16]byte)(lits)
	} else {
		copy(dst[end:], lits[:count])
	}
	return end + count, nil
}

package zstd

import (
	"errors"
	"math"

	"github.com/cespare/xxhash/v2"

	"github.com/gopz/compress/fse"
	"github.com/gopz/compress/internal/codec/huffman"
	"github.com/gopz/compress/internal/zstframe"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/simd"
)

// CorruptError describes why a decoder rejected its input.
type CorruptError string

func (e CorruptError) Error() string { return "zstd: corrupt input: " + string(e) }

// ErrChecksum means that the checksum of a frame does not match its content.
var ErrChecksum = errors.New("zstd: checksum mismatch")

const (
	errShortBlock = CorruptError("block cut short")
	errNoRoom     = CorruptError("more content than there is room for")

	// ErrOffset: a match begins in front of what there is, as it does where the encoder had another
	// dictionary. The error does not say whether the content or the window ends there. A caller
	// that knows the size of the content may give Reset a smaller window than the header states,
	// and the error must not depend on that.
	ErrOffset = CorruptError("offset beyond the content or the window")
)

// DecodeSlack is the room in bytes behind the content with which decoding is fastest. A Decoder may
// overwrite it.
const DecodeSlack = 96

// A Decoder decodes the blocks of frames. Its state carries on from block to block: repeat offsets,
// the Huffman code and the FSE tables. It allocates nothing. A Decoder must not be used
// concurrently.
//
// A compressed block is decoded in two steps. First its literals go to a buffer. Then its sequences
// are decoded in batches that stay in the fastest cache, and each batch is carried out.
type Decoder struct {
	// Checkpoint, unless it is nil, is called by DecodeFrame after each block, on the caller's
	// goroutine. It may block. It may panic to abandon the frame; the Decoder can then be used
	// again.
	Checkpoint func()

	before    []byte      // content of the frame, or of the dictionary, in front of dst
	dict      *Dictionary // of the frame, while its content is in reach; nil for none
	window    uint32      // of the frame in bytes
	maxOffset uint32      // largest offset
	maxBlock  int         // maximum content of a block
	total     int64       // content of the frame so far, in bytes

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

// Reset begins a frame. window is the largest offset in bytes, as the frame header states it. dict
// is the dictionary of the frame, nil for none. While the frame has at most a window of content,
// offsets may also reach all of the dictionary.
func (d *Decoder) Reset(window int64, dict *Dictionary) {
	window = max(window, zstframe.MinWindow)
	d.window = uint32(min(window, maxOffset, math.MaxInt))
	d.maxOffset, d.total = d.window, 0
	d.maxBlock = int(min(window, MaxBlock))
	d.known, d.before = false, nil
	d.tables.known = [kinds]bool{}
	d.beginBehind(dict)
}

// SetBefore gives the Decoder more of the frame's content for matches to reach: before ends where
// dst[0] of Block begins. It counts until the next call of SetBefore or Reset. Blocks are decoded
// faster without it. before must not overlap the dst of Block.
func (d *Decoder) SetBefore(before []byte) { d.before = before }

// Block decodes the block at the front of src, with its header. dst[:at] is the content of the
// frame so far, or at least a window of it. In front of it is what SetBefore says, or the
// dictionary. Block writes the content of the block behind it. end is the position behind the
// content, used the size of the block in bytes. The block may use up all of dst; it may overwrite
// bytes of dst behind end. All errors are a CorruptError, and leave the Decoder unusable until
// Reset.
func (d *Decoder) Block(dst []byte, at int, src []byte) (end, used int, last bool, err error) {
	if len(src) < blockHeader {
		return at, 0, false, errShortBlock
	}
	if d.dict != nil && d.total > int64(d.window) {
		d.leave()
	}
	h, err := zstframe.ParseBlock(src)
	if err != nil {
		return at, 0, false, CorruptError("block header: " + err.Error())
	}
	used = blockHeader + h.Size
	if len(src) < used {
		return at, 0, false, errShortBlock
	}
	switch {
	case h.Content > d.maxBlock:
		return at, 0, false, CorruptError("block larger than the window")
	case h.Content > len(dst)-at:
		return at, 0, false, errNoRoom
	}
	body, to := src[blockHeader:used:used], dst[at:]
	switch h.Kind {
	case rawBlock:
		copy(to, body)
		end = at + h.Size
	case rleBlock:
		simd.Fill(to[:h.Content], body[0])
		end = at + h.Content
	default:
		end, err = d.compressed(dst, at, body)
	}
	d.total += int64(end - at)
	return end, used, h.Last, err
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
		end, count, err = d.sequences(dst, at, limit, count, s)
		if err != nil {
			return at, err
		}
	}
	// The slack behind the literals makes this a copy without a loop for a few of them.
	lits := d.lits
	if count <= 16 && len(dst)-end >= 16 {
		*(*[16]byte)(dst[end:]) = *(*[16]byte)(lits)
	} else {
		copy(dst[end:], lits[:count])
	}
	return end + count, nil
}

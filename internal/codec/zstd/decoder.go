package zstd

import (
	"errors"
	"math"
	"math/bits"

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
	// ErrShortBlock and ErrShortLiterals: a block ends too early.
	ErrShortBlock    = CorruptError("block cut short")
	ErrShortLiterals = CorruptError("literals cut short")
	// ErrLongBlock: an empty sequences section does not end the block.
	ErrLongBlock = CorruptError("bytes behind an empty sequences section")
	// ErrManyLiterals: a block has more literals than it may have content.
	ErrManyLiterals = CorruptError("too many literals")
	// ErrNoRoom: a block has more content than dst has room for, or than the window allows.
	ErrNoRoom = CorruptError("more content than there is room for")

	// ErrOffset: a match begins in front of what there is, as it does where the encoder had another
	// dictionary. The error does not say whether the content or the window ends there. A caller
	// that knows the size of the content may give Reset a smaller window than the header states,
	// and the error must not depend on that.
	ErrOffset = CorruptError("offset beyond the content or the window")
)

// DecodeSlack is the room in bytes behind the content with which decoding is fastest. A Decoder may
// overwrite it.
const DecodeSlack = 96

// An EntropyDecoder does the first of the two steps in which a compressed block is decoded: from
// Huffman and FSE codes to literals and sequences. Its state carries on from block to block: the
// Huffman code and the FSE tables. It allocates nothing. An EntropyDecoder must not be used
// concurrently.
type EntropyDecoder struct {
	maxBlock int         // maximum content of a block
	dict     *Dictionary // of the frame, nil for none
	carry    *Carry      // of the blocks before the first one, nil if that begins the frame

	known  bool // whether huff has the code of an earlier block
	huff   huffman.LiteralDecoder
	tables seqTables

	dist    fse.Distribution
	builder fse.PackedBuilder
}

// Reset begins a frame, or goes on in one behind the blocks that carry has noted, unless that is
// nil. window and dict are those of [Decoder.Reset]. carry must not change until the next Reset.
func (d *EntropyDecoder) Reset(window int64, dict *Dictionary, carry *Carry) {
	d.maxBlock = maxBlockOf(window)
	d.dict, d.carry, d.known = dict, carry, false
	d.tables.known = [kinds]bool{}
}

// maxBlockOf returns the maximum content of a block in a frame with a window.
func maxBlockOf(window int64) int { return int(min(max(window, zstframe.MinWindow), MaxBlock)) }

// An Executor does the second step: it carries out sequences. Its state carries on from block to
// block: the window and the repeat offsets. It allocates nothing. An Executor must not be used
// concurrently.
type Executor struct {
	before    []byte      // content of the frame, or of the dictionary, in front of dst
	dict      *Dictionary // of the frame, while its content is in reach; nil for none
	window    uint32      // of the frame in bytes
	maxOffset uint32      // largest offset
	total     int64       // content of the frame so far, in bytes
	repeats   [3]uint32
}

// Reset begins a frame. window and dict are those of [Decoder.Reset].
func (d *Executor) Reset(window int64, dict *Dictionary) {
	window = max(window, zstframe.MinWindow)
	d.window = uint32(min(window, maxOffset, math.MaxInt))
	d.maxOffset, d.total = d.window, 0
	d.before = nil
	d.beginBehind(dict)
}

// SetBefore gives the Executor more of the frame's content for matches to reach: before ends where
// dst[0] of Block or Execute begins. It counts until the next call of SetBefore or Reset. Blocks
// are decoded faster without it. before must not overlap dst.
func (d *Executor) SetBefore(before []byte) { d.before = before }

// beginBlock drops the dictionary once that is out of reach.
func (d *Executor) beginBlock() {
	if d.dict != nil && d.total > int64(d.window) {
		d.leave()
	}
}

// A Decoder decodes the blocks of frames: it is an EntropyDecoder and an Executor together. It
// decodes sequences in batches that stay in the fastest cache, and carries each batch out. Only
// Reset allocates, once: memory for the literals of a block, at most 128 KiB. A Decoder must not be
// used concurrently.
type Decoder struct {
	// Checkpoint, unless it is nil, is called by DecodeFrame after each block, on the caller's
	// goroutine. It may block. It may panic to abandon the frame; the Decoder can then be used
	// again.
	Checkpoint func()

	entropy EntropyDecoder
	Executor

	batch  [batchSize]lz77.Sequence
	litBuf []byte // for the literals of a block, with slack
	hash   xxhash.Digest
}

// NewDecoder returns a Decoder. Reset must come before the first block.
func NewDecoder() *Decoder { return new(Decoder) }

// Reset begins a frame. window is the largest offset in bytes, as the frame header states it. dict
// is the dictionary of the frame, nil for none. While the frame has at most a window of content,
// offsets may also reach all of the dictionary.
func (d *Decoder) Reset(window int64, dict *Dictionary) {
	d.Executor.Reset(window, dict)
	d.entropy.Reset(window, dict, nil)
	if n := d.entropy.maxBlock; len(d.litBuf) < n+lz77.Slack {
		d.litBuf = make([]byte, 1<<bits.Len(uint(n-1))+lz77.Slack)
	}
}

// GoOn makes d go on behind blocks that its Executor has carried out. carry has noted them. It must
// not change until the next Reset or GoOn.
func (d *Decoder) GoOn(carry *Carry) {
	d.entropy.Reset(int64(d.entropy.maxBlock), d.entropy.dict, carry)
}

// Block decodes the block at the front of src, with its header. dst[:at] is the content of the
// frame so far, or at least a window of it. In front of it is what SetBefore says, or the
// dictionary. Block writes the content of the block behind it. end is the position behind the
// content, used the size of the block in bytes. The block may use up all of dst; it may overwrite
// bytes of dst behind end. All errors are a CorruptError. They leave the Decoder unusable until
// Reset, but for ErrNoRoom: then the same block can be decoded again with a larger dst.
func (d *Decoder) Block(dst []byte, at int, src []byte) (end, used int, last bool, err error) {
	h, body, err := d.entropy.splitBlock(src)
	if err != nil {
		return at, 0, false, err
	}
	d.beginBlock()
	switch {
	case h.Content > len(dst)-at:
		return at, 0, false, ErrNoRoom
	case h.Kind == compressedBlock:
		end, err = d.compressed(dst, at, body)
	default:
		end = fill(dst, at, h.Kind, h.Content, body)
	}
	d.total += int64(end - at)
	return end, blockHeader + h.Size, h.Last, err
}

// splitBlock returns the header of the block at the front of src, and the body.
func (d *EntropyDecoder) splitBlock(src []byte) (h zstframe.Block, body []byte, err error) {
	if len(src) < blockHeader {
		return h, nil, ErrShortBlock
	}
	h, err = zstframe.ParseBlock(src)
	switch used := blockHeader + h.Size; {
	case err != nil:
		return h, nil, CorruptError("block header: " + err.Error())
	case len(src) < used:
		return h, nil, ErrShortBlock
	case h.Content > d.maxBlock:
		return h, nil, CorruptError("block larger than the window")
	default:
		return h, src[blockHeader:used:used], nil
	}
}

// fill writes the n bytes of content of a block that is not compressed, and returns its end.
func fill(dst []byte, at, kind, n int, body []byte) (end int) {
	end = at + n
	if kind == rawBlock {
		copy(dst[at:end], body)
	} else {
		simd.Fill(dst[at:end], body[0])
	}
	return end
}

// compressed decodes the body of a compressed block.
func (d *Decoder) compressed(dst []byte, at int, src []byte) (end int, err error) {
	h, lits, err := d.entropy.literals(src, d.litBuf)
	if err != nil {
		return at, err
	}
	s, err := d.entropy.sequenceHeader(src[h.size:])
	if err != nil {
		return at, err
	}
	limit := min(len(dst)-at, d.entropy.maxBlock)
	if h.count > limit {
		return at, ErrNoRoom
	}
	if s.count == 0 {
		return appendLiterals(dst, at, lits, h.count), nil
	}
	return d.sequences(dst, at, limit, lits, h.count, s)
}

// appendLiterals writes n literals, and returns their end. The slack behind them makes this a copy
// without a loop for a few.
func appendLiterals(dst []byte, at int, lits []byte, n int) (end int) {
	if n <= 16 && len(dst)-at >= 16 {
		*(*[16]byte)(dst[at:]) = *(*[16]byte)(lits)
	} else {
		copy(dst[at:], lits[:n])
	}
	return at + n
}

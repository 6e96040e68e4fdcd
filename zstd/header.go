package zstd

import (
	"encoding/binary"
	"io"

	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/internal/zstframe"
)

const (
	// HeaderMaxSize is the most bytes that the header of a frame and that of its first block take.
	// [Header.Decode] may succeed with less.
	HeaderMaxSize = 14 + 3

	// MinWindowSize is the smallest window of a frame, 1 KiB.
	MinWindowSize = zstframe.MinWindow

	// MaxWindowSize is the largest window that [WithWindowSize] takes, and the largest one that a
	// Decoder accepts without [WithDecoderMaxWindow], 512 MiB.
	MaxWindowSize = 1 << 29
)

// Header describes a frame and its first block. The fields are those of klauspost/compress.
type Header struct {
	// SingleSegment: the frame is decoded into one piece of memory. FrameContentSize is then valid
	// and WindowSize is not.
	SingleSegment bool

	// WindowSize is how far back offsets reach, in bytes. It is 0 with SingleSegment.
	WindowSize uint64

	// DictionaryID is the number of the dictionary that the frame names, 0 if it names none.
	DictionaryID uint32

	// HasFCS: FrameContentSize is valid.
	HasFCS bool

	// FrameContentSize is the content of the frame in bytes.
	FrameContentSize uint64

	// Skippable: decoders pass over the frame. FirstBlock.OK is then false.
	Skippable bool

	// SkippableID is the number of a skippable frame, 0 to 15.
	SkippableID int

	// SkippableSize is how many bytes follow the header of a skippable frame.
	SkippableSize uint32

	// HeaderSize is the size of the frame's header in bytes, with the magic number. That of a
	// skippable frame has 8.
	HeaderSize int

	// FirstBlock describes the first block of the frame.
	FirstBlock struct {
		// OK: the fields below are valid.
		OK bool

		// Last: it is the last block of the frame.
		Last bool

		// Compressed: it is no raw block.
		Compressed bool

		// DecompressedSize is its content in bytes, 0 if only decoding tells.
		DecompressedSize int

		// CompressedSize is its size in bytes, without its header.
		CompressedSize int
	}

	// HasCheckSum: 4 bytes of checksum follow the last block.
	HasCheckSum bool
}

// Bits of the frame header descriptor (RFC 8878, section 3.1.1.1.1). The lowest two give the length
// of the dictionary ID, the highest two that of the content size.
const (
	flagChecksum = 1 << 2
	flagReserved = 1 << 3
	flagSingle   = 1 << 5
)

// Decode parses the header at the front of in, and that of the first block if in has it. Too few
// bytes for the frame's header are [io.ErrUnexpectedEOF], and other data is [ErrMagicMismatch].
// [HeaderMaxSize] bytes suffice.
func (h *Header) Decode(in []byte) error {
	_, err := h.DecodeAndStrip(in)
	return err
}

// DecodeAndStrip is [Header.Decode], and returns what follows the header of the frame: the first
// block with its header, or the bytes of a skippable frame.
func (h *Header) DecodeAndStrip(in []byte) (remain []byte, err error) {
	*h = Header{}
	if err := h.parseFrame(in); err != nil {
		return nil, err
	}
	in = in[h.HeaderSize:]
	if !h.Skippable {
		h.parseBlock(in)
	}
	return in, nil
}

// parseFrame parses the header of a frame.
func (h *Header) parseFrame(in []byte) error {
	if len(in) < zstframe.MagicSize {
		return io.ErrUnexpectedEOF
	}
	switch magic := binary.LittleEndian.Uint32(in); {
	case magic&^15 == zstfile.SkippableMagic:
		h.HeaderSize = zstfile.SkippableHeaderSize
		if len(in) < h.HeaderSize {
			return io.ErrUnexpectedEOF
		}
		h.Skippable, h.SkippableID = true, int(magic&15)
		h.SkippableSize = binary.LittleEndian.Uint32(in[4:])
		return nil
	case magic != zstframe.Magic:
		return ErrMagicMismatch
	case len(in) < 5:
		return io.ErrUnexpectedEOF
	}
	d := in[4]
	h.SingleSegment, h.HasCheckSum = d&flagSingle != 0, d&flagChecksum != 0
	if d&flagReserved != 0 {
		return errReserved
	}
	window, dictionary, content := 1, int(1<<(d&3))>>1, int(1<<(d>>6))
	if h.SingleSegment {
		window = 0
	}
	if d>>6 == 0 {
		content = 1 - window
	}
	if h.HeaderSize = 5 + window + dictionary + content; len(in) < h.HeaderSize {
		return io.ErrUnexpectedEOF
	}
	in = in[5:h.HeaderSize]
	if window > 0 {
		base := uint64(1) << (10 + in[0]>>3)
		h.WindowSize = base + base/8*uint64(in[0]&7)
		in = in[1:]
	}
	h.DictionaryID = uint32(number(in[:dictionary]))
	h.HasFCS, h.FrameContentSize = content > 0, number(in[dictionary:])
	if content == 2 {
		h.FrameContentSize += 256
	}
	return nil
}

// number returns the value of little-endian bytes.
func number(p []byte) (v uint64) {
	for i, b := range p {
		v |= uint64(b) << (8 * i)
	}
	return v
}

// parseBlock parses the header of a block, if there is one.
func (h *Header) parseBlock(in []byte) {
	if len(in) < zstframe.BlockHeaderSize {
		return
	}
	v := int(number(in[:zstframe.BlockHeaderSize]))
	b := &h.FirstBlock
	b.Last = v&1 != 0
	kind, size := v>>1&3, v>>3
	switch kind {
	case zstframe.RawBlock:
		b.DecompressedSize, b.CompressedSize = size, size
	case zstframe.RLEBlock:
		b.Compressed, b.DecompressedSize, b.CompressedSize = true, size, 1
	case zstframe.CompressedBlock:
		b.Compressed, b.CompressedSize = true, size
	default:
		return
	}
	b.OK = true
}

// AppendTo appends the header of the frame to dst, as far as the fields tell: that of a skippable
// frame, or the flags, WindowSize, DictionaryID and FrameContentSize. It verifies none of them. The
// error is nil. WindowSize is rounded up to a window that a header can state. A FrameContentSize
// below 256 without SingleSegment is left out.
func (h *Header) AppendTo(dst []byte) ([]byte, error) {
	if h.Skippable {
		dst = binary.LittleEndian.AppendUint32(dst, zstfile.SkippableMagic|uint32(h.SkippableID&15))
		return binary.LittleEndian.AppendUint32(dst, h.SkippableSize), nil
	}
	f := zstframe.Header{
		ContentSize:   int64(min(h.FrameContentSize, 1<<63-1)),
		Window:        int64(min(h.WindowSize, zstframe.MaxWindow)),
		SingleSegment: h.SingleSegment, Checksum: h.HasCheckSum, Dictionary: h.DictionaryID,
	}
	if !h.SingleSegment && f.ContentSize < 256 {
		f.ContentSize = -1
	}
	return f.Append(dst), nil
}

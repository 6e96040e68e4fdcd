package zstd

import (
	"encoding/binary"
	"io"
	"math"
	"sync"

	"github.com/cespare/xxhash/v2"

	codec "github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/zstframe"
)

// A frameDecoder decodes frames block by block. It verifies what the headers of frames and blocks
// say. Where the bytes come from and the content goes is up to the caller.
type frameDecoder struct {
	codec   codec.Decoder
	header  Header
	window  uint64 // in bytes; of a single segment its content
	size    uint64 // content of the frame so far, in bytes
	hasDict bool   // codec refers to a dictionary
	hashed  bool   // the checksum is compared
	hash    xxhash.Digest
}

// frameDecoders has those not in use.
var frameDecoders = sync.Pool{New: func() any { return new(frameDecoder) }}

// release lets others use f.
func (f *frameDecoder) release() {
	if f.hasDict {
		f.codec.Reset(MinWindowSize, nil) // drops it
		f.hasDict = false
	}
	frameDecoders.Put(f)
}

// unknownSize stands for content of a frame whose header does not state it.
const unknownSize = math.MaxUint64

// beginFrame begins the frame whose header has been parsed. With stream set its content does not go
// to memory as a whole, and limits of memory hold for the window alone. The order of the errors is
// that of klauspost/compress.
func (f *frameDecoder) beginFrame(o *decoderOptions, stream bool) error {
	h := &f.header
	if !h.HasFCS {
		h.FrameContentSize = unknownSize
	}
	f.window, f.size = h.WindowSize, 0
	switch {
	case h.SingleSegment:
		f.window = max(h.FrameContentSize, MinWindowSize)
		if f.window > o.maxDecodedSize || stream && f.window > o.window() {
			return ErrDecoderSizeExceeded
		}
	case f.window > o.window():
		return ErrWindowSizeExceeded
	}
	dict, ok := o.dicts[h.DictionaryID]
	switch {
	case !ok && h.DictionaryID != 0:
		return ErrUnknownDictionary
	case f.window > o.window(), stream && f.window > mostWindow:
		return ErrWindowSizeExceeded
	}
	f.codec.Reset(int64(min(f.window, math.MaxInt64)), dict)
	f.hasDict = dict != nil
	f.hashed = h.HasCheckSum && !o.ignoreChecksum
	if f.hashed {
		f.hash.Reset()
	}
	return nil
}

// mostWindow is the largest window in bytes that a stream can have memory for.
const mostWindow = math.MaxInt / 2

// maxBlock returns the most content of a block, in bytes.
func (f *frameDecoder) maxBlock() int { return int(min(f.window, zstframe.MaxBlock)) }

// parseBlock parses the header of a block of the frame.
func (f *frameDecoder) parseBlock(head []byte) (b zstframe.Block, err error) {
	v := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
	size := v >> 3
	b = zstframe.Block{Last: v&1 != 0, Kind: v >> 1 & 3, Size: size, Content: size}
	switch b.Kind {
	case zstframe.CompressedBlock:
		b.Content = -1
		if size > f.maxBlock() {
			return b, ErrCompressedSizeTooBig
		}
		if size < 2 {
			return b, ErrBlockTooSmall
		}
		return b, nil
	case zstframe.RLEBlock:
		b.Size = 1
	case zstframe.RawBlock:
	default:
		return b, ErrReservedBlockType
	}
	if size > f.maxBlock() {
		return b, ErrWindowSizeExceeded
	}
	return b, nil
}

// decodeBlock decodes a block with its header to dst[at:], and returns the end of its content. dst
// and at are as for [codec.Decoder.Block].
func (f *frameDecoder) decodeBlock(dst []byte, at int, block []byte) (end int, err error) {
	end, _, last, err := f.codec.Block(dst, at, block)
	if err != nil {
		return at, err
	}
	if f.hashed {
		f.hash.Write(dst[at:end]) // while it is in the cache
	}
	f.size += uint64(end - at)
	switch stated := f.header.FrameContentSize; {
	case f.size > stated:
		return end, ErrFrameSizeExceeded
	case last && f.header.HasFCS && f.size < stated:
		return end, ErrFrameSizeMismatch
	}
	return end, nil
}

// checkSum compares the checksum behind the frame.
func (f *frameDecoder) checkSum(p []byte) error {
	if f.hashed && binary.LittleEndian.Uint32(p) != uint32(f.hash.Sum64()) {
		return ErrCRCMismatch
	}
	return nil
}

// broken returns the error of a read in a frame. The end of the input comes too early there.
func broken(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

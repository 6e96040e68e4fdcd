package zstd

import (
	"io"

	codec "github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/zstframe"
)

// DecodeAll appends the content of all frames of input to dst and returns the extended slice. The
// free capacity of dst must not overlap input, and may be written to beyond the result. Empty input
// has no content. With an error DecodeAll returns the content in front of it, which no checksum
// confirms.
//
// The caller's goroutine decodes. In the steady state a call allocates nothing if dst has the
// capacity. Before content is decoded, dst grows to at most 16 times the size of input, or 64 KiB
// if that is more. Some kilobytes can decode to gigabytes: use [WithDecoderMaxMemory] for input
// that is not trusted. [WithDecoderConcurrency] limits how many calls work at the same time.
func (d *Decoder) DecodeAll(input, dst []byte) ([]byte, error) {
	if d.closed.Load() || d.slots == nil { // nil in the zero value
		return dst, ErrDecoderClosed
	}
	d.slots <- struct{}{}
	defer func() { <-d.slots }()
	f := frameDecoders.Get().(*frameDecoder)
	defer f.release()
	m := memory{o: d.options.Load(), in: input, dst: dst, base: len(dst)}
	m.hint = min(max(hintFactor*uint64(len(input)), leastHint), mostHint)
	for len(m.in) > 0 {
		if err := m.decodeFrame(f); err != nil {
			return m.dst, err
		}
	}
	return m.dst, nil
}

const (
	// hintFactor is the most room to make on the word of a header, as a multiple of the input.
	// Little content compresses further.
	hintFactor = 16
	// leastHint and mostHint bound that room in bytes.
	leastHint = 64 << 10
	mostHint  = 1 << 30
)

// A memory is input and output of a call of DecodeAll.
type memory struct {
	o    *decoderOptions
	in   []byte // what is left of it
	dst  []byte
	base int    // bytes of dst in front of the content
	hint uint64 // most room to make on the word of a header, in bytes
}

// decodeFrame decodes the frame at the front of the input, or passes over it.
func (m *memory) decodeFrame(f *frameDecoder) error {
	h := &f.header
	*h = Header{}
	if err := h.parseFrame(m.in); err != nil {
		return err
	}
	m.in = m.in[h.HeaderSize:]
	if h.Skippable {
		if uint64(len(m.in)) < uint64(h.SkippableSize) {
			return io.ErrUnexpectedEOF
		}
		m.in = m.in[h.SkippableSize:]
		return nil
	}
	if err := f.beginFrame(m.o, false); err != nil {
		return err
	}
	if h.HasFCS {
		if err := m.makeFrameRoom(h.FrameContentSize); err != nil {
			return err
		}
	}
	from := len(m.dst)
	for last := false; !last; {
		var err error
		last, err = m.decodeBlock(f, from)
		if err != nil {
			return err
		}
	}
	if !h.HasCheckSum {
		return nil
	}
	if len(m.in) < zstframe.ChecksumSize {
		return io.ErrUnexpectedEOF
	}
	sum := m.in[:zstframe.ChecksumSize]
	m.in = m.in[zstframe.ChecksumSize:]
	return f.checkSum(sum)
}

// left returns how much more content there may be, in bytes.
func (m *memory) left() uint64 {
	left := m.o.maxDecodedSize - uint64(len(m.dst)-m.base)
	if m.o.limitToCap {
		left = min(left, uint64(cap(m.dst)-len(m.dst)))
	}
	return left
}

// makeFrameRoom makes room for a frame whose header states size bytes of content, as far as that is
// plausible.
func (m *memory) makeFrameRoom(size uint64) error {
	if size > m.left() {
		return ErrDecoderSizeExceeded
	}
	m.makeRoom(int(min(size, m.hint)))
	return nil
}

// makeRoom makes room for n bytes of content, and some more for speed if dst has to move.
func (m *memory) makeRoom(n int) {
	if cap(m.dst)-len(m.dst) >= n || m.o.limitToCap {
		return
	}
	size := max(len(m.dst)+n, 2*len(m.dst)) + codec.DecodeSlack
	p := make([]byte, len(m.dst), size)
	copy(p, m.dst)
	m.dst = p
}

// decodeBlock decodes a block of the frame whose content begins at dst[from].
func (m *memory) decodeBlock(f *frameDecoder, from int) (last bool, err error) {
	if len(m.in) < zstframe.BlockHeaderSize {
		return false, io.ErrUnexpectedEOF
	}
	b, err := f.parseBlock(m.in)
	if err != nil {
		return false, err
	}
	n := zstframe.BlockHeaderSize + b.Size
	if len(m.in) < n {
		return false, io.ErrUnexpectedEOF
	}
	room := uint64(b.Content)
	if b.Content < 0 {
		room = uint64(f.maxBlock())
	}
	// What the header says is left of the frame bounds the room, so that no byte too many is asked
	// for. A block that has more content is an error in any case.
	need := int(min(room, f.header.FrameContentSize-f.size))
	// The content of a compressed block may fit into less room than it could take.
	if b.Content >= 0 || cap(m.dst)-len(m.dst) < b.Size {
		m.makeRoom(need)
	}
	at := len(m.dst) - from
	end, err := f.decodeBlock(m.dst[from:cap(m.dst)], at, m.in[:n])
	if err == codec.ErrNoRoom && cap(m.dst)-len(m.dst) < need && !m.o.limitToCap {
		m.makeRoom(need)
		end, err = f.decodeBlock(m.dst[from:cap(m.dst)], at, m.in[:n])
	}
	limit := m.left()
	m.in = m.in[n:]
	m.dst = m.dst[:from+end]
	switch {
	case uint64(end-at) > limit:
		return false, ErrDecoderSizeExceeded
	case err == codec.ErrNoRoom:
		return false, m.noRoom(f)
	case err != nil:
		return false, blockError(err)
	}
	return b.Last, nil
}

// noRoom returns the error of a block that has more content than dst has room for.
func (m *memory) noRoom(f *frameDecoder) error {
	room := uint64(cap(m.dst) - len(m.dst))
	switch {
	case f.header.HasFCS && room >= f.header.FrameContentSize-f.size && room < uint64(f.maxBlock()):
		return ErrFrameSizeExceeded
	case m.o.limitToCap && room < uint64(f.maxBlock()):
		return ErrDecoderSizeExceeded
	}
	return errBlockSize
}

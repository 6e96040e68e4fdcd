package foreign

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"

	"github.com/pierrec/lz4/v4"
)

const (
	lz4Magic       = "\x04\x22\x4d\x18"
	lz4LegacyMagic = "\x02\x21\x4c\x18"
)

// openLZ4 opens a frame.
func openLZ4(r *bufio.Reader, _ int64) (io.Reader, error) {
	magic, err := r.Peek(4)
	if err != nil {
		return nil, err
	}
	if string(magic) == lz4LegacyMagic {
		r.Discard(4)
		return &lz4Legacy{src: r}, nil
	}
	return lz4.NewReader(&lz4Frame{r: r}), nil
}

// lz4Frame gives package lz4 no more than a frame. The package would read on behind it.
type lz4Frame struct {
	r     *bufio.Reader
	left  int  // bytes of the current part: the header, a block, or the end
	flags byte // of the header
	begun bool
	ended bool
}

// Flags of a frame.
const (
	lz4BlockChecksum   = 0x10
	lz4ContentSize     = 0x08
	lz4ContentChecksum = 0x04
	lz4Dictionary      = 0x01
)

func (f *lz4Frame) Read(p []byte) (int, error) {
	if f.left == 0 && f.ended {
		return 0, io.EOF
	}
	if f.left == 0 {
		if err := f.beginPart(); err != nil {
			return 0, err
		}
	}
	n, err := f.r.Read(p[:min(len(p), f.left)])
	f.left -= n
	return n, err
}

// beginPart sets left to the size of the next part, or to what there is of a part that is cut off.
func (f *lz4Frame) beginPart() error {
	head, err := f.r.Peek(5)
	switch {
	case len(head) < 4 && err == io.EOF:
		f.left = len(head)
		return nil
	case len(head) < 4:
		return err
	case !f.begun:
		f.begun, f.left = true, 7
		if len(head) > 4 {
			f.flags = head[4]
		}
		f.left += 8*int(f.flags&lz4ContentSize/lz4ContentSize) + 4*int(f.flags&lz4Dictionary)
		return nil
	}
	size := binary.LittleEndian.Uint32(head)
	f.left, f.ended = 4+int(size&(1<<31-1)), size == 0
	if f.ended && f.flags&lz4ContentChecksum != 0 || !f.ended && f.flags&lz4BlockChecksum != 0 {
		f.left += 4
	}
	return nil
}

// lz4Legacy reads a frame of the format of 2012, which has no end mark. It ends where a magic
// number follows, which no block could have as its size.
type lz4Legacy struct {
	src    *bufio.Reader
	packed []byte
	block  []byte
	left   []byte // of block
}

// lz4LegacyBlock is the most content of a block in bytes.
const lz4LegacyBlock = 8 << 20

var errLZ4Block = errors.New("lz4: a block of size 0")

func (l *lz4Legacy) Read(p []byte) (int, error) {
	for len(l.left) == 0 {
		if err := l.readBlock(); err != nil {
			return 0, err
		}
	}
	n := copy(p, l.left)
	l.left = l.left[n:]
	return n, nil
}

func (l *lz4Legacy) readBlock() error {
	head, err := l.src.Peek(4)
	switch {
	case len(head) > 0 && err == io.EOF:
		return io.ErrUnexpectedEOF
	case err != nil:
		return err
	}
	size := binary.LittleEndian.Uint32(head)
	if size == 0 {
		return errLZ4Block
	}
	if int64(size) > int64(lz4.CompressBlockBound(lz4LegacyBlock)) {
		return io.EOF
	}
	l.src.Discard(4)
	if l.block == nil {
		l.block = make([]byte, lz4LegacyBlock)
	}
	l.packed = append(l.packed[:0], make([]byte, size)...)
	if _, err := io.ReadFull(l.src, l.packed); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	n, err := lz4.UncompressBlock(l.packed, l.block)
	if err != nil {
		return err
	}
	l.left = l.block[:n]
	return nil
}

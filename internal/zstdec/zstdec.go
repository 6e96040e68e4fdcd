// Package zstdec decodes frames of zstd from the front to the back, with package zstd. Package
// zstfile decides which frames are decoded so, and limits their window.
package zstdec

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/cespare/xxhash/v2"

	"github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/internal/zstframe"
)

// The content goes to a buffer that holds a window and more. When it is full, the last window moves
// to the front, if it is small. The more room there is behind the window, the less often that
// happens. A large window stays where it is: the next content overwrites the buffer from the front,
// and matches that begin in the window are copied by slower code. A Decoder takes less memory than
// 9/8 of the window plus 3 MiB, as zstfile expects.
const (
	// blockRoom is the room in bytes that a block needs.
	blockRoom = zstframe.MaxBlock + zstd.DecodeSlack
	// firstBuffer is the size in bytes of the buffer for short content.
	firstBuffer = 512 << 10
	// defaultRoom is the room in bytes behind a window and an eighth of it.
	defaultRoom = 2 << 20
	// maxMoved is the largest window in bytes that moves to the front of the buffer.
	maxMoved = 1 << 20
)

var errSize = errors.New("content of another size than the frame header states")

// Decoder is a [zstfile.Decoder]. It reads a block at a time, and nothing behind the frame. Its
// methods are for one goroutine at a time.
type Decoder struct {
	src    io.Reader
	checks bool // compare checksums
	dict   *zstd.Dictionary
	dec    zstd.Decoder
	hash   xxhash.Digest

	header zstframe.Header
	begun  bool  // header is valid
	last   bool  // the last block has been decoded
	total  int64 // content decoded so far, in bytes
	err    error // returned behind the content decoded so far

	buf     []byte
	at, out int // end of the content in buf, and of what Read has returned
	before  int // end of the older content in buf, 0 for none

	room  int   // defaultRoom, or 2*blockRoom at least
	moved int64 // maxMoved, or less

	block [zstframe.BlockHeaderSize + zstframe.MaxBlock]byte
}

// New returns a Decoder without input. It compares checksums if checks is set. dict is the
// dictionary of all frames, nil for none.
func New(checks bool, dict *zstd.Dictionary) (zstfile.Decoder, error) {
	return &Decoder{checks: checks, dict: dict, room: defaultRoom, moved: maxMoved}, nil
}

// Reset begins a frame. Nil drops the reference to the last input.
func (d *Decoder) Reset(src io.Reader) error {
	d.src, d.begun, d.last, d.total, d.err = src, false, false, 0, nil
	d.at, d.out, d.before = 0, 0, 0
	return nil
}

// Release frees the memory.
func (d *Decoder) Release() { d.src, d.buf = nil, nil }

// Read reads content of at most one block. A checksum that does not match is [zstfile.ErrChecksum],
// behind all content.
func (d *Decoder) Read(p []byte) (int, error) {
	for d.out == d.at {
		if d.err != nil || len(p) == 0 {
			return 0, d.err
		}
		d.err = d.next()
	}
	n := copy(p, d.buf[d.out:d.at])
	d.out += n
	return n, nil
}

// next decodes the next block, with the frame header if it is the first, and with the checksum if
// it is the last.
func (d *Decoder) next() error {
	switch {
	case d.src == nil:
		return io.EOF
	case !d.begun:
		if err := d.beginFrame(); err != nil {
			return err
		}
	case d.last:
		return d.endFrame()
	}
	dst := d.makeRoom()
	block := d.block[:zstframe.BlockHeaderSize]
	if err := d.readFull(block); err != nil {
		return err
	}
	head, err := zstframe.ParseBlock(block)
	if err != nil {
		return err
	}
	block = d.block[:zstframe.BlockHeaderSize+head.Size]
	if err := d.readFull(block[zstframe.BlockHeaderSize:]); err != nil {
		return err
	}
	end, _, _, err := d.dec.Block(dst, d.at, block)
	if err != nil {
		return err
	}
	d.last = head.Last
	d.total += int64(end - d.at)
	n := d.header.ContentSize
	if n >= 0 && d.total > n {
		return errSize
	}
	content := d.buf[d.at:end]
	d.at = end // Read returns it before an error
	switch {
	case d.last && d.total < n:
		return errSize
	case d.header.Checksum:
		return d.compare(content)
	}
	return nil
}

// beginFrame reads the frame header.
func (d *Decoder) beginFrame() error {
	p := d.block[:zstframe.MaxHeaderSize]
	if err := d.readFull(p[:zstframe.MinHeaderSize]); err != nil {
		return err
	}
	size, err := zstframe.HeaderSize(p[:zstframe.MinHeaderSize])
	if err != nil {
		return err
	}
	if err := d.readFull(p[zstframe.MinHeaderSize:size]); err != nil {
		return err
	}
	d.header, _, err = zstframe.ParseHeader(p[:size])
	if err != nil {
		return err
	}
	d.dec.Reset(d.header.Window, d.dict)
	d.hash.Reset()
	d.begun = true
	return nil
}

// compare adds the content of a block to the checksum. Behind the last block it reads the checksum
// of the frame and compares it.
func (d *Decoder) compare(content []byte) error {
	if d.checks {
		d.hash.Write(content)
	}
	if !d.last {
		return nil
	}
	sum := d.block[:zstframe.ChecksumSize]
	if err := d.readFull(sum); err != nil {
		return err
	}
	if d.checks && binary.LittleEndian.Uint32(sum) != uint32(d.hash.Sum64()) {
		return zstfile.ErrChecksum
	}
	return nil
}

// endFrame lets the input say that the frame ends here.
func (d *Decoder) endFrame() error {
	n, err := d.src.Read(d.block[:1])
	if n > 0 {
		return errors.New("bytes behind the frame")
	}
	return err
}

// readFull fills p. The end of the input is unexpected.
func (d *Decoder) readFull(p []byte) error {
	_, err := io.ReadFull(d.src, p)
	if err == io.EOF && len(p) > 0 {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// makeRoom makes room for a block and returns the buffer up to its end. Read has returned all
// content in the buffer.
func (d *Decoder) makeRoom() []byte {
	if len(d.buf)-d.at < blockRoom {
		d.wrap()
	}
	dst := d.buf[:d.at+blockRoom]
	if d.before > 0 {
		d.dec.SetBefore(d.buf[min(len(dst), d.before):d.before])
	}
	return dst
}

// wrap makes room at the front of the buffer, or in a larger one.
func (d *Decoder) wrap() {
	window := d.header.Window
	if n := d.header.ContentSize; n >= 0 {
		window = min(window, n)
	}
	size := int(window+window/8) + d.room
	if d.at == 0 {
		size = min(size, firstBuffer)
	}
	if len(d.buf) >= size && window > d.moved {
		d.before, d.at, d.out = d.at, 0, 0
		return
	}
	kept := d.buf[d.at-int(min(window, int64(d.at))) : d.at]
	if len(d.buf) < size {
		d.buf = make([]byte, size)
	}
	d.at = copy(d.buf, kept)
	d.out = d.at
}

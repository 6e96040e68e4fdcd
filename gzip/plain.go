package gzip

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"

	"github.com/gopz/compress/deflate"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/gzfile"
)

// plain writes Deflate blocks without matches, on the caller's goroutine: stored ones, or with an
// encoder those with the best codes for the literals. It writes no header.
type plain struct {
	w       io.Writer
	encoder *deflate.Encoder // nil for stored blocks
	content []byte           // not written yet, less than a block
	out     []byte
	sum     uint32 // CRC-32 of the content
	size    int64  // of the content, in bytes
}

// Sizes of blocks in bytes.
const (
	storedBlock  = math.MaxUint16 // the most that a stored block holds (RFC 1951, section 3.2.4)
	literalBlock = 256 << 10      // what the encoder splits where codes should change
)

// newHuffmanOnly returns a plain for HuffmanOnly.
func newHuffmanOnly() *plain { return &plain{encoder: new(deflate.Encoder)} }

// Reset begins a stream.
func (c *plain) Reset(w io.Writer) { c.w, c.content, c.sum, c.size = w, c.content[:0], 0, 0 }

// blockSize returns the most content of a block in bytes.
func (c *plain) blockSize() int {
	if c.encoder == nil {
		return storedBlock
	}
	return literalBlock
}

// Write writes full blocks and keeps the rest.
func (c *plain) Write(p []byte) (n int, err error) {
	c.sum = crc32.Update(c.sum, crc32.IEEETable, p)
	c.size += int64(len(p))
	for size := c.blockSize(); n < len(p); {
		if rest := p[n:]; len(c.content) == 0 && len(rest) > size {
			if err := c.block(rest[:size], false); err != nil {
				return n, err
			}
			n += size
			continue
		}
		m := min(len(p)-n, size-len(c.content))
		if m == 0 {
			if err := c.block(c.content, false); err != nil {
				return n, err
			}
			c.content = c.content[:0]
			continue
		}
		c.content = append(c.content, p[n:n+m]...)
		n += m
	}
	return n, nil
}

// block writes content of at most a block.
func (c *plain) block(content []byte, last bool) error {
	if c.encoder != nil {
		c.out = c.encoder.Append(c.out[:0], content, nil, last)
		return c.write(c.out)
	}
	c.out = appendStored(c.out[:0], len(content), last)
	if len(content) <= cap(c.out)-len(c.out) || len(content) <= 4<<10 {
		return c.write(append(c.out, content...))
	}
	if err := c.write(c.out); err != nil {
		return err
	}
	_, err := container.WriteFull(c.w, content)
	return err
}

// appendStored appends the header of a stored block of n bytes that begins on a byte boundary.
func appendStored(dst []byte, n int, last bool) []byte {
	head := byte(0)
	if last {
		head = 1
	}
	return binary.LittleEndian.AppendUint32(append(dst, head), uint32(n)|^uint32(n)<<16)
}

func (c *plain) write(p []byte) error {
	c.out = p[:0]
	_, err := container.WriteFull(c.w, p)
	return err
}

// Flush writes all content and an empty stored block.
func (c *plain) Flush() error {
	if len(c.content) == 0 {
		return nil
	}
	err := c.block(c.content, false)
	c.content = c.content[:0]
	if err != nil || c.encoder != nil { // the encoder ends with an empty stored block
		return err
	}
	return c.write(appendStored(c.out[:0], 0, false))
}

// Close writes the rest of the content, the last block and the trailer.
func (c *plain) Close() error {
	if err := c.block(c.content, true); err != nil {
		return err
	}
	c.content = c.content[:0]
	return c.write(gzfile.AppendTrailer(c.out[:0], c.sum, c.size))
}

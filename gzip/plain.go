package gzip

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/gzfile"
)

// plain writes stored Deflate blocks, on the caller's goroutine. It writes no header.
type plain struct {
	w       io.Writer
	content []byte // not written yet, less than a block
	out     []byte
	sum     uint32 // CRC-32 of the content
	size    int64  // of the content, in bytes
}

// storedBlock is the most that a stored block holds, in bytes (RFC 1951, section 3.2.4).
const storedBlock = math.MaxUint16

// Reset begins a stream.
func (c *plain) Reset(w io.Writer) { c.w, c.content, c.sum, c.size = w, c.content[:0], 0, 0 }

// Write writes full blocks and keeps the rest.
func (c *plain) Write(p []byte) (n int, err error) {
	c.sum = crc32.Update(c.sum, crc32.IEEETable, p)
	c.size += int64(len(p))
	for n < len(p) {
		if rest := p[n:]; len(c.content) == 0 && len(rest) > storedBlock {
			if err := c.block(rest[:storedBlock], false); err != nil {
				return n, err
			}
			n += storedBlock
			continue
		}
		m := min(len(p)-n, storedBlock-len(c.content))
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
	if err != nil {
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

package foreign

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// lzwReader decodes the format of the Unix program compress (.Z): LZW codes of 9 to 16 bits, least
// significant bit first. Codes of one width come in groups of eight, which is padded if the width
// changes earlier. compress/lzw of the standard library reads GIF, TIFF and PDF, not this.
type lzwReader struct {
	src      *bufio.Reader
	maxWidth uint
	clears   bool // code 256 clears the table

	width uint
	next  int // code that the next entry gets
	last  int // code before this one, -1 at the beginning
	group int // codes read of the group of eight
	bits  uint32
	count uint // bits in bits

	prefix [1 << 16]uint16
	suffix [1 << 16]byte
	stack  []byte // content that a code stands for, last byte first
	first  byte   // first byte of the last code's content
	out    []byte // of stack, not yet returned
}

const (
	lzwClear    = 256
	lzwMinWidth = 9
)

var errLZWCode = errors.New("a code that the table does not have")

// beginsLZW reports whether the byte behind the magic number states a width of codes, and no flag
// that nobody uses.
func beginsLZW(head []byte) bool {
	return len(head) > 2 && head[2]&0x60 == 0 && head[2]&31 >= lzwMinWidth && head[2]&31 <= 16
}

func openLZW(r *bufio.Reader, _ int64) (io.Reader, error) {
	head := make([]byte, 3)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	z := &lzwReader{src: r, maxWidth: uint(head[2] & 31), clears: head[2]&0x80 != 0}
	if head[2]&0x60 != 0 || z.maxWidth < lzwMinWidth || z.maxWidth > 16 {
		return nil, fmt.Errorf("%w: flags %#02x", ErrFeature, head[2])
	}
	for i := range 256 {
		z.suffix[i] = byte(i)
	}
	z.reset()
	return z, nil
}

// reset empties the table.
func (z *lzwReader) reset() {
	z.width, z.next, z.last = lzwMinWidth, lzwClear, -1
	if z.clears {
		z.next++
	}
}

func (z *lzwReader) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(z.out) == 0 {
			if err := z.decode(); err != nil {
				return n, err
			}
		}
		for ; n < len(p) && len(z.out) > 0; n++ {
			p[n] = z.out[len(z.out)-1]
			z.out = z.out[:len(z.out)-1]
		}
	}
	return n, nil
}

// code returns the next code. The end of the input is the end of the codes: the bits that are left
// are padding.
func (z *lzwReader) code() (int, error) {
	for z.count < z.width {
		b, err := z.src.ReadByte()
		if err != nil {
			return 0, err
		}
		z.bits |= uint32(b) << z.count
		z.count += 8
	}
	c := z.bits & (1<<z.width - 1)
	z.bits >>= z.width
	z.count -= z.width
	z.group = (z.group + 1) % 8
	return int(c), nil
}

// align skips the rest of the group of eight codes: width bytes in all. At the end of the input the
// next code is missing anyway.
func (z *lzwReader) align() {
	for z.group != 0 {
		if _, err := z.code(); err != nil {
			return
		}
	}
}

// widen makes codes longer if the table has outgrown them.
func (z *lzwReader) widen() {
	if z.next > 1<<z.width-1 && z.width < z.maxWidth {
		z.align()
		z.width++
	}
}

// decode sets out to the content of the next code.
func (z *lzwReader) decode() error {
	c, err := z.code()
	if err != nil {
		return err
	}
	if z.clears && c == lzwClear {
		z.align()
		z.reset()
		c, err = z.code()
		if err != nil {
			return err
		}
	}
	z.stack = z.stack[:0]
	at := c
	switch {
	case z.last < 0:
		if c > 255 {
			return errLZWCode
		}
		z.first = byte(c)
		z.stack = append(z.stack, z.first)
		z.last, z.out = c, z.stack
		return nil
	case c > z.next || z.clears && c == lzwClear:
		return errLZWCode
	case c == z.next: // the content of the last code and its first byte again
		z.stack = append(z.stack, z.first)
		at = z.last
		fallthrough
	default:
		for ; at > 255; at = int(z.prefix[at]) {
			z.stack = append(z.stack, z.suffix[at])
		}
		z.first = byte(at)
		z.stack = append(z.stack, z.first)
	}
	if z.next < 1<<z.maxWidth {
		z.prefix[z.next], z.suffix[z.next] = uint16(z.last), z.first
		z.next++
	}
	z.last, z.out = c, z.stack
	z.widen()
	return nil
}

// Package inflate decodes Deflate streams (RFC 1951), in pieces of any size.
//
// # Design
//
// A [Decoder] works on plain slices. Its bit buffer holds up to 63 bits. One load of eight bytes
// refills it. A table look-up decodes a symbol: an entry holds a literal, or the base of a length
// or an offset, with the number of bits to consume (see table.go).
//
// Two loops share the tables. The fast loop (fast.go, and a kernel in package kernels) runs while
// much input and room are left. It checks both once for several symbols, and copies matches in
// chunks that overrun their end. It leaves whatever is unusual to the careful loop (careful.go),
// which decodes one item at a time and can stop before any of them. An item is a symbol with its
// extra bits, or a field of a header.
//
// Between calls the bit buffer holds only bits of an item that is incomplete, or less than a byte.
// So a Decoder never uses a byte of input behind the end of the stream.
//
// # Checkpoints
//
// A stream can be decoded from the end of any block, with the WindowSize bytes of content before
// it. [Decoder.StopAtBlock] stops there, [Decoder.Position] says where in the stream that is, and
// [Decoder.ResetAt] begins there.
//
// Without that content, [Decoder.DecodeSymbols] decodes into symbols of 16 bits. [Resolve] replaces
// the symbols by bytes when the content is known.
package inflate

import (
	"errors"
	"fmt"
	"io"
)

// WindowSize is the largest offset of a match in bytes.
const WindowSize = 32 << 10

// ErrBlock is what a [Decoder] with StopAtBlock returns at the end of a block.
var ErrBlock = errors.New("inflate: end of a block")

// A CorruptError reports that a stream is damaged.
type CorruptError struct {
	Bit    int64  // where the item begins that is wrong, in bits; see Decoder.Position
	Reason string // what is wrong
}

// Error returns the reason and the place.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("inflate: byte %d, bit %d: %s", e.Bit>>3, e.Bit&7, e.Reason)
}

// phase is what comes next in a stream.
type phase uint8

const (
	phaseBlock   phase = iota // the header of a block
	phaseSizes                // LEN and NLEN of a stored block
	phaseStored               // the content of a stored block
	phaseCounts               // HLIT, HDIST and HCLEN of a dynamic block
	phasePrecode              // the lengths of the precode
	phaseLengths              // the lengths of the other two codes
	phaseSymbol               // a literal, a length, or the end of the block
	phaseOffset               // the offset that belongs to a length
	phaseMatch                // the rest of a match
	phaseEnd                  // nothing: the stream has ended
	phaseFailed               // nothing: the stream is damaged
)

// A Decoder decodes one stream after the other. The zero value is ready for a stream. It must not
// be used by two goroutines at once.
type Decoder struct {
	// StopAtBlock makes Decode return ErrBlock at the end of each block but the last of the stream.
	// It may change between calls.
	StopAtBlock bool

	phase  phase
	final  bool // the block is the stream's last one
	static bool // the block has static codes
	stop   bool // a block has ended, and ErrBlock is to be returned
	bits   uint64
	count  uint  // bits that are valid
	used   int64 // bytes of the stream used before this call
	err    error // in phaseFailed

	length int // of the match, or of the rest of a stored block
	offset int // of the match

	header header
	own    tables // of dynamic codes
}

// Reset begins a stream. It does not change StopAtBlock.
func (d *Decoder) Reset() {
	d.phase, d.bits, d.count, d.used, d.err = phaseBlock, 0, 0, 0, nil
}

// ResetAt begins at a block whose first bit is not the first one of a byte. first is that byte.
// skip, from 0 to 7, is the number of its bits before the block. Decode gets the bytes behind it,
// and the content before the block. The bits of Position and of errors count from the first bit of
// first. ResetAt does not change StopAtBlock.
func (d *Decoder) ResetAt(first byte, skip uint) {
	skip &= 7
	d.phase, d.bits, d.count, d.used, d.err = phaseBlock, uint64(first)>>skip, 8-skip, 1, nil
}

// Position returns how many bits of the stream have been decoded. After ErrBlock that is where the
// next block begins, and after io.EOF where the last one ends. Elsewhere it is within a block.
func (d *Decoder) Position() int64 { return d.used<<3 - int64(d.count) }

// Decode decodes src, which continues the stream, into dst[at:]. The content before it is
// dst[:at]: at least its last WindowSize bytes, or all of it, or a preset dictionary. Decode
// returns the number of bytes decoded and the number of bytes of src used.
//
// The error is nil if there is no more room, or src has been used up: then all content that src
// makes available has been decoded. It is io.EOF at the end of the stream, ErrBlock where
// StopAtBlock asks for it, and a *CorruptError if the stream is damaged. The content before each of
// them is decoded. An empty src may give content that had no room before.
//
// Decode may overwrite all of dst[at:], also behind the content. It keeps no reference.
func (d *Decoder) Decode(dst []byte, at int, src []byte) (n, used int, err error) {
	return decode(d, dst, at, src)
}

// A unit is what content is made of: a byte, or a symbol of DecodeSymbols.
type unit interface{ byte | uint16 }

// decode is Decode and DecodeSymbols.
func decode[T unit](d *Decoder, dst []T, at int, src []byte) (n, used int, err error) {
	in := input{src: src, bits: d.bits, count: d.count}
	o, wait := at, false
	for !wait {
		switch d.phase {
		case phaseSymbol, phaseOffset, phaseMatch:
			o, wait = symbols(d, &in, dst, o)
		case phaseStored:
			o, wait = stored(d, &in, dst, o)
		case phaseEnd:
			err, wait = io.EOF, true
		case phaseFailed:
			err, wait = d.err, true
		default:
			wait = d.blockHeader(&in)
		}
		if d.stop {
			d.stop, err, wait = false, ErrBlock, true
		}
	}
	in.unread()
	d.bits, d.count = in.bits, in.count
	d.used += int64(in.at)
	return o - at, in.at, err
}

// fail ends the stream: the item that comes next is wrong.
func (d *Decoder) fail(in *input, reason string) (wait bool) {
	d.phase = phaseFailed
	d.err = &CorruptError{(d.used+int64(in.at))<<3 - int64(in.count), reason}
	return false
}

// Corrupt reports whether err wraps a [CorruptError]. offset is the number of bytes of the stream
// up to the damage: Bit / 8, rounded up.
func (d *Decoder) Corrupt(err error) (offset int64, ok bool) {
	var c *CorruptError
	if errors.As(err, &c) {
		return (c.Bit + 7) >> 3, true
	}
	return 0, false
}

// endBlock goes on behind a block.
func (d *Decoder) endBlock() {
	if d.final {
		d.phase = phaseEnd
		return
	}
	d.phase, d.stop = phaseBlock, d.StopAtBlock
}

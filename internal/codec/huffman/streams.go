package huffman

import (
	"encoding/binary"
	"math/bits"

	"github.com/gopz/compress/internal/kernels"
)

// A LiteralDecoder decodes the literals of zstd (RFC 8878, section 4.2.2). Codes have at most 11
// bits, so a table of 2048 entries has an entry for each string of 11 bits: its first code. The
// kernel needs that table. Where literals are too few to make up for the time to fill it, the table
// has an entry for each string as long as the longest code.
//
// A stream is read backward, in rounds. At the beginning of a round 64 bits are loaded. The highest
// of them are the next of the stream, and at least 56 are valid: enough for five codes. The lowest
// bit is replaced by a 1 before the bits are shifted. The number of zeros below that 1 is therefore
// the number of bits consumed, and no counter is necessary.
//
// With four streams a round decodes five bytes of each. The chain of dependent steps is about seven
// cycles a code, so four chains side by side take a quarter of the time. Rounds are counted before
// a loop of them, so that a round checks neither its input nor its output. When a stream has less
// than 7 bytes left, it is finished alone: first in place, then in a copy of its first bytes with
// zeros before them, which makes room for reading too far. The decoder accepts a stream only if
// exactly all its bits were consumed.

const (
	roundBytes = kernels.HuffmanRound
	roundInput = kernels.HuffmanRoundInput // maximum number of whole bytes that a round consumes
)

// LiteralDecoder decodes literals of zstd with one code. The zero value has no code; Read sets it.
// A LiteralDecoder must not be used concurrently.
type LiteralDecoder struct {
	treeReader
	log   uint                      // of the entries of the table; 0 before it is filled for the code
	table [1 << MaxTableBits]uint16 // symbol<<8 | code length
}

// fullTableFrom is the number of literals from which the table of the kernel pays. It takes 1 µs to
// fill, which the kernel saves in about 1,000 literals.
const fullTableFrom = 1 << 10

// Read reads the description of a code from the front of src and returns its size. All errors are a
// CorruptError; the decoder then has no valid code.
func (d *LiteralDecoder) Read(src []byte) (size int, err error) {
	d.log = 0
	return d.readTree(src)
}

// Fill fills the table for any number of literals. Decoding does not change d then, nor has a copy
// of d to fill the table again.
func (d *LiteralDecoder) Fill() { d.fillTable(fullTableFrom) }

// Table sets t to the code that Read has read.
func (d *LiteralDecoder) Table(t *Table) {
	t.max, t.used = uint8(d.longest), uint16(d.used)
	AssignZstd(t.codes[:], d.lens[:])
}

// fillTable fills the table to decode n literals.
func (d *LiteralDecoder) fillTable(n int) {
	log := uint(d.longest)
	if n >= fullTableFrom {
		log = MaxTableBits
	}
	if d.log < log {
		d.build(log)
	}
}

// build fills 1<<log entries of the table. The code must be complete, and have no longer codes.
func (d *LiteralDecoder) build(log uint) {
	d.log = log
	// Longer codes are lower numbers.
	var first [16]int
	at := 0
	for l := d.longest; l > 0; l-- {
		first[l] = at
		at += int(d.num[l]) << (log - uint(l))
	}
	for i, l := range d.lens[:d.used] {
		if l == 0 {
			continue
		}
		n := 1 << (log - uint(l))
		e := uint16(i)<<8 | uint16(l)
		cells := d.table[first[l&15]:][:n]
		first[l&15] += n
		for j := range cells {
			cells[j] = e
		}
	}
}

// stream is the position in a stream.
type stream struct {
	bits uint64 // next bits, highest first, with a 1 behind them
	in   int    // where the last load began
}

// load sets s to the bits from position in on, of which the highest used have been consumed.
func (s *stream) load(src []byte, in, used int) {
	s.in = in
	s.bits = (binary.LittleEndian.Uint64(src[in:]) | 1) << (used & 63)
}

const errNoMark = CorruptError("end mark of the stream missing")

// markBits returns how many of the highest bits of the last byte are no part of the stream.
func markBits(src []byte) int { return bits.LeadingZeros8(src[len(src)-1]) + 1 }

// Decode1 decodes exactly len(dst) bytes from src, which consists of one stream. All errors are a
// CorruptError.
func (d *LiteralDecoder) Decode1(dst, src []byte) error {
	if len(src) == 0 || src[len(src)-1] == 0 {
		return errNoMark
	}
	d.fillTable(len(dst))
	if len(src) < 8 {
		return d.finishShort(dst, src, markBits(src))
	}
	var s stream
	s.load(src, len(src)-8, markBits(src))
	return d.decodeRest(dst, src, s)
}

// rounds decodes whole rounds of one stream while there is room and input for one. It returns the
// number of bytes decoded.
func (d *LiteralDecoder) rounds(dst, src []byte, s *stream) (n int) {
	b, in, shift := s.bits, s.in, 64-d.log
	for len(dst)-n >= roundBytes && in >= roundInput {
		to := (*[roundBytes]byte)(dst[n:])
		for i := range to {
			e := d.table[b>>(shift&63)&(1<<MaxTableBits-1)]
			b <<= e & 63
			to[i] = byte(e >> 8)
		}
		n += roundBytes
		used := bits.TrailingZeros64(b)
		in -= used >> 3
		b = (binary.LittleEndian.Uint64(src[in:]) | 1) << (used & 7)
	}
	s.bits, s.in = b, in
	return n
}

// decodeRest decodes the rest of a stream.
func (d *LiteralDecoder) decodeRest(dst, src []byte, s stream) error {
	dst = dst[d.rounds(dst, src, &s):]
	return d.finishShort(dst, src[:s.in+8], bits.TrailingZeros64(s.bits))
}

// maxShort is the maximum number of bytes that finishShort gets where dst is longer than a round.
const maxShort = roundInput - 1 + 8

// finishShort decodes the rest of a stream, of which the highest used bits have been consumed.
func (d *LiteralDecoder) finishShort(dst, src []byte, used int) error {
	// Longer input is in excess. The zeros before the input are enough for the last round.
	const zeros = 16
	if len(src) > maxShort && len(dst) >= roundBytes {
		return CorruptError("bits left over")
	}
	src = src[max(0, len(src)-maxShort):]
	var buf [zeros + maxShort]byte
	n := zeros + copy(buf[zeros:], src)
	var s stream
	s.load(buf[:n], n-8, used)
	dst = dst[d.rounds(dst, buf[:n], &s):]
	if len(dst) >= roundBytes {
		return CorruptError("bits run out")
	}
	for i := range dst {
		e := d.table[s.bits>>((64-d.log)&63)&(1<<MaxTableBits-1)]
		s.bits <<= e & 63
		dst[i] = byte(e >> 8)
	}
	switch left := 8*(s.in+8-zeros) - bits.TrailingZeros64(s.bits); {
	case left < 0:
		return CorruptError("bits run out")
	case left > 0:
		return CorruptError("bits left over")
	}
	return nil
}

// Decode4 decodes exactly len(dst) bytes from src, which consists of four streams with a jump
// table. All errors are a CorruptError.
func (d *LiteralDecoder) Decode4(dst, src []byte) error {
	if len(src) < jumpTable || len(dst) < MinStreams4 {
		return CorruptError("too short for four streams")
	}
	part := (len(dst) + 3) / 4
	var ends, outs [5]int // of the streams, and of their output
	ends[0] = jumpTable
	for i := range 4 {
		outs[i+1] = (i + 1) * part
		if i < 3 {
			ends[i+1] = ends[i] + int(binary.LittleEndian.Uint16(src[2*i:]))
		}
	}
	ends[4], outs[4] = len(src), len(dst)
	if ends[3] > len(src) || outs[3] > len(dst) {
		return CorruptError("stream cut short")
	}
	d.fillTable(len(dst))
	var s kernels.HuffmanStreams
	for i := range 4 {
		p := src[ends[i]:ends[i+1]]
		if len(p) == 0 || p[len(p)-1] == 0 {
			return errNoMark
		}
		if len(p) < 8 {
			return d.eachAlone(dst, src, &outs, &ends)
		}
		s.In[i], s.Out[i] = ends[i+1]-8, outs[i]
		s.Bits[i] = (binary.LittleEndian.Uint64(src[s.In[i]:]) | 1) << markBits(p)
	}
	for {
		rounds := (outs[4] - s.Out[3]) / roundBytes
		for i := range 4 {
			rounds = min(rounds, (s.In[i]-ends[i])/roundInput)
		}
		if rounds <= 0 {
			break
		}
		switch {
		case d.log < MaxTableBits:
			d.shortRounds4(dst, src, &s, rounds)
		case !kernels.DecodeHuffman4(&s, &d.table, dst, src, rounds):
			d.rounds4(dst, src, &s, rounds)
		}
	}
	for i := range 4 {
		err := d.decodeRest(dst[s.Out[i]:outs[i+1]], src[ends[i]:ends[i+1]],
			stream{s.Bits[i], s.In[i] - ends[i]})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachAlone decodes four streams one after the other.
func (d *LiteralDecoder) eachAlone(dst, src []byte, outs, ends *[5]int) error {
	for i := range 4 {
		if err := d.Decode1(dst[outs[i]:outs[i+1]], src[ends[i]:ends[i+1]]); err != nil {
			return err
		}
	}
	return nil
}

// rounds4 is the portable twin of kernels.DecodeHuffman4: it decodes n rounds of four streams. All
// streams must have room and input for them.
func (d *LiteralDecoder) rounds4(dst, src []byte, s *kernels.HuffmanStreams, n int) {
	t := &d.table
	b0, b1, b2, b3 := s.Bits[0], s.Bits[1], s.Bits[2], s.Bits[3]
	i0, i1, i2, i3 := s.In[0], s.In[1], s.In[2], s.In[3]
	d0, d1, d2, d3 := dst[s.Out[0]:], dst[s.Out[1]:], dst[s.Out[2]:], dst[s.Out[3]:]
	for k := 0; k < n*roundBytes; k += roundBytes {
		to0 := (*[roundBytes]byte)(d0[k:])
		to1 := (*[roundBytes]byte)(d1[k:])
		to2 := (*[roundBytes]byte)(d2[k:])
		to3 := (*[roundBytes]byte)(d3[k:])
		for i := range to0 {
			e0, e1 := t[b0>>(64-MaxTableBits)], t[b1>>(64-MaxTableBits)]
			e2, e3 := t[b2>>(64-MaxTableBits)], t[b3>>(64-MaxTableBits)]
			b0 <<= e0 & 63
			b1 <<= e1 & 63
			b2 <<= e2 & 63
			b3 <<= e3 & 63
			to0[i], to1[i], to2[i], to3[i] = byte(e0>>8), byte(e1>>8), byte(e2>>8), byte(e3>>8)
		}
		used := bits.TrailingZeros64(b0)
		i0 -= used >> 3
		b0 = (binary.LittleEndian.Uint64(src[i0:]) | 1) << (used & 7)
		used = bits.TrailingZeros64(b1)
		i1 -= used >> 3
		b1 = (binary.LittleEndian.Uint64(src[i1:]) | 1) << (used & 7)
		used = bits.TrailingZeros64(b2)
		i2 -= used >> 3
		b2 = (binary.LittleEndian.Uint64(src[i2:]) | 1) << (used & 7)
		used = bits.TrailingZeros64(b3)
		i3 -= used >> 3
		b3 = (binary.LittleEndian.Uint64(src[i3:]) | 1) << (used & 7)
	}
	s.Bits = [4]uint64{b0, b1, b2, b3}
	s.In = [4]int{i0, i1, i2, i3}
	for i := range s.Out {
		s.Out[i] += n * roundBytes
	}
}

// shortRounds4 is rounds4 with a table of any size. It takes a quarter more time.
func (d *LiteralDecoder) shortRounds4(dst, src []byte, s *kernels.HuffmanStreams, n int) {
	t, shift := &d.table, (64-d.log)&63
	const mask = 1<<MaxTableBits - 1
	b := s.Bits
	for range n {
		to0 := (*[roundBytes]byte)(dst[s.Out[0]:])
		to1 := (*[roundBytes]byte)(dst[s.Out[1]:])
		to2 := (*[roundBytes]byte)(dst[s.Out[2]:])
		to3 := (*[roundBytes]byte)(dst[s.Out[3]:])
		b0, b1, b2, b3 := b[0], b[1], b[2], b[3]
		for i := range to0 {
			e0, e1 := t[b0>>shift&mask], t[b1>>shift&mask]
			e2, e3 := t[b2>>shift&mask], t[b3>>shift&mask]
			b0 <<= e0 & 63
			b1 <<= e1 & 63
			b2 <<= e2 & 63
			b3 <<= e3 & 63
			to0[i], to1[i], to2[i], to3[i] = byte(e0>>8), byte(e1>>8), byte(e2>>8), byte(e3>>8)
		}
		b = [4]uint64{b0, b1, b2, b3}
		for i := range b {
			used := bits.TrailingZeros64(b[i])
			s.In[i] -= used >> 3
			s.Out[i] += roundBytes
			b[i] = (binary.LittleEndian.Uint64(src[s.In[i]:]) | 1) << (used & 7)
		}
	}
	s.Bits = b
}

package zstd

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/gopz/compress/fse"
	"github.com/gopz/compress/internal/kernels"
	"github.com/gopz/compress/lz77"
)

// The bits of sequences are read backward (RFC 8878, section 3.1.1.3.2.2). Each sequence has the
// extra bits of the offset, the match length and the literal run, then the bits that lead to the
// next states. Together they rarely exceed the 57 bits that one load always delivers, so one load a
// sequence suffices.
//
// The loop over sequences checks nothing but the number of bits left. It keeps sums and extremes
// from which the caller sees, after each batch, whether all sequences are valid.
//
// Near the front of the bits the decoder continues with a copy that has zeros before them. So a
// load never needs a check. The number of bits left tells at the end whether the decoder has read
// too far.

const (
	// batchSize is the number of sequences decoded before they are carried out: 12 KiB.
	batchSize = 1 << 10

	// loopBits is the number of bits that must be left for the loop: the last load of a sequence is
	// behind at most 63 bits, and it reaches over 64.
	loopBits = 128

	// frontZeros is the number of zeros before the copy of the front, in bytes.
	frontZeros = 32
	// frontBytes is the size of the copy: less than loopBits, rounded up.
	frontBytes = loopBits / 8

	loadBits = 57 // valid bits of a load
)

// seqReader is the state of decoding the sequences of a block.
type seqReader struct {
	kernels.SequenceBits
	src    []byte // bits to be read from the end
	tables *seqTables
	front  [frontZeros + frontBytes]byte
}

// seqHeader is the header of a sequences section.
type seqHeader struct {
	count int    // number of sequences
	bits  []byte // behind the tables
}

// sequenceCount reads the number of sequences at the front of a sequences section. It returns what
// follows.
func sequenceCount(src []byte) (n int, rest []byte, err error) {
	if len(src) == 0 {
		return 0, nil, ErrShortBlock
	}
	head := 1
	n = int(src[0])
	switch {
	case n == 255:
		head = 3
	case n >= 128:
		head = 2
	}
	if len(src) < head {
		return 0, nil, ErrShortBlock
	}
	switch head {
	case 2:
		n = (n-128)<<8 + int(src[1])
	case 3:
		n = 0x7F00 + int(src[1]) + int(src[2])<<8
	}
	return n, src[head:], nil
}

// tableMode returns the mode of the table of a kind, of the byte that has all modes.
func tableMode(modes byte, kind int) int { return int(modes >> (6 - 2*kind) & 3) }

// sequenceHeader reads the header of the sequences section src, and the tables.
func (d *EntropyDecoder) sequenceHeader(src []byte) (s seqHeader, err error) {
	s.count, src, err = sequenceCount(src)
	switch {
	case err != nil:
		return s, err
	case s.count == 0 && len(src) > 0:
		return s, ErrLongBlock
	case s.count == 0:
		return s, nil
	case len(src) == 0:
		return s, ErrShortBlock
	}
	modes := src[0]
	src = src[1:]
	if modes&3 != 0 {
		return s, CorruptError("reserved bits of table modes")
	}
	for k := range kinds {
		n, err := d.table(k, tableMode(modes, k), src)
		if err != nil {
			return s, err
		}
		src = src[n:]
	}
	s.bits = src
	return s, nil
}

// sequences decodes the sequences of a block and carries them out. limit is the maximum content of
// the block, count the number of literals. It returns the end of the content.
func (d *Decoder) sequences(
	dst []byte, at, limit int, lits []byte, count int, s seqHeader,
) (end int, err error) {
	var r seqReader
	if err := r.reset(&d.entropy, s.bits); err != nil {
		return at, err
	}
	r.Repeats = d.repeats
	end = at
	for left := s.count; left > 0; {
		seqs := d.batch[:min(left, batchSize)]
		left -= len(seqs)
		if err := r.decodeBatch(seqs, left == 0, count, limit, false); err != nil {
			return at, err
		}
		if r.MaxOffset > d.maxOffset {
			return at, ErrOffset
		}
		var ok bool
		end, lits, ok = d.execute(dst, end, lits, seqs)
		if !ok {
			return at, ErrOffset
		}
	}
	if r.Left != 0 {
		return at, errBitsLeft
	}
	d.repeats = r.Repeats
	return appendLiterals(dst, end, lits, count-int(r.Lits)), nil
}

const (
	errBitsShort = CorruptError("bits of sequences run out")
	errBitsLeft  = CorruptError("bits of sequences left over")
)

// decodeBatch decodes sequences, and compares the sums of their lengths with the number of literals
// and the maximum content of the block. They may be the last ones of the block. far asks for
// decodeFar.
func (r *seqReader) decodeBatch(
	seqs []lz77.Sequence, last bool, count, limit int, far bool,
) error {
	decode, n := r.decode, len(seqs)
	if far {
		decode = r.decodeFar
	}
	if last {
		n--
	}
	switch {
	case !decode(seqs[:n]) || last && !r.decodeLast(seqs[n:], decode) || r.Left < 0:
		return errBitsShort
	case r.Lits > uint64(count):
		return CorruptError("more literals used than there are")
	case r.Matches+uint64(count) > uint64(limit):
		return ErrNoRoom
	}
	return nil
}

// reset prepares to read sequences from src, but for the repeat offsets.
func (r *seqReader) reset(d *EntropyDecoder, src []byte) error {
	if len(src) == 0 || src[len(src)-1] == 0 {
		return CorruptError("end mark of sequences missing")
	}
	r.tables, r.src = &d.tables, src
	r.Left = 8*len(src) - bits.LeadingZeros8(src[len(src)-1]) - 1
	total := uint(0)
	for _, log := range d.tables.logs {
		total += log
	}
	if r.Left < int(total) {
		return errBitsShort
	}
	r.moveToFront()
	v := r.load() >> (64 - total) // total is 0 if all codes are RLE; a shift of 64 gives 0
	r.Left -= int(total)
	for k := kinds - 1; k >= 0; k-- {
		log := d.tables.logs[k]
		r.State[k] = uint32(v) & (1<<log - 1)
		v >>= log
	}
	return nil
}

// moveToFront makes r read the copy, if few bits are left.
func (r *seqReader) moveToFront() {
	if r.Left < loopBits && !r.inFront() {
		copy(r.front[frontZeros:], r.src[:(r.Left+7)/8])
		r.src = nil
	}
}

// inFront reports whether r reads the copy.
func (r *seqReader) inFront() bool { return r.src == nil }

// load returns the next bits, highest first.
func (r *seqReader) load() uint64 {
	src, left := r.src, r.Left
	if r.inFront() {
		src, left = r.front[:], left+8*frontZeros
	}
	return loadAt(src, left)
}

// loadAt returns at least the next loadBits bits if left bits of src are left, highest first.
func loadAt(src []byte, left int) uint64 {
	at := (left + 7) >> 3
	return binary.LittleEndian.Uint64(src[at-8:at:at]) << (-left & 7)
}

// decode decodes sequences and the states behind each. It returns false if the bits run out. They
// may also have run out if left is negative.
func (r *seqReader) decode(seqs []lz77.Sequence) bool {
	if !r.inFront() {
		seqs = seqs[r.loop(seqs, r.src):]
		r.moveToFront()
	}
	if len(seqs) == 0 {
		return true
	}
	r.Left += 8 * frontZeros
	n := r.loop(seqs, r.front[:])
	r.Left -= 8 * frontZeros
	return n == len(seqs)
}

// decodeLast decodes the last sequence, behind which there are no states.
func (r *seqReader) decodeLast(
	seqs []lz77.Sequence, decode func([]lz77.Sequence) bool,
) bool {
	sum := uint64(0)
	for k, cells := range &r.tables.cells {
		sum += cells[r.State[k]&(maxCells-1)] & 0xFF00
	}
	ok := decode(seqs)
	r.Left += int(sum >> fse.PackedBits) // decode has read bits for states
	return ok
}

// loop decodes sequences from src while at least loopBits bits are left. It returns their number.
// The code here is the portable twin of kernels.DecodeSequences.
func (r *seqReader) loop(seqs []lz77.Sequence, src []byte) (n int) {
	if n, _ = kernels.DecodeSequences(&r.SequenceBits, &r.tables.cells, src, seqs); n == len(seqs) {
		return n
	}
	cells := &r.tables.cells
	litTab, offTab, matchTab := &cells[litLens], &cells[offsets], &cells[matchLens]
	lit, off, match := r.State[litLens], r.State[offsets], r.State[matchLens]
	r0, r1, r2 := r.Repeats[0], r.Repeats[1], r.Repeats[2]
	lits, matches, maxOffset := r.Lits, r.Matches, r.MaxOffset
	left := r.Left
	for n < len(seqs) && left >= loopBits {
		w := loadAt(src, left)
		l, o, m := litTab[lit&(maxCells-1)], offTab[off&(maxCells-1)], matchTab[match&(maxCells-1)]
		sum := uint(l + o + m)
		states := sum >> fse.PackedBits & 0xFF
		many := sum&0xFF+states > loadBits
		left -= int(sum&0xFF + states)

		// Shifts in two steps keep a shift by 64 from being one by 0.
		offset := uint32(o>>32) + uint32(w>>1>>(63-o&63))
		w <<= o & 63
		if many {
			w = loadAt(src, left+int(sum&0xFF+states-uint(o&63)))
		}
		matchLen := uint32(m>>32) + uint32(w>>1>>(63-m&63))
		w <<= m & 63
		litLen := uint32(l>>32) + uint32(w>>1>>(63-l&63))
		w <<= l & 63
		if many {
			w = loadAt(src, left+int(states))
		}
		nl, nm := uint(l>>fse.PackedBits&0xF), uint(m>>fse.PackedBits&0xF)
		no := uint(o >> fse.PackedBits & 0xF)
		lit = uint32(l>>fse.PackedNext)&0xFFFF + uint32(w>>1>>(63-nl))
		w <<= nl
		match = uint32(m>>fse.PackedNext)&0xFFFF + uint32(w>>1>>(63-nm))
		w <<= nm
		off = uint32(o>>fse.PackedNext)&0xFFFF + uint32(w>>1>>(63-no))

		if o&0xFF > 1 {
			r2, r1, r0 = r1, r0, offset
		} else {
			i := offset + 2 // 0 for the first repeat offset
			if litLen == 0 {
				i++
			}
			switch i {
			case 0:
				offset = r0
			case 1:
				offset = r1
				r1, r0 = r0, offset
			case 2:
				offset = r2
				r2, r1, r0 = r1, r0, offset
			default:
				if offset = r0 - 1; offset == 0 {
					offset = math.MaxUint32 // rejected with those beyond the window
				}
				r2, r1, r0 = r1, r0, offset
			}
		}
		maxOffset = max(maxOffset, offset)
		lits += uint64(litLen)
		matches += uint64(matchLen)
		seqs[n] = lz77.Sequence{LitLen: litLen, MatchLen: matchLen, Offset: offset}
		n++
	}
	r.State = [kinds]uint32{litLens: lit, offsets: off, matchLens: match}
	r.Repeats = [3]uint32{r0, r1, r2}
	r.Lits, r.Matches, r.MaxOffset, r.Left = lits, matches, maxOffset, left
	return n
}

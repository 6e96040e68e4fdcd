package zstd

import (
	"math"
	"slices"

	"github.com/gopz/compress/lz77"
)

// Blocks may be decoded in two steps at different times: an EntropyDecoder parses them, anywhere,
// and later an Executor carries them out, in order. The repeat offsets at the beginning of a block
// are not known to the EntropyDecoder. It begins with three symbols in their place, which the
// kernel carries along as if they were offsets. Most blocks soon have three offsets of their own,
// so few sequences have a symbol. The Executor replaces it.
//
// The symbols lie above all offsets that code 30 can express. An offset of code 31 is larger than
// any window that MaxParsedWindow allows, so it is always wrong.

// MaxParsedWindow is the largest window in bytes of a frame whose blocks may be parsed.
const MaxParsedWindow = 1 << 30

const (
	// firstSymbol is below all symbols, and above all offsets that are right.
	firstSymbol = 1 << 31
	// symbolStep lies between two symbols. "Repeat 1 minus 1" makes a symbol smaller by 1, at most
	// once in each sequence of a block.
	symbolStep = 1 << 28
)

var symbols = [3]uint32{
	firstSymbol + symbolStep, firstSymbol + 2*symbolStep, firstSymbol + 3*symbolStep,
}

// isSymbol reports whether an offset stands for a repeat offset at the beginning of the block, or
// for one that is smaller.
func isSymbol(offset uint32) bool { return offset-firstSymbol-1 < 3*symbolStep }

// Parsed holds blocks between the two steps. It may be used again for others, to save memory. The
// literals of some are still in the bytes that were parsed.
type Parsed struct {
	blocks  []parsedBlock
	lits    []byte          // memory of the blocks, but for those that came when it was smaller
	seqs    []lz77.Sequence // likewise
	touched uint32          // see touch
}

// parsedBlock is a block of a Parsed.
type parsedBlock struct {
	kind    int
	content int    // bytes of content
	body    []byte // of a block that is not compressed

	lits      []byte // literals, and slack behind them
	count     int    // number of literals
	seqs      []lz77.Sequence
	symbolic  int    // none of the sequences from here on has a symbol
	maxOffset uint32 // the largest that is no symbol
	repeats   [3]uint32
	err       error // what is wrong behind seqs, nil if all is well
}

// Reset drops all blocks and keeps the memory.
func (p *Parsed) Reset() {
	clear(p.blocks)
	p.blocks, p.lits, p.seqs = p.blocks[:0], p.lits[:0], p.seqs[:0]
}

// Blocks returns the number of blocks.
func (p *Parsed) Blocks() int { return len(p.blocks) }

// Content returns the bytes of content of all blocks, without one that has an error.
func (p *Parsed) Content() (n int) {
	for i := range p.blocks {
		n += p.blocks[i].content
	}
	return n
}

// Parse adds the block at the front of src, with its header, to p. It returns the size of the block
// in bytes. If it returns an error, Execute of the block will return that error, or another. No
// more blocks may follow. src must not change before the block has been executed.
func (d *EntropyDecoder) Parse(p *Parsed, src []byte) (used int, err error) {
	p.blocks = append(p.blocks, parsedBlock{})
	b := &p.blocks[len(p.blocks)-1]
	h, body, err := d.splitBlock(src)
	switch {
	case err != nil:
	case h.Kind == compressedBlock:
		b.kind = h.Kind
		err = d.parse(p, b, body)
	default:
		b.kind, b.content, b.body = h.Kind, h.Content, body
	}
	if err != nil {
		b.err, b.content = err, 0
	}
	return blockHeader + h.Size, err
}

// parse parses the body of a compressed block.
func (d *EntropyDecoder) parse(p *Parsed, b *parsedBlock, src []byte) error {
	b.repeats = symbols
	h, err := parseLitHeader(src)
	if err != nil {
		return err
	}
	room := min(h.count, d.maxBlock) + lz77.Slack
	p.lits = slices.Grow(p.lits, room)
	at := len(p.lits)
	h, b.lits, err = d.literals(src, p.lits[at:at+room])
	if err != nil {
		return err
	}
	p.lits = p.lits[:at+h.count] // the slack may be the next block's literals
	b.count = h.count
	s, err := d.sequenceHeader(src[h.size:])
	if err != nil {
		return err
	}
	b.content = h.count
	if s.count == 0 {
		return nil
	}
	return d.parseSequences(p, b, s)
}

// parseSequences parses the sequences of a block.
func (d *EntropyDecoder) parseSequences(p *Parsed, b *parsedBlock, s seqHeader) error {
	var r seqReader
	if err := r.reset(d, s.bits); err != nil {
		return err
	}
	r.Repeats = symbols
	// A match has MinMatch bytes at least, so that a batch more than these is an error.
	room := min(s.count, d.maxBlock/MinMatch+batchSize)
	p.seqs = slices.Grow(p.seqs, room)
	at := len(p.seqs)
	all := p.seqs[at : at : at+room]
	far := d.hasFarOffsets()
	for left, mixed := s.count, true; left > 0; {
		from, n := len(all), min(left, batchSize)
		all = all[:from+n]
		left -= n
		p.touched += touch(all[len(all):min(len(all)+batchSize, cap(all))])
		if err := r.decodeBatch(all[from:], left == 0, b.count, d.maxBlock, far); err != nil {
			return err
		}
		if mixed {
			// The kernel's maximum is that of the symbols.
			r.MaxOffset, b.symbolic = maxRealOffset(all[from:]), len(all)
			mixed = far || isSymbol(r.Repeats[0]) || isSymbol(r.Repeats[1]) || isSymbol(r.Repeats[2])
		}
		b.maxOffset, b.seqs = max(b.maxOffset, r.MaxOffset), all
	}
	if r.Left != 0 {
		return errBitsLeft
	}
	p.seqs = p.seqs[:at+len(all)]
	b.repeats, b.content = r.Repeats, b.count+int(r.Matches)
	return nil
}

// maxRealOffset returns the largest offset that is no symbol.
func maxRealOffset(seqs []lz77.Sequence) (most uint32) {
	for i := range seqs {
		if o := seqs[i].Offset; !isSymbol(o) {
			most = max(most, o)
		}
	}
	return most
}

// hasFarOffsets reports whether the table of offsets has code 31.
func (d *EntropyDecoder) hasFarOffsets() bool {
	for _, c := range d.tables.cells[offsets][:1<<d.tables.logs[offsets]] {
		if c&0xFF == maxOffCode {
			return true
		}
	}
	return false
}

// decodeFar is decode where offsets may have code 31. Such an offset becomes the largest of all.
func (r *seqReader) decodeFar(seqs []lz77.Sequence) bool {
	for i := range seqs {
		code := r.tables.cells[offsets][r.State[offsets]&(maxCells-1)] & 0xFF
		if !r.decode(seqs[i : i+1]) {
			return false
		}
		if code == maxOffCode {
			seqs[i].Offset = math.MaxUint32
		}
	}
	return true
}

// touch reads a word of each cache line of memory that is written next. Otherwise writing waits for
// the lines, and takes half as long again as decoding.
func touch(seqs []lz77.Sequence) (sum uint32) {
	for i := 0; i < len(seqs); i += 5 {
		sum += seqs[i].LitLen
	}
	return sum
}

// Execute decodes the i-th block of p to dst[at:], as [Decoder.Block] does. The blocks must come in
// order.
func (d *Executor) Execute(dst []byte, at int, p *Parsed, i int) (end int, err error) {
	b := &p.blocks[i]
	d.beginBlock()
	switch {
	case b.content > len(dst)-at:
		return at, ErrNoRoom
	case b.kind == compressedBlock:
		end, err = d.executeBlock(dst, at, b)
	case b.err != nil:
		return at, b.err
	default:
		end = fill(dst, at, b.kind, b.content, b.body)
	}
	d.total += int64(end - at)
	return end, err
}

// executeBlock decodes a compressed block.
func (d *Executor) executeBlock(dst []byte, at int, b *parsedBlock) (end int, err error) {
	if b.maxOffset > d.maxOffset || !d.resolve(b.seqs[:b.symbolic]) {
		return at, ErrOffset
	}
	if b.err != nil {
		if !d.reaches(b.seqs) {
			return at, ErrOffset
		}
		return at, b.err
	}
	end, lits, ok := d.execute(dst, at, b.lits, b.seqs)
	if !ok {
		return at, ErrOffset
	}
	for i, o := range b.repeats {
		if isSymbol(o) {
			b.repeats[i], _ = d.repeatOffset(o)
		}
	}
	d.repeats = b.repeats
	return appendLiterals(dst, end, lits, b.content-(end-at)), nil
}

// resolve replaces the symbols among the offsets of sequences. It returns false if one of them
// stands for an offset out of range.
func (d *Executor) resolve(seqs []lz77.Sequence) bool {
	for i := range seqs {
		if s := &seqs[i]; isSymbol(s.Offset) {
			o, ok := d.repeatOffset(s.Offset)
			if !ok || o > d.maxOffset {
				return false
			}
			s.Offset = o
		}
	}
	return true
}

// repeatOffset returns the offset that a symbol stands for.
func (d *Executor) repeatOffset(symbol uint32) (offset uint32, ok bool) {
	i := (symbol - firstSymbol - 1) / symbolStep
	less := symbols[i] - symbol
	return d.repeats[i] - less, less < d.repeats[i]
}

// reaches reports whether the matches of sequences begin within the content of the frame and the
// dictionary.
func (d *Executor) reaches(seqs []lz77.Sequence) bool {
	reach := d.total
	if d.dict != nil {
		reach += int64(len(d.dict.content))
	}
	for i := range seqs {
		s := &seqs[i]
		reach += int64(s.LitLen)
		if int64(s.Offset) > reach {
			return false
		}
		reach += int64(s.MatchLen)
	}
	return true
}

package zstd

import (
	"math"
	"math/bits"

	"github.com/gopz/compress/fse"
	"github.com/gopz/compress/internal/optimal"
)

// Tables for short blocks. A block of a few sequences cannot pay for the description of a table
// that suits it, so that by itself it would use the predefined ones. But many short blocks of a
// frame can share tables. So the encoder counts the symbols of short blocks. Each time their number
// has doubled it makes tables from all of them. A table that would have saved more than its
// description goes into the current block, and later blocks repeat it.

// maxShort is the largest content in bytes of a block that counts as short.
const maxShort = 4 << 10

// learner holds the statistics of the short blocks of a frame.
type learner struct {
	on     bool // the frame has several parts
	past   stats
	blocks uint32 // of past
	coded  uint32 // of these, blocks with sequences
	seqs   uint32 // sequences of past
	next   uint32 // number of sequences at which tables are made
	train  bool   // make tables for this block
	// described is the size in bytes of the descriptions of tables from past in this block.
	described int
	stale     bool // prices are not those of the tables
	prices    *optimal.IncrementalPrices
}

const (
	// firstTraining is the number of sequences from which the first tables are made.
	firstTraining = 64
	// trainingSteps bounds the number of sequences between two attempts.
	trainingSteps = 4 << 10
)

// learner returns the learner of the frame.
func (e *Encoder) learner() *learner {
	if e.learned == nil {
		e.learned = new(learner)
		e.learned.beginFrame()
	}
	return e.learned
}

func (l *learner) beginFrame() {
	prices := l.prices
	*l = learner{next: firstTraining, prices: prices, stale: true}
}

// addBlock counts the symbols of a short block.
func (l *learner) addBlock(s *stats, seqs int) {
	l.past.addStats(s)
	l.described = 0
	l.blocks++
	if seqs > 0 {
		l.coded++
	}
	l.seqs += uint32(seqs)
	if l.train = l.seqs >= l.next; !l.train {
		return
	}
	if l.seqs >= 2*trainingSteps {
		l.past.halve()
		l.seqs /= 2
		l.blocks, l.coded = (l.blocks+1)/2, (l.coded+1)/2
	}
	l.next = l.seqs + min(l.seqs, trainingSteps)
}

// halve halves all counts, and keeps those that are not 0.
func (s *stats) halve() {
	for i := range s.lits {
		s.lits[i] = (s.lits[i] + 1) / 2
	}
	for k := range s.codes {
		for i := range s.codes[k] {
			s.codes[k][i] = (s.codes[k][i] + 1) / 2
		}
	}
}

// topCode is the highest code of each kind that a table from past blocks has even if it did not
// occur: literal runs of up to 127 bytes, matches of up to 514, and any offset within 8 MiB.
var topCode = [kinds]int{litLens: 25, offsets: 23, matchLens: 44}

// sharedCost returns the size of the codes of short blocks with a table, in units of 1/fse.CostBit
// bit, and whether the table has all of them. In each block one code is free, but the first state
// takes all bits of the table's log.
func sharedCost(d *fse.Distribution, counts *[codeSpace]uint32, seqs, blocks uint32) (cost uint64, ok bool) {
	cost, ok = d.CostOf(counts[:])
	if seqs > 0 {
		cost = cost / uint64(seqs) * uint64(seqs-min(blocks, seqs))
	}
	return cost + uint64(blocks)*uint64(d.Log)*fse.CostBit, ok
}

// chooseShort is choose for a short block. It returns false if neither the last table nor the
// predefined one has all codes.
func (c *tableChoice) chooseShort(
	dst []byte, kind int, counts *[codeSpace]uint32, l *learner,
) (_ []byte, mode byte, ok bool) {
	k, past := kindOf[kind], &l.past.codes[kind]
	cost := uint64(math.MaxUint64)
	c.pending = nil
	for _, t := range [...]*table{c.last, k.predefined()} {
		if t == nil {
			continue
		}
		if _, ok := t.dist.CostOf(counts[:]); !ok {
			continue
		}
		c.pending = t
		if t == c.last {
			mode = repeatMode
		}
		if v, ok := sharedCost(&t.dist, past, l.seqs, l.coded); ok {
			cost = v
		}
		break
	}
	if !l.train {
		return dst, mode, c.pending != nil
	}
	slot := &c.slots[0]
	if c.last == slot {
		slot = &c.slots[1]
	}
	top := len(past) - 1
	for top > topCode[kind] && past[top] == 0 {
		top--
	}
	var sum [codeSpace]uint32
	for i, n := range past[:top+1] {
		sum[i] = 8*n + 1 // so that later blocks can use the table
	}
	best := cost
	for log := bits.Len(uint(top)); log <= k.maxLog; log++ {
		var d fse.Distribution
		d.Normalize(sum[:], log, true)
		c.scratch = d.Append(c.scratch[:0])
		v, ok := sharedCost(&d, past, l.seqs, l.coded)
		_, fits := d.CostOf(counts[:])
		if v += uint64(len(c.scratch)) * 8 * fse.CostBit; ok && fits && v < best {
			best, slot.dist = v, d
			c.description, c.scratch = c.scratch, c.description
		}
	}
	if best < cost {
		slot.enc.Build(&slot.dist)
		c.pending = slot
		l.described += len(c.description)
		return append(dst, c.description...), compressedMode, true
	}
	return dst, mode, c.pending != nil
}

// appendShort appends compressed literals of a short block to dst. It returns false if raw ones are
// smaller.
func (c *literalCoder) appendShort(dst, lits []byte, counts *[256]uint32, l *learner) (_ []byte, ok bool) {
	const header = 2 // bytes that the header of compressed literals takes more than that of raw ones
	c.changed = false
	kind, table := treelessLiterals, &c.tables[c.last]
	if l.train && len(lits) > 1 {
		total := uint64(0)
		for _, n := range &l.past.lits {
			total += uint64(n)
		}
		before := total
		if v, ok := table.Bits(&l.past.lits); c.known && ok {
			before = min(before, v/8+header*uint64(l.blocks))
		}
		tree, size, ok := c.builder.AppendBest(c.tree[:0], &c.tables[c.last^1], &l.past.lits, c.thorough)
		c.tree = tree
		if ok && size+header*uint64(l.blocks) < before {
			kind, table, c.changed = compressedLiterals, &c.tables[c.last^1], true
		}
	}
	if !c.changed {
		if v, ok := table.Bits(counts); !c.known || !ok || int(v/8)+1+header >= len(lits) {
			return dst, false
		}
	}
	at := len(dst)
	dst = append(dst, 0, 0, 0)
	if c.changed {
		dst = append(dst, c.tree...)
		l.described += len(c.tree)
	}
	dst = table.Append1(dst, lits)
	n, coded := len(lits), len(dst)-at-3
	if n >= 1<<10 || coded >= 1<<10 {
		c.changed = false
		return dst[:at], false
	}
	v := kind | n<<4 | coded<<14
	dst[at], dst[at+1], dst[at+2] = byte(v), byte(v>>8), byte(v>>16)
	return dst, true
}

// IncrementalPrices returns the prices of the next short block of the frame. They stay valid until
// the next call.
func (e *Encoder) IncrementalPrices() *optimal.IncrementalPrices {
	l := e.learner()
	if l.prices == nil {
		l.prices = new(optimal.IncrementalPrices)
		l.stale = true
	}
	if !l.stale {
		return l.prices
	}
	l.stale = false
	p := l.prices
	price := func(k int, code uint8) int32 {
		d := &kindOf[k].predefined().dist
		if t := e.codes[k].last; t != nil {
			d = &t.dist
		}
		if int(code) >= d.Len || d.Prob[code] == 0 {
			return 12 * optimal.PriceBit
		}
		return int32(uint64(d.Cost(code)) * optimal.PriceBit / fse.CostBit)
	}
	for b := range p.Literal {
		p.Literal[b] = 8 * optimal.PriceBit
	}
	if e.literals.known {
		for b, n := range e.literals.tables[e.literals.last].Lens() {
			if n > 0 {
				p.Literal[b] = int32(n) * optimal.PriceBit
			}
		}
	}
	run, n := int64(0), int64(1)
	for code, count := range &l.past.codes[litLens] {
		run += int64(count) * int64(price(litLens, uint8(code)))
		n += int64(count)
	}
	each := int32(4 * optimal.PriceBit)
	if n > 1 {
		each = int32(run / n)
	}
	for n := MinMatch; n < len(p.Length); n++ {
		code, extra := matchCode(uint32(n - MinMatch))
		p.Length[n] = each + price(matchLens, code) + int32(extra)*optimal.PriceBit
	}
	for n := 1; n < len(p.Offset); n++ {
		code := max(n-1, 2)
		p.Offset[n] = price(offsets, uint8(code)) + int32(code)*optimal.PriceBit
	}
	second := price(offsets, 1) + optimal.PriceBit // and third
	p.Repeat = [3]int32{price(offsets, 0), second, second}
	return p
}

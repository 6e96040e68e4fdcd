// Package lzseq turns sequences and literals into named byte streams, each of one kind of symbol and ready for an entropy
// coder, and back. It does not know how matches are found, nor how the streams are coded.
//
// There are three layouts, described in docs/FORMAT.md: [Repeat], with three repeat offsets and split offset codes; [Plain], with
// 16-bit offsets, for speed; and [Dense], which is Repeat with shorter matches, and whose streams may be coded in another way, which is not done here. All keep everything in whole streams, so that a decoder has all symbols before it copies the first byte.
package lzseq

import (
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/simd"
)

// Streams is a block in one of the layouts. Its memory is reused from block to block.
type Streams struct {
	Lits      []byte // literals of all sequences, then those after the last
	Tokens    []byte // one for each sequence
	Offsets   []byte // Repeat, Dense: a code byte for each new offset; Plain: 16 bits for each
	LitLens   []byte // what the tokens have no room for
	MatchLens []byte
	Extra     []byte // Repeat, Dense: low bits of the offsets, as many as the code says, least significant first

	cursor cursor
	batch  [batchSize]lz77.Sequence
}

// All lists the streams in the order of the format.
func (s *Streams) All() [6]*[]byte {
	return [6]*[]byte{&s.Lits, &s.Tokens, &s.Offsets, &s.LitLens, &s.MatchLens, &s.Extra}
}

// Copy makes s a copy of t that shares no memory with it.
func (s *Streams) Copy(t *Streams) {
	from := t.All()
	for i, p := range s.All() {
		*p = append((*p)[:0], *from[i]...)
	}
}

// MaxSizes returns the most bytes that each stream of a block of size bytes can have, in the order of All. It follows
// from the least that a token, an offset or an escaped length stands for.
func (l *Layout) MaxSizes(size int) [6]int { return l.sizes(size) }

// Layout says how sequences become streams.
type Layout struct {
	// ID stands at the head of a coded block.
	ID uint8
	// Limits is what the layout can express.
	Limits lz77.Limits
	// Stored is the number of streams, counted from the last one, that are not worth entropy coding.
	Stored int

	sizes  func(n int) [6]int
	encode func(s *Streams, seqs []lz77.Sequence)
	decode func(s *Streams, batch []lz77.Sequence, tokens []byte) bool
}

// Layouts. Their IDs are part of the format.
var (
	Plain = &Layout{ID: 1, Limits: lz77.Limits{MinMatch: plainMin, MaxOffset: 1<<16 - 1, Model: plainModel{}}, Stored: 4,
		sizes: longSizes, encode: encodePlain, decode: decodePlain}
	Repeat = &Layout{ID: 2, Limits: lz77.Limits{MinMatch: repeatMin, MaxOffset: 1 << 26, Repeats: 3, Model: repeatModel{least: repeatLeast}}, Stored: 1,
		sizes: longSizes, encode: encodeRepeat, decode: decodeRepeat}
	Dense = &Layout{ID: 3, Limits: lz77.Limits{MinMatch: denseNew, MinRepeat: denseRepeat, MaxOffset: 1 << 26, Repeats: 3, Model: repeatModel{denseLeast, denseThree}}, Stored: 1,
		sizes: shortSizes, encode: encodeDense, decode: decodeDense}
)

// longSizes is MaxSizes of layouts whose matches have 4 bytes or more.
func longSizes(n int) [6]int { return [6]int{n, n / 4, n / 2, n / 3, n / 16, 3*n/4 + 1} }

// shortSizes is MaxSizes of Dense.
func shortSizes(n int) [6]int { return [6]int{n, n / denseRepeat, n / denseNew, n / 3, n / 16, n + 1} }

// LayoutByID returns the layout with that number, nil if there is none. Dense is not among them: streams that are coded as those of the others are not yet a payload.
func LayoutByID(id uint8) *Layout {
	switch id {
	case Plain.ID:
		return Plain
	case Repeat.ID:
		return Repeat
	}
	return nil
}

// A CorruptError says what a decoder did not accept in its input.
type CorruptError string

func (e CorruptError) Error() string { return "lzseq: corrupt input: " + string(e) }

// Encode fills the streams with a block: the sequences of src and the literals between them. The sequences must keep to the layout's limits.
func (s *Streams) Encode(l *Layout, src []byte, seqs []lz77.Sequence) {
	lits, rest := lz77.AppendLiterals(resize(s.Lits, len(src)+lz77.Slack)[:0], src, seqs)
	s.Lits = append(lits, rest...)
	s.Tokens = resize(s.Tokens, len(seqs))
	s.LitLens, s.MatchLens, s.Extra = s.LitLens[:0], s.MatchLens[:0], s.Extra[:0]
	l.encode(s, seqs)
}

func resize(p []byte, n int) []byte {
	if cap(p) < n {
		return make([]byte, n, n+n/8)
	}
	return p[:n]
}

// batchSize is the number of sequences resolved before their bytes are copied: 12 KiB of them stay in the first-level
// cache, and lengths are checked as sums over the batch rather than one by one.
const batchSize = 1024

// cursor is the place that a decoder has reached in each stream.
type cursor struct {
	offsets  int // bytes
	litLens  int // bytes
	matches  int // bytes
	extra    uint
	repeats  [4]uint32 // the last one is not used
	lits     uint64    // sum over the batch
	produced uint64    // sum of literal runs and matches over the batch
}

// fewTokens is how many follow those that the vector kernel did not take, before it is tried again.
const fewTokens = 8

// count adds what a kernel has done.
func (c *cursor) count(r *simd.TokenProgress) {
	c.litLens += r.UsedLits
	c.matches += r.UsedMatches
	c.offsets += r.UsedOffsets
	c.lits += r.Lits
	c.produced += r.Produced
}

// ahead is what a kernel may look at: what is left of a stream, and the slack behind it if there is any. What it takes from the slack
// is noticed afterwards.
func ahead(p []byte, at int) []byte { return p[at:min(cap(p), len(p)+lz77.Slack)] }

// Decode carries out the sequences that the streams hold. What they give must be exactly len(dst) bytes. If dst has lz77.Slack bytes of
// capacity beyond that they may be overwritten, and the end is done sooner; nothing else behind dst is touched. Lits, Offsets and Extra must have 32 bytes of capacity
// beyond their lengths. An error is a CorruptError.
func (s *Streams) Decode(l *Layout, dst []byte) error {
	size := len(dst)
	execute := lz77.ExecuteExact
	if cap(dst) >= size+lz77.Slack {
		execute, dst = lz77.Execute, dst[:size+lz77.Slack]
	}
	dst = dst[:len(dst):len(dst)]
	lits := s.Lits[:len(s.Lits)+lz77.Slack]
	at := 0
	err := s.Sequences(l, size, func(seqs []lz77.Sequence) error {
		var ok bool
		if at, lits, ok = execute(dst, at, lits, seqs); !ok {
			return CorruptError("offset before the beginning of the block")
		}
		return nil
	})
	if err != nil {
		return err
	}
	copy(dst[at:size], lits[:len(lits)-lz77.Slack])
	return nil
}

// Sequences calls f with the sequences that the streams hold, some hundreds at a time; f must not keep them.
// Together with the literals that they leave they give size bytes; whether offsets reach too far back is not checked.
// An error is f's or a CorruptError, which may come after calls of f.
func (s *Streams) Sequences(l *Layout, size int, f func(seqs []lz77.Sequence) error) error {
	c := &s.cursor
	*c = cursor{repeats: [4]uint32{lz77.InitialRepeat, lz77.InitialRepeat, lz77.InitialRepeat}}
	lits, left := uint64(len(s.Lits)), uint64(size) // not used up, not produced
	for tokens := s.Tokens; len(tokens) > 0; {
		n := min(len(tokens), batchSize)
		c.lits, c.produced = 0, 0
		if !l.decode(s, s.batch[:n], tokens[:n]) {
			return CorruptError("streams do not fit together")
		}
		if c.lits > lits || c.produced > left {
			return CorruptError("sequences too long")
		}
		lits -= c.lits
		left -= c.produced
		if err := f(s.batch[:n]); err != nil {
			return err
		}
		tokens = tokens[n:]
	}
	if c.offsets != len(s.Offsets) || c.litLens != len(s.LitLens) || c.matches != len(s.MatchLens) ||
		(c.extra+7)/8 != uint(len(s.Extra)) {
		return CorruptError("streams too long")
	}
	if lits != left {
		return CorruptError("wrong number of literals")
	}
	return nil
}

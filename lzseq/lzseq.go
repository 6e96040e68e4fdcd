// Package lzseq is a building block for compressors: it turns LZ77 sequences and literals into
// named byte streams, and back. A minor release of this module may change it.
//
// It stands between a match finder, such as that of package lz77, and an entropy coder. Each stream
// holds one kind of symbol, so that the coder has statistics of its own for it. A decoder has all
// symbols before it copies the first byte.
//
// docs/FORMAT.md specifies the three layouts:
//
//   - [Plain] has 16-bit offsets and is the fastest.
//   - [Repeat] has three repeat offsets and offset codes with extra bits.
//   - [Dense] is Repeat with shorter matches. Package pipeline codes some of its streams with
//     contexts.
package lzseq

import (
	"github.com/gopz/compress/internal/kernels"
	"github.com/gopz/compress/internal/pieces"
	"github.com/gopz/compress/lz77"
)

// Streams holds a block in one of the layouts. The zero value is ready to use; its memory is reused
// from block to block. Streams must not be used concurrently.
type Streams struct {
	Lits      []byte // literals of all sequences, then those behind the last match
	Tokens    []byte // one a sequence
	Offsets   []byte // Repeat, Dense: a code for each new offset; Plain: 16 bits for each sequence
	LitLens   []byte // lengths of literal runs and matches that exceed the fields of the tokens
	MatchLens []byte
	Extra     []byte // Repeat, Dense: extra bits of the offsets, least significant first

	Size int // bytes of content that Encode has taken

	// Checkpoint, unless it is nil, is called between pieces of the work, on the caller's
	// goroutine: after at most 64 Ki sequences or 2 MiB of literals or content, which take less
	// than about 5 ms. It may block. It may panic to abandon the work; the Streams then hold
	// nothing of use and can be used again. Results do not depend on it. Copy does not copy it.
	Checkpoint func()

	cursor cursor
	batch  [batchSize]lz77.Sequence
}

// All returns pointers to the streams in the order of the format.
func (s *Streams) All() [6]*[]byte {
	return [6]*[]byte{&s.Lits, &s.Tokens, &s.Offsets, &s.LitLens, &s.MatchLens, &s.Extra}
}

// Copy sets s to a deep copy of t.
func (s *Streams) Copy(t *Streams) {
	from := t.All()
	for i, p := range s.All() {
		*p = append((*p)[:0], *from[i]...)
	}
	s.Size = t.Size
}

// MaxSizes returns the maximum size in bytes of each stream for a block of size bytes, in the order
// of All. It follows from the least number of bytes that a token, an offset or an escaped length
// stands for.
func (l *Layout) MaxSizes(size int) [6]int { return l.sizes(size) }

// Layout describes how sequences become streams.
type Layout struct {
	// ID identifies the layout in the format.
	ID uint8
	// Limits bounds the sequences that the layout can express.
	Limits lz77.Limits
	// Stored is the number of streams, counted from the last, that are stored without entropy
	// coding.
	Stored int

	sizes  func(n int) [6]int
	encode func(s *Streams, seqs []lz77.Sequence)
	decode func(s *Streams, batch []lz77.Sequence, tokens []byte) bool
}

// The layouts. Their IDs are part of the format.
var (
	Plain = &Layout{
		ID:     1,
		Limits: lz77.Limits{MinMatch: plainMinMatch, MaxOffset: 1<<16 - 1},
		Stored: 4,
		sizes:  sizesMin4, encode: encodePlain, decode: decodePlain,
	}
	Repeat = &Layout{
		ID:     2,
		Limits: lz77.Limits{MinMatch: repeatMinMatch, MaxOffset: 1 << 26, Repeats: 3},
		Stored: 1,
		sizes:  sizesMin4, encode: encodeRepeat, decode: decodeRepeat,
	}
	Dense = &Layout{
		ID: 3,
		Limits: lz77.Limits{
			MinMatch: denseMinNew, MinRepeat: denseMinRepeat, MaxOffset: 1 << 26, Repeats: 3,
		},
		Stored: 1,
		sizes:  sizesDense, encode: encodeDense, decode: decodeDense,
	}
)

// sizesMin4 returns MaxSizes for layouts with matches of at least 4 bytes.
func sizesMin4(n int) [6]int { return [6]int{n, n / 4, n / 2, n / 3, n / 16, 3*n/4 + 1} }

// sizesDense returns MaxSizes for Dense.
func sizesDense(n int) [6]int {
	return [6]int{n, n / denseMinRepeat, n / denseMinNew, n / 3, n / 16, n + 1}
}

// LayoutByID returns the layout with that ID, or nil if there is none. It does not return Dense,
// whose payload has a head of its own.
func LayoutByID(id uint8) *Layout {
	switch id {
	case Plain.ID:
		return Plain
	case Repeat.ID:
		return Repeat
	}
	return nil
}

// CorruptError describes why a decoder rejected its input.
type CorruptError string

func (e CorruptError) Error() string { return "lzseq: corrupt input: " + string(e) }

// Encode sets s to a block in layout l: the sequences of src and the literals between them. The
// sequences must respect l.Limits.
func (s *Streams) Encode(l *Layout, src []byte, seqs []lz77.Sequence) {
	lits := resize(s.Lits, len(src)+lz77.Slack)[:0]
	lits, rest := lz77.AppendLiterals(lits, src, seqs, s.Checkpoint)
	s.Lits, s.Size = pieces.Append(lits, rest, s.Checkpoint), len(src)
	s.Tokens = resize(s.Tokens, len(seqs))
	s.LitLens, s.MatchLens, s.Extra = s.LitLens[:0], s.MatchLens[:0], s.Extra[:0]
	l.encode(s, seqs)
}

// checkpointSequences is the number of sequences between checkpoints.
const checkpointSequences = 1 << 16

func (s *Streams) checkpoint() {
	if s.Checkpoint != nil {
		s.Checkpoint()
	}
}

func resize(p []byte, n int) []byte {
	if cap(p) < n {
		return make([]byte, n, n+n/8)
	}
	return p[:n]
}

// batchSize is the number of sequences decoded before their bytes are copied. 12 KiB of sequences
// stay in the L1 cache, and lengths are checked as sums over the batch.
const batchSize = 1024

// cursor is the position of a decoder in each stream.
type cursor struct {
	offsets  int // bytes
	litLens  int // bytes
	matches  int // bytes
	extra    uint
	repeats  [4]uint32 // the last element is unused
	lits     uint64    // literals of the batch
	produced uint64    // bytes that the batch produces
}

// scalarTokens is the number of tokens decoded without the kernel behind one that it does not
// handle.
const scalarTokens = 8

// countProgress adds the progress of a kernel.
func (c *cursor) countProgress(r *kernels.TokenProgress) {
	c.litLens += r.UsedLits
	c.matches += r.UsedMatches
	c.offsets += r.UsedOffsets
	c.lits += r.Lits
	c.produced += r.Produced
}

// ahead returns the bytes that a kernel may read: the rest of a stream and its slack, if there is
// any. The caller checks afterwards that the kernel used none of the slack.
func ahead(p []byte, at int) []byte { return p[at:min(cap(p), len(p)+lz77.Slack)] }

// Decode executes the sequences of the streams. They must produce exactly dst[start:]; matches may
// reach back into dst[:start]. Decode may overwrite lz77.Slack bytes behind dst if its capacity
// allows, which is faster. Lits, Offsets and Extra must have 32 bytes of capacity behind their
// ends. All errors are a CorruptError.
func (s *Streams) Decode(l *Layout, dst []byte, start int) error {
	size := len(dst)
	execute := lz77.ExecuteExact
	if cap(dst) >= size+lz77.Slack {
		execute, dst = lz77.Execute, dst[:size+lz77.Slack]
	}
	dst = dst[:len(dst):len(dst)]
	lits := s.Lits[:len(s.Lits)+lz77.Slack]
	at := start
	err := s.Sequences(l, size-start, func(seqs []lz77.Sequence) error {
		var ok bool
		if s.cursor.produced > pieces.Size && s.Checkpoint != nil {
			at, lits, ok = s.executePieces(execute, dst, at, lits, seqs)
		} else {
			at, lits, ok = execute(dst, at, lits, seqs)
		}
		if !ok {
			return CorruptError("offset before the beginning")
		}
		return nil
	})
	if err != nil {
		return err
	}
	pieces.Copy(dst[at:size], lits[:len(lits)-lz77.Slack], s.Checkpoint)
	return nil
}

// Sequences decodes the streams of a block of size bytes and calls f with a few hundred sequences
// at a time. f must not retain them. Sequences checks that sequences and remaining literals produce
// size bytes; it does not check offsets against the position. It returns the first error of f, or a
// CorruptError, also after calls of f.
func (s *Streams) Sequences(l *Layout, size int, f func(seqs []lz77.Sequence) error) error {
	c := &s.cursor
	*c = cursor{repeats: [4]uint32{lz77.InitialRepeat, lz77.InitialRepeat, lz77.InitialRepeat}}
	lits, left := uint64(len(s.Lits)), uint64(size) // unused literals, bytes still to produce
	work := uint64(0)                               // since the last checkpoint, in bytes
	for tokens := s.Tokens; len(tokens) > 0; {
		if work > pieces.Size/2 {
			work = 0
			s.checkpoint()
		}
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
		work += c.produced + uint64(n)
		if err := f(s.batch[:n]); err != nil {
			return err
		}
		tokens = tokens[n:]
	}
	if c.offsets != len(s.Offsets) || c.litLens != len(s.LitLens) ||
		c.matches != len(s.MatchLens) || (c.extra+7)/8 != uint(len(s.Extra)) {
		return CorruptError("streams too long")
	}
	if lits != left {
		return CorruptError("wrong number of literals")
	}
	return nil
}

package zstd

import (
	"math/bits"

	"github.com/gopz/compress/simd"
)

// A sequence has three codes, each with extra bits (RFC 8878, section 3.1.1.3.2.1).
const (
	litLens = iota // literal run
	offsets        // offset value
	matchLens
	kinds
)

const (
	maxLitCode   = 35 // literal runs of 65536 to 131071
	maxMatchCode = 52 // matches of 65539 to 131074
	maxOffCode   = 31 // offset values from 1<<31 on
	codeSpace    = 64 // size of an array indexed by a code; a power of two
)

// codeCounts are the numbers of codes of each kind.
var codeCounts = [kinds]int{
	litLens: maxLitCode + 1, offsets: maxOffCode + 1, matchLens: maxMatchCode + 1,
}

// kind holds the constants of one kind of code.
type kind struct {
	maxLog     int   // maximum accuracy log of a table
	predefined table // RFC 8878, section 3.1.1.3.2.2; read-only
}

var kindOf = [kinds]*kind{
	litLens: newKind(9, 6,
		4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1,
		-1, -1, -1, -1),
	offsets: newKind(8, 5,
		1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1),
	matchLens: newKind(9, 6,
		1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
		-1, -1, -1, -1, -1, -1, -1),
}

func newKind(maxLog int, log uint8, prob ...int16) *kind {
	k := &kind{maxLog: maxLog}
	d := &k.predefined.dist
	d.Log, d.Len = log, len(prob)
	copy(d.Prob[:], prob)
	k.predefined.enc.Build(d)
	return k
}

// Number of extra bits of each code. They are the low bits of the length, for matches of the length
// less MinMatch.
var (
	litBits = [maxLitCode + 1]uint8{
		16: 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
	}
	matchBits = [maxMatchCode + 1]uint8{
		32: 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
	}
)

// lengthCodes has the codes of short lengths. Longer ones have a code for each power of two.
var lengthCodes = func() (t simd.LengthCodes) {
	fillCodes(t.Lits[:], t.LitBits[:], litBits[:])
	fillCodes(t.Matches[:], t.MatchBits[:], matchBits[:])
	return t
}()

// fillCodes sets the codes of the lengths from 0 on, given the numbers of extra bits of the codes.
func fillCodes(codes, bits, extra []uint8) {
	code, room := 0, 0
	for i := range codes {
		if room == 0 {
			room = 1 << extra[code]
			code++
		}
		codes[i], bits[i] = uint8(code-1), extra[code-1]
		room--
	}
}

// litCode returns the code of a literal run of n < MaxBlock bytes, and its number of extra bits.
func litCode(n uint32) (code, extra uint8) {
	if t := &lengthCodes; n < uint32(len(t.Lits)) {
		return t.Lits[n], t.LitBits[n]
	}
	log := uint8(bits.Len32(n)) - 1
	return log + 19, log
}

// matchCode returns the code of a match of n + MinMatch bytes, at most MaxBlock, and its number of
// extra bits.
func matchCode(n uint32) (code, extra uint8) {
	if t := &lengthCodes; n < uint32(len(t.Matches)) {
		return t.Matches[n], t.MatchBits[n]
	}
	log := uint8(bits.Len32(n)) - 1
	return log + 36, log
}

package zstd

import "math/bits"

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

// coded has a code in the low 8 bits and its number of extra bits above.
type coded uint16

// Codes of short lengths. Longer ones have a code for each power of two.
var (
	litCodes   = shortCodes[[64]coded](litBits[:])
	matchCodes = shortCodes[[128]coded](matchBits[:])
)

func shortCodes[T [64]coded | [128]coded](extra []uint8) (t T) {
	code, room := 0, 0
	for i := range len(t) {
		if room == 0 {
			room = 1 << extra[code]
			code++
		}
		t[i] = coded(code-1) | coded(extra[code-1])<<8
		room--
	}
	return t
}

// litCode returns the code of a literal run of n < MaxBlock bytes.
func litCode(n uint32) coded {
	if n < uint32(len(litCodes)) {
		return litCodes[n]
	}
	log := uint32(bits.Len32(n)) - 1
	return coded(log + 19 | log<<8)
}

// matchCode returns the code of a match of n + MinMatch bytes, at most MaxBlock.
func matchCode(n uint32) coded {
	if n < uint32(len(matchCodes)) {
		return matchCodes[n]
	}
	log := uint32(bits.Len32(n)) - 1
	return coded(log + 36 | log<<8)
}

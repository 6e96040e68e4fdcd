package zstd

import (
	"math/bits"
	"sync"

	"github.com/gopz/compress/fse"
	"github.com/gopz/compress/internal/kernels"
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

// kind holds the constants of one kind of code. Its tables are made when they are first used.
type kind struct {
	maxLog int  // maximum accuracy log of a table
	log    uint // accuracy log of the predefined table

	predefined func() *table               // RFC 8878, section 3.1.1.3.2.2; read-only
	values     func() []uint64             // what a cell of a decoder says about each code
	cells      func() *[maxCells]uint64    // decodes the predefined table
	dist       func() (d fse.Distribution) // of the predefined table
}

var kindOf = [kinds]*kind{
	litLens: newKind(9, func() []uint64 { return lengthValues(litBits[:], 0) }, 6,
		4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1,
		-1, -1, -1, -1),
	offsets: newKind(8, offsetValues, 5,
		1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1),
	matchLens: newKind(9, func() []uint64 { return lengthValues(matchBits[:], MinMatch) }, 6,
		1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
		-1, -1, -1, -1, -1, -1, -1),
}

// newKind returns a kind of code. The predefined table has the accuracy log, and prob are its
// probabilities.
func newKind(maxLog int, values func() []uint64, log uint8, prob ...int16) *kind {
	k := &kind{maxLog: maxLog, log: uint(log), values: sync.OnceValue(values)}
	k.dist = func() (d fse.Distribution) {
		d.Log, d.Len = log, len(prob)
		copy(d.Prob[:], prob)
		return d
	}
	k.predefined = sync.OnceValue(func() *table {
		t := &table{dist: k.dist()}
		t.enc.Build(&t.dist)
		return t
	})
	k.cells = sync.OnceValue(func() *[maxCells]uint64 {
		var b fse.PackedBuilder
		t, d := new([maxCells]uint64), k.dist()
		b.Build(t[:], &d, k.values())
		return t
	})
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
var lengthCodes = kernels.LengthCodes{
	Lits: [64]uint8{
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 16, 17, 17, 18, 18, 19, 19,
		20, 20, 20, 20, 21, 21, 21, 21, 22, 22, 22, 22, 22, 22, 22, 22, 23, 23, 23, 23, 23, 23, 23, 23,
		24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24,
	},
	LitBits: [64]uint8{
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1,
		2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
		4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4,
	},
	Matches: [128]uint8{
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
		24, 25, 26, 27, 28, 29, 30, 31, 32, 32, 33, 33, 34, 34, 35, 35, 36, 36, 36, 36, 37, 37, 37, 37,
		38, 38, 38, 38, 38, 38, 38, 38, 39, 39, 39, 39, 39, 39, 39, 39, 40, 40, 40, 40, 40, 40, 40, 40,
		40, 40, 40, 40, 40, 40, 40, 40, 41, 41, 41, 41, 41, 41, 41, 41, 41, 41, 41, 41, 41, 41, 41, 41,
		42, 42, 42, 42, 42, 42, 42, 42, 42, 42, 42, 42, 42, 42, 42, 42, 42, 42, 42, 42, 42, 42, 42, 42,
		42, 42, 42, 42, 42, 42, 42, 42,
	},
	MatchBits: [128]uint8{
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2,
		3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4,
		4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4,
		5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
		5, 5, 5, 5, 5, 5, 5, 5,
	},
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

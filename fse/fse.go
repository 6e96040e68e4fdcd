// Package fse codes symbols with Finite State Entropy, Collet's table form of asymmetric numeral systems (Duda 2013, arXiv:1311.2540),
// in the bits that Zstandard uses (RFC 8878, section 4.1).
//
// A [Distribution] says how probable each symbol is. From it follow the bytes that describe it, an [EncTable], a [DecTable], and the cost
// of a symbol. An [Encoder] and the methods of DecTable code whole byte strings with one state or with two that take turns. Coders that mix
// symbols of several tables into one bit stream, as zstd's sequences are, use the tables directly.
//
// Everything is done with integers: the same counts give the same bytes on every machine. A table or encoder keeps its memory; nothing here is
// safe for concurrent use.
package fse

// Limits of the format.
const (
	MinLog     = 5   // least accuracy log of a description
	MaxLog     = 12  // greatest accuracy log of this package; formats have lower limits of their own
	MaxSymbols = 256 // symbols are bytes
)

// LessThanOne is the probability of a symbol that is rarer than one in 1<<Log. It takes one of the last cells of a table, and
// counts as 1 in the sum.
const LessThanOne = -1

// A CorruptError says what a decoder did not accept in its input.
type CorruptError string

func (e CorruptError) Error() string { return "fse: corrupt input: " + string(e) }

// Distribution is a histogram scaled to a power of two. The zero value is not a valid one.
type Distribution struct {
	// Log is the accuracy log, MinLog … MaxLog: the probabilities sum to 1<<Log.
	Log uint8
	// Len is the number of symbols, 0 … Len−1, that Prob is valid for. Those behind have no probability.
	Len int
	// Prob is the probability of each symbol, in units of 1/(1<<Log), or LessThanOne.
	Prob [MaxSymbols]int16
}

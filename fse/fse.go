// Package fse is a building block for compressors: it codes symbols with Finite State Entropy. A
// minor release of this module may change it.
//
// FSE is the table variant of asymmetric numeral systems (tANS; Duda 2013, arXiv:1311.2540; Collet
// 2013). The bit format is that of Zstandard (RFC 8878, section 4.1).
//
// A [Distribution] holds the probabilities of symbols. From it follow its description, an
// [EncTable], a [DecTable] and the costs of symbols. An [Encoder] and the methods of DecTable code
// byte strings with one state or two interleaved ones. A coder that mixes symbols of several tables
// in one bit stream, such as zstd's sequences, uses the tables directly.
//
// All arithmetic is in integers, so that every machine writes the same bytes. Tables and encoders
// keep their memory; none of the types may be used concurrently.
package fse

// Limits of the format.
const (
	MinLog     = 5   // minimum accuracy log of a description
	MaxLog     = 12  // maximum accuracy log of this package; formats have lower limits
	MaxSymbols = 256 // symbols are bytes
)

// LessThanOne is the probability of a symbol rarer than 1 in 1<<Log. It takes one of the last cells
// of a table and counts as 1 in the sum.
const LessThanOne = -1

// CorruptError describes why a decoder rejected its input.
type CorruptError string

func (e CorruptError) Error() string { return "fse: corrupt input: " + string(e) }

// Distribution holds counts scaled to a power of two. The zero value is invalid.
type Distribution struct {
	// Log is the accuracy log, MinLog to MaxLog. The probabilities sum to 1<<Log.
	Log uint8
	// Len is the number of valid elements of Prob. Symbols from Len on have no probability.
	Len int
	// Prob is the probability of each symbol in units of 1/(1<<Log), or LessThanOne.
	Prob [MaxSymbols]int16
}

// Package huffman makes prefix codes of limited length (Huffman 1952) and codes bytes with them. It serves two formats, which
// agree on the lengths of a code and differ in the rest:
//
//   - Deflate (RFC 1951, section 3.2.2): the shorter codes are the lower numbers, written from the highest bit down into bytes that are filled
//     from the lowest bit up. The codes here are therefore reversed: [AssignDeflate].
//   - zstd (RFC 8878, section 4.2): the longer codes are the lower numbers, and streams are read backward, from their end: [AssignZstd],
//     [Table].
//
// A [Builder] finds lengths: the best there are under a limit. [Costs] says what symbols will cost before there is a code.
// Everything is computed with integers, so that every machine makes the same codes.
package huffman

// MaxBits is the greatest limit that there can be on the length of a code, in bits.
const MaxBits = 15

// MaxSymbols is the size of the largest alphabet.
const MaxSymbols = 288

// A Code is what an encoder needs of a symbol: the number of bits in bits 0–7, 0 if the symbol has no code, and the bits
// themselves at the top, in bits 64−n … 63. The bit to be written first is the lowest of them. So
//
//	acc = acc>>(c&63) | c
//	n += c
//
// puts a code behind those that acc has already, which end at its highest bit, as long as all of them take 56 bits or fewer: the length
// stays behind in the low bits, as dirt. See Table.encode.
type Code uint64

// MakeCode returns the code of n bits, 0 … 56, that are the low ones of v; those above must be 0.
func MakeCode(v uint64, n uint) Code { return Code(v<<((64-n)&63) | uint64(n)) }

// Len is the number of bits.
func (c Code) Len() uint { return uint(c & 0xff) }

// Bits is the bits as a number; the one to be written first is the lowest.
func (c Code) Bits() uint64 { return uint64(c) >> ((64 - c.Len()) & 63) & (1<<c.Len() - 1) }

// A CorruptError says what a decoder did not accept in its input.
type CorruptError string

func (e CorruptError) Error() string { return "huffman: corrupt input: " + string(e) }

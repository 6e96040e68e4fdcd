// Package huffman makes length-limited prefix codes (Huffman 1952) for packages deflate and zstd,
// and codes bytes with them. It defines no format of its own.
//
// Both formats derive the codes from their lengths, in different ways:
//
//   - Deflate (RFC 1951, section 3.2.2): shorter codes are lower numbers. A code is written from
//     its highest bit into bytes that fill from the lowest bit. [AssignDeflate] therefore returns
//     reversed codes.
//   - zstd (RFC 8878, section 4.2): longer codes are lower numbers, and a decoder reads the stream
//     backward. See [AssignZstd] and [Table].
//
// A [Builder] finds the optimal lengths under a limit. All arithmetic is in integers, so that every
// machine makes the same codes.
package huffman

// MaxBits is the maximum limit on the length of a code.
const MaxBits = 15

// MaxSymbols is the size of the largest alphabet.
const MaxSymbols = 288

// Code is a code of n bits. Bits 0 to 7 hold n, or 0 if the symbol has no code. Bits 64−n to 63
// hold the code; its lowest bit is written first. So
//
//	acc = acc>>(c&63) | c
//	n += c
//
// appends a code to those in acc, which end at its highest bit, as long as all of them have at most
// 56 bits. The lengths leave garbage in the low bits. See Table.encode.
type Code uint64

// MakeCode returns the code of n bits, 0 to 56, with value v < 1<<n.
func MakeCode(v uint64, n uint) Code { return Code(v<<((64-n)&63) | uint64(n)) }

// Len returns the number of bits.
func (c Code) Len() uint { return uint(c & 0xff) }

// Bits returns the value. Its lowest bit is written first.
func (c Code) Bits() uint64 { return uint64(c) >> ((64 - c.Len()) & 63) & (1<<c.Len() - 1) }

// CorruptError describes why a decoder rejected its input.
type CorruptError string

func (e CorruptError) Error() string { return "huffman: corrupt input: " + string(e) }

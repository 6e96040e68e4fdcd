package inflate

import (
	"github.com/gopz/compress/internal/kernels"
)

// # Symbols
//
// A decoder that begins in the middle of a stream does not know the window: the WindowSize bytes
// in front. DecodeSymbols decodes all the same, into symbols of 16 bits. A symbol below 256 is a
// byte. Symbol firstUnknown + i stands for byte i of the window. Matches copy symbols as they copy
// bytes. When the window is known, Resolve replaces the symbols by bytes.
//
// Once the last WindowSize symbols are bytes, no match can refer to the window any more. Then
// Decode can go on.

// firstUnknown is the symbol for the first byte of the window.
const firstUnknown = 256

// smallResolve is the number of symbols from which on Resolve copies the window to a table.
const smallResolve = 4096

// UnknownWindow fills dst[:WindowSize] with the symbols for a window that is not known.
func UnknownWindow(dst []uint16) {
	dst = dst[:WindowSize]
	for i := range dst {
		dst[i] = uint16(firstUnknown + i)
	}
}

// DecodeSymbols decodes as Decode does, with the same results and errors, but into symbols. A
// symbol below 256 is a byte of content. Symbol 256 + i is byte i of the WindowSize bytes in front
// of the place where decoding began; byte 0 is the oldest. For the first call the caller fills
// dst[:WindowSize] with UnknownWindow and passes at = WindowSize.
//
// A stream may change between DecodeSymbols and Decode with any call. Decode needs the window in
// bytes: see Known and Resolve.
func (d *Decoder) DecodeSymbols(dst []uint16, at int, src []byte) (n, used int, err error) {
	return decode(d, dst, at, src)
}

// Known reports whether all symbols are bytes.
func Known(symbols []uint16) bool {
	for len(symbols) >= 16 {
		s := (*[16]uint16)(symbols)
		if s[0]|s[1]|s[2]|s[3]|s[4]|s[5]|s[6]|s[7]|
			s[8]|s[9]|s[10]|s[11]|s[12]|s[13]|s[14]|s[15] >= firstUnknown {
			return false
		}
		symbols = symbols[16:]
	}
	for _, s := range symbols {
		if s >= firstUnknown {
			return false
		}
	}
	return true
}

// Resolve replaces symbols by bytes. window is the content before the place where decoding began.
// It writes all of dst, which must be as long as symbols. It panics at a symbol that is neither a
// byte nor in the window; DecodeSymbols returns none.
func Resolve(dst []byte, symbols []uint16, window *[WindowSize]byte) {
	if len(dst) != len(symbols) {
		panic("inflate: Resolve with slices of different lengths")
	}
	if len(dst) < smallResolve {
		for i, s := range symbols {
			if s < firstUnknown {
				dst[i] = byte(s)
			} else {
				dst[i] = window[s-firstUnknown]
			}
		}
		return
	}
	var table kernels.SymbolTable
	for i := range firstUnknown {
		table[i] = byte(i)
	}
	copy(table[firstUnknown:], window[:])
	n := kernels.ResolveSymbols(dst, symbols, &table)
	for i, s := range symbols[n:] {
		dst[n+i] = table[s]
	}
}

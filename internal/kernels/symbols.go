package kernels

const symbolGroup = 32 // symbols that ResolveSymbols tests at once

// A SymbolTable has the byte of each symbol: the bytes from 0 to 255, then those of the window.
type SymbolTable [256 + 32<<10]byte

// ResolveSymbols replaces symbols by bytes of a table, 32 at a time, up to 32 symbols of which one
// is not in the table. It returns the number of symbols done, a multiple of 32. The table must
// begin with the bytes from 0 to 255. dst must be as long as symbols. ResolveSymbols may overwrite
// all of it.
func ResolveSymbols(dst []byte, symbols []uint16, table *SymbolTable) (n int) {
	dst = dst[:len(symbols)]
	if n, ok := resolveSymbolsKernel(dst, symbols, table); ok {
		return n
	}
	for i, v := range symbols[:len(symbols)&^(symbolGroup-1)] {
		if int(v) >= len(table) {
			return i &^ (symbolGroup - 1)
		}
		dst[i] = table[v]
	}
	return len(symbols) &^ (symbolGroup - 1)
}

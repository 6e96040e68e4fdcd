package huffman

// packages finds lengths under a limit by the package-merge method (Larmore and Hirschberg, A fast algorithm for optimal
// length-limited Huffman codes, 1990).
//
// Think of a coin of each symbol's weight for each length that its code may have. From the greatest length to 1, the coins of a length
// are put in order together with the packages of two that were made of the row before; in the last row the first 2n−2 are
// bought. A symbol's code is as long as the number of its coins among them. In each row those are the lightest ones, so that all
// that must be kept of a row is how many of its first items are coins.
type packages struct {
	weight [2][2 * MaxSymbols]uint64 // of this row and the one before
	coins  [MaxBits][2*MaxSymbols + 1]uint16
}

// depths counts the symbols with codes of each length and returns the greatest length, as Builder.depths does.
// It is not called if the limit holds by itself.
func (p *packages) depths(sorted []leaf, num *[MaxSymbols]uint16, limit int) int {
	n := len(sorted)
	last, row := &p.weight[0], &p.weight[1]
	packs := 0 // that the row before gave
	for l := limit - 1; l >= 0; l-- {
		coins := &p.coins[l]
		coin, pack := 0, 0
		for coin+pack < 2*n-2 && (coin < n || pack < packs) {
			coins[coin+pack] = uint16(coin)
			if pack < packs && (coin == n || last[2*pack]+last[2*pack+1] < uint64(sorted[coin].count)) {
				row[coin+pack] = last[2*pack] + last[2*pack+1]
				pack++
			} else {
				row[coin+pack] = uint64(sorted[coin].count)
				coin++
			}
		}
		coins[coin+pack] = uint16(coin)
		packs = (coin + pack) / 2
		last, row = row, last
	}
	// What was bought of a row says how many codes are longer than the number of rows after it. Its packages are twice as many items of the
	// row before.
	buy, longer := 2*n-2, n
	for l := 0; buy > 0; l++ {
		bought := int(p.coins[l][buy])
		num[l] = uint16(longer - bought)
		buy, longer = 2*(buy-bought), bought
		num[l+1], limit = uint16(longer), l+1
	}
	return limit
}

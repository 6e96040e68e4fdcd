package huffman

// packages finds lengths under a limit by package-merge (Larmore and Hirschberg, A Fast Algorithm
// for Optimal Length-Limited Huffman Codes, 1990).
//
// Each symbol contributes one coin of its weight for each possible length. There is a row for each
// length, from the longest to 1. It holds in sorted order the coins of its length and packages of
// two neighbours of the previous row. The method buys the first 2n−2 items of the last row. The
// code length of a symbol is the number of its coins among them. They are the lightest ones of each
// row, so it suffices to keep the number of coins among the first items of each row.
type packages struct {
	weight [2][2 * MaxSymbols]uint64 // of this row and the previous one
	coins  [MaxBits][2*MaxSymbols + 1]uint16
}

// depths counts the symbols with each code length and returns the maximum length, as Builder.depths
// does. The caller uses it only if that one exceeds the limit.
func (p *packages) depths(sorted []leaf, num *[MaxSymbols]uint16, limit int) int {
	n := len(sorted)
	last, row := &p.weight[0], &p.weight[1]
	packs := 0 // number of packages that the previous row gives
	for l := limit - 1; l >= 0; l-- {
		coins := &p.coins[l]
		coin, pack := 0, 0
		for coin+pack < 2*n-2 && (coin < n || pack < packs) {
			coins[coin+pack] = uint16(coin)
			if pack < packs &&
				(coin == n || last[2*pack]+last[2*pack+1] < uint64(sorted[coin].count)) {
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
	// The coins bought of a row are the codes longer than the number of rows behind it. Each
	// package bought is two items of the previous row.
	buy, longer := 2*n-2, n
	for l := 0; buy > 0; l++ {
		bought := int(p.coins[l][buy])
		num[l] = uint16(longer - bought)
		buy, longer = 2*(buy-bought), bought
		num[l+1], limit = uint16(longer), l+1
	}
	return limit
}

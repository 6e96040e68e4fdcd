package huffman

// packages finds lengths under a limit by package-merge (Larmore and Hirschberg, A Fast Algorithm
// for Optimal Length-Limited Huffman Codes, 1990).
//
// Each symbol contributes one coin of its weight for each possible length. There is a row for each
// length, from the longest to 1. It holds in sorted order the coins of its length and packages of
// two neighbours of the previous row. The method buys the first 2n−2 items of the last row. The
// code length of a symbol is the number of its coins among them. They are the lightest ones of each
// row, so it suffices to keep the number of coins among the first items of each row.
//
// A row depends only on those before it. So the rows for a limit serve lower limits as well.
type packages struct {
	row   [2*MaxSymbols + 1]uint64          // weights of this row
	packs [MaxSymbols + 1]uint64            // weights of the packages of the previous row
	coins [MaxBits][2*MaxSymbols + 1]uint16 // number of coins among the first items of each row
	coin  [MaxSymbols + 1]uint64            // weights of the coins
}

// noWeight is the weight behind the last coin or package.
const noWeight = 1<<64 - 1

// pack fills the rows for limits of at most limit.
func (p *packages) pack(sorted []leaf, limit int) {
	n := len(sorted)
	for i, s := range sorted {
		p.coin[i] = uint64(s.count)
	}
	p.coin[n] = noWeight
	packs := 0 // number of packages that the previous row gives
	for r := range limit {
		p.packs[packs] = noWeight
		coins := &p.coins[r]
		coin, pack, items := 0, 0, min(2*n-2, n+packs)
		c, q := p.coin[0], p.packs[0]
		for i := range items {
			coins[i] = uint16(coin)
			if q < c {
				p.row[i] = q
				pack++
				q = p.packs[pack]
			} else {
				p.row[i] = c
				coin++
				c = p.coin[coin]
			}
		}
		coins[items] = uint16(coin)
		packs = items / 2
		for i := range packs {
			p.packs[i] = p.row[2*i] + p.row[2*i+1]
		}
	}
}

// depths counts those of n symbols with each code length and returns the maximum length, as
// Builder.depths does. The caller uses it only if that one exceeds the limit.
func (p *packages) depths(n int, num *[MaxSymbols]uint16, limit int) int {
	// The coins bought of a row are the codes longer than the number of rows behind it. Each
	// package bought is two items of the previous row.
	buy, longer := 2*n-2, n
	for l, last := 0, limit-1; buy > 0; l++ {
		bought := int(p.coins[last-l][buy])
		num[l] = uint16(longer - bought)
		buy, longer = 2*(buy-bought), bought
		num[l+1], limit = uint16(longer), l+1
	}
	return limit
}

package lz77

// chains finds the candidates of Recent by links from each position to the one before it with the same hash.
type chains struct {
	table []int32 // the latest position, by hash
	links []int32 // by position
	next  int     // first position not entered yet
	shift uint8   // 32 − log2 of the table
	mask  uint32  // see mix
}

func (c *chains) reset(params *Params, size int) {
	log := tableLog(params.HashLog, size)
	c.table = table(c.table, log)
	c.shift = 32 - log
	c.mask = mixMask(params.HashBytes)
	if cap(c.links) < size {
		c.links = make([]int32, size)
	}
	c.links = c.links[:size]
	c.next = 0
}

// insert enters the positions before i.
func (c *chains) insert(src []byte, i int) {
	table, links, shift, mask := c.table, c.links, c.shift&31, c.mask
	for p := c.next; p < i; p++ {
		h := mix(load64(src, p), mask) >> shift
		links[p] = table[h]
		table[h] = int32(p)
	}
	c.next = max(c.next, i)
}

// find is Matcher.find.
func (c *chains) find(src []byte, i, depth, minMatch, maxOffset, nice int) (n, offset int) {
	c.insert(src, i)
	v := load64(src, i)
	best := minMatch - 1
	at := int(c.table[mix(v, c.mask)>>(c.shift&31)])
	for k := depth; at >= 0 && k > 0; k-- {
		from, d := at, i-at
		if d < 16 {
			d = int(farEnough[d])
			from = i - d
		}
		if d > maxOffset {
			break
		}
		if from >= 0 && src[from+best] == src[i+best] && load32(src, from) == uint32(v) {
			if n := extend(src, from, i, 4); n > best {
				best, offset = n, d
				if n >= nice || i+n >= len(src) {
					break
				}
			}
		}
		at = int(c.links[at])
	}
	if offset == 0 {
		return 0, 0
	}
	return best, offset
}

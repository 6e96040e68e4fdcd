package kernels

// ParseSingle finds matches with one hash table, greedily. It is the fastest parser.
//
// Table entries: the low bits are a position, the bits of TagMask are a tag, bits of the hash that
// the table index does not use. A search computes entry XOR own tag. If the tags are equal this is
// the position; if not, it is a number beyond the block, which the comparison with the current
// position rejects. So no separate check of the tag is needed.
//
// A step looks at two neighbouring positions, so that their table loads overlap: the repeat offset
// at the second position, then a candidate for each. Without a match the step grows with the number
// of literals since the last one. A match extends backwards over literals, and two of its positions
// enter the table. The kernel compares 32 bytes of a match at a time.
//
// The portable twin, parseSinglePortable of package lz77, is the definition. The kernel finds the
// same matches and leaves the same table.

// SingleParse is the state and the parameters of ParseSingle. Positions and lengths are in bytes.
type SingleParse struct {
	At     int // next position to search, at least 1
	Anchor int // end of the last match, at most At
	Repeat int // repeat offset, at least 1; not used while it is above At+1
	End    int // matches begin before it; at most len(src)-16

	Mask    uint64 // selects the bytes to hash, out of 8
	Shift   uint64 // 64 − log2 of the number of table entries
	TagMask uint64 // bits of an entry that are a tag

	SkipLog      uint64 // below 64: a step grows by one position for each 1<<SkipLog literals
	MaxOffset    int
	MinMatch     int
	UpdateRepeat int // if not 0, each match sets Repeat
}

// rawSingle is the form in which the assembly knows a SingleParse.
type rawSingle = struct {
	At, Anchor, Repeat, End int
	Mask, Shift, TagMask    uint64
	SkipLog                 uint64
	MaxOffset, MinMatch     int
	UpdateRepeat            int
}

// ParseSingle continues a parse of src. It stops when At reaches End or seqs is full. It may stop
// anywhere else, to bound the time of a call. It returns the number of sequences written. ok =
// false means that the tier has no kernel: nothing is done.
//
// It panics if p is out of range. For any contents of table it touches nothing outside the slices.
//
// Portable twin: lz77/single.go.
func ParseSingle[S Sequence](
	p *SingleParse, src []byte, table []uint32, seqs []S,
) (n int, ok bool) {
	return parseSingleKernel(p, src, table, raw(seqs))
}

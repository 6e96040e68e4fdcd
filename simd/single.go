package simd

// SingleParse is how far lz77's greedy parse with one hash table is, and how it is to go on. Positions and lengths are in bytes.
type SingleParse struct {
	At     int // where to look for a match next, at least 1
	Anchor int // where the last one ended, at most At
	Repeat int // the last offset, at least 1; of no use if it is more than At+1
	End    int // matches begin before it, 16 bytes before the end of src at least

	Mask    uint64 // the bytes of 8 that are hashed
	Shift   uint64 // 64 − log2 of the number of entries
	TagMask uint64 // the bits of an entry that are a tag

	SkipLog      uint64 // below 64: steps grow by one for each 1<<SkipLog literals
	MaxOffset    int
	MinMatch     int
	UpdateRepeat int // not 0: each match sets Repeat
}

// rawSingle is how the assembly knows a SingleParse.
type rawSingle = struct {
	At, Anchor, Repeat, End int
	Mask, Shift, TagMask    uint64
	SkipLog                 uint64
	MaxOffset, MinMatch     int
	UpdateRepeat            int
}

// ParseSingle goes on with a parse of src, until At is End or more, or there is no room for more sequences, or at any other place, so that no call takes long. It returns
// how many sequences it has written. The portable twin, parseSingle of package lz77, is the definition.
//
// ok = false says that this tier has no such kernel. Whatever table holds, nothing outside of the slices is touched.
func ParseSingle[S Sequence](p *SingleParse, src []byte, table []uint32, seqs []S) (n int, ok bool) {
	return parseSingleKernel(p, src, table, raw(seqs))
}

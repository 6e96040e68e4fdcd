package kernels

// InflateState is the place of a Deflate decoder in its input and output.
type InflateState struct {
	In, Out int    // next byte of the input, and of the output
	Bits    uint64 // bits that have been loaded and not consumed, lowest first
	Count   uint   // how many of Bits are valid, at most 63
	Length  int    // of a match whose offset comes next, or 0
}

// InflateTables decode the symbols of a Deflate block. Package inflate has an essay on them.
type InflateTables struct {
	Literals [1 << 12]uint32 // and lengths
	Offsets  [1 << 9]uint32
}

const (
	// InflateInput is the least input of [Inflate] in bytes: two refills, at most seven bytes
	// apart.
	InflateInput = 16

	// InflateRoom is the least room of [Inflate] in bytes: two literals, the longest match, and up
	// to 31 bytes that its last chunk writes behind it, rounded up.
	InflateRoom = 300
)

// Inflate decodes symbols of a Deflate block from src[s.In:] into dst[s.Out:], while there are
// InflateInput bytes of input and InflateRoom bytes of room. Matches may copy from all of
// dst[:s.Out]. Inflate stops before whatever is neither a literal nor a valid match. If this is the
// offset of a match, s.Length becomes the length of the match, else 0. Inflate may stop before any
// other item. It may overwrite InflateRoom bytes behind the content.
//
// Bits of s.Bits that are not valid must be zero, or the bits that follow in src. Subtables must
// lie in their table. Inflate returns false if the tier has no kernel: nothing is done.
//
// Portable twin: internal/codec/inflate/fast.go.
func Inflate(s *InflateState, t *InflateTables, dst, src []byte) bool {
	s.checkRange(len(dst), len(src))
	return inflateKernel(s, t, dst, src)
}

// InflateSymbols is [Inflate] with content of 16-bit symbols. A literal becomes a symbol below 256.
// Matches copy any symbols. InflateRoom and s.Out are numbers of symbols.
//
// Portable twin: internal/codec/inflate/fast.go.
func InflateSymbols(s *InflateState, t *InflateTables, dst []uint16, src []byte) bool {
	s.checkRange(len(dst), len(src))
	return inflateSymbolsKernel(s, t, dst, src)
}

// checkRange panics if the kernels could leave their slices.
func (s *InflateState) checkRange(room, input int) {
	if uint(s.In) > uint(input) || uint(s.Out) > uint(room) || s.Count > 63 {
		panic("kernels: InflateState out of range")
	}
}

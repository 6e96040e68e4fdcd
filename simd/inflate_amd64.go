//go:build amd64 && !noasm

package simd

// The forms in which the assembly knows the types.
type (
	rawInflateState = struct {
		In, Out int
		Bits    uint64
		Count   uint
		Length  int
	}
	rawInflateTables = struct {
		Literals [4096]uint32
		Offsets  [512]uint32
	}
)

func inflateKernel(s *InflateState, t *InflateTables, dst, src []byte) bool {
	if current() == portable {
		return false
	}
	s.Length = 0
	for {
		piece := dst[:min(len(dst), s.Out+maxCallBytes)]
		inflateAVX2((*rawInflateState)(s), (*rawInflateTables)(t), piece, src)
		// The kernel goes on only if the room of the piece has stopped it.
		if s.Length > 0 || s.Out <= len(piece)-InflateRoom || len(piece) == len(dst) {
			return true
		}
	}
}

func inflateSymbolsKernel(s *InflateState, t *InflateTables, dst []uint16, src []byte) bool {
	if current() == portable {
		return false
	}
	s.Length = 0
	for {
		piece := dst[:min(len(dst), s.Out+maxCallBytes)]
		inflateSymbolsAVX2((*rawInflateState)(s), (*rawInflateTables)(t), piece, src)
		// As in inflateKernel.
		if s.Length > 0 || s.Out <= len(piece)-InflateRoom || len(piece) == len(dst) {
			return true
		}
	}
}

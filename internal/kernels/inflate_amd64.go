//go:build amd64 && !noasm

package kernels

import "github.com/gopz/compress/internal/cpu"

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
	if cpu.Current() == cpu.Portable {
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
	if cpu.Current() == cpu.Portable {
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

func resolveSymbolsKernel(dst []byte, symbols []uint16, table *SymbolTable) (n int, ok bool) {
	if cpu.Current() == cpu.Portable {
		return 0, false
	}
	for {
		end := min(len(symbols), n+maxCallBytes) // a multiple of 32, unless it is the last
		n += resolveSymbolsAVX2(dst[n:end], symbols[n:end], (*[33024]byte)(table))
		// The kernel goes on only if the end of the piece has stopped it.
		if end == len(symbols) || n < end {
			return n, true
		}
	}
}

//go:build amd64 && !noasm

package kernels

import (
	"unsafe"

	"github.com/gopz/compress/internal/cpu"
)

// rawPathParse is the form in which the assembly knows PathParse.
type rawPathParse = struct {
	At, End, From, Size                int
	MinNew, MinRepeat, Nice, MaxMisses int
	Drop                               uint64

	Src                   []byte
	Best, Literal, Second struct {
		Nodes []struct {
			Cost           [8]int32
			Length, Offset [8]uint32
		}
		States []struct {
			Repeats [3]uint32
			Run     uint32
		}
	}
	Literals  [][3]int32
	FirstCand []uint32
	Cands     []uint64

	RunClass                   *[320]uint8
	Match                      *[16][4][320]int32
	Offset                     *[256]int32
	Runs                       *struct{ More, Compared [320]int32 }
	Empty, MaxLag, LiteralCost int32
	LiteralFrom                uint32
	MaxSecondLag               int32
}

func relaxPathsKernel(p *PathParse) bool {
	if cpu.Current() == cpu.Portable {
		return false
	}
	raw := (*rawPathParse)(unsafe.Pointer(p))
	if p.Second.Nodes != nil {
		relaxSecondPathsAVX2(raw)
	} else {
		relaxPathsAVX2(raw)
	}
	return true
}

package testenv

import (
	"errors"
	"io"
)

// ErrSector is the error of a [BadSectors].
var ErrSector = errors.New("input/output error")

// BadSectors is a file of which some sectors of 4,096 bytes cannot be read.
type BadSectors struct {
	Data  []byte
	Bad   map[int64]bool // by number of the sector
	Bare  bool           // a read that fails does not return the bytes in front of the sector
	Reads int            // calls of ReadAt
}

// ReadAt reads up to the first bad sector.
func (f *BadSectors) ReadAt(p []byte, off int64) (n int, err error) {
	const sector = 4096
	f.Reads++
	for n < len(p) {
		at := off + int64(n)
		switch {
		case at >= int64(len(f.Data)):
			return n, io.EOF
		case f.Bad[at/sector] && f.Bare:
			return 0, ErrSector
		case f.Bad[at/sector]:
			return n, ErrSector
		}
		n += copy(p[n:], f.Data[at:min(int64(len(f.Data)), (at/sector+1)*sector)])
	}
	return n, nil
}

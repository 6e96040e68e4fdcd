package pzfile

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/ldm"
)

// Magic begins every stream.
const Magic = "PZ"

// Flags of a stream header.
const (
	flagContentSize = 1 << 0
	flagChecks      = 1 << 1
	flagWindow      = 1 << 2
	flagDictionary  = 1 << 3
)

// Header is the header of a stream.
type Header struct {
	Pipeline    uint8
	BlockSize   int   // a power of two, MinBlockSize … MaxBlockSize
	Checks      bool  // blocks carry checks of their content
	ContentSize int64 // −1 if the header does not say
	Window      int64 // bytes that references reach back, a power of two; 0 if there are none
	Sources     int   // most blocks that a block may refer to

	// Dictionary is the number of the dictionary in front of each block, 0 if there is none. A
	// stream with one has no window.
	Dictionary uint32

	// Small says that the stream is small. Only is then its block, of kind 0 if there is none, and
	// Sum the check of its content. BlockSize and ContentSize follow from Only.
	Small bool
	Only  Entry
	Sum   uint32
}

// Size returns the number of bytes that Append adds.
func (h *Header) Size() int {
	if h.Small {
		return smallHeaderSize(h.smallFlags())
	}
	return headerSizeOf(h.flags())
}

// flags returns the flags of the header.
func (h *Header) flags() (flags byte) {
	if h.ContentSize >= 0 {
		flags |= flagContentSize
	}
	if h.Checks {
		flags |= flagChecks
	}
	if h.Window > 0 {
		flags |= flagWindow
	}
	if h.Dictionary != 0 {
		flags |= flagDictionary
	}
	return flags
}

// headerSizeOf returns the size of a header with the given flags. The stream is not small.
func headerSizeOf(flags byte) int {
	n := MinHeaderSize
	if flags&flagContentSize != 0 {
		n += 8
	}
	if flags&flagWindow != 0 {
		n += 2
	}
	if flags&flagDictionary != 0 {
		n += 4
	}
	return n
}

// Append appends the header's bytes to dst.
func (h *Header) Append(dst []byte) []byte {
	if h.Small {
		return h.appendSmall(dst)
	}
	at := len(dst)
	dst = append(dst, Magic...)
	dst = append(dst, Version, h.Pipeline, byte(bits.TrailingZeros(uint(h.BlockSize))), h.flags())
	if h.ContentSize >= 0 {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(h.ContentSize))
	}
	if h.Window > 0 {
		dst = append(dst, byte(ldm.WindowLog(h.Window)), byte(h.Sources))
	}
	if h.Dictionary != 0 {
		dst = binary.LittleEndian.AppendUint32(dst, h.Dictionary)
	}
	return binary.LittleEndian.AppendUint32(dst, Checksum(0, dst[at:]))
}

// HeaderSize returns the size of the header that begins with p, from its first LeastHeader bytes.
// It fails if they are not a .pz header of a known version.
func HeaderSize(p []byte) (int, error) {
	if string(p[:len(Magic)]) != Magic {
		return 0, ErrMagic
	}
	if p[2] != Version {
		return 0, fmt.Errorf("%w %d", ErrVersion, p[2])
	}
	if p[4]&smallFlag != 0 {
		return smallHeaderSize(p[4]), nil
	}
	return headerSizeOf(p[5]), nil
}

// ParseHeader reads a header from p, whose length HeaderSize has returned.
func ParseHeader(p []byte) (Header, error) {
	var h Header
	if len(p) < LeastHeader {
		return h, fmt.Errorf("%w: header of %d bytes", ErrField, len(p))
	}
	size, err := HeaderSize(p)
	if err != nil {
		return h, err
	}
	if len(p) != size {
		return h, fmt.Errorf("%w: header of %d bytes", ErrField, len(p))
	}
	if p[4]&smallFlag != 0 {
		return parseSmall(p)
	}
	if binary.LittleEndian.Uint32(p[size-4:]) != Checksum(0, p[:size-4]) {
		return h, ErrChecksum
	}
	flags := p[5]
	if flags&^(flagContentSize|flagChecks|flagWindow|flagDictionary) != 0 {
		return h, fmt.Errorf("%w: unknown flags %#x", ErrVersion, flags)
	}
	if p[4] >= 31 || 1<<p[4] < MinBlockSize || 1<<p[4] > MaxBlockSize {
		return h, fmt.Errorf("%w: block size 2^%d", ErrField, p[4])
	}
	h = Header{Pipeline: p[3], BlockSize: 1 << p[4], Checks: flags&flagChecks != 0, ContentSize: -1}
	if flags&flagContentSize != 0 {
		h.ContentSize = int64(binary.LittleEndian.Uint64(p[6:]))
		if h.ContentSize < 0 {
			return h, fmt.Errorf("%w: content size %#x", ErrField, uint64(h.ContentSize))
		}
	}
	if flags&flagDictionary != 0 {
		h.Dictionary = binary.LittleEndian.Uint32(p[size-8:])
		if h.Dictionary == 0 || flags&flagWindow != 0 {
			return h, fmt.Errorf("%w: dictionary %d, flags %#x", ErrField, h.Dictionary, flags)
		}
	}
	if flags&flagWindow != 0 {
		log, sources := p[size-6], int(p[size-5])
		h.Window, h.Sources = 1<<min(log, 62), sources
		if !ldm.ValidWindow(h.Window) || sources < 1 || sources > ldm.MaxSources {
			return h, fmt.Errorf("%w: window 2^%d, %d sources", ErrField, log, sources)
		}
	}
	return h, nil
}

// MissingDictionary returns an error if a stream needs one dictionary while there is another, or
// none. 0 stands for no dictionary.
func MissingDictionary(needs, have uint32) error {
	if needs == 0 || needs == have {
		return nil
	}
	return &errs.WrongDictionary{Of: "the content", Needs: needs, Given: have != 0, Have: have}
}

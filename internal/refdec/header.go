package refdec

import "encoding/binary"

// A header holds the fields of a stream's header.
type header struct {
	size           int // of the header itself
	blockSize      uint32
	hasContentSize bool
	contentSize    uint64
	hasChecks      bool
	window         uint64 // 0 if the stream has none
	sources        byte   // most of a block
	dictionary     []byte // in front of each block; nil if the stream has none
	noDictionary   error  // for each block, if the stream has another dictionary
}

// headerSize returns the size of a header with the given flags.
func headerSize(flags byte) int {
	n := 10
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

// setDictionary makes the dictionary with a number that of the stream. If it is not dict, the
// stream must have no blocks.
func (h *header) setDictionary(number uint32, dict Dictionary) error {
	if number == 0 {
		return corrupt("dictionary 0")
	}
	h.dictionary = dict.Content
	if number != dict.Number {
		h.noDictionary = corrupt("dictionary %d, not %d", number, dict.Number)
	}
	return nil
}

func parseHeader(b []byte, dict Dictionary) (header, error) {
	var h header
	// Check the available part of the magic number first, so that other data is not reported as
	// truncated.
	for i := 0; i < len(magic) && i < len(b); i++ {
		if b[i] != magic[i] {
			return h, corrupt("magic number")
		}
	}
	if len(b) < 10 {
		return h, ErrTruncated
	}
	flags := b[5]
	h.hasContentSize = flags&flagContentSize != 0
	h.hasChecks = flags&flagContentChecks != 0
	h.size = headerSize(flags)
	if len(b) < h.size {
		return h, ErrTruncated
	}
	if crc(b[:h.size-4]) != binary.LittleEndian.Uint32(b[h.size-4:]) {
		return h, corrupt("header checksum")
	}
	if b[2] != version {
		return h, corrupt("version %d", b[2])
	}
	if b[3] != 1 && b[3] != 2 {
		return h, corrupt("pipeline %d", b[3])
	}
	if b[4] < minLogBlockSize || b[4] > maxLogBlockSize {
		return h, corrupt("block size 2^%d", b[4])
	}
	h.blockSize = 1 << b[4]
	if flags&^(flagContentSize|flagContentChecks|flagWindow|flagDictionary) != 0 ||
		flags&flagWindow != 0 && flags&flagDictionary != 0 {
		return h, corrupt("flags %#x", flags)
	}
	if h.hasContentSize {
		if h.contentSize = binary.LittleEndian.Uint64(b[6:]); h.contentSize >= 1<<63 {
			return h, corrupt("content size %#x", h.contentSize)
		}
	}
	chose(choiceBlockSize, int(b[4]))
	chose(choiceFlags, int(flags))
	if flags&flagWindow != 0 {
		log := b[h.size-6]
		if h.sources = b[h.size-5]; h.sources < 1 || h.sources > maxSources {
			return h, corrupt("%d sources", h.sources)
		}
		if log < minLogWindow || log > maxLogWindow {
			return h, corrupt("window of 2^%d bytes", log)
		}
		h.window = 1 << log
		chose(choiceWindow, int(log))
	}
	if flags&flagDictionary != 0 {
		return h, h.setDictionary(binary.LittleEndian.Uint32(b[h.size-8:]), dict)
	}
	return h, nil
}

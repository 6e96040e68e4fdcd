package archive

import (
	"archive/tar"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// A SparseFile is a file with holes, which the archive does not have. All other bytes of holes are
// zero. Files of an [FS] with holes implement it.
type SparseFile interface {
	// NextData returns where the next content at or behind an offset begins and ends, in bytes from
	// the beginning of the file. What is before it is a hole. Behind the last content it returns
	// the size of the file twice.
	NextData(offset int64) (begin, end int64)
}

// A piece is content between holes.
type piece struct {
	offset, size int64 // in the file
	at           int64 // in the archive
}

// maxPieces is the most pieces that a file may have.
const maxPieces = 1 << 20

// readMap finds the pieces of a file with holes, in one of the four ways that GNU tar has to store
// them. A map that makes no sense is an error of the file alone.
func (r *headerReader) readMap(h *header, flag byte, x *records) error {
	var numbers []int64 // offsets and sizes
	var err error
	at, stored := h.content, h.stored
	switch {
	case flag == tar.TypeGNUSparse:
		numbers, err = r.readOldMap(h)
		at = h.content
	case h.Typeflag != tar.TypeReg || x.sparseSize == "":
		return nil
	case x.major == "1" && x.minor == "0":
		var size int64
		numbers, size, err = r.readMap1(h)
		at, stored = at+size, stored-size
	case x.oldMap != nil:
		numbers, err = parseNumbers(*x.oldMap)
	default:
		numbers, err = parseNumbers(strings.Split(x.sparseMap, ","))
	}
	if err == io.ErrUnexpectedEOF {
		return err
	}
	h.sparse = true
	if flag != tar.TypeGNUSparse && err == nil {
		h.Size, err = strconv.ParseInt(x.sparseSize, 10, 64)
	}
	if err == nil {
		h.pieces, err = placePieces(numbers, h.Size, at, stored)
	}
	if err != nil {
		h.Size, h.badMap = max(h.Size, 0), tar.ErrHeader
	}
	return nil
}

// readOldMap reads a map in the header block and in blocks behind it.
func (r *headerReader) readOldMap(h *header) (numbers []int64, err error) {
	if string(h.block[257:265]) != "ustar  \x00" {
		return nil, tar.ErrHeader
	}
	var ok bool
	h.Size, ok = number(h.block[483:495])
	if !ok {
		err = tar.ErrHeader
	}
	entries, more := h.block[386:482], h.block[482] != 0
	for {
		for ; err == nil && len(entries) >= 24 && entries[0] != 0; entries = entries[24:] {
			offset, ok1 := number(entries[:12])
			size, ok2 := number(entries[12:24])
			if !ok1 || !ok2 || len(numbers) >= 2*maxPieces {
				err = tar.ErrHeader
				break
			}
			numbers = append(numbers, offset, size)
		}
		if !more {
			return numbers, err
		}
		if err := r.readFull(r.block[:], h.content); err != nil {
			return nil, err
		}
		h.content += blockSize
		entries, more = r.block[:504], r.block[504] != 0
	}
}

// readMap1 reads a map of size bytes in front of the content: lines with a number each, first that
// of the pieces.
func (r *headerReader) readMap1(h *header) (numbers []int64, size int64, err error) {
	r.buf.Reset(io.NewSectionReader(r.r, h.content, h.stored))
	for left := int64(1); left > 0; left-- {
		line, err := r.buf.ReadSlice('\n')
		if err != nil {
			return nil, 0, tar.ErrHeader
		}
		size += int64(len(line))
		n, err := strconv.ParseInt(string(line[:len(line)-1]), 10, 64)
		if err != nil {
			return nil, 0, err
		}
		if size > int64(len(line)) {
			numbers = append(numbers, n)
			continue
		}
		if n < 0 || n > maxPieces {
			return nil, 0, tar.ErrHeader
		}
		left += 2 * n
	}
	return numbers, roundUp(size), nil
}

func parseNumbers(texts []string) ([]int64, error) {
	if len(texts) == 1 && texts[0] == "" {
		return nil, nil
	}
	numbers := make([]int64, len(texts))
	for i, s := range texts {
		var err error
		numbers[i], err = strconv.ParseInt(s, 10, 64)
		if err != nil {
			return nil, err
		}
	}
	return numbers, nil
}

// placePieces makes pieces of offsets and sizes in a file of size bytes. The archive has their
// content, stored bytes, from at on.
func placePieces(numbers []int64, size, at, stored int64) ([]piece, error) {
	if len(numbers)%2 != 0 || len(numbers) > 2*maxPieces {
		return nil, tar.ErrHeader
	}
	pieces := make([]piece, 0, len(numbers)/2)
	last := int64(0)
	for pair := range slices.Chunk(numbers, 2) {
		p := piece{offset: pair[0], size: pair[1], at: at}
		if p.offset < last || p.size < 0 || p.size > stored || p.offset > size || p.size > size-p.offset {
			return nil, tar.ErrHeader
		}
		last, at, stored = p.offset+p.size, at+p.size, stored-p.size
		if p.size > 0 {
			pieces = append(pieces, p)
		}
	}
	if size < 0 {
		return nil, tar.ErrHeader
	}
	return pieces, nil
}

// sparseContent is the content of a file with holes.
type sparseContent struct {
	r      io.ReaderAt
	pieces []piece
	size   int64
}

// ReadAt reads pieces, and zeros for what is between them.
func (s *sparseContent) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) && off < s.size {
		begin, end := s.NextData(off)
		part := p[n:]
		if off < begin {
			part = part[:min(int64(len(part)), begin-off)]
			clear(part)
		} else {
			part = part[:min(int64(len(part)), end-off)]
			i := s.pieceAt(off)
			k, err := s.r.ReadAt(part, s.pieces[i].at+off-s.pieces[i].offset)
			if k < len(part) {
				if err == io.EOF {
					err = io.ErrUnexpectedEOF
				}
				return n + k, err
			}
		}
		n += len(part)
		off += int64(len(part))
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// pieceAt returns the number of the first piece that ends behind an offset.
func (s *sparseContent) pieceAt(off int64) int {
	return sort.Search(len(s.pieces), func(i int) bool { return s.pieces[i].offset+s.pieces[i].size > off })
}

// NextData implements [SparseFile].
func (s *sparseContent) NextData(off int64) (begin, end int64) {
	i := s.pieceAt(off)
	if i == len(s.pieces) {
		return s.size, s.size
	}
	p := s.pieces[i]
	return max(p.offset, off), p.offset + p.size
}

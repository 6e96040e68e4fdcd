package foreign

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/ulikunitz/xz/lzma"
)

// lzmaHead is the size of the header of an .lzma file and of the first byte of its data, which is
// zero.
const lzmaHead = lzma.HeaderLen + 1

// beginsLZMA reports whether a file begins like an .lzma file. The format has no magic number. As
// xz does, this looks for sizes that programs write.
func beginsLZMA(head []byte) bool {
	return len(head) >= lzmaHead && lzma.ValidHeader(head[:lzma.HeaderLen]) && head[lzma.HeaderLen] == 0
}

func openLZMA(r *bufio.Reader, maxMemory int64) (io.Reader, error) {
	head, err := r.Peek(lzma.HeaderLen)
	if err != nil {
		return nil, err
	}
	dict := int64(binary.LittleEndian.Uint32(head[1:]))
	if size := binary.LittleEndian.Uint64(head[5:]); size < uint64(dict) {
		dict = int64(size) // the package takes no more then
	}
	if dict > maxMemory {
		return nil, fmt.Errorf("%w than %d bytes for its dictionary", ErrMemory, maxMemory)
	}
	return newLZMA(&lzmaSource{r: r})
}

// lzmaSource is what package lzma reads: a header of .lzma, and what r holds.
type lzmaSource struct {
	head    bytes.Reader // if it is not in r
	r       *bufio.Reader
	n       uint64 // bytes of r that have been read
	stopped bool   // nothing follows
}

func (s *lzmaSource) ReadByte() (byte, error) {
	if s.stopped {
		return 0, io.EOF
	}
	b, err := s.r.ReadByte()
	if err == nil {
		s.n++
	}
	return b, err
}

func (s *lzmaSource) Read(p []byte) (int, error) {
	if s.head.Len() > 0 {
		return s.head.Read(p)
	}
	n, err := s.r.Read(p)
	s.n += uint64(n)
	return n, err
}

// lzmaReader returns all that was decoded in front of an error. Package lzma decodes as much as its
// dictionary holds, returns the error first, and the content if it is asked again. But it goes on
// decoding once it has returned all.
type lzmaReader struct {
	z   io.Reader // nil if it has returned all
	src *lzmaSource
	err error
}

func newLZMA(src *lzmaSource) (io.Reader, error) {
	z, err := lzma.NewReader(src)
	if err != nil {
		return nil, err
	}
	return &lzmaReader{z: z, src: src}, nil
}

func (l *lzmaReader) Read(p []byte) (n int, err error) {
	if l.err == nil {
		n, err = l.z.Read(p)
		if err == nil || err == io.EOF {
			return n, err
		}
		l.err, l.src.stopped = err, true
	}
	// A read of one byte decodes only if no content is left, and then fails without its source.
	for n < len(p) && l.z != nil {
		k, _ := l.z.Read(p[n : n+1])
		n += k
		if k == 0 {
			l.z = nil
		}
	}
	if n == 0 {
		return 0, l.err
	}
	return n, nil
}

const (
	lzipMagic   = "LZIP"
	lzipHead    = 6
	lzipTrailer = 20 // CRC-32 and size of the content, size of the member
)

// beginsLzip looks for a version and a size of the dictionary that exist.
func beginsLzip(head []byte) bool {
	return len(head) >= lzipHead && head[4] <= 1 && lzipDict(head[5]) > 0
}

// lzipDict returns the size of a dictionary in bytes, or 0 if there is no such size.
func lzipDict(code byte) int64 {
	size := int64(1) << (code & 31)
	size -= size / 16 * int64(code>>5)
	if size < 4<<10 || size > 512<<20 {
		return 0
	}
	return size
}

// lzipReader reads a member of lzip: an LZMA stream with an end mark between a header and a trailer
// of its own.
type lzipReader struct {
	src  lzmaSource
	z    io.Reader
	crc  uint32
	size uint64 // of the content so far
	done bool   // the trailer is right
}

var (
	errLzipTrailer = errors.New("lzip: the trailer does not agree with the member")
	errLzipHeader  = errors.New("lzip: the header of a member is damaged")
)

func openLzip(r *bufio.Reader, maxMemory int64) (io.Reader, error) {
	l := &lzipReader{src: lzmaSource{r: r}}
	var head [lzipHead]byte
	if _, err := io.ReadFull(&l.src, head[:]); err != nil {
		return nil, err
	}
	dict := lzipDict(head[5])
	switch {
	case head[4] != 1:
		return nil, fmt.Errorf("%w: version %d of lzip", ErrFeature, head[4])
	case dict == 0:
		return nil, errLzipHeader
	case dict > maxMemory:
		return nil, fmt.Errorf("%w than %d bytes for its dictionary", ErrMemory, maxMemory)
	}
	start := []byte{lzma.Properties{LC: 3, LP: 0, PB: 2}.Code()}
	start = binary.LittleEndian.AppendUint32(start, uint32(dict))
	start = binary.LittleEndian.AppendUint64(start, 1<<64-1) // the end mark says where the end is
	l.src.head.Reset(start)
	z, err := newLZMA(&l.src)
	l.z = z
	return l, err
}

func (l *lzipReader) Read(p []byte) (int, error) {
	if l.done {
		return 0, io.EOF
	}
	n, err := l.z.Read(p)
	l.crc = crc32.Update(l.crc, crc32.IEEETable, p[:n])
	l.size += uint64(n)
	if err == io.EOF {
		err = l.checkTrailer()
	}
	return n, err
}

// checkTrailer reads the trailer. It returns io.EOF if it is right.
func (l *lzipReader) checkTrailer() error {
	var t [lzipTrailer]byte
	if _, err := io.ReadFull(&l.src, t[:]); err != nil {
		return io.ErrUnexpectedEOF
	}
	if binary.LittleEndian.Uint32(t[:]) != l.crc || binary.LittleEndian.Uint64(t[4:]) != l.size ||
		binary.LittleEndian.Uint64(t[12:]) != l.src.n {
		return errLzipTrailer
	}
	l.done = true
	return io.EOF
}

// brokenLzip reports a header of which the beginning is there, and one that has two or three of the
// four bytes of the magic number, as lzip does.
func brokenLzip(p []byte) error {
	if len(p) < lzipHead && bytes.HasPrefix([]byte(lzipMagic), p[:min(len(p), 4)]) {
		return io.ErrUnexpectedEOF
	}
	same := 0
	for i := range min(len(p), 4) {
		if p[i] == lzipMagic[i] {
			same++
		}
	}
	if same > 1 {
		return errLzipHeader
	}
	return nil
}

package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gopz/compress"
)

const blockSize = 512 // of tar

// Types of entries that package tar has no names for.
const (
	typeSolarisRecords = 'X' // records as in TypeXHeader
	typeDumpDir        = 'D' // of GNU tar -g: a directory, with the names in it as content
	typeContinued      = 'M' // of GNU tar -M: the rest of a file that another volume begins
	typeLabel          = 'V' // of GNU tar -V
)

// maxText is the most bytes that a name, or a map of holes in a record, may have.
const maxText = 1 << 20

var errLong = fmt.Errorf("%w: a field of a tar header has more than %d bytes", compress.ErrTooLarge, maxText)

// A header is what the blocks in front of a content say about an entry. Package tar does not tell
// where they are, nor where the holes of a file are, and takes some cuts for the end of an archive.
type header struct {
	tar.Header        // Typeflag as typeOf returns it
	begin      int64  // of the first block
	content    int64  // where the content begins
	stored     int64  // bytes of content in the archive
	block      []byte // the last one, valid until the next header
	sparse     bool
	pieces     []piece // of a sparse file
	badMap     error   // pieces are not known
}

// A headerReader reads the headers of a tar file one after the other.
type headerReader struct {
	r      io.ReaderAt
	size   int64
	at     int64 // of the next block
	global records
	lone   bool // data follows a single block of zeros, where an archive has two
	buf    *bufio.Reader
	block  [blockSize]byte
}

func newHeaderReader(r io.ReaderAt, size, at int64) *headerReader {
	return &headerReader{r: r, size: size, at: at, buf: bufio.NewReader(nil)}
}

// next returns the next header. At the end of the archive it returns io.EOF. If the archive ends
// inside the content, next returns both the header and io.ErrUnexpectedEOF.
func (r *headerReader) next() (*header, error) {
	h := &header{begin: r.at, block: r.block[:]}
	x := r.global
	for {
		err := r.readBlock()
		if err == io.EOF && r.at > h.begin && r.at >= r.size {
			return nil, io.ErrUnexpectedEOF // behind a name or records
		}
		if err != nil {
			return nil, err
		}
		var ok bool
		h.stored, ok = number(r.block[124:136])
		if !ok || h.stored < 0 {
			return nil, tar.ErrHeader
		}
		h.Typeflag, h.content = r.block[156], r.at+blockSize
		switch h.Typeflag {
		case tar.TypeXGlobalHeader, tar.TypeXHeader, typeSolarisRecords, tar.TypeGNULongName,
			tar.TypeGNULongLink:
			err = r.readExtension(h, &x)
		default:
			err = r.finishHeader(h, &x)
			if err == nil {
				return h, r.skipContent(h)
			}
		}
		if err != nil {
			return nil, err
		}
	}
}

// findHeader goes to the next header behind a damaged one, which begins at an offset. It returns
// false if it finds none.
func (r *headerReader) findHeader(damaged int64) bool {
	for at := max(r.at, damaged+blockSize); at < r.size; at += blockSize {
		if n, _ := r.r.ReadAt(r.block[:], at); n < blockSize {
			return false
		}
		if sumMatches(r.block[:]) {
			r.at = at
			return true
		}
	}
	return false
}

// readExtension reads what is no entry, but says something about the next one or all others.
func (r *headerReader) readExtension(h *header, x *records) error {
	if err := r.skipContent(h); err != nil {
		return err
	}
	var err error
	switch h.Typeflag {
	case tar.TypeGNULongName:
		x.longName, err = r.readText(h)
	case tar.TypeGNULongLink:
		x.longLink, err = r.readText(h)
	case tar.TypeXGlobalHeader:
		err = r.readRecords(h, &r.global)
		*x = r.global
	default:
		err = r.readRecords(h, x)
	}
	return err
}

// readBlock reads the next block, which is that of a header. It returns io.EOF if that is the end
// of the archive.
func (r *headerReader) readBlock() error {
	n, err := r.r.ReadAt(r.block[:], r.at)
	switch {
	case n == 0 && r.at >= r.size:
		return io.EOF
	case n < blockSize && (err == nil || err == io.EOF):
		return io.ErrUnexpectedEOF
	case n < blockSize:
		return err
	case isZero(r.block[:]):
		n, err := r.r.ReadAt(r.block[:], r.at+blockSize)
		if err != nil && err != io.EOF {
			return err
		}
		r.lone = !isZero(r.block[:n])
		return io.EOF
	case !sumMatches(r.block[:]):
		return tar.ErrHeader
	}
	return nil
}

func isZero(p []byte) bool { return len(bytes.TrimLeft(p, "\x00")) == 0 }

// sumMatches compares the sum of a header block, whose bytes old programs take as signed.
func sumMatches(block []byte) bool {
	want, ok := number(block[148:156])
	unsigned, signed := int64(0), int64(0)
	for i, c := range block {
		if i >= 148 && i < 156 {
			c = ' '
		}
		unsigned += int64(c)
		signed += int64(int8(c))
	}
	return ok && (want == unsigned || want == signed)
}

// number reads a number in octal, or in binary with the highest bit set. Without digits it is 0.
func number(field []byte) (n int64, ok bool) {
	if field[0]&0x80 == 0 {
		// Some programs leave a zero in front, and end a number by a space.
		digits, _, _ := bytes.Cut(bytes.TrimPrefix(field, []byte{0}), []byte{0})
		digits, _, _ = bytes.Cut(bytes.TrimLeft(digits, " "), []byte{' '})
		if len(digits) == 0 {
			return 0, true
		}
		n, err := strconv.ParseInt(string(digits), 8, 64)
		return n, err == nil
	}
	n = int64(int8(field[0]<<1) >> 1)
	for _, c := range field[1:] {
		if n > math.MaxInt64>>8 || n < math.MinInt64>>8 {
			return 0, false
		}
		n = n<<8 | int64(c)
	}
	return n, true
}

// cString returns a field up to the first zero.
func cString(field []byte) string {
	s, _, _ := strings.Cut(string(field), "\x00")
	return s
}

// readText reads the content of an entry that is the name of the next one.
func (r *headerReader) readText(h *header) (string, error) {
	if h.stored > maxText {
		return "", errLong
	}
	p := make([]byte, h.stored)
	err := r.readFull(p, h.content)
	return cString(p), err
}

// readFull reads len(p) bytes.
func (r *headerReader) readFull(p []byte, at int64) error {
	n, err := r.r.ReadAt(p, at)
	switch {
	case n == len(p):
		return nil
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	}
	return err
}

// skipContent goes to the block behind the content and its padding.
func (r *headerReader) skipContent(h *header) error {
	rest := r.size - h.content
	if h.stored > rest || roundUp(h.stored) > rest {
		r.at = r.size
		return io.ErrUnexpectedEOF
	}
	r.at = h.content + roundUp(h.stored)
	return nil
}

// roundUp returns the size of the blocks that have n bytes of content.
func roundUp(n int64) int64 { return (n + blockSize - 1) &^ (blockSize - 1) }

// finishHeader fills in h from the last block and what is before it.
func (r *headerReader) finishHeader(h *header, x *records) error {
	b := h.block
	h.Name, h.Linkname = cString(b[:100]), cString(b[157:257])
	if string(b[257:263]) == "ustar\x00" {
		if prefix := cString(b[345:500]); prefix != "" {
			h.Name = prefix + "/" + h.Name
		}
	}
	mode, ok1 := number(b[100:108])
	sec, ok2 := number(b[136:148])
	if !ok1 || !ok2 {
		return tar.ErrHeader
	}
	h.Mode, h.ModTime = mode&0o7777, time.Unix(sec, 0)
	if err := x.apply(h); err != nil {
		return err
	}
	flag := h.Typeflag
	h.Typeflag = typeOf(flag, h.Name)
	switch {
	case h.Typeflag == tar.TypeDir && flag != typeDumpDir:
		if h.stored > 0 && r.followsHeader(h) {
			h.stored = 0
		}
	case flag >= tar.TypeLink && flag <= tar.TypeFifo:
		h.stored = 0 // there is no content, whatever the size says
	}
	h.Size = h.stored
	return r.readMap(h, flag, x)
}

// followsHeader reports whether what is at the place of the content is a header, or an end. Some
// programs state a size for directories that have no content.
func (r *headerReader) followsHeader(h *header) bool {
	next := headerReader{r: r.r, size: r.size, at: h.content}
	err := next.readBlock()
	return err == nil || err == io.EOF
}

// typeOf returns what an entry is, as GNU tar takes it: a regular file whose name ends in a slash
// is a directory, and so is what tar -g writes of one. Types that are not known are regular files.
func typeOf(flag byte, name string) byte {
	switch flag {
	case typeDumpDir:
		return tar.TypeDir
	case tar.TypeLink, tar.TypeSymlink, tar.TypeChar, tar.TypeBlock, tar.TypeDir, tar.TypeFifo,
		tar.TypeXGlobalHeader, typeContinued, typeLabel:
		return flag
	case 0, tar.TypeReg, tar.TypeCont:
		if strings.HasSuffix(name, "/") {
			return tar.TypeDir
		}
	}
	return tar.TypeReg
}

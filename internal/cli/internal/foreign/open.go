package foreign

import (
	"bufio"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"

	"github.com/dsnet/compress/brotli"
	"github.com/klauspost/compress/s2"
	"github.com/mikelolasagasti/xz"
)

const (
	xzMagic     = "\xfd7zXZ\x00"
	snappyMagic = "\xff\x06\x00\x00sNaPpY"
	s2Magic     = "\xff\x06\x00\x00S2sTwO"
)

// xzReader reads one stream of xz and the padding behind it. It names the errors of package xz.
type xzReader struct {
	z      *xz.Reader
	src    xzSource
	dict   uint32
	filter string // that package xz lacks; "" for none
}

func openXZ(r *bufio.Reader, maxMemory int64) (io.Reader, error) {
	x := &xzReader{dict: uint32(min(maxMemory, math.MaxUint32)), filter: missingFilter(r)}
	x.src.r = r
	z, err := xz.NewReader(&x.src, x.dict)
	x.z = z
	z.Multistream(false)
	return x, x.name(err)
}

// xzStep is how many bytes of content package xz decodes at a time. It loses what it has decoded of
// them in front of damage.
const xzStep = 4 << 10

func (x *xzReader) Read(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var k int
		k, err = x.z.Read(p[n:min(len(p), n+xzStep)])
		n += k
	}
	return n, x.name(err)
}

// reset begins the next stream.
func (x *xzReader) reset(r *bufio.Reader) error {
	x.src, x.filter = xzSource{r: r}, missingFilter(r)
	err := x.z.Reset(&x.src)
	x.z.Multistream(false)
	return x.name(err)
}

func (x *xzReader) name(err error) error {
	switch {
	case errors.Is(err, xz.ErrMemlimit):
		return fmt.Errorf("%w than %d bytes for its dictionary", ErrMemory, x.dict)
	case errors.Is(err, xz.ErrOptions) && x.filter != "":
		return &FilterError{x.filter}
	case errors.Is(err, xz.ErrUnsupportedCheck), errors.Is(err, xz.ErrOptions):
		return fmt.Errorf("%w: %w", ErrFeature, err)
	case errors.Is(err, xz.ErrBuf):
		return io.ErrUnexpectedEOF
	}
	return err
}

// A FilterError says that the data needs a filter that no library here has. It is an ErrFeature.
type FilterError struct {
	Filter string // its name, that of a processor
}

func (e *FilterError) Error() string { return "needs the filter for " + e.Filter }

func (e *FilterError) Unwrap() error { return ErrFeature }

// missingFilter returns the name of a filter that package xz lacks and the first block of a stream
// has, or "".
func missingFilter(r *bufio.Reader) string {
	const streamHeader, sizes, filters = 12, 0xc0, 3
	p, _ := r.Peek(64)
	if len(p) < streamHeader+2 {
		return ""
	}
	flags, p := p[streamHeader+1], p[streamHeader+2:]
	for n := bits.OnesCount8(flags & sizes); n > 0 && len(p) > 0; p = p[1:] {
		if p[0] < 0x80 { // ends a number
			n--
		}
	}
	for range flags & filters {
		switch {
		case len(p) < 2:
			return ""
		case p[0] == 0x0a:
			return "ARM64"
		case p[0] == 0x0b:
			return "RISC-V"
		}
		p = p[min(len(p), 2+int(p[1])):] // ID, size of the properties, these
	}
	return ""
}

// xzSource gives package xz no more than a stream and the padding behind it, although the package
// reads ahead. A stream ends in "YZ" at a multiple of 4 bytes. So a read ends where these stand.
// The next one returns four bytes, and so on while they are zero: padding. The package does not
// take other bytes behind the end, and so they stay in r.
type xzSource struct {
	r      *bufio.Reader
	at     int64 // bytes returned
	taken  int   // bytes of r returned by the last call
	last   byte  // returned
	behind bool  // what comes next may stand behind the end
}

func (s *xzSource) Read(p []byte) (int, error) {
	s.r.Discard(s.taken)
	s.taken = 0
	want := 1
	if s.behind {
		want = 4
	}
	data, err := s.r.Peek(want)
	if len(data) == 0 {
		return 0, err
	}
	if !s.behind {
		data, _ = s.r.Peek(s.r.Buffered())
	}
	n := copy(p, data)
	p = p[:n]
	s.behind = s.behind && n == 4 && string(p) == "\x00\x00\x00\x00"
	for i := 3 - int(s.at%4); i < n; i += 4 {
		before := s.last
		if i > 0 {
			before = p[i-1]
		}
		if before == 'Y' && p[i] == 'Z' {
			n, s.behind = i+1, true
			break
		}
	}
	s.at += int64(n)
	s.taken, s.last = n, p[n-1]
	if s.behind {
		s.r.Discard(n)
		s.taken = 0
	}
	return n, nil
}

// bzip2Reader reads streams of bzip2. The package reads on behind a stream as long as "BZh"
// follows.
type bzip2Reader struct {
	z   io.Reader
	src bzip2Source
}

// bzip2Source keeps the last 16 bytes.
type bzip2Source struct {
	*bufio.Reader
	high, low uint64
}

const (
	bzip2Block = "1AY&SY"       // begins a block
	bzip2End   = 0x177245385090 // begins the end of a stream, which 32 bits of a checksum follow
)

// beginsBzip2 looks for a level, and for a block or the end of an empty file.
func beginsBzip2(head []byte) bool {
	if len(head) < 10 || head[3] < '1' || head[3] > '9' {
		return false
	}
	block := head[4:10]
	return string(block) == bzip2Block || string(block) == "\x17\x72\x45\x38\x50\x90"
}

func openBzip2(r *bufio.Reader, _ int64) (io.Reader, error) {
	b := &bzip2Reader{src: bzip2Source{Reader: r}}
	b.z = bzip2.NewReader(&b.src)
	return b, nil
}

func (s *bzip2Source) ReadByte() (byte, error) {
	b, err := s.Reader.ReadByte()
	if err == nil {
		s.high, s.low = s.high<<8|s.low>>56, s.low<<8|uint64(b)
	}
	return b, err
}

// behind returns how many of the last bytes stand behind the end of a stream, or 0.
func (s *bzip2Source) behind() int {
	for n := 1; n <= 4; n++ {
		high, low := s.high>>(8*n), s.low>>(8*n)|s.high<<(64-8*n)
		for padding := range 8 {
			if (low>>(32+padding)|high<<(32-padding))&(1<<48-1) == bzip2End {
				return n
			}
		}
	}
	return 0
}

func (b *bzip2Reader) Read(p []byte) (int, error) {
	n, err := b.z.Read(p)
	var damage bzip2.StructuralError
	if (errors.As(err, &damage) || err == io.ErrUnexpectedEOF) && b.src.behind() > 0 {
		err = io.EOF
	}
	return n, err
}

// unread returns the bytes behind the end that the package has read.
func (b *bzip2Reader) unread() []byte {
	taken := make([]byte, 8)
	for i := range taken {
		taken[i] = byte(b.src.low >> (56 - 8*i))
	}
	return taken[len(taken)-b.src.behind():]
}

// brokenBzip2 reports a header and no more, or the beginning of one, as bzip2 does.
func brokenBzip2(p []byte) error {
	cut := len(p) == 4 && string(p[:3]) == "BZh" && '1' <= p[3] && p[3] <= '9'
	if cut || len(p) < 4 && string(p) == "BZh"[:len(p)] {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// beginsS2 reports whether a chunk may follow the first one, or nothing does.
func beginsS2(head []byte) bool {
	return len(head) == len(snappyMagic) || !endsChunks(head[len(snappyMagic)])
}

// endsChunks reports whether a byte begins no chunk that a reader may know or skip.
func endsChunks(kind byte) bool { return kind > 1 && kind < 0x80 }

// chunkReader gives package s2 no more than chunks of the framing format.
type chunkReader struct {
	r    *bufio.Reader
	left int // bytes of the chunk
}

func openS2(r *bufio.Reader, _ int64) (io.Reader, error) {
	return s2.NewReader(&chunkReader{r: r}), nil
}

func (c *chunkReader) Read(p []byte) (int, error) {
	if c.left == 0 {
		head, err := c.r.Peek(len(snappyMagic))
		switch {
		case len(head) == 0:
			return 0, err
		case head[0] == 0xff && string(head) != snappyMagic && string(head) != s2Magic:
			return 0, io.EOF
		case endsChunks(head[0]):
			return 0, io.EOF
		}
		c.left = 4
		if len(head) >= 4 {
			c.left += int(head[1]) | int(head[2])<<8 | int(head[3])<<16
		}
	}
	n, err := c.r.Read(p[:min(len(p), c.left)])
	c.left -= n
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func openBrotli(r *bufio.Reader, _ int64) (io.Reader, error) {
	return brotli.NewReader(r, nil) // takes only the bytes of the stream
}

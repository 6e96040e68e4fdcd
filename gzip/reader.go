package gzip

import (
	"compress/flate"
	"hash/crc32"
	"io"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/codec/inflate"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
)

// Reader decompresses .gz data: one member, or several whose contents it returns as one. Its Header
// is that of the first member. It verifies the trailer of each member when Read has returned all of
// the member's content; content counts only once [io.EOF] has come.
//
// Methods are for one goroutine at a time. The zero value is ready for Reset. Workers of a
// scheduler may decode large content; see the package.
type Reader struct {
	Header // of the first member, after NewReader or Reset

	opts    []compress.ReaderOption
	bytes   int64  // of compress.WithReadAhead
	ahead   *ahead // decodes the rest of the input; nil if the Reader does
	aheadAt int64  // where in the input to try that, in bytes
	begun   bool   // Read has been called

	r        source
	in       input
	inflater inflate.Decoder
	single   bool // stop behind a member

	buf      []byte // buf[:end] is content of the member: at least its last 32 KiB, or all
	out, end int    // buf[out:end] is not returned yet
	full     bool   // there was no room for more content
	ended    bool   // the member has no more content
	used     int64  // input used of the Deflate stream, in bytes
	before   int64  // of those before
	size     int64  // of the content so far, in bytes
	sum      uint32 // CRC-32 of the header, then of the content so far
	err      error  // what all calls of Read return
	bad      error  // what the Deflate stream ends with, for Close

	scratch [maxString]byte // for parts of header and trailer
}

const (
	// firstRoom is the first size of a Reader's buffer in bytes, and maxRoom the last.
	firstRoom = 8 << 10
	maxRoom   = inflate.WindowSize + 64<<10
)

// NewReader returns a Reader that reads from r, and reads the first header. Empty input is io.EOF.
// If r is no [io.ByteReader] the Reader may read more than the compressed data.
func NewReader(r io.Reader) (*Reader, error) {
	z := new(Reader)
	if err := z.Reset(r); err != nil {
		return nil, err
	}
	return z, nil
}

// NewReaderN is [NewReader] with a goroutine that reads r ahead, up to blocks times blockSize
// bytes, so that workers decode several parts at once. See [compress.WithReadAhead]. The name and
// the arguments are those of klauspost/pgzip. Numbers below 1, or that make more than 1 GiB, are an
// error.
func NewReaderN(r io.Reader, blockSize, blocks int) (*Reader, error) {
	if blockSize < 1 || blocks < 1 || int64(blockSize) > container.MaxReadAhead/int64(blocks) {
		return nil, errs.BadOption("read-ahead of %d blocks of %d bytes", blocks, blockSize)
	}
	z := new(Reader)
	if err := z.SetOptions(compress.WithReadAhead(int64(blockSize) * int64(blocks))); err != nil {
		return nil, err
	}
	if err := z.Reset(r); err != nil {
		z.Close()
		return nil, err
	}
	return z, nil
}

// Reset makes the Reader as [NewReader] returns it, reading from r. It keeps memory.
func (z *Reader) Reset(r io.Reader) error {
	z.stopAhead()
	z.r = z.in.startAhead(z.in.reset(r), z.bytes)
	z.single, z.bad, z.begun = false, nil, false
	z.beginMember()
	z.before, z.aheadAt = 0, aheadFrom
	z.Header, z.err = z.readHeader()
	z.sum = 0
	if z.err != nil {
		z.in.stopAhead()
	}
	return z.err
}

// Multistream chooses whether Read goes on behind a member, as it does after NewReader and Reset.
// With Multistream(false) Read returns [io.EOF] at the end of the member. A source that is an
// [io.ByteReader] is then right behind the member. Reset and another Multistream(false) begin the
// next member; Reset returns io.EOF if there is none.
func (z *Reader) Multistream(ok bool) { z.single = !ok }

// Close returns the error that the compressed content ended with, if there was one. It does not
// close the source, and frees nothing. Checksums have been verified only if Read has returned
// [io.EOF]. With [compress.WithReadAhead] it ends the Reader, which reads the source no more.
func (z *Reader) Close() error {
	if z.in.ahead != nil {
		z.stopAhead()
		z.in.stopAhead()
		if z.err == nil {
			z.err = errs.Closed
		}
	}
	return z.bad
}

// SetOptions chooses how large content is decoded, by [compress.WithConcurrency], WithScheduler,
// WithMaxMemory, WithContext or WithReadAhead. Other options of a [compress.Reader] have no effect.
// With WithReadAhead a goroutine reads the source ahead, and workers decode content of any source.
// An [io.ByteReader] is then not left behind a member. The goroutine begins with the next Reset, or
// now if there is none yet. With one worker the caller's goroutine decodes all content. With more
// the Reader decodes ahead however many others do, and takes up to [compress.DefaultReaderMemory].
// The options last until the next SetOptions, also after Reset. Call it before the first Read. An
// option that is out of its range, or not one of a compress.Reader, is a [compress.ErrOption], and
// the options remain as before.
func (z *Reader) SetOptions(opts ...compress.ReaderOption) error {
	if z.begun {
		return errReadBegun
	}
	a, err := newAhead(opts)
	if err != nil {
		return err
	}
	z.opts, z.bytes = append([]compress.ReaderOption(nil), opts...), a.bytes
	if z.r != nil {
		z.r = z.in.startAhead(z.r, z.bytes)
	}
	return nil
}

// Read reads up to len(p) bytes of content into p. Its errors are io.EOF behind the last member,
// [io.ErrUnexpectedEOF] for data that ends too early, [ErrHeader], [ErrChecksum], a
// [flate.CorruptInputError] for a damaged Deflate stream, and those of the source. With an empty p
// it returns 0 once there is content, or the error.
func (z *Reader) Read(p []byte) (n int, err error) {
	n, err = z.read(p)
	if err != nil {
		z.in.stopAhead()
	}
	return n, err
}

func (z *Reader) read(p []byte) (n int, err error) {
	switch {
	case z.err != nil:
		return 0, z.err
	case z.ahead != nil:
		return z.readAhead(p)
	}
	z.begun = true
	for {
		m := copy(p[n:], z.buf[z.out:z.end])
		n += m
		z.out += m
		switch {
		case z.out < z.end: // p is full
			return n, nil
		case z.bad != nil:
			z.err = z.bad
			return n, z.err
		case z.ended:
			if z.err = z.endMember(); n > 0 || z.err != nil {
				return n, z.err
			}
		case n > 0:
			return n, nil
		case !z.full && z.before+z.used >= z.aheadAt && z.goAhead():
			return z.readAhead(p)
		case z.err != nil:
			return 0, z.err
		default:
			z.decode()
		}
	}
}

// beginMember prepares for the content of a member.
func (z *Reader) beginMember() {
	z.inflater.Reset()
	z.in.beginStream()
	z.out, z.end, z.full, z.ended = 0, 0, false, false
	z.before += z.used
	z.used, z.size, z.sum = 0, 0, 0
}

// endMember verifies the trailer and goes to the next member.
func (z *Reader) endMember() error {
	sum, size, err := z.in.readTrailer(z.r, z.scratch[:])
	switch {
	case err != nil:
		return err
	case sum != z.sum || size != uint32(z.size):
		return ErrChecksum
	case z.single:
		return io.EOF
	}
	z.beginMember()
	_, err = z.readHeader()
	z.sum = 0
	return err
}

// decode decodes more content, all of the content before having been returned. What it ends with is
// in z.ended or z.bad.
func (z *Reader) decode() {
	z.makeRoom()
	from := z.end
	for more := true; more; {
		more = z.step()
		more = more && (z.end == from || !z.in.mayWait())
	}
	content := z.buf[from:z.end]
	z.sum = crc32.Update(z.sum, crc32.IEEETable, content)
	z.size += int64(len(content))
}

// step decodes from one piece of input. It reports whether another step makes sense.
func (z *Reader) step() (more bool) {
	var src []byte
	if !z.full {
		var err error
		src, err = z.in.next()
		if err != nil {
			z.bad = noEOF(err)
			return false
		}
	}
	n, used, err := z.inflater.Decode(z.buf, z.end, src)
	z.in.use(used)
	z.used += int64(used)
	z.end += n
	z.full = err == nil && z.end == len(z.buf)
	switch err {
	case nil:
		return !z.full
	case io.EOF:
		z.ended = true
		z.bad = z.in.endStream()
		return false
	}
	z.bad = err
	if at, ok := z.inflater.Corrupt(err); ok {
		z.bad = flate.CorruptInputError(at)
	}
	return false
}

// makeRoom makes room in the buffer behind the window.
func (z *Reader) makeRoom() {
	switch n := len(z.buf); {
	case n-z.end >= firstRoom/2:
	case n < maxRoom:
		p := make([]byte, min(max(firstRoom, 4*n), maxRoom))
		copy(p, z.buf[:z.end])
		z.buf = p
	default:
		z.end = copy(z.buf, z.buf[z.end-min(z.end, inflate.WindowSize):z.end])
	}
	z.out = z.end
}

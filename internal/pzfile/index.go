package pzfile

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/index"
	"github.com/gopz/compress/internal/section"
)

// ReadIndex makes the index of a .pz file of size bytes from the indexes of its streams, which it
// finds from the end of the file. It takes no more memory than the limits allow, nor more than a
// small multiple of size. known reports whether there is a pipeline with a number. Without an index
// at the end, the error comes from a scan from the front.
func ReadIndex(
	src io.ReaderAt, size int64, limits *container.Limits, known func(uint8) bool,
) (*index.File, error) {
	r := streamReader{src: src, size: size, limits: limits, scan: Scanner{Known: known}, doubtful: -1}
	err := r.readFile()
	if err != nil && r.doubtful >= 0 && section.Find(src, r.doubtful) < r.doubtful {
		err = r.readFile()
	}
	if err != nil {
		return nil, err
	}
	return r.x, nil
}

// readFile reads the index of all streams.
func (r *streamReader) readFile() error {
	x := &index.File{Format: container.PZ, Size: r.size}
	distrusted := r.doubtful
	r.x = x
	var units int64 // as many as blocks, unless blocks have short headers
	for pos := r.size; pos > 0 || len(x.Streams) == 0; {
		f, at, err := r.before(pos, distrusted)
		if err != nil {
			return diagnose(r.src, r.size, r.scan.Known, err)
		}
		if at < pos {
			pos = at
			continue
		}
		if f.Content < 0 {
			r.doubtful = pos
		}
		pos -= f.Size
		units += f.Units
		if len(x.Streams) == cap(x.Streams) {
			if err := checkGrowth(x, r.limits); err != nil {
				return err
			}
		}
		x.Streams = append(x.Streams, index.Stream{
			Offset: pos, Size: f.Size, Content: f.Content, Blocks: f.Units,
		})
		if err := checkMemory(x, units, r.limits); err != nil {
			return err
		}
	}
	slices.Reverse(x.Streams)
	x.Blocks = make([]index.Block, 0, units)
	for i := range x.Streams {
		st := &x.Streams[i]
		small := st.Content < 0
		if err := r.read(i); err != nil {
			if small { // its footer has no check, so it may not be one
				r.doubtful = st.Offset + st.Size
				err = diagnose(r.src, r.size, r.scan.Known, err)
			}
			return err
		}
	}
	return nil
}

// before returns the footer of the stream that ends at pos, or where a section begins that ends
// there. What seems to be the footer of a small stream at distrusted is none.
func (r *streamReader) before(pos, distrusted int64) (f Footer, at int64, err error) {
	tail := r.buf[:min(pos, FooterSize)]
	if err := container.ReadAt(r.src, tail, pos-int64(len(tail))); err != nil {
		return f, pos, err
	}
	at, err = sectionBefore(r.src, pos, tail)
	if err == nil && at == pos {
		f, err = footerBefore(tail, pos)
		if err != nil || pos == distrusted {
			at = section.Find(r.src, pos)
		}
		if at < pos {
			r.limits.SawSection(false)
			return f, at, nil
		}
	} else if err == nil && r.limits.ChecksSections() {
		_, found, intact := section.Check(r.src, at, pos)
		r.limits.SawSection(intact || !found)
	}
	return f, at, err
}

// footerBefore parses the footer at the end of tail, which ends at pos. Its checksum is compared
// later. That of a small stream does not tell the content: Content is −1, and Units an upper bound.
func footerBefore(tail []byte, pos int64) (f Footer, err error) {
	fail := func(off int64, detail string) error {
		e := errs.At(errs.Corrupt, off, detail)
		e.Part = errs.PartIndex
		return e
	}
	if size, ok := parseSmallFooter(tail); ok && size <= pos {
		return Footer{Content: -1, Size: size, Units: 1}, nil
	}
	if pos < MinStreamSize {
		return f, fail(0, "no room for a stream")
	}
	f, err = ParseFooter(tail)
	if err == nil && f.Size > pos {
		err = errors.New("stream begins before the file does")
	}
	if err != nil {
		return f, fail(pos-FooterSize, "index: "+err.Error())
	}
	return f, nil
}

// diagnose finds out from the front why there is no index at the end: no .pz data at all, cut
// short, or something behind it. If nothing is wrong there, err is the error.
func diagnose(src io.ReaderAt, size int64, known func(uint8) bool, err error) error {
	var e *errs.Error
	if !errors.As(err, &e) {
		return err // the input cannot be read
	}
	if serr := check(src, size, known); serr != nil {
		return serr
	}
	return err
}

// check verifies everything of a file of size bytes but the payloads, which it passes over.
func check(src io.ReaderAt, size int64, known func(uint8) bool) error {
	s := Scanner{Known: known}
	section := io.NewSectionReader(src, 0, size)
	s.resetInput(section)
	for {
		e, _, err := s.next()
		switch {
		case err == io.EOF:
			return nil
		case err == container.ErrNothingYet:
		case err != nil:
			return err
		case int64(e.Payload) > size-s.off:
			return s.failBlock(errs.Truncated, size)
		default:
			section.Seek(int64(e.Payload), io.SeekCurrent)
			s.off += int64(e.Payload)
		}
	}
}

// checkMemory returns an error if an index of so many blocks takes more memory than the limit.
func checkMemory(x *index.File, blocks int64, limits *container.Limits) error {
	limit := limits.Memory()
	if x.Memory(blocks) <= limit {
		return nil
	}
	return errs.OutOfMemory(0,
		"an index of more than %d blocks takes more than the limit of %d bytes", blocks, limit)
}

// checkGrowth returns an error if the list of streams takes more memory than the limit while it
// grows: it exists twice then.
func checkGrowth(x *index.File, limits *container.Limits) error {
	n, limit := int64(len(x.Streams)), limits.Memory()
	if 2*index.StreamMemory*n <= limit {
		return nil
	}
	return errs.OutOfMemory(0,
		"an index of more than %d streams takes more than the limit of %d bytes", n, limit)
}

// A streamReader reads the streams of a file from the first one on.
type streamReader struct {
	x        *index.File
	src      io.ReaderAt
	size     int64
	limits   *container.Limits
	scan     Scanner // knows how to read a header, and what to say of a bad one
	doubtful int64   // where a small stream seems to end, but the rest does not fit; or -1
	buf      [8 << 10]byte
}

// read reads header and index of stream i and appends its blocks. The stream's Blocks are the units
// of its index before, and its blocks after that.
func (sr *streamReader) read(i int) error {
	x, src, s := sr.x, sr.src, &sr.scan
	st := &x.Streams[i]
	s.resetInput(io.NewSectionReader(src, st.Offset, st.Size))
	s.stream, s.off, s.before = i, st.Offset, x.Content
	if err := s.header(); err != nil {
		if err == io.EOF {
			err = s.fail(errs.Truncated, errs.PartHeader, st.Offset, "")
		}
		return err
	}
	st.Pipeline, st.BlockSize, st.Checks = s.head.Pipeline, s.head.BlockSize, s.head.Checks
	st.Sources, st.Window, st.Dictionary = s.head.Sources, s.head.Window, s.head.Dictionary
	st.ContentOffset, st.First, st.ID = x.Content, int64(len(x.Blocks)), i
	if s.head.Small != (st.Content < 0) {
		return s.fail(errs.Corrupt, errs.PartHeader, st.Offset, "header differs from the footer")
	}
	if s.head.Small {
		return s.small(x, st)
	}
	tail := st.Offset + st.Size - TailSize(st.Blocks)
	r := indexReader{x: x, blockSize: st.BlockSize, offset: s.off, limits: sr.limits}
	f, err := r.readTail(src, sr.buf[:], tail, st.Blocks)
	if errors.Is(err, ErrField) || errors.Is(err, ErrChecksum) || errors.Is(err, ErrMagic) {
		return s.parseError(err, errs.PartIndex, -1, tail)
	}
	st.Blocks = int64(len(x.Blocks)) - st.First
	announced := s.head.ContentSize
	if err == nil && (r.offset != tail || f.Content != st.Content ||
		announced >= 0 && announced != st.Content) {
		err = errSum
	}
	if err == errMarker || err == errSum {
		return s.fail(errs.Corrupt, errs.PartIndex, tail, err.Error())
	}
	return err
}

// An indexReader appends the blocks of an index to a File.
type indexReader struct {
	x         *index.File
	blockSize int // most content of a block
	limits    *container.Limits
	offset    int64 // of the next block
	content   int64 // bytes of content so far
	size      int64 // bytes of the entries so far
	short     bool  // one of them is short
	padded    bool  // only zeros may follow
	err       error // too many blocks for the memory
}

// What is wrong with an index.
var (
	errMarker = errors.New("index does not begin where it should")
	errSum    = errors.New("index does not add up")
)

// readTail reads end marker, index and footer, which begin at tail and have so many units. buf is
// for the index.
func (r *indexReader) readTail(src io.ReaderAt, buf []byte, tail, units int64) (f Footer, err error) {
	var marker, want [EndMarkerSize]byte
	if err := container.ReadAt(src, marker[:], tail); err != nil {
		return f, err
	}
	if !IsEndMarker(marker[:]) {
		return f, errMarker
	}
	sum := Checksum(0, marker[:])
	pos, end := tail+EndMarkerSize, tail+TailSize(units)-FooterSize
	kept := 0
	for pos < end {
		// The front of buf has the rest of the piece before: a part of an entry.
		p := buf[kept:min(int64(len(buf)), int64(kept)+end-pos)]
		if err := container.ReadAt(src, p, pos); err != nil {
			return f, err
		}
		pos += int64(len(p))
		sum = Checksum(sum, p)
		p = buf[:kept+len(p)]
		used, err := r.read(p)
		if err != nil {
			return f, err
		}
		kept = copy(buf, p[used:])
	}
	if r.err != nil {
		return f, r.err
	}
	if err := container.ReadAt(src, buf[:FooterSize], end); err != nil {
		return f, err
	}
	f, err = ParseFooter(buf)
	if err == nil {
		err = f.CheckTail(sum, buf)
	}
	appendEndMarker(want[:0], units, r.short)
	if err == nil && (kept > 0 || f.Units != units || f.Content != r.content ||
		indexUnits(r.size) != units || marker != want) {
		err = errSum
	}
	return f, err
}

// read reads the entries that p has whole and returns how many bytes they have.
func (r *indexReader) read(p []byte) (used int, err error) {
	for used < len(p) && r.err == nil {
		q := p[used:]
		if r.padded || q[0] == 0 {
			// Zeros fill the last unit, if entries are short.
			r.padded = true
			if !r.short || len(q) >= UnitSize {
				return used, fmt.Errorf("%w: block of kind 0", ErrField)
			}
			for _, b := range q {
				if b != 0 {
					return used, fmt.Errorf("%w: padding of the index", ErrField)
				}
			}
			return len(p), nil
		}
		if len(q) < entrySize(q[0]) {
			return used, nil
		}
		e, err := ParseEntry(q, r.blockSize)
		if err != nil {
			return used, err
		}
		if len(r.x.Blocks) == cap(r.x.Blocks) {
			if r.err = checkMemory(r.x, 2*int64(len(r.x.Blocks)), r.limits); r.err != nil {
				break
			}
		}
		b := e.block(r.offset)
		b.Content = r.x.Content
		r.x.Blocks = append(r.x.Blocks, b)
		r.offset += int64(b.Size)
		r.content += int64(e.Raw)
		r.x.Content += int64(e.Raw)
		r.size += int64(e.Size())
		r.short = r.short || e.Short
		used += e.Size()
	}
	return used, nil
}

// block returns the block at an offset that has the entry.
func (e Entry) block(offset int64) index.Block {
	return index.Block{
		Offset: offset, Size: int32(e.HeaderSize() + e.Payload), Raw: int32(e.Raw), Kind: e.Kind,
		Short: e.Short, Flushed: e.Flushed,
	}
}

// sameEntry reports whether two blocks have the same index entry.
func sameEntry(a, b *index.Block) bool {
	return a.Size == b.Size && a.Kind == b.Kind && a.Raw == b.Raw && a.Short == b.Short &&
		a.Flushed == b.Flushed
}

// OpenBlock verifies the header of the block that p holds against its index entry b, and returns
// the payload, which is part of p, and the check of the content. number is the block's in st.
func OpenBlock(
	p []byte, b *index.Block, st *index.Stream, number int64,
) (payload []byte, sum uint32, err error) {
	var size int
	var got index.Block
	if p[0] == Magic[0] { // as no block of another stream begins
		size, got, sum, err = openSmall(p, b.Offset, st)
	} else {
		h := Header{Pipeline: st.Pipeline, BlockSize: st.BlockSize, Checks: st.Checks}
		var e Entry
		e, sum, err = ParseBlockHeader(p, &h, number)
		size, got = e.HeaderSize(), e.block(b.Offset)
	}
	if err == nil && sameEntry(&got, b) {
		return p[size:], sum, nil
	}
	kind, detail := errs.Corrupt, "header differs from the index"
	if err == ErrChecksum {
		kind, detail = errs.Checksum, err.Error()
	}
	return nil, 0, &errs.Error{
		Kind: kind, Part: errs.PartBlock, Stream: st.ID, Block: number, Offset: b.Offset, Detail: detail,
	}
}

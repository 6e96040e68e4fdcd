package compress

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"sort"

	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/pipeline"
)

// index is where everything is in a .pz file, or in a .zst file that has a seek table. That is one stream; its header is made up.
type index struct {
	format  pipeline.Format
	frame   int   // bytes of the longest frame of a .zst file
	size    int64 // of the file
	content int64
	streams []stream
	blocks  []blockRef // of all streams
}

// stream is a stream of a file.
type stream struct {
	hdr     pzfile.Header
	offset  int64
	size    int64
	content int64 // offset of its content
	length  int64 // of its content
	first   int64 // number in the file of its first block
	blocks  int64

	// Recover makes a stream of each row of intact blocks.
	id   int   // number of the stream
	skip int64 // number in the stream of the first block
}

// blockRef is a block of a file.
type blockRef struct {
	offset  int64 // of its header
	content int64 // offset of its content
	payload int32 // bytes of payload
	raw     int32 // bytes of content
	kind    uint8
	sum     uint32 // of a frame's content, if the seek table has sums
}

// Memory of one of each, in bytes.
const (
	streamMemory = 128
	refMemory    = 32
)

func (b *blockRef) size() int64 {
	if b.kind == frameKind {
		return int64(b.payload)
	}
	return pzfile.BlockHeaderSize + int64(b.payload)
}

// pipeline is the one that decodes the stream's blocks.
func (st *stream) pipeline() *pipeline.Pipeline {
	if st.hdr.Pipeline == 0 {
		return pipeline.ByName("lzf")
	}
	return pipeline.ByID(st.hdr.Pipeline)
}

// readAt fills p. The end of the input is ErrTruncated.
func readAt(ra io.ReaderAt, p []byte, off int64) error {
	n, err := ra.ReadAt(p, off)
	switch {
	case n == len(p):
		return nil
	case err == io.EOF:
		return &Error{Kind: ErrTruncated, Block: -1, Offset: off + int64(n)}
	case err == nil:
		return errBadCount
	}
	return err
}

// readIndex finds the streams of a file from its end, and their blocks. It takes no more memory than limit, nor more
// than a small multiple of size.
func readIndex(ra io.ReaderAt, size, limit int64) (*index, error) {
	var magic [sniffSize]byte
	n := min(size, sniffSize)
	if err := readAt(ra, magic[:n], 0); err != nil {
		return nil, err
	}
	switch format, known, _ := sniff(magic[:n]); {
	case known && format == pipeline.ZST:
		return readSeekTables(ra, size, limit)
	case known:
		return nil, noIndex(format)
	case !bytes.HasPrefix(magic[:], []byte(pzfile.Magic)) && endsInSeekTable(ra, size):
		return readSeekTables(ra, size, limit) // the first frame is damaged, and no other
	}
	x := &index{size: size}
	var blocks int64
	for pos := size; pos > 0 || len(x.streams) == 0; {
		f, err := readFooter(ra, pos)
		if err != nil {
			return nil, diagnose(ra, size, err)
		}
		pos -= f.Size
		blocks += f.Blocks
		x.streams = append(x.streams, stream{offset: pos, size: f.Size, length: f.Content, blocks: f.Blocks})
		if m := x.memory(blocks); m > limit {
			return nil, &Error{Kind: ErrMemory, Block: -1, Offset: -1,
				Detail: fmt.Sprintf("an index of %d blocks and more takes more than the limit of %d bytes", blocks, limit)}
		}
	}
	for i, j := 0, len(x.streams)-1; i < j; i, j = i+1, j-1 {
		x.streams[i], x.streams[j] = x.streams[j], x.streams[i]
	}
	x.blocks = make([]blockRef, 0, blocks)
	var buf [8 << 10]byte
	for i := range x.streams {
		if err := x.readStream(ra, i, buf[:]); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// memory is what the index takes with that many blocks.
func (x *index) memory(blocks int64) int64 {
	return streamMemory*int64(len(x.streams)) + refMemory*blocks
}

// readFooter reads the footer that ends at pos. That the sum is right is seen later.
func readFooter(ra io.ReaderAt, pos int64) (f pzfile.Footer, err error) {
	if pos < pzfile.MinStreamSize {
		return f, &Error{Kind: ErrCorrupt, Block: -1, Offset: 0, Detail: "no room for a stream"}
	}
	var p [pzfile.FooterSize]byte
	if err := readAt(ra, p[:], pos-pzfile.FooterSize); err != nil {
		return f, err
	}
	f, err = pzfile.ParseFooter(p[:])
	if err == nil && f.Size > pos {
		err = errors.New("stream begins in front of the file")
	}
	if err != nil {
		return f, &Error{Kind: ErrCorrupt, Block: -1, Offset: pos - pzfile.FooterSize, Detail: "index: " + err.Error()}
	}
	return f, nil
}

// diagnose finds out, from the front, why there is no index at the end: no .pz data at all, cut short, or something
// behind it.
func diagnose(ra io.ReaderAt, size int64, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err // the input cannot be read
	}
	var s scanner
	s.reset(io.NewSectionReader(ra, 0, size))
	for {
		e, _, serr := s.next()
		switch serr {
		case nil:
			if serr = s.within(e.Payload, size); serr == nil {
				serr = s.skip(e.Payload)
			}
		case errStreamEnd:
			serr = nil
		case io.EOF:
			return err
		}
		if serr != nil {
			return serr
		}
	}
}

// readStream reads header and index of stream i, those before it being read, and appends its blocks.
func (x *index) readStream(ra io.ReaderAt, i int, buf []byte) error {
	st := &x.streams[i]
	// The scanner knows how headers are read, and what to say.
	var s scanner
	s.reset(io.NewSectionReader(ra, st.offset, st.size))
	s.stream, s.off, s.before = i, st.offset, x.content
	if err := s.header(); err != nil {
		if err == io.EOF {
			err = s.fail(ErrTruncated, false, st.offset, "")
		}
		return err
	}
	st.hdr, st.content, st.first, st.id = s.hdr, x.content, int64(len(x.blocks)), i
	offset := s.off
	tail := st.offset + st.size - pzfile.TailSize(st.blocks)
	bad := func(err error) error { return s.wrong(err, false, tail, "index") }

	if err := readAt(ra, buf[:pzfile.EndMarkerSize], tail); err != nil {
		return err
	}
	if !pzfile.IsEndMarker(buf) {
		return s.fail(ErrCorrupt, false, tail, "index does not begin where it should")
	}
	sum := pzfile.Checksum(0, buf[:pzfile.EndMarkerSize])
	pos, end := tail+pzfile.EndMarkerSize, st.offset+st.size-pzfile.FooterSize
	for pos < end {
		p := buf[:min(int64(len(buf)), end-pos)] // both are multiples of an entry
		if err := readAt(ra, p, pos); err != nil {
			return err
		}
		pos += int64(len(p))
		sum = pzfile.Checksum(sum, p)
		for ; len(p) > 0; p = p[pzfile.EntrySize:] {
			e, err := pzfile.ParseEntry(p, st.hdr.BlockSize)
			if err != nil {
				return bad(err)
			}
			b := blockRef{offset: offset, content: x.content, payload: int32(e.Payload), raw: int32(e.Raw), kind: e.Kind}
			x.blocks = append(x.blocks, b)
			offset += b.size()
			x.content += int64(e.Raw)
		}
	}
	if err := readAt(ra, buf[:pzfile.FooterSize], end); err != nil {
		return err
	}
	f, err := pzfile.ParseFooter(buf)
	if err == nil {
		err = f.CheckTail(sum, buf)
	}
	switch {
	case err != nil:
		return bad(err)
	case offset != tail, x.content-st.content != st.length, st.hdr.ContentSize >= 0 && st.hdr.ContentSize != st.length:
		return s.fail(ErrCorrupt, false, tail, "index does not add up")
	}
	return nil
}

// find returns the number of the block that holds the content at off, which is less than x.content.
func (x *index) find(off int64) int64 {
	n := sort.Search(len(x.blocks), func(i int) bool { return x.blocks[i].content > off })
	return int64(n) - 1
}

// streamOf returns the stream with that block, and the block's number in it.
func (x *index) streamOf(block int64) (st *stream, number int64) {
	n := sort.Search(len(x.streams), func(i int) bool { return x.streams[i].first > block })
	st = &x.streams[n-1]
	return st, block - st.first + st.skip
}

// info describes the file.
func (x *index) info() Info {
	info := Info{Format: formatNames[x.format], Seekable: true, Size: x.size, Content: x.content, Blocks: int64(len(x.blocks))}
	for i := range x.streams {
		st := &x.streams[i]
		unchecked, name := st.blocks, ""
		if x.format == pipeline.PZ {
			name = st.pipeline().Name
		}
		if st.hdr.Checks {
			unchecked = 0
		}
		info.Streams = append(info.Streams, StreamInfo{
			Offset:        st.offset,
			Size:          st.size,
			ContentOffset: st.content,
			Content:       st.length,
			Blocks:        st.blocks,
			Unchecked:     unchecked,
			Pipeline:      name,
			BlockSize:     st.hdr.BlockSize,
			Checks:        st.hdr.Checks,
		})
	}
	return info
}

var kindNames = [...]string{frameKind: "frame", pzfile.Stored: "stored", pzfile.Fill: "fill", pzfile.Coded: "coded"}

// all goes through the blocks.
func (x *index) all() iter.Seq[BlockInfo] {
	return func(yield func(BlockInfo) bool) {
		for i := range x.streams {
			st := &x.streams[i]
			for n := range st.blocks {
				b := &x.blocks[st.first+n]
				if !yield(BlockInfo{
					Stream:        i,
					Number:        n,
					Kind:          kindNames[b.kind],
					Offset:        b.offset,
					Size:          b.size(),
					ContentOffset: b.content,
					Content:       int64(b.raw),
				}) {
					return
				}
			}
		}
	}
}

package compress

import (
	"fmt"
	"io"

	"github.com/gopz/compress/internal/zstfile"
)

// zstFrame goes through one frame of zstd and passes its bytes on, to the end of the frame and no further. It verifies how the
// blocks follow one another, not what is in them.
type zstFrame struct {
	in     *input
	number int64 // of the frame in the file; skippable ones do not count
	offset int64
	hdr    zstfile.Header

	head   [zstfile.MaxHeaderSize]byte
	part   []byte // of head, to be passed on
	rest   int64  // bytes to be passed on behind part
	last   bool   // the header of the last block has been read
	summed bool   // so has the checksum, or will be with rest
	blocks int64
	sum    uint32 // the checksum, once Read has passed it on
	bound  int64  // content that the blocks so far can have at most, in bytes
	err    error  // io.EOF at the end
}

func (f *zstFrame) fail(kind error, off int64, detail string) error {
	f.err = &Error{Kind: kind, Block: f.number, Offset: off, Detail: detail}
	return f.err
}

// broken says what it means that the input ends, or fails.
func (f *zstFrame) broken(err error) error {
	if isEnd(err) {
		return f.fail(ErrTruncated, f.in.off(), "")
	}
	f.err = err
	if e, ok := underneath(err); ok {
		f.err = e
	}
	return f.err
}

// begin reads the header of the frame whose magic number is magic.
func (f *zstFrame) begin(in *input, number int64, magic []byte) error {
	*f = zstFrame{in: in, number: number, offset: in.off() - int64(len(magic))}
	n := copy(f.head[:], magic)
	if _, err := readFull(in, f.head[n:zstfile.MinHeaderSize]); err != nil {
		return f.broken(err)
	}
	size, err := zstfile.HeaderSize(f.head[:zstfile.MinHeaderSize])
	if err == nil {
		if _, err := readFull(in, f.head[zstfile.MinHeaderSize:size]); err != nil {
			return f.broken(err)
		}
		f.hdr, _, err = zstfile.ParseHeader(f.head[:size])
	}
	switch {
	case err != nil:
		return f.fail(ErrCorrupt, f.offset, "frame header: "+err.Error())
	case f.hdr.Dictionary != 0:
		return f.fail(ErrVersion, f.offset, fmt.Sprintf("the frame needs dictionary %d", f.hdr.Dictionary))
	}
	f.part = f.head[:size]
	return nil
}

// step goes on to what follows the bytes passed on so far: the next block, the checksum, or, with io.EOF, nothing.
func (f *zstFrame) step() error {
	switch {
	case f.err != nil:
		return f.err
	case f.last && f.hdr.Checksum && !f.summed:
		f.summed, f.rest = true, zstfile.ChecksumSize
		return nil
	case f.last && f.hdr.ContentSize > f.bound:
		return f.fail(ErrCorrupt, f.offset, "less content than the frame's header announces")
	case f.last:
		f.err = io.EOF
		return io.EOF
	}
	at, p := f.in.off(), f.head[:zstfile.BlockHeaderSize]
	if _, err := readFull(f.in, p); err != nil {
		return f.broken(err)
	}
	b, err := zstfile.ParseBlockHeader(p)
	if err != nil {
		return f.fail(ErrCorrupt, at, "block header: "+err.Error())
	}
	f.part, f.rest, f.last = p, int64(b.Size), b.Last
	f.blocks++
	if b.Content < 0 {
		b.Content = zstfile.MaxBlock
	}
	f.bound += int64(b.Content)
	return nil
}

// Read passes bytes on.
func (f *zstFrame) Read(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	for f.between() {
		if err := f.step(); err != nil {
			return 0, err
		}
	}
	if len(f.part) > 0 {
		n := copy(p, f.part)
		f.part = f.part[n:]
		return n, nil
	}
	n, err := f.in.Read(p[:min(int64(len(p)), f.rest)])
	f.rest -= int64(n)
	if f.summed {
		for _, b := range p[:n] {
			f.sum = f.sum>>8 | uint32(b)<<24
		}
	}
	if n == 0 && err != nil {
		return 0, f.broken(err)
	}
	return n, nil
}

// between reports whether all bytes of the blocks so far have been passed on.
func (f *zstFrame) between() bool { return len(f.part) == 0 && f.rest == 0 }

// buffered reports whether the next block is there, with the checksum if it is the last one, or the frame is at its end.
func (f *zstFrame) buffered() bool {
	if f.last && f.summed == f.hdr.Checksum {
		return f.rest == 0
	}
	br := f.in.br
	if !f.between() || br.Buffered() < zstfile.BlockHeaderSize {
		return false
	}
	p, _ := br.Peek(zstfile.BlockHeaderSize)
	b, err := zstfile.ParseBlockHeader(p)
	return err == nil && br.Buffered() >= zstfile.BlockHeaderSize+b.Size+zstfile.ChecksumSize
}

// whole passes over a frame of a file that is read at random, from its header to its end, which is io.EOF, or until it is sure to be longer than limit.
func (f *zstFrame) whole(limit int64) error {
	for {
		f.part = nil
		if f.in.off()-f.offset > limit-min(f.rest, f.in.left()) {
			return nil
		}
		if err := f.in.skip(f.rest); err != nil {
			return f.broken(err)
		}
		f.rest = 0
		if err := f.step(); err != nil {
			return err
		}
	}
}

// gather appends bytes of the frame to p, up to its end, which is io.EOF, or until enough says so or p has limit bytes. Memory
// grows with what has come in, by powers of two.
func (f *zstFrame) gather(p []byte, limit int, enough func() bool) ([]byte, error) {
	for len(p) < limit && !enough() {
		if len(p) == cap(p) {
			q := make([]byte, len(p), min(limit, max(4<<10, ceilPow2(len(p)+1))))
			copy(q, p)
			p = q
		}
		n, err := f.Read(p[len(p):min(cap(p), limit)])
		p = p[:len(p)+n]
		if err != nil {
			return p, err
		}
	}
	return p, nil
}

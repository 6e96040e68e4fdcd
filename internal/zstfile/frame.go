package zstfile

import (
	"io"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/zstframe"
)

// A Frame goes through one frame of a file, from block to block. As an io.Reader it returns the
// frame's bytes, up to the end of the frame and no further. It verifies how the blocks follow one
// another, and does not look into them.
type Frame struct {
	Number int64 // of the frame in the file; skippable frames do not count
	Offset int64
	Header Header

	in *container.Input

	phase  framePhase
	head   [zstframe.MaxHeaderSize]byte
	part   []byte // of head, to be returned next
	rest   int64  // bytes to be returned behind part
	blocks int64
	sum    uint32 // the checksum, once Read has returned it
	bound  int64  // most content that the blocks so far can have, in bytes
	err    error  // ends the frame: io.EOF behind its last byte
}

// framePhase says which part of a frame Read returns. After the last part Frame.err is io.EOF.
type framePhase uint8

const (
	frameHeader framePhase = iota
	frameBlock             // a block that is not the last one
	lastBlock
	frameChecksum
)

// fail sets f.err, which all later calls return.
func (f *Frame) fail(kind error, part errs.Part, off int64, detail string) error {
	f.err = &errs.Error{Kind: kind, Part: part, Block: f.Number, Offset: off, Detail: detail}
	return f.err
}

// broken converts a read error. The end of the input becomes errs.Truncated.
func (f *Frame) broken(err error) error {
	f.err = container.Broken(err, func() error {
		return f.fail(errs.Truncated, errs.PartBlock, f.in.Offset(), "")
	})
	return f.err
}

// beginFrame reads the header of the frame whose magic number has been read.
func (f *Frame) beginFrame(in *container.Input, number int64, magic []byte) error {
	*f = Frame{in: in, Number: number, Offset: in.Offset() - int64(len(magic))}
	n := copy(f.head[:], magic)
	if _, err := container.ReadFull(in, f.head[n:zstframe.MinHeaderSize]); err != nil {
		return f.broken(err)
	}
	size, err := zstframe.HeaderSize(f.head[:zstframe.MinHeaderSize])
	if err == nil {
		if _, err := container.ReadFull(in, f.head[zstframe.MinHeaderSize:size]); err != nil {
			return f.broken(err)
		}
		f.Header, _, err = zstframe.ParseHeader(f.head[:size])
	}
	if err != nil {
		return f.fail(errs.Corrupt, errs.PartHeader, f.Offset, "frame header: "+err.Error())
	}
	f.part = f.head[:size]
	return nil
}

// restart goes back to the end of the header, as the input does.
func (f *Frame) restart() {
	*f = Frame{in: f.in, Number: f.Number, Offset: f.Offset, Header: f.Header}
}

// checkDictionary returns an error if the frame names another dictionary than d.
func (f *Frame) checkDictionary(d Dictionary) error {
	id := f.Header.Dictionary
	if d == nil {
		if id == 0 {
			return nil
		}
	} else if d.Serves(id) {
		return nil
	}
	wrong := &errs.WrongDictionary{Of: "the frame", Needs: id, Given: d != nil}
	if d != nil {
		wrong.Have = d.ID()
	}
	f.err = &errs.Error{
		Kind: errs.Dictionary, Part: errs.PartHeader, Block: f.Number, Offset: f.Offset, Err: wrong,
	}
	return f.err
}

// step goes on to what follows the bytes returned so far: the next block, the checksum, or, with
// io.EOF, nothing.
func (f *Frame) step() error {
	switch {
	case f.err != nil:
		return f.err
	case f.phase == lastBlock && f.Header.Checksum:
		f.phase, f.rest = frameChecksum, zstframe.ChecksumSize
		return nil
	case f.phase >= lastBlock && f.Header.ContentSize > f.bound:
		detail := "less content than the frame's header announces"
		return f.fail(errs.Corrupt, errs.PartHeader, f.Offset, detail)
	case f.phase >= lastBlock:
		f.err = io.EOF
		return io.EOF
	}
	at, p := f.in.Offset(), f.head[:zstframe.BlockHeaderSize]
	if _, err := container.ReadFull(f.in, p); err != nil {
		return f.broken(err)
	}
	b, err := zstframe.ParseBlock(p)
	if err != nil {
		return f.fail(errs.Corrupt, errs.PartBlock, at, "block header: "+err.Error())
	}
	f.part, f.rest, f.phase = p, int64(b.Size), frameBlock
	if b.Last {
		f.phase = lastBlock
	}
	f.blocks++
	f.bound += b.MaxContent()
	return nil
}

// Read returns bytes of the frame.
func (f *Frame) Read(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	for f.betweenBlocks() {
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
	if f.phase == frameChecksum {
		for _, b := range p[:n] {
			f.sum = f.sum>>8 | uint32(b)<<24
		}
	}
	if n == 0 && err != nil {
		return 0, f.broken(err)
	}
	return n, nil
}

// betweenBlocks reports whether all bytes of the blocks so far have been returned.
func (f *Frame) betweenBlocks() bool { return len(f.part) == 0 && f.rest == 0 }

// nextBuffered reports whether the next block is in the input's buffer, with the checksum if it is
// the last one, or the frame is at its end.
func (f *Frame) nextBuffered() bool {
	br := f.in.Buffer()
	switch {
	case f.phase == frameChecksum, f.phase == lastBlock && !f.Header.Checksum:
		return f.rest == 0
	case f.phase == lastBlock:
		return f.rest == 0 && br.Buffered() >= zstframe.ChecksumSize
	}
	if !f.betweenBlocks() || br.Buffered() < zstframe.BlockHeaderSize {
		return false
	}
	p, _ := br.Peek(zstframe.BlockHeaderSize)
	b, err := zstframe.ParseBlock(p)
	if err != nil {
		return false
	}
	n := zstframe.BlockHeaderSize + b.Size
	if b.Last && f.Header.Checksum {
		n += zstframe.ChecksumSize
	}
	return br.Buffered() >= n
}

// skip passes over the frame in a file that is read at random. It returns io.EOF at the end of the
// frame, and nil once the frame is longer than limit.
func (f *Frame) skip(limit int64) error {
	for {
		f.part = nil
		if f.in.Offset()-f.Offset > limit-min(f.rest, f.in.Left()) {
			return nil
		}
		if err := f.in.Skip(f.rest); err != nil {
			return f.broken(err)
		}
		f.rest = 0
		if err := f.step(); err != nil {
			return err
		}
	}
}

// appendTo appends bytes of the frame to p until it has limit bytes, or mayRead reports false where
// a read may have to wait. It returns io.EOF at the end of the frame, and container.ErrNothingYet
// where it may have to wait. The memory of p grows with the bytes read, by powers of two.
func (f *Frame) appendTo(p []byte, limit int, mayRead func(n int) bool) ([]byte, error) {
	for len(p) < limit {
		if !f.readable(mayRead) {
			return p, container.ErrNothingYet
		}
		if len(p) == cap(p) {
			q := make([]byte, len(p), min(limit, max(4<<10, container.CeilPow2(len(p)+1))))
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

// readable reports whether Read will not wait for input, or mayRead allows that. mayRead reports
// whether n bytes are in the input's buffer, or the input has ended.
func (f *Frame) readable(mayRead func(n int) bool) bool {
	switch {
	case f.err != nil, len(f.part) > 0:
		return true
	case f.rest > 0, f.phase == lastBlock && f.Header.Checksum:
		return mayRead(1)
	case f.phase >= lastBlock:
		return true
	}
	return mayRead(zstframe.BlockHeaderSize)
}

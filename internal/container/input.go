package container

import (
	"bufio"
	"errors"
	"io"

	"github.com/gopz/compress/internal/errs"
)

// A Start is an input of which the first bytes have been read to tell its format.
type Start struct {
	Reader io.Reader
	Memory []byte // the whole input, if it is in memory; then Reader is nil

	Head    []byte // what has been read of Reader: DetectSize bytes, or fewer with HeadErr
	HeadErr error

	// NonBlocking means that a read never waits for another process, so reading ahead is safe.
	NonBlocking bool
	// Ready reports whether one read would not wait. Nil stands for unknown.
	Ready func() bool
}

// ReadStart reads the first bytes of src into head.
func ReadStart(src io.Reader, head *[DetectSize]byte, nonBlocking bool) Start {
	n, err := ReadFull(src, head[:])
	return Start{Reader: src, Head: head[:n], HeadErr: err, NonBlocking: nonBlocking}
}

// MemoryStart is ReadStart for an input in memory.
func MemoryStart(p []byte) Start {
	if p == nil {
		p = []byte{}
	}
	s := Start{Memory: p, Head: p[:min(len(p), DetectSize)], NonBlocking: true}
	if len(p) < DetectSize {
		s.HeadErr = io.EOF
	}
	return s
}

// An Input is a file that is read from the front, or skipped through. It counts the bytes used,
// and may buffer more. Input wraps errors of the underlying reader, so that SourceError finds them
// behind a decoder.
type Input struct {
	memory  []byte        // the whole file, if it is in memory; then buf is not used by Read
	buf     *bufio.Reader // reads from raw
	raw     rawInput
	section *io.SectionReader // set if the file is read at random
}

// rawInput is what the bufio.Reader of an Input reads from.
type rawInput struct {
	head   []byte // read already
	first  [DetectSize]byte
	src    io.Reader
	memory []byte // in place of src
	count  int64  // bytes given to the bufio.Reader
	fault  sourceError
	err    error // ends src

	reading bool // a call of src is under way
}

// sourceError marks an error of the underlying reader.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return e.err.Error() }

// SourceError returns the error of the underlying reader if err comes from it.
func SourceError(err error) (error, bool) {
	var s *sourceError
	if errors.As(err, &s) {
		return s.err, true
	}
	return nil, false
}

func (r *rawInput) Read(p []byte) (int, error) {
	if len(r.head) > 0 {
		n := copy(p, r.head)
		r.head = r.head[n:]
		r.count += int64(n)
		return n, nil
	}
	if r.src == nil {
		n := copy(p, r.memory[r.count:])
		r.count += int64(n)
		if n == 0 && len(p) > 0 {
			return 0, io.EOF
		}
		return n, nil
	}
	if r.err != nil {
		return 0, r.err
	}
	for range maxEmptyReads {
		r.reading = true
		n, err := r.src.Read(p)
		r.reading = false
		if n < 0 || n > len(p) {
			n, err = 0, errs.BadCount
		}
		r.count += int64(n)
		if err != nil && err != io.EOF {
			r.fault.err = err
			err = &r.fault
		}
		r.err = err
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
	}
	r.fault.err = io.ErrNoProgress
	r.err = &r.fault
	return 0, r.err
}

// Reset begins a file. It keeps its buffer from file to file.
func (in *Input) Reset(s *Start) {
	in.ResetDirect(s)
	if in.buf == nil {
		in.buf = bufio.NewReaderSize(&in.raw, InputBuffer)
	} else {
		in.buf.Reset(&in.raw)
	}
}

// ResetDirect begins a file without a buffer: only ReadDirect, Offset and Release may be called.
func (in *Input) ResetDirect(s *Start) {
	r := &in.raw
	*r = rawInput{src: s.Reader, memory: s.Memory}
	in.section = nil
	if in.memory = s.Memory; in.memory != nil {
		r.src = nil
	} else {
		r.head = r.first[:copy(r.first[:], s.Head)]
	}
}

// walkBuffer is how much is read at once, in bytes, of a file of which only headers are read.
const walkBuffer = 4 << 10

// ResetAt begins a file that is read at random.
func (in *Input) ResetAt(src io.ReaderAt, size int64) {
	in.memory = nil
	in.section = io.NewSectionReader(src, 0, size)
	in.raw = rawInput{src: in.section}
	in.buf = bufio.NewReaderSize(&in.raw, walkBuffer)
}

// ResetBytes begins a file in memory of which the first used bytes have been used. It needs no
// buffer: only Read, Offset, Left and Skip may be called.
func (in *Input) ResetBytes(p []byte, used int) {
	*in = Input{memory: p, buf: in.buf}
	in.raw.memory, in.raw.count = p, int64(used)
	if in.buf != nil {
		in.buf.Reset(&in.raw)
	}
}

// Release drops the references to the file and keeps the buffer.
func (in *Input) Release() {
	in.memory, in.section = nil, nil
	in.raw = rawInput{}
	if in.buf != nil {
		in.buf.Reset(&in.raw)
	}
}

// Memory returns the whole file if it is in memory, else nil.
func (in *Input) Memory() []byte { return in.memory }

// Walks reports whether the file is read at random, for its headers only.
func (in *Input) Walks() bool { return in.section != nil }

// Reading reports whether a call of the underlying reader is under way, or panicked.
func (in *Input) Reading() bool { return in.raw.reading }

// Buffer returns the buffer that Read reads from unless the file is in memory.
func (in *Input) Buffer() *bufio.Reader { return in.buf }

// Offset returns the number of bytes used.
func (in *Input) Offset() int64 {
	if in.buf == nil {
		return in.raw.count
	}
	return in.raw.count - int64(in.buf.Buffered())
}

// Read reads some bytes.
func (in *Input) Read(p []byte) (int, error) {
	if in.memory != nil {
		return in.raw.Read(p)
	}
	return in.buf.Read(p)
}

// Unread goes back by p, which are the last bytes that were used.
func (in *Input) Unread(p []byte) {
	if in.memory != nil {
		in.raw.count -= int64(len(p))
		return
	}
	ahead, _ := in.buf.Peek(in.buf.Buffered())
	again := append(append(make([]byte, 0, len(p)+len(ahead)), p...), ahead...)
	in.raw.count -= int64(len(again))
	in.raw.head = append(again, in.raw.head...)
	in.buf.Reset(&in.raw)
}

// ReadDirect reads some bytes past the buffer, which must be empty.
func (in *Input) ReadDirect(p []byte) (int, error) { return in.raw.Read(p) }

// Random reports whether Skip takes no time.
func (in *Input) Random() bool { return in.memory != nil || in.section != nil }

// Left returns the bytes not used yet of a file for which Random is true.
func (in *Input) Left() int64 {
	if in.section != nil {
		return in.section.Size() - in.Offset()
	}
	return int64(len(in.memory)) - in.raw.count
}

// Known returns the bytes that are known to be left: in memory, in the buffer, and in a source that
// tells.
func (in *Input) Known() int64 {
	if in.Random() {
		return in.Left()
	}
	return int64(in.buf.Buffered()+len(in.raw.head)) + known(in.raw.src)
}

// Skip passes over n bytes.
func (in *Input) Skip(n int64) error {
	if !in.Random() {
		_, err := in.buf.Discard(int(n))
		return err
	}
	left := in.Left()
	n, short := min(n, left), n > left
	switch {
	case in.memory != nil:
		in.raw.count += n
	case n > int64(in.buf.Buffered()):
		in.section.Seek(in.Offset()+n, io.SeekStart)
		in.raw.count = in.Offset() + n
		in.buf.Reset(&in.raw)
	default:
		in.buf.Discard(int(n))
	}
	if short {
		return io.EOF
	}
	return nil
}

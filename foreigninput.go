package compress

import (
	"bufio"
	"errors"
	"io"
)

// inputBuffer is how much of a foreign file is read at once, in bytes.
const inputBuffer = 128 << 10

// input is a foreign file as it comes in, counting bytes. It may be read ahead of what is used. Errors of the reader underneath come as a sourceError, so that
// nobody takes them for something else.
type input struct {
	mem []byte        // the whole file, if it is in memory
	br  *bufio.Reader // reads from raw; not used where mem is read directly
	raw rawInput
	at  *io.SectionReader // or the file is this, and hardly anything of it needed
}

// rawInput is what a bufio.Reader reads from.
type rawInput struct {
	head  []byte // has been read already
	buf   [sniffSize]byte
	src   io.Reader
	mem   []byte // or that
	count int64  // bytes given out
	fault sourceError

	reading bool // inside src
}

// sourceError is an error of the reader underneath.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return e.err.Error() }

// underneath returns the error of the reader underneath if that is what err is about.
func underneath(err error) (error, bool) {
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
		n := copy(p, r.mem[r.count:])
		r.count += int64(n)
		if n == 0 && len(p) > 0 {
			return 0, io.EOF
		}
		return n, nil
	}
	for range maxEmptyReads {
		r.reading = true
		n, err := r.src.Read(p)
		r.reading = false
		if n < 0 || n > len(p) {
			n, err = 0, errBadCount
		}
		r.count += int64(n)
		if err != nil && err != io.EOF {
			r.fault.err = err
			err = &r.fault
		}
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
	}
	r.fault.err = io.ErrNoProgress
	return 0, &r.fault
}

// begin takes the file over from a scanner that has looked at the first bytes.
func (in *input) begin(s *scanner) {
	r := &in.raw
	*r = rawInput{src: s.src, mem: s.mem}
	if in.mem = s.mem; in.mem != nil {
		r.src = nil
	} else {
		r.head = r.buf[:copy(r.buf[:], s.buf[:s.peeked])]
	}
	if in.br == nil {
		in.br = bufio.NewReaderSize(r, inputBuffer)
	} else {
		in.br.Reset(r)
	}
}

// walkBuffer is how much of a file is read at once of which only headers are of interest, in bytes.
const walkBuffer = 4 << 10

// beginAt begins a file that is to be read at random.
func (in *input) beginAt(ra io.ReaderAt, size int64) {
	in.at = io.NewSectionReader(ra, 0, size)
	in.raw = rawInput{src: in.at}
	in.br = bufio.NewReaderSize(&in.raw, walkBuffer)
}

func (in *input) forget() {
	in.mem = nil
	in.raw = rawInput{}
	if in.br != nil {
		in.br.Reset(&in.raw)
	}
}

// off is how many bytes have been used.
func (in *input) off() int64 {
	if in.br == nil {
		return in.raw.count
	}
	return in.raw.count - int64(in.br.Buffered())
}

// Read reads what there is.
func (in *input) Read(p []byte) (int, error) {
	if in.mem != nil {
		return in.raw.Read(p)
	}
	return in.br.Read(p)
}

// random reports whether skip takes no time.
func (in *input) random() bool { return in.mem != nil || in.at != nil }

// left is how many bytes of a file that is read at random have not been used.
func (in *input) left() int64 {
	if in.at != nil {
		return in.at.Size() - in.off()
	}
	return int64(len(in.mem)) - in.raw.count
}

// skip passes over n bytes.
func (in *input) skip(n int64) error {
	if !in.random() {
		_, err := in.br.Discard(int(n))
		return err
	}
	left := in.left()
	n, short := min(n, left), n > left
	if in.mem == nil {
		if have := int64(in.br.Buffered()); n > have {
			in.at.Seek(in.off()+n, io.SeekStart)
			in.raw.count = in.off() + n
			in.br.Reset(&in.raw)
		} else {
			in.br.Discard(int(n))
		}
	} else {
		in.raw.count += n
	}
	if short {
		return io.EOF
	}
	return nil
}

package zipmethod

import (
	"archive/zip"
	"bufio"
	"compress/flate"
	"io"
	"sync"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/codec/inflate"
	"github.com/gopz/compress/internal/container"
)

// Decompressor returns a decompressor for a method, [Deflate] or [Zstd], to register with
// [zip.Reader.RegisterDecompressor] or [zip.RegisterDecompressor]. The options are those of a
// [compress.Reader], such as [compress.WithMaxMemory]. Deflate ignores them.
//
// The error of a damaged file is a [flate.CorruptInputError] or that of a compress.Reader. If an
// option for Zstd is out of its range or not one of a compress.Reader, reading a file fails with
// [compress.ErrOption]. For another method it fails with [zip.ErrAlgorithm].
func Decompressor(method uint16, opts ...compress.ReaderOption) zip.Decompressor {
	pool := new(sync.Pool)
	switch method {
	case Deflate:
		pool.New = func() any { return new(inflater) }
	case Zstd:
		z, err := compress.NewReader(nil, opts...)
		if err != nil {
			return func(io.Reader) io.ReadCloser { return failed{err} }
		}
		pool.Put(&unzstd{z: z, in: bufio.NewReaderSize(nil, 16)})
		pool.New = func() any {
			z, _ := compress.NewReader(nil, opts...) // the same options again
			return &unzstd{z: z, in: bufio.NewReaderSize(nil, 16)}
		}
	default:
		return func(io.Reader) io.ReadCloser { return failed{zip.ErrAlgorithm} }
	}
	return func(r io.Reader) io.ReadCloser {
		z := pool.Get().(reader)
		z.reset(r)
		return &opened{pool, z}
	}
}

// failed is a file that cannot be read.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }
func (f failed) Close() error             { return nil }

// A reader decompresses one file after the other. reset(nil) drops what it refers to.
type reader interface {
	io.Reader
	reset(r io.Reader)
}

// opened is the io.ReadCloser of one file. It is no part of the pool: a caller may keep it.
type opened struct {
	pool *sync.Pool
	z    reader // nil after Close
}

// Read implements io.Reader.
func (o *opened) Read(p []byte) (int, error) {
	if o.z == nil {
		return 0, compress.ErrClosed
	}
	return o.z.Read(p)
}

// Close makes the memory serve the next file.
func (o *opened) Close() error {
	if z := o.z; z != nil {
		o.z = nil
		z.reset(nil)
		o.pool.Put(z)
	}
	return nil
}

// unzstd decompresses zstd. It keeps a compress.Reader from taking other formats.
type unzstd struct {
	z     *compress.Reader
	in    *bufio.Reader
	err   error
	begun bool
}

func (z *unzstd) reset(r io.Reader) {
	z.in.Reset(r)
	z.err, z.begun = nil, false
	if r == nil {
		z.z.Close()
	} else {
		z.z.Reset(z.in)
	}
}

// Read implements io.Reader.
func (z *unzstd) Read(p []byte) (int, error) {
	if !z.begun {
		z.begun = true
		magic, _ := z.in.Peek(4)
		if f, ok := compress.DetectFormat(magic); ok && f != compress.Zstd {
			z.err = zip.ErrFormat
		}
	}
	if z.err != nil {
		return 0, z.err
	}
	return z.z.Read(p)
}

const (
	inputSize = 16 << 10 // of reads of the archive, in bytes
	roomSize  = 64 << 10 // for content besides the window, in bytes
)

// inflater decompresses Deflate.
type inflater struct {
	r        io.Reader
	progress container.ReadProgress
	ended    error  // of r, behind in
	in       []byte // input that is not used yet, in piece
	inflater inflate.Decoder
	out, end int  // buf[out:end] is content not returned yet; all content before is the window
	full     bool // buf had no room for more content
	err      error

	piece [inputSize]byte
	buf   [inflate.WindowSize + roomSize]byte
}

func (z *inflater) reset(r io.Reader) {
	z.r, z.progress, z.ended, z.in = r, 0, nil, nil
	z.inflater.Reset()
	z.out, z.end, z.full, z.err = 0, 0, false, nil
}

// Read implements io.Reader.
func (z *inflater) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	for z.out == z.end {
		if z.err != nil {
			return 0, z.err
		}
		z.err = z.decode()
	}
	n = copy(p, z.buf[z.out:z.end])
	z.out += n
	return n, nil
}

// decode decodes more content, or returns what the content ends with.
func (z *inflater) decode() error {
	if len(z.buf)-z.end < roomSize/2 {
		z.end = copy(z.buf[:], z.buf[z.end-inflate.WindowSize:z.end])
		z.out = z.end
	}
	if len(z.in) == 0 && !z.full {
		if z.ended != nil {
			if z.ended == io.EOF {
				return io.ErrUnexpectedEOF
			}
			return z.ended
		}
		n, err := z.r.Read(z.piece[:])
		z.in, z.ended = z.piece[:n], z.progress.Check(n, err)
	}
	n, used, err := z.inflater.Decode(z.buf[:], z.end, z.in)
	z.in = z.in[used:]
	z.end += n
	z.full = err == nil && z.end == len(z.buf)
	if at, ok := z.inflater.Corrupt(err); ok {
		return flate.CorruptInputError(at)
	}
	return err
}

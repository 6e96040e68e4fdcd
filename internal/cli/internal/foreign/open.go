package foreign

import (
	"bufio"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/dsnet/compress/brotli"
	"github.com/klauspost/compress/s2"
	"github.com/mikelolasagasti/xz"
	"github.com/pierrec/lz4/v4"
)

// xzReader names the errors of package xz.
type xzReader struct {
	z    *xz.Reader
	src  *bufio.Reader
	dict uint32
}

func openXZ(r *bufio.Reader, maxMemory int64) (io.Reader, error) {
	x := &xzReader{src: r, dict: uint32(min(maxMemory, math.MaxUint32))}
	z, err := xz.NewReader(r, x.dict)
	x.z = z
	return x, x.name(err)
}

func (x *xzReader) Read(p []byte) (int, error) {
	n, err := x.z.Read(p)
	return n, x.name(err)
}

func (x *xzReader) name(err error) error {
	switch {
	case errors.Is(err, xz.ErrMemlimit):
		return fmt.Errorf("%w than %d bytes for its dictionary", ErrMemory, x.dict)
	case errors.Is(err, xz.ErrUnsupportedCheck), errors.Is(err, xz.ErrOptions):
		return fmt.Errorf("%w: %w", ErrFeature, err)
	case errors.Is(err, xz.ErrBuf):
		return io.ErrUnexpectedEOF
	}
	return err
}

func openBzip2(r *bufio.Reader, _ int64) (io.Reader, error) { return bzip2.NewReader(r), nil }

// lz4Reader reads one frame after the other.
type lz4Reader struct {
	z   *lz4.Reader
	src *bufio.Reader
}

func openLZ4(r *bufio.Reader, _ int64) (io.Reader, error) {
	return &lz4Reader{lz4.NewReader(r), r}, nil
}

func (l *lz4Reader) Read(p []byte) (int, error) {
	for {
		n, err := l.z.Read(p)
		if n > 0 || err != io.EOF {
			return n, err
		}
		if _, err := l.src.Peek(1); err != nil {
			return 0, err
		}
		l.z.Reset(l.src)
	}
}

func openS2(r *bufio.Reader, _ int64) (io.Reader, error) { return s2.NewReader(r), nil }

// brotliReader returns an error if data follows the stream.
type brotliReader struct {
	z   *brotli.Reader
	src *bufio.Reader // package brotli takes only the bytes of the stream from it
}

func openBrotli(r *bufio.Reader, _ int64) (io.Reader, error) {
	z, err := brotli.NewReader(r, nil)
	return &brotliReader{z, r}, err
}

var errBehindBrotli = errors.New("brotli: data behind the end of the stream")

func (b *brotliReader) Read(p []byte) (int, error) {
	n, err := b.z.Read(p)
	if err == io.EOF {
		if _, err = b.src.Peek(1); err == nil {
			err = errBehindBrotli
		}
	}
	return n, err
}

package zstd

import (
	"errors"
	"io"
	"sync"
)

// The methods of zip files with zstd.
const (
	// ZipMethodWinZip is the method that everybody writes.
	ZipMethodWinZip = 93

	// ZipMethodPKWare is an earlier number of the same method, for reading.
	//
	// Deprecated: PKWARE has given it up. Write [ZipMethodWinZip].
	ZipMethodPKWare = 20
)

var errZipClosed = errors.New("zstd: file in a zip archive used after Close")

// ZipCompressor returns a compressor for [archive/zip.Writer.RegisterCompressor]. It may be used by
// several goroutines, each with its files. An error of an option is one of the first file.
func ZipCompressor(opts ...EOption) func(w io.Writer) (io.WriteCloser, error) {
	pool := new(sync.Pool)
	return func(w io.Writer) (io.WriteCloser, error) {
		if enc, ok := pool.Get().(*Encoder); ok {
			enc.Reset(w)
			return &zipWriter{enc: enc, pool: pool}, nil
		}
		enc, err := NewWriter(w, opts...)
		if err != nil {
			return nil, err
		}
		return &zipWriter{enc: enc, pool: pool}, nil
	}
}

// A zipWriter compresses one file.
type zipWriter struct {
	mu   sync.Mutex
	enc  *Encoder // nil behind Close
	pool *sync.Pool
}

func (z *zipWriter) Write(p []byte) (n int, err error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.enc == nil {
		return 0, errZipClosed
	}
	return z.enc.Write(p)
}

func (z *zipWriter) Close() error {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.enc == nil {
		return nil
	}
	err := z.enc.Close()
	z.enc.Reset(nil)
	z.pool.Put(z.enc)
	z.enc = nil
	return err
}

// zipWindow is the largest window of a ZipDecompressor without options, in bytes.
const zipWindow = 128 << 20

// ZipDecompressor returns a decompressor for [archive/zip.Reader.RegisterDecompressor]. It may be
// used by several goroutines, each with its files. Windows are limited to 128 MiB unless
// [WithDecoderMaxWindow] says otherwise. The goroutine that reads a file decodes it, whatever
// [WithDecoderConcurrency] says. It panics on an error of an option.
func ZipDecompressor(opts ...DOption) func(r io.Reader) io.ReadCloser {
	all := append([]DOption{WithDecoderMaxWindow(zipWindow)}, opts...)
	all = append(all, WithDecoderConcurrency(1))
	pool := new(sync.Pool)
	return func(r io.Reader) io.ReadCloser {
		dec, ok := pool.Get().(*Decoder)
		if ok {
			dec.Reset(r)
			return &zipReader{dec: dec, pool: pool}
		}
		dec, err := NewReader(r, all...)
		if err != nil {
			panic(err)
		}
		return &zipReader{dec: dec, pool: pool}
	}
}

// A zipReader decompresses one file.
type zipReader struct {
	mu   sync.Mutex
	dec  *Decoder // nil behind the end and behind Close
	end  error    // of Read without dec
	pool *sync.Pool
}

func (z *zipReader) Read(p []byte) (n int, err error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.dec == nil {
		return 0, z.end
	}
	n, err = z.dec.Read(p)
	if err == io.EOF {
		z.release()
		z.end = err
	}
	return n, err
}

// release lets other files have the Decoder.
func (z *zipReader) release() {
	z.dec.Reset(nil)
	z.pool.Put(z.dec)
	z.dec = nil
}

func (z *zipReader) Close() error {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.dec != nil {
		z.release()
	}
	z.end = errZipClosed
	return nil
}

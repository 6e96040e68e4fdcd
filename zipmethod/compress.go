package zipmethod

import (
	"archive/zip"
	"io"
	"sync"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/gzfile"
)

// Methods of zip files (APPNOTE.TXT, section 4.4.5).
const (
	Deflate = zip.Deflate // 8
	Zstd    = uint16(93)
)

// Compressor returns a compressor for a method, [Deflate] or [Zstd], to register with
// [zip.Writer.RegisterCompressor] or [zip.RegisterCompressor]. The options are those of a
// [compress.Writer], such as [compress.WithLevel]; the format is that of the method.
//
// For Zstd the default is WithChecksum(false), since zip has a checksum. The content is one frame:
// some programs read no more than the first frame of a file in an archive.
//
// If an option is out of its range, creating a file in the archive fails with [compress.ErrOption].
// For another method it fails with [zip.ErrAlgorithm].
func Compressor(method uint16, opts ...compress.WriterOption) zip.Compressor {
	c := &compressor{deflate: method == Deflate}
	noName := compress.WithName("", time.Time{})
	switch method {
	case Deflate:
		c.opts = append(opts[:len(opts):len(opts)], noName, compress.WithFormat(compress.Gzip))
	case Zstd:
		c.opts = append([]compress.WriterOption{compress.WithChecksum(false)}, opts...)
		c.opts = append(c.opts, noName, compress.WithFormat(compress.Zstd))
	default:
		return func(io.Writer) (io.WriteCloser, error) { return nil, zip.ErrAlgorithm }
	}
	return c.open
}

// A compressor makes the writers of a Compressor.
type compressor struct {
	opts    []compress.WriterOption
	deflate bool
	free    sync.Pool // of *writer
}

// A writer writes one file. It belongs to the pool after Close.
type writer struct {
	z    *compress.Writer
	body body // between z and the archive, for Deflate
}

// open implements zip.Compressor.
func (c *compressor) open(w io.Writer) (io.WriteCloser, error) {
	z, _ := c.free.Get().(*writer)
	if z == nil {
		z = new(writer)
		var err error
		z.z, err = compress.NewWriter(nil, c.opts...)
		if err != nil {
			return nil, err
		}
	}
	if c.deflate {
		z.body = body{w: w, skip: gzfile.MinHeaderSize}
		w = &z.body
	}
	z.z.Reset(w)
	return &file{c, z}, nil
}

// A file is the io.WriteCloser of one file. It is no part of the pool: a caller may keep it.
type file struct {
	c *compressor
	z *writer // nil after Close
}

// Write implements io.Writer.
func (f *file) Write(p []byte) (int, error) {
	if f.z == nil {
		return 0, compress.ErrClosed
	}
	return f.z.z.Write(p)
}

// Close completes the file.
func (f *file) Close() error {
	if f.z == nil {
		return compress.ErrClosed
	}
	z := f.z
	f.z = nil
	err := z.z.Close()
	z.z.Reset(nil)
	z.body.w = nil
	f.c.free.Put(z)
	return err
}

// A body passes on the Deflate stream of a .gz file, without header and trailer.
type body struct {
	w    io.Writer
	skip int // bytes of the header that are still to come
	tail [gzfile.TrailerSize]byte
	held int // bytes in tail
}

// Write passes on what cannot be the trailer, and holds back the rest.
func (b *body) Write(p []byte) (int, error) {
	n := len(p)
	skip := min(b.skip, n)
	b.skip -= skip
	p = p[skip:]
	// What leaves tail is out; what comes after it is p.
	if out := min(b.held, b.held+len(p)-len(b.tail)); out > 0 {
		if _, err := b.w.Write(b.tail[:out]); err != nil {
			return 0, err
		}
		b.held = copy(b.tail[:], b.tail[out:b.held])
	}
	if pass := b.held + len(p) - len(b.tail); pass > 0 {
		if _, err := b.w.Write(p[:pass]); err != nil {
			return 0, err
		}
		p = p[pass:]
	}
	b.held += copy(b.tail[b.held:], p)
	return n, nil
}

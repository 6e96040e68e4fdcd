package main

import (
	"bytes"
	"context"
	"io"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/bridge"
)

// coder is a compressor as a library. Both functions append to dst and use one thread.
type coder struct {
	encode func(dst, src []byte) ([]byte, error)
	decode func(dst, src []byte) ([]byte, error)
}

// coderRunner returns a runner that measures a coder on in.content. It makes the coder at its first
// use. A sample is the fastest of the tries that take at least that long.
func coderRunner(in *input, least time.Duration, newCoder func() (coder, error)) runner {
	var c coder
	return func(ctx context.Context) (t trial, err error) {
		if c.encode == nil {
			c, err = newCoder()
			if err != nil {
				return t, err
			}
		}
		packed, back := scratchBuffers(len(in.content))
		t.compress, err = fastest(ctx, least, func() (sample, error) {
			return timed(func() error { packed, err = c.encode(packed[:0], in.content); return err })
		})
		if err != nil {
			return t, err
		}
		t.packed = int64(len(packed))
		t.decompress, err = fastest(ctx, least, func() (sample, error) {
			return timed(func() error { back, err = c.decode(back[:0], packed); return err })
		})
		if err == nil && !bytes.Equal(back, in.content) {
			err = errRoundTrip
		}
		return t, err
	}
}

// scratch is the memory of all coders' output, so that all have the same pages.
var scratch [2][]byte

// scratchBuffers returns two empty buffers with room for size bytes and whatever expansion a coder
// has. Their pages have been written to.
func scratchBuffers(size int) (packed, back []byte) {
	room := size + size/8 + 1<<16
	for i := range scratch {
		if cap(scratch[i]) < room {
			scratch[i] = bytes.Repeat([]byte{1}, room)
		}
	}
	return scratch[0][:0], scratch[1][:0]
}

// appender is an io.Writer that appends.
type appender struct{ p []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.p = append(a.p, p...)
	return len(p), nil
}

// streamWriter is what writers of several packages have in common.
type streamWriter interface {
	io.WriteCloser
	Reset(io.Writer)
}

// encodeWith returns an encode function that uses w again and again.
func encodeWith(w streamWriter) func(dst, src []byte) ([]byte, error) {
	return func(dst, src []byte) ([]byte, error) {
		out := appender{dst}
		w.Reset(&out)
		if _, err := w.Write(src); err != nil {
			return nil, err
		}
		err := w.Close()
		return out.p, err
	}
}

func pzCoder(pipeline string, level int) (c coder, err error) {
	w, err := compress.NewWriter(io.Discard, bridge.Pipeline(pipeline),
		compress.WithLevel(level), compress.WithConcurrency(1))
	if err != nil {
		return c, err
	}
	sched := compress.NewScheduler(1)
	c.encode = encodeWith(w)
	c.decode = func(dst, src []byte) ([]byte, error) {
		return compress.AppendDecode(dst, src, compress.WithScheduler(sched))
	}
	return c, nil
}

func klauspostZstd(level int) (c coder, err error) {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.EncoderLevel(level)),
		zstd.WithEncoderConcurrency(1))
	if err != nil {
		return c, err
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return c, err
	}
	c.encode = func(dst, src []byte) ([]byte, error) { return e.EncodeAll(src, dst), nil }
	c.decode = func(dst, src []byte) ([]byte, error) { return d.DecodeAll(src, dst) }
	return c, nil
}

// klauspostS2 codes blocks of 4 MiB, the largest of s2's streams.
func klauspostS2(level int) (c coder, err error) {
	opts := []s2.WriterOption{s2.WriterConcurrency(1), s2.WriterBlockSize(4 << 20)}
	switch level {
	case 2:
		opts = append(opts, s2.WriterBetterCompression())
	case 3:
		opts = append(opts, s2.WriterBestCompression())
	}
	r := s2.NewReader(bytes.NewReader(nil))
	c.encode = encodeWith(s2.NewWriter(io.Discard, opts...))
	c.decode = func(dst, src []byte) ([]byte, error) {
		out := appender{dst}
		r.Reset(bytes.NewReader(src))
		_, err := io.Copy(&out, r)
		return out.p, err
	}
	return c, nil
}

func klauspostGzip(level int) (c coder, err error) {
	w, err := gzip.NewWriterLevel(io.Discard, level)
	if err != nil {
		return c, err
	}
	r := new(gzip.Reader)
	c.encode = encodeWith(w)
	c.decode = func(dst, src []byte) ([]byte, error) {
		out := appender{dst}
		if err := r.Reset(bytes.NewReader(src)); err != nil {
			return nil, err
		}
		_, err := r.WriteTo(&out)
		return out.p, err
	}
	return c, nil
}

package cli

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/refdec"
	"github.com/gopz/compress/internal/refzst"
)

// A decoder writes the content of a source. It shares no code with the library's decoders.
type decoder func(w io.Writer) error

// testDeep tests a source with the library and with a second decoder, and compares the contents.
func (a *app) testDeep(in *source, m *meter, opts []compress.ReaderOption) error {
	second, why := a.secondDecoder(in)
	if second != nil {
		return a.compareDecoders(second, in, m, opts)
	}
	err := a.restore(io.Discard, in, m, opts)
	if err == nil || errors.Is(err, compress.ErrTrailing) {
		a.warn(in.name, "was tested with one decoder only: %s", why)
	}
	return err
}

// secondDecoder returns the second decoder for a source, or the reason why there is none.
func (a *app) secondDecoder(in *source) (second decoder, why string) {
	if !in.regular() {
		return nil, "the second one needs a regular file"
	}
	limit := a.cfg.memory
	if limit == 0 {
		limit = compress.DefaultReaderMemory
	}
	src := in.section()
	format, known := in.format()
	switch {
	case known && format == compress.Gzip:
		if _, err := gzip.NewReader(bufio.NewReader(in.section())); errors.Is(err, gzip.ErrHeader) {
			return nil, "its header is too long for Go's" // which takes strings of 511 bytes
		}
		return func(w io.Writer) error { return decodeGzip(w, src) }, ""
	case known && format == compress.Zstd:
		return func(w io.Writer) error { return decodeZstd(w, src, a.deepDictionary, limit) }, ""
	case !known || format != compress.PZ:
		return nil, "pz has no second one for the format"
	case a.dictionary != nil:
		return nil, "the second one takes no dictionary"
	}
	window := int64(0)
	if info, err := compress.ReadInfo(in.readerAt(), in.length(), nil, a.readOptions()...); err == nil {
		for _, s := range info.Streams {
			window = max(window, min(s.Window, s.Content))
		}
	}
	need := src.Size() + window
	if need > limit {
		return nil, fmt.Sprintf("the second one needs more than %s of memory; use -M %s or more",
			formatSize(limit), sizeOption(need))
	}
	return func(w io.Writer) error { return decodePZ(w, src, limit-src.Size()) }, ""
}

// decodeGzip is the decoder of the standard library. Zeros behind the last member it ignores, as
// the library and gzip do.
func decodeGzip(w io.Writer, src io.Reader) error {
	b := bufio.NewReader(src)
	r, err := gzip.NewReader(b)
	for err == nil {
		r.Multistream(false)
		if _, err := io.Copy(w, r); err != nil {
			return err
		}
		next, peekErr := b.Peek(1)
		switch {
		case peekErr == nil && next[0] == 0:
			return onlyZeros(b)
		case peekErr == nil:
			err = r.Reset(b)
		case peekErr == io.EOF:
			return nil
		default:
			return peekErr
		}
	}
	return err
}

// onlyZeros returns an error if a zero is not all that follows.
func onlyZeros(b *bufio.Reader) error {
	for {
		c, err := b.ReadByte()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case c != 0:
			return gzip.ErrHeader
		}
	}
}

// decodePZ is the decoder that was written from FORMAT.md. It takes at most limit bytes for the
// window.
func decodePZ(w io.Writer, src *io.SectionReader, limit int64) error {
	file := make([]byte, src.Size())
	if _, err := io.ReadFull(src, file); err != nil {
		return err
	}
	err := refdec.DecodeTo(file, refdec.Dictionary{}, limit, func(block []byte) error {
		_, err := w.Write(block)
		return err
	})
	if errors.Is(err, refdec.ErrMemory) {
		return needsMemory(limit + src.Size())
	}
	return err
}

// decodeZstd is the decoder that was written from RFC 8878. It keeps at most limit bytes of
// content.
func decodeZstd(w io.Writer, src io.Reader, dictionary []byte, limit int64) error {
	err := refzst.Decode(w, src, dictionary, limit)
	if errors.Is(err, refzst.ErrMemory) {
		return needsMemory(limit)
	}
	return err
}

func needsMemory(limit int64) error {
	return fmt.Errorf("it needs more than %s of memory; raise -M", formatSize(limit))
}

// guard calls a decoder. A panic becomes its error.
func guard(d decoder, w io.Writer) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error: %v", p)
		}
	}()
	return d(w)
}

// secondError is an error of the second decoder.
type secondError struct{ err error }

func (e *secondError) Error() string { return "the second decoder fails: " + reason(e.err) }
func (e *secondError) Unwrap() error { return e.err }

// A decoded compares content with that of the second decoder, as far as that comes.
type decoded struct {
	comparer
	failed *secondError // why it ended early
}

func (d *decoded) Write(p []byte) (int, error) {
	if d.failed != nil {
		return len(p), nil
	}
	n, err := d.comparer.Write(p)
	if errors.As(err, &d.failed) {
		return len(p), nil
	}
	return n, err
}

// compareDecoders restores a source with both decoders at the same time. Neither is ahead of the
// other by more than a block. Where both fail, the error is that of the library.
func (a *app) compareDecoders(second decoder, in *source, m *meter, opts []compress.ReaderOption) error {
	r, w := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err := guard(second, w)
		if err != nil {
			err = &secondError{err}
		}
		w.CloseWithError(err)
	}()
	defer func() {
		r.Close() // ends a decoder that goes on
		<-ended
	}()
	c := &decoded{comparer: comparer{src: r}}
	err := a.restore(c, in, m, opts)
	switch {
	case errors.Is(err, errDiffers):
		return fmt.Errorf("the two decoders return different content, behind byte %d of it", c.n)
	case err != nil && !errors.Is(err, compress.ErrTrailing):
		return err
	case c.failed != nil:
		return fmt.Errorf("%w; behind byte %d of the content", c.failed, c.n)
	}
	n, end := io.Copy(io.Discard, io.LimitReader(r, 1))
	switch {
	case n > 0:
		return errors.New("the second decoder returns more content")
	case end != nil && err == nil:
		return end
	}
	return err
}

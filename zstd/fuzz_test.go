package zstd

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// FuzzDecoder decodes any input at once and as a stream. Both return the same content and error,
// but for limits of the content that hold for one of them.
func FuzzDecoder(f *testing.F) {
	dict := mixed(1000)
	for _, opts := range [][]EOption{
		nil, {WithWindowSize(1 << 10), WithEncoderPadding(64)}, {WithEncoderDictRaw(3, dict)},
	} {
		e := newEncoder(f, nil, opts...)
		f.Add(e.EncodeAll(mixed(5000), nil))
		f.Add(stream(f, e, mixed(3000)))
	}
	d := newDecoder(f, nil, WithDecoderDictRaw(3, dict), WithDecoderMaxMemory(1<<20))
	f.Fuzz(func(t *testing.T, p []byte) {
		all, err := d.DecodeAll(p, nil)
		d.Reset(struct{ io.Reader }{bytes.NewReader(p)})
		read, rerr := io.ReadAll(io.LimitReader(d, 4<<20))
		switch {
		case err == nil && (rerr != nil || !bytes.Equal(all, read)):
			t.Errorf("DecodeAll returns %d bytes, Read %d, %v", len(all), len(read), rerr)
		case errors.Is(err, ErrDecoderSizeExceeded), errors.Is(err, ErrFrameSizeExceeded),
			errors.Is(err, ErrWindowSizeExceeded): // these come first in DecodeAll
		case err != rerr && len(read) < 4<<20:
			t.Errorf("DecodeAll returns %v, Read %v", err, rerr)
		}
	})
}

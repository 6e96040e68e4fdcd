// Package zstdec decodes frames of zstd from the front to the back, with the decoder of
// klauspost/compress. Package zstfile decides which frames are decoded so, and limits their window.
package zstdec

import (
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/gopz/compress/internal/zstfile"
)

// Limits of the library's decoder in bytes: no limit, for the caller has its own.
const (
	maxWindow = 1 << 41
	maxMemory = 1 << 62
)

// Decoder is a [zstfile.Decoder]. Its methods are for one goroutine at a time.
type Decoder struct{ dec *zstd.Decoder }

// New returns a Decoder without input. It compares checksums if checks is set.
func New(checks bool) (zstfile.Decoder, error) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(maxMemory),
		zstd.IgnoreChecksum(!checks))
	if err != nil {
		return nil, err
	}
	return &Decoder{dec}, nil
}

// Reset begins a frame. Nil drops the reference to the last input.
func (d *Decoder) Reset(src io.Reader) error { return d.dec.Reset(src) }

// Read reads content. A checksum that does not match is [zstfile.ErrChecksum].
func (d *Decoder) Read(p []byte) (int, error) {
	n, err := d.dec.Read(p)
	if errors.Is(err, zstd.ErrCRCMismatch) {
		err = zstfile.ErrChecksum
	}
	return n, err
}

// Close frees the memory.
func (d *Decoder) Close() { d.dec.Close() }

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/klauspost/compress/flate"

	"github.com/gopz/compress/internal/codec/inflate"
	"github.com/gopz/compress/simd"
)

// A streamDecoder decodes one Deflate stream from the front of src, without a header. dst has room
// for all content and is overwritten. It returns the content's size and the bytes of src used.
type streamDecoder func(dst, src []byte) (n, used int, err error)

// leastMemorySample is how long the decoding of one sample takes at the least.
const leastMemorySample = 50 * time.Millisecond

// memoryRestorers decode on one thread. They compute no checksum. The first is this project's.
var memoryRestorers = append([]restorer{
	memoryRestorer("inflate", inflateStream),
	memoryRestorer("in pieces", inflatePieces),
	memoryRestorer("portable", func(dst, src []byte) (int, int, error) {
		defer simd.SetTier(simd.SetTier("portable"))
		return inflateStream(dst, src)
	}),
	memoryRestorer("klauspost", klauspostStream),
}, libdeflateRestorers...)

var inflater inflate.Decoder

func inflateStream(dst, src []byte) (n, used int, err error) {
	inflater.Reset()
	n, used, err = inflater.Decode(dst, 0, src)
	if err == io.EOF {
		return n, used, nil
	}
	return n, used, errors.Join(err, io.ErrUnexpectedEOF)
}

// inflatePieces decodes pieces of 256 KiB behind a window, as the reader of .gz files does, and
// appends them.
func inflatePieces(dst, src []byte) (n, used int, err error) {
	inflater.Reset()
	room := pieces[:]
	for at := 0; ; {
		k, u, err := inflater.Decode(room, at, src[used:])
		used += u
		n += copy(dst[n:], room[at:at+k])
		if err == io.EOF {
			return n, used, nil
		}
		if err != nil || at+k < len(room) {
			return n, used, errors.Join(err, io.ErrUnexpectedEOF)
		}
		at = copy(room, room[len(room)-inflate.WindowSize:])
	}
}

var pieces [inflate.WindowSize + 256<<10]byte

var klauspostReader = flate.NewReader(bytes.NewReader(nil))

func klauspostStream(dst, src []byte) (n, used int, err error) {
	r := bytes.NewReader(src)
	if err := klauspostReader.(flate.Resetter).Reset(r, nil); err != nil {
		return 0, 0, err
	}
	for err == nil {
		var k int
		k, err = klauspostReader.Read(dst[n:])
		n += k
	}
	if err == io.EOF {
		err = nil
	}
	return n, len(src) - r.Len(), err
}

// memoryRestorer returns a restorer that decodes all members of a file into memory.
func memoryRestorer(name string, decode streamDecoder) restorer {
	return restorer{
		name: name,
		check: func(_ context.Context, f *gzFile, in *input) error {
			src, err := os.ReadFile(f.path)
			if err != nil {
				return err
			}
			want, err := os.ReadFile(in.path)
			if err != nil {
				return err
			}
			dst, _ := scratchBuffers(len(want))
			dst = dst[:len(want)+1]
			if n, err := decodeMembers(decode, dst, src); err != nil || !bytes.Equal(dst[:n], want) {
				return errors.Join(err, errRoundTrip)
			}
			return nil
		},
		open: func(f *gzFile) (func(context.Context) (sample, error), error) {
			src, err := os.ReadFile(f.path)
			dst, _ := scratchBuffers(int(f.size))
			return func(ctx context.Context) (sample, error) {
				return fastest(ctx, leastMemorySample, func() (sample, error) {
					return timed(func() error {
						_, err := decodeMembers(decode, dst[:f.size+1], src)
						return err
					})
				})
			}, err
		},
	}
}

// decodeMembers decodes the members of a .gz file. It verifies no trailer.
func decodeMembers(decode streamDecoder, dst, src []byte) (n int, err error) {
	for len(src) > 0 {
		head, err := headerSize(src)
		if err != nil {
			return n, err
		}
		k, used, err := decode(dst[n:], src[head:])
		if err != nil {
			return n, err
		}
		n += k
		if src = src[head+used:]; len(src) < gzTrailer {
			return n, io.ErrUnexpectedEOF
		}
		src = src[gzTrailer:]
	}
	return n, nil
}

// gzTrailer is the size of a member's trailer in bytes.
const gzTrailer = 8

// headerSize returns the size of the header of a member.
func headerSize(p []byte) (int, error) {
	const extra, name, comment, checksum = 4, 8, 16, 2
	if len(p) < 12 || p[0] != 0x1f || p[1] != 0x8b {
		return 0, fmt.Errorf("no gzip header: %w", io.ErrUnexpectedEOF)
	}
	flags, at := p[3], 10
	if flags&extra != 0 {
		at += 2 + int(p[10]) + int(p[11])<<8
	}
	for _, f := range []byte{name, comment} {
		if flags&f != 0 && at < len(p) {
			at += bytes.IndexByte(p[at:], 0) + 1
		}
	}
	if flags&checksum != 0 {
		at += 2
	}
	if at > len(p) {
		return 0, io.ErrUnexpectedEOF
	}
	return at, nil
}

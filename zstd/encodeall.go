package zstd

import (
	"runtime"
	"sync"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/zstframe"
)

// EncodeAll appends src, compressed to one frame that states the size of its content, to dst and
// returns the extended slice. The free capacity of dst must not overlap src. Empty content becomes
// a frame without checksum, or nothing with [WithZeroFrames](false).
//
// The caller's goroutine compresses content below 64 KiB. In the steady state such a call allocates
// nothing if dst has the capacity. [WithEncoderConcurrency] limits how many calls work at the same
// time. The Encoder does not change src, and does not keep it. EncodeAll panics on a bug of the
// engine.
func (e *Encoder) EncodeAll(src, dst []byte) []byte {
	e.prepare()
	if len(src) == 0 {
		if e.o.fullZero {
			dst = append(dst, emptyFrame...)
		}
		return dst
	}
	if e.slots != nil {
		e.slots <- struct{}{}
		defer func() { <-e.slots }()
	}
	if cap(dst) == 0 && len(src) < 1<<20 && !e.o.lowMem {
		dst = make([]byte, 0, len(src))
	}
	at := len(dst)
	dst, err := compress.AppendEncode(dst, src, e.opts...)
	if err != nil {
		panic(err)
	}
	dst = e.o.setHeader(dst, at, len(src))
	dst, err = appendPadding(dst, e.o.padding(int64(len(dst))))
	if err != nil {
		panic(err)
	}
	return dst
}

// setHeader replaces the header of the frame that begins at p[at] and has n bytes of content.
func (o *encoderOptions) setHeader(p []byte, at, n int) []byte {
	old, err := zstframe.HeaderSize(p[at:])
	if err != nil {
		panic(err)
	}
	var buf [zstframe.MaxHeaderSize]byte
	h := o.blockHeader(n)
	head := h.Append(buf[:0])
	if grow := len(head) - old; grow != 0 {
		end := len(p)
		p = append(p, buf[:max(0, grow)]...)
		copy(p[at+len(head):], p[at+old:end])
		p = p[:end+grow]
	}
	copy(p[at:], head)
	return p
}

// simple has what EncodeTo and DecodeTo share.
var simple struct {
	once sync.Once
	enc  *Encoder
	dec  *Decoder
}

// EncodeTo appends src to dst as [Encoder.EncodeAll] does, with the default options and a window of
// 1 MiB. It may be called from many goroutines at the same time.
func EncodeTo(dst []byte, src []byte) []byte {
	enc, _ := shared()
	return enc.EncodeAll(src, dst)
}

// DecodeTo appends the content of src to dst as [Decoder.DecodeAll] does. More than 1 GiB of it is
// [ErrDecoderSizeExceeded]. It may be called from many goroutines at the same time.
func DecodeTo(dst []byte, src []byte) ([]byte, error) {
	_, dec := shared()
	return dec.DecodeAll(src, dst)
}

// shared returns the Encoder and the Decoder of EncodeTo and DecodeTo.
func shared() (*Encoder, *Decoder) {
	simple.once.Do(func() {
		var err error
		simple.enc, err = NewWriter(nil, WithWindowSize(1<<20), WithLowerEncoderMem(true))
		if err == nil {
			simple.dec, err = NewReader(nil, WithDecoderConcurrency(runtime.NumCPU()),
				WithDecoderMaxMemory(1<<30))
		}
		if err != nil {
			panic(err)
		}
	})
	return simple.enc, simple.dec
}

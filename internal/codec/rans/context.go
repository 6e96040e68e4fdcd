package rans

import "github.com/gopz/compress/internal/codec/rans/internal/ctx"

// A ContextEncoder encodes one stream at a time with context-dependent frequency tables: the two
// symbols before a symbol select its table. It compresses better than an [Encoder] and takes
// several times as long. docs/FORMAT.md specifies the result.
//
// The zero value is ready to use and keeps its scratch memory, about 1.1 MB, between calls. A
// ContextEncoder must not be used concurrently.
type ContextEncoder struct {
	// Checkpoint, unless it is nil, is called between pieces of the work, on the caller's
	// goroutine: after at most 256 KiB of the stream, which take less than about 5 ms. It may
	// block. It may panic to abandon the work; the ContextEncoder can then be used again, and
	// refers to the stream until then. The result does not depend on it.
	Checkpoint func()

	enc ctx.Encoder
}

// Prepare chooses segments and tables for stream, which must not be empty. It returns an estimate
// of the number of bytes that Append will add.
//
// marks has one byte for each symbol: 1 if the symbols before it do not help to predict it, else 0.
// The encoder retains stream and marks until Append and overwrites marks.
func (e *ContextEncoder) Prepare(stream, marks []byte) (size int) {
	e.enc.Checkpoint = e.Checkpoint
	return e.enc.Prepare(stream, marks)
}

// PrepareFast is like Prepare but tries fewer segment boundaries. It takes 0.4 of the time; the
// result is 0.5% larger on average.
func (e *ContextEncoder) PrepareFast(stream, marks []byte) (size int) {
	e.enc.Checkpoint = e.Checkpoint
	return e.enc.PrepareFast(stream, marks)
}

// MayGain reports whether context coding may make a stream smaller. n is the number of its symbols
// and size what they take without contexts, in bytes. Finding the tables of contexts takes the same
// time for any short stream, and most short streams cannot gain.
func MayGain(n, size int) bool { return n >= ctx.LeastGain && size > ctx.LeastSize }

// Append encodes the stream given to Prepare and appends the result to dst.
func (e *ContextEncoder) Append(dst []byte) []byte {
	e.enc.Checkpoint = e.Checkpoint
	return e.enc.Append(dst)
}

// Learn stores in c the context model that suits all bytes of content. marks must be a zeroed slice
// as long as content. Learn must not be called between Prepare and Append.
func (e *ContextEncoder) Learn(c *Contexts, content, marks []byte) {
	e.enc.Checkpoint = e.Checkpoint
	e.enc.Learn(c, content, marks)
}

// Contexts models how the two bytes before a byte predict it. See [ContextEncoder.Learn].
type Contexts = ctx.Contexts

// A ContextDecoder decodes streams that a [ContextEncoder] has encoded.
//
// The zero value is ready to use and keeps its scratch memory, about 300 KB, between calls. A
// ContextDecoder must not be used concurrently.
type ContextDecoder struct {
	// Checkpoint is as for a ContextEncoder. The MarkSource is called without it.
	Checkpoint func()

	dec ctx.Decoder
}

// Decode decodes a stream from the front of src and returns the rest of src.
//
// The stream replaces *stream, whose memory Decode reuses if it suffices; its capacity is at least
// Slack bytes more than its length. Decode rejects a stream longer than limit before it allocates
// memory. A nil source means that no symbol is marked.
//
// Decode returns the errors of source unchanged. All other errors are a [CorruptError]. After an
// error the content of *stream is undefined.
func (d *ContextDecoder) Decode(
	src []byte, limit int, stream *[]byte, source MarkSource,
) (rest []byte, err error) {
	d.dec.Checkpoint = d.Checkpoint
	return d.dec.Decode(src, limit, stream, source)
}

// A MarkSource supplies a [ContextDecoder] with the marks that the encoder was given.
type MarkSource = ctx.MarkSource

// BitmapWords returns the number of 64-bit words in a bitmap of n bits.
func BitmapWords(n int) int { return ctx.BitmapWords(n) }

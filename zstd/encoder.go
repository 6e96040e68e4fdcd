package zstd

import (
	"fmt"
	"io"
	"sync"

	"github.com/gopz/compress"
	codec "github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/zstframe"
)

// An Encoder compresses streams, one after the other, and pieces of content by
// [Encoder.EncodeAll]. A stream is one frame.
//
// EncodeAll may be called from many goroutines at the same time, also while a stream is being
// written. All other methods are for one goroutine at a time, and ResetWithOptions must not be
// called at the same time as EncodeAll. After an error of the destination all methods of a stream
// return it until Reset. The underlying writer is used only inside methods of the Encoder. An
// Encoder that is dropped without Close leaks nothing. The zero value has the default options.
type Encoder struct {
	o     encoderOptions
	once  sync.Once // sets what follows
	sched *compress.Scheduler
	slots chan struct{} // calls of EncodeAll under way; nil for any number
	opts  []compress.WriterOption

	// the stream
	open   bool // it has a writer
	closed bool
	err    error
	in     int64            // content so far, in bytes
	size   int64            // of the content in bytes, as the caller has stated it; 0 if unknown
	engine *compress.Writer // writes to out; nil before the first content
	begun  bool             // engine has been Reset for the stream
	out    frameWriter
}

// NewWriter returns an Encoder that writes to w. The caller closes it to complete the frame. Close
// does not close w. With a nil w the Encoder is for EncodeAll, and for streams after Reset. The
// error is that of an option.
func NewWriter(w io.Writer, opts ...EOption) (*Encoder, error) {
	e := new(Encoder)
	e.o.setDefault()
	for _, opt := range opts {
		if err := opt(&e.o); err != nil {
			return nil, err
		}
	}
	e.Reset(w)
	return e, nil
}

// prepare makes what the options ask for, once.
func (e *Encoder) prepare() {
	e.once.Do(func() {
		var defaults encoderOptions
		defaults.setDefault()
		if e.o.level == speedNotSet {
			e.o = defaults // the zero value
		}
		if e.o.concurrent != defaults.concurrent {
			e.sched = compress.NewScheduler(e.o.concurrent)
			e.slots = make(chan struct{}, e.o.concurrent)
		}
		e.opts = e.o.writerOptions(e.sched)
	})
}

// Reset begins a stream to w with the options that the Encoder has, also after an error or Close.
// Content not yet written is dropped. With a nil w the Encoder forgets the last writer.
func (e *Encoder) Reset(w io.Writer) { e.ResetContentSize(w, 0) }

// ResetContentSize is [Encoder.Reset] for a stream with size bytes of content, which the header of
// its frame states. If the content has another size, Close returns an error. A size of 0 or less
// means that it is unknown. Another Reset drops the size.
func (e *Encoder) ResetContentSize(w io.Writer, size int64) {
	e.open, e.closed, e.err = w != nil, false, nil
	e.in, e.size = 0, max(size, 0)
	e.out.reset(w, &e.o, e.size)
	if e.begun {
		e.engine.Reset(nil)
		e.begun = false
	}
}

// ResetWithOptions is [Encoder.Reset] with further options on top of those that the Encoder has.
// Some must not change; each option says so. After an error the options in front of the wrong one
// count from the next Reset on.
func (e *Encoder) ResetWithOptions(w io.Writer, opts ...EOption) error {
	e.prepare()
	e.o.resetOpt = true
	var err error
	for i := 0; i < len(opts) && err == nil; i++ {
		err = opts[i](&e.o)
	}
	e.o.resetOpt = false
	e.opts = e.o.writerOptions(e.sched)
	e.Reset(w)
	e.engine = nil // it has the options of before
	return err
}

// ready returns an error if the stream cannot go on.
func (e *Encoder) ready() error {
	switch {
	case e.err != nil:
		return e.err
	case e.closed:
		return ErrEncoderClosed
	case !e.open:
		return errNoWriter
	}
	return nil
}

// begin has the engine ready for the stream.
func (e *Encoder) begin() error {
	if e.begun {
		return nil
	}
	e.prepare()
	if e.engine == nil {
		e.engine, e.err = compress.NewWriter(&e.out, e.opts...)
		if e.err != nil {
			return e.err
		}
	} else {
		e.engine.Reset(&e.out)
	}
	e.begun = true
	return nil
}

// Write compresses p. Part of it may stay in memory until Flush or Close. After Close it returns
// [ErrEncoderClosed].
func (e *Encoder) Write(p []byte) (n int, err error) {
	if err := e.ready(); err != nil {
		return 0, err
	}
	if err := e.begin(); err != nil {
		return 0, err
	}
	n, e.err = e.engine.Write(p)
	e.in += int64(n)
	return n, e.err
}

// ReadFrom compresses everything that r returns, up to [io.EOF]. It returns errors of r, after
// which the Encoder can go on.
func (e *Encoder) ReadFrom(r io.Reader) (n int64, err error) {
	if err := e.ready(); err != nil {
		return 0, err
	}
	if err := e.begin(); err != nil {
		return 0, err
	}
	n, err = e.engine.ReadFrom(r)
	e.in += n
	return n, err
}

// Flush compresses the content of all Writes so far and gives it to the underlying writer. A
// Decoder can then return that content. It costs about 10 bytes. After Close it does nothing.
func (e *Encoder) Flush() error {
	if e.closed && e.err == nil {
		return nil
	}
	if err := e.ready(); err != nil || !e.begun {
		return err
	}
	if e.err = e.engine.Flush(); e.err == nil {
		e.err = e.out.flush()
	}
	return e.err
}

// Close writes what is left, and completes the frame. It does not close the underlying writer.
// Another Close does nothing. Without a writer, and without content, Close does nothing either. The
// Encoder can be used after Reset.
func (e *Encoder) Close() error {
	if e.err != nil || e.closed || !e.open {
		return e.err
	}
	e.err = e.endFrame()
	e.closed = e.err == nil
	return e.err
}

// endFrame writes the end of the frame, and the padding.
func (e *Encoder) endFrame() error {
	if e.size > 0 && e.in != e.size {
		return fmt.Errorf("zstd: content of %d bytes written where %d were announced", e.in, e.size)
	}
	e.prepare()
	if e.in == 0 && !e.o.fullZero {
		return nil
	}
	if err := e.begin(); err != nil {
		return err
	}
	if err := e.engine.Close(); err != nil {
		return err
	}
	var err error
	e.out.buf, err = appendPadding(e.out.buf, e.o.padding(e.out.size))
	if err != nil {
		return err
	}
	return e.out.flush()
}

// MaxEncodedSize returns how many bytes a frame with size bytes of content has at most, with
// padding. Each call of Flush may add some.
func (e *Encoder) MaxEncodedSize(size int) int {
	e.prepare()
	const (
		// tables bounds the tables that a short part of a frame describes, in bytes. There are at
		// most firstTables for 64 to 4,096 sequences, and one more for each 4,096 sequences, of 3
		// bytes at least.
		tables      = 400
		firstTables = 8
		moreTables  = 3 * 4096
	)
	part := e.o.window() / 2
	parts := size/part + 1
	n := zstframe.MaxHeaderSize + codec.MaxSize(size) + parts*codec.MaxSize(0) +
		zstframe.BlockHeaderSize + zstframe.ChecksumSize
	if part <= 4<<10 {
		n += (firstTables + size/moreTables) * tables
	}
	if e.o.pad > 0 {
		n += e.o.pad + 8
		n -= n % e.o.pad
	}
	return n
}

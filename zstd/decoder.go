package zstd

import (
	"io"
	"sync/atomic"

	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/internal/zstframe"
)

// A Decoder decompresses streams, one after the other, and pieces of memory by [Decoder.DecodeAll].
// A stream is one frame, or several whose contents it returns as one. Skippable frames are passed
// over.
//
// DecodeAll may be called from many goroutines at the same time, also while a stream is being read
// and while ResetWithOptions is called. All other methods are for one goroutine at a time. The
// source is read only inside methods of the Decoder. A Decoder that is dropped without Close leaks
// nothing. Make one with [NewReader]. The zero value decodes nothing: Read and DecodeAll return an
// error.
type Decoder struct {
	options atomic.Pointer[decoderOptions]
	slots   chan struct{} // calls of DecodeAll under way
	closed  atomic.Bool

	// the stream
	begun   bool
	workers *parallel // nil if they have never decoded
	skip    int64     // bytes of content to pass over, which workers have decoded
	source  source
	frame   *frameDecoder  // nil while none is needed
	inFrame bool           // the frame goes on
	window  zstfile.Window // content of the frame
	out     []byte         // content to be returned, a part of window
	err     error          // what comes behind out; nil if that is not known yet
}

// NewReader returns a Decoder that reads from r. It may read r past the end of the frames, up to
// the end of r. With a nil r the Decoder is for DecodeAll, and for streams after Reset. The error
// is that of an option. NewReader reads nothing.
func NewReader(r io.Reader, opts ...DOption) (*Decoder, error) {
	d := new(Decoder)
	o := new(decoderOptions)
	o.setDefault()
	for _, opt := range opts {
		if err := opt(o); err != nil {
			return nil, err
		}
	}
	d.options.Store(o)
	d.slots = make(chan struct{}, o.concurrent)
	return d, d.Reset(r)
}

// Reset begins a stream from r with the options that the Decoder has, also after an error. It reads
// nothing. With a nil r the Decoder drops the last source, and Read returns [ErrDecoderNilInput].
// After Close Reset returns [ErrDecoderClosed].
func (d *Decoder) Reset(r io.Reader) error {
	if d.closed.Load() {
		return ErrDecoderClosed
	}
	d.release(true)
	d.err, d.begun = nil, false
	if r == nil {
		d.err = ErrDecoderNilInput
	}
	d.source.r = r
	return nil
}

// ResetWithOptions is [Decoder.Reset] with further options on top of those that the Decoder has.
// They count for later calls of DecodeAll too. Some must not change; each option says so. After an
// error the options in front of the wrong one count, and the stream goes on.
func (d *Decoder) ResetWithOptions(r io.Reader, opts ...DOption) error {
	if d.closed.Load() {
		return ErrDecoderClosed
	}
	o, err := d.options.Load().with(opts)
	d.options.Store(o)
	if err != nil {
		return err
	}
	return d.Reset(r)
}

// Close ends the Decoder. It does not close the source. Calls of DecodeAll that are under way
// complete; later calls of all methods return [ErrDecoderClosed].
func (d *Decoder) Close() {
	if !d.closed.Swap(true) {
		d.release(false)
		d.source.block, d.window = nil, zstfile.Window{}
		d.err = ErrDecoderClosed
	}
}

// release drops the source and the content. With share set other Decoders get what they can use.
func (d *Decoder) release(share bool) {
	d.source.release(share)
	d.workers.stop()
	d.skip = 0
	if d.frame != nil && share {
		d.frame.release()
	}
	d.frame, d.out, d.inFrame = nil, nil, false
	if d.window.Memory() > keptWindow {
		d.window = zstfile.Window{}
	}
}

// keptWindow is the largest window in bytes that outlives a stream.
const keptWindow = 1 << 20

// Read reads up to len(p) bytes of content into p. It returns [io.EOF] behind the last frame, and
// an error of the input behind all content in front of the damage. Content counts only once io.EOF
// has come, because the checksum of a frame is behind it. Empty input is io.EOF.
func (d *Decoder) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		if len(d.out) == 0 {
			err = d.err
		}
		return 0, err
	}
	if d.useWorkers() {
		n, err = d.workers.read(p)
		if d.leaveWorkers(err) {
			return n, err
		}
	}
	for len(d.out) == 0 {
		if !d.next() {
			return 0, d.err
		}
	}
	n = copy(p, d.out)
	d.out = d.out[n:]
	return n, nil
}

// WriteTo writes the rest of the content to w, straight from the memory that it was decoded to.
// Errors are those of Read and of w. After an error of w the Decoder returns it until Reset.
func (d *Decoder) WriteTo(w io.Writer) (n int64, err error) {
	if d.useWorkers() {
		n, err = d.workers.writeTo(w)
		if d.leaveWorkers(err) {
			if err == io.EOF {
				err = nil
			}
			return n, err
		}
	}
	for {
		if len(d.out) > 0 {
			m, err := w.Write(d.out)
			n += int64(m)
			if err == nil && m != len(d.out) {
				err = io.ErrShortWrite
			}
			d.out = nil
			if err != nil {
				d.fail(err)
				return n, err
			}
		}
		if !d.next() {
			if d.err == io.EOF {
				return n, nil
			}
			return n, d.err
		}
	}
}

// useWorkers reports whether workers decode the stream. The first call decides that.
func (d *Decoder) useWorkers() bool {
	if !d.begun && d.err == nil {
		d.begun = true
		o := d.options.Load()
		if o == nil { // the zero value
			d.err = ErrDecoderNilInput
			return false
		}
		d.beginWorkers(o)
	}
	return d.workers.active()
}

// leaveWorkers notes what the workers have returned. It returns false if the Decoder has to go on
// by itself.
func (d *Decoder) leaveWorkers(err error) bool {
	switch {
	case err == errAgain:
		d.skip = d.workers.n
		return false
	case err != nil:
		d.fail(err)
	}
	return true
}

// next decodes the next block, which may be empty. It returns false if there is none.
func (d *Decoder) next() bool {
	if d.err != nil {
		return false
	}
	err := d.step()
	if err != nil {
		out := d.out
		d.fail(err)
		d.out = out
	}
	return err == nil || len(d.out) > 0
}

// fail makes err what Read returns from then on.
func (d *Decoder) fail(err error) {
	d.release(true)
	d.err = err
}

// step goes on in the source by a block, or by the header of a frame.
func (d *Decoder) step() error {
	if d.frame == nil {
		d.frame = frameDecoders.Get().(*frameDecoder)
	}
	if d.inFrame {
		return d.decodeBlock()
	}
	f := d.frame
	if err := d.source.readHeader(&f.header); err != nil {
		return err
	}
	if f.header.Skippable {
		return d.source.skip(int64(f.header.SkippableSize))
	}
	if err := f.beginFrame(d.options.Load(), true); err != nil {
		return err
	}
	content := int64(-1)
	if f.header.HasFCS {
		content = int64(min(f.header.FrameContentSize, 1<<62))
	}
	d.window.BeginFrame(int64(f.window), content)
	d.inFrame = true
	return nil
}

// decodeBlock decodes the next block of the frame to d.out, and compares the checksum behind the
// last one. The content of the block is in d.out even if something is wrong behind it.
func (d *Decoder) decodeBlock() error {
	f := d.frame
	head, err := d.source.peek(zstframe.BlockHeaderSize)
	if err != nil {
		return err
	}
	b, err := f.parseBlock(head)
	if err != nil {
		return err
	}
	block, err := d.source.peek(zstframe.BlockHeaderSize + b.Size)
	if err != nil {
		return err
	}
	dst, from := d.window.BeginBlock(&f.codec.Executor)
	end, err := f.decodeBlock(dst, from, block)
	d.window.EndBlock(from, end)
	if err != nil {
		return blockError(err)
	}
	d.out = dst[from:end:end]
	over := min(d.skip, int64(len(d.out)))
	d.out, d.skip = d.out[over:], d.skip-over
	d.source.discard(len(block))
	if !b.Last {
		return nil
	}
	d.inFrame = false
	if !f.header.HasCheckSum {
		return nil
	}
	sum, err := d.source.peek(zstframe.ChecksumSize)
	if err != nil {
		return err
	}
	err = f.checkSum(sum)
	d.source.discard(zstframe.ChecksumSize)
	return err
}

// IOReadCloser returns the Decoder as an [io.ReadCloser] and [io.WriterTo]. It shares the Decoder's
// state: Reset of the Decoder begins another stream of it.
func (d *Decoder) IOReadCloser() io.ReadCloser { return readCloser{d} }

type readCloser struct{ *Decoder }

// Close closes the Decoder. It returns nil.
func (r readCloser) Close() error {
	r.Decoder.Close()
	return nil
}

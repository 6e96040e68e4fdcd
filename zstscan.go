package compress

import (
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/pipeline"
)

const (
	// maxWhole is the most content a frame may have to be one block of a run, in bytes. A file of one large frame is better off when it is decoded as it comes in,
	// with no more memory than its window; files of many frames, which are worth it, have smaller ones.
	maxWhole = 32 << 20

	// skipStep is how much of a skippable frame is passed over before the context is asked again, in bytes.
	skipStep = 1 << 20
)

// payloadLimit is how long a frame may be that has so much content, in bytes, to be a block: much longer than any compressor makes it.
func payloadLimit(content int64) int64 { return content + content/8 + 1024 }

// zstScanner reads a file of zstd's frames (RFC 8878). Frames that say how much content they have, and not too much, are blocks of a run. Others are decoded
// in order. In errors all frames are in stream 0, and blocks are frames.
type zstScanner struct {
	f      *foreign
	frame  zstFrame
	frames int64
	inside bool  // the frame is being decoded in order
	due    bool  // or will be from the next call on
	skip   int64 // bytes of a skippable frame to pass over
	kind   int   // of that frame
	magic  [zstfile.SkippableHeaderSize]byte

	dec    *zstd.Decoder
	ignore bool                        // that the decoder ignores checksums
	window int64                       // the largest that the decoder has had
	stream zstStream                   // what it reads
	kept   []byte                      // memory of stream.head
	hdr    [zstfile.MaxHeaderSize]byte // and of stream.hdr
	from   int64                       // content before the frame
	pipe   *pipeline.Pipeline
	tables tableCheck
}

func (z *zstScanner) begin(f *foreign) {
	*z = zstScanner{f: f, dec: z.dec, ignore: z.ignore, window: z.window, kept: z.kept, pipe: pipeline.ByName("lzf"), tables: tableCheck{prefix: z.tables.prefix}}
	z.tables.begin()
}

func (z *zstScanner) forget() {
	z.stream, z.frame.in = zstStream{}, nil
	z.shrink()
	if z.dec != nil {
		z.dec.Reset(nil)
	}
}

// shrink lets go of memory that is too much to be kept for a next time.
func (z *zstScanner) shrink() {
	if z.window > freeWindow {
		z.drop()
	}
}

// drop lets go of the decoder.
func (z *zstScanner) drop() {
	if z.dec != nil {
		z.dec.Close()
	}
	z.dec, z.window, z.kept = nil, 0, nil
}

func (z *zstScanner) fail(kind error, off int64, detail string) error {
	return z.f.fail(kind, 0, -1, off, detail)
}

func (z *zstScanner) next(u *unit) error {
	switch {
	case z.inside:
		z.serial(u)
		return nil
	case z.due:
		z.due = false
		return z.decodeInOrder(u, nil)
	}
	if err := z.nextFrame(); err != nil {
		return err
	}
	return z.choose(u)
}

// nextFrame reads the header of the next frame. Where skippable ones are passed over it returns errStreamEnd.
func (z *zstScanner) nextFrame() error {
	if z.skip > 0 {
		return z.skipSome()
	}
	in := &z.f.in
	at := in.off()
	magic := &z.magic
	n, err := readFull(in, magic[:zstfile.MagicSize])
	switch {
	case err == io.EOF && n == 0:
		return io.EOF
	case err == io.EOF && maybeFrame(magic[:n]):
		return z.fail(ErrTruncated, in.off(), "")
	case err != nil && err != io.EOF:
		if e, ok := underneath(err); ok {
			err = e
		}
		return err
	case zstfile.IsSkippable(magic[:n]):
		if _, err := readFull(in, magic[n:]); err != nil {
			return z.cut(err)
		}
		z.kind, z.skip, err = zstfile.ParseSkippable(magic[:])
		if err != nil {
			return z.fail(ErrCorrupt, at, err.Error())
		}
		if z.kind == zstfile.SeekTableKind && z.skip >= zstfile.SeekFooterSize && in.at == nil {
			z.tables.enter(z.skip)
		}
		return errStreamEnd
	case !zstfile.IsFrame(magic[:n]):
		// A frame whose magic number is damaged looks like this, too, and content would be missing: this is not taken for something behind the data.
		return z.fail(ErrCorrupt, at, "what follows is no zstd frame")
	}
	err = z.frame.begin(in, z.frames, magic[:n])
	z.frames++
	return err
}

// cut says what it means that the input ends, or fails, outside of frames with content.
func (z *zstScanner) cut(err error) error {
	if e, ok := underneath(err); ok {
		return e
	}
	if isEnd(err) {
		return z.fail(ErrTruncated, z.f.in.off(), "")
	}
	return err
}

// skipSome passes over a part of a skippable frame.
func (z *zstScanner) skipSome() error {
	in := &z.f.in
	if z.tables.inside {
		return z.tableSome()
	}
	n := min(z.skip, skipStep)
	if in.random() {
		n = z.skip
	}
	if err := in.skip(n); err != nil {
		return z.cut(err)
	}
	z.skip -= n
	return errStreamEnd
}

// tableSome reads a part of what may be a seek table.
func (z *zstScanner) tableSome() error {
	in, c := &z.f.in, &z.tables
	n, err := in.Read(c.buf[:min(z.skip, int64(len(c.buf)))])
	if n == 0 && err != nil {
		return z.cut(err)
	}
	c.write(c.buf[:n])
	if z.skip -= int64(n); z.skip == 0 {
		if !c.end(z.f.opt.checks) {
			return z.fail(ErrCorrupt, in.off()-c.size-zstfile.SkippableHeaderSize, "the frames in front of a seek table are not those that it lists")
		}
	}
	return errStreamEnd
}

// choose decides what becomes of the frame whose header has been read.
func (z *zstScanner) choose(u *unit) error {
	h, f := &z.frame.hdr, z.f
	if h.ContentSize >= 0 && f.tooLarge(h.ContentSize) {
		return z.frame.fail(ErrTooLarge, z.frame.offset, "")
	}
	z.shrink()
	if n := h.ContentSize; n >= 0 && n <= maxWhole {
		*u = unit{
			need:  *frameNeed(z.pipe, int(n)),
			kind:  pipeline.Coded,
			raw:   int(n),
			place: place{block: z.frame.number, offset: z.frame.offset, total: -1, borrowed: f.in.mem != nil},
		}
		u.extra = z.extra()
		if f.opt.checks {
			u.sum = 1
		}
		// What becomes of the frame must not depend on those before it.
		if u.memory(1, 1)-u.extra <= f.opt.readerLimit() {
			if u.memory(1, 1) > f.opt.readerLimit() {
				z.drop()
				u.extra = 0
			}
			return nil
		}
	}
	// Decoding in order may wait for input: what is in front of the frame is given out before it.
	z.due = true
	return errStreamEnd
}

// extra is the memory that the decoder has.
func (z *zstScanner) extra() int64 {
	if z.dec == nil {
		return 0
	}
	return windowMemory(z.window)
}

// frameNeed is what a frame with so much content needs to be a block. A run for frames does for pieces, so that frames of both sorts may follow one
// another by turns.
func frameNeed(p *pipeline.Pipeline, content int) *need {
	return &need{pipe: p, size: max(pieceSize, ceilPow2(content))}
}

func (z *zstScanner) payload(u *unit, p []byte) ([]byte, error) {
	if z.inside {
		return z.piece(u, p)
	}
	fr, in := &z.frame, &z.f.in
	limit := int(payloadLimit(int64(u.raw)))
	var err error
	if in.mem != nil {
		kept := p
		p = nil
		if err = fr.whole(int64(limit)); err == nil || err == io.EOF {
			q := in.mem[fr.offset:in.off():in.off()]
			if cap(kept) < len(q) {
				p = q
			} else {
				// The memory has been of use for a piece, and may be again.
				p, u.place.borrowed = append(kept[:0], q...), false
			}
		} else {
			p = in.mem[fr.offset:in.off():in.off()]
		}
	} else {
		p, err = fr.gather(p[:0], limit+1, func() bool { return false })
	}
	if err == nil {
		// It is longer than its content gives reason for: decode it in order.
		if err := z.decodeInOrder(u, p); err != nil {
			return nil, err
		}
		return nil, errStreamEnd
	}
	if err != io.EOF {
		return nil, z.begun(u, p, err)
	}
	var sum uint32
	if fr.hdr.Checksum {
		sum = binary.LittleEndian.Uint32(p[len(p)-zstfile.ChecksumSize:])
	}
	z.tables.frame(int64(len(p)), int64(u.raw), sum, fr.hdr.Checksum)
	return p, nil
}

// sure reports whether the next block of the frame is there, or, between frames, the next header.
func (z *zstScanner) sure(int) bool {
	if !z.inside {
		return z.f.in.br.Buffered() >= zstfile.MaxHeaderSize
	}
	return z.frame.buffered()
}

package cli

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/cli/internal/foreign"
)

// restore decompresses in to w. Parts of several formats may follow one another; a Reader restores
// streams of one.
func (a *app) restore(w io.Writer, in *source, m *meter, opts []compress.ReaderOption) error {
	if done, err := m.restoreAtOnce(w, opts); done || err != nil {
		return err
	}
	var counted io.Reader = &m.r
	if !m.direct() {
		head, err := readHead(&m.r)
		if err != nil {
			return err
		}
		counted = io.MultiReader(bytes.NewReader(head), &m.r)
	}
	if _, known := in.format(); !known {
		if m.foreign = foreign.Detect(in.head(), in.name); m.foreign != nil {
			if a.putOff() {
				return errPutOff // it may need as much memory as the file says
			}
			return m.copyContent(w, m.foreign.NewReader(counted, a.cfg.memory))
		}
		if a.cfg.force && a.cfg.mode == modeDecompress && m.w.w == io.Writer(a.stdout) {
			_, err := io.Copy(w, counted) // as in gzip, -dcf copies other data unchanged
			return err
		}
		if a.cfg.readsArchives() && !m.direct() {
			p := bufio.NewReader(counted)
			if head, _ := p.Peek(tarHead); isTarHead(head) {
				_, err := io.Copy(w, p)
				return err
			}
			counted = p
		}
	}
	r := counted
	if m.direct() {
		r = m.reader()
	}
	zr, err := compress.NewReader(r, opts...)
	if err != nil {
		return err
	}
	defer zr.Close()
	for {
		_, err = zr.WriteTo(&verifiedWriter{m: m, w: w, from: m.last.Content})
		rest := m.nextPart(err)
		if rest == nil {
			return err
		}
		if m.foreign = in.foreignFormat(); m.foreign != nil {
			return m.copyContent(w, m.foreign.NewReader(rest, a.cfg.memory))
		}
		zr.Reset(rest)
	}
}

// A verifiedWriter holds back the content of a damaged frame, which a Reader writes last without
// reporting progress. Parity may still restore that frame.
type verifiedWriter struct {
	m    *meter
	w    io.Writer
	from int64 // content in front of what is written
	n    int64 // bytes written
}

func (v *verifiedWriter) Write(p []byte) (int, error) {
	if m := v.m; v.n+int64(len(p)) > m.last.Content-v.from {
		m.held, m.heldFor = append(m.held, p...), v.w
		return len(p), nil
	}
	n, err := v.w.Write(p)
	v.n += int64(n)
	return n, err
}

// writeHeld writes what was held back.
func (m *meter) writeHeld() error {
	p := m.held
	m.held = nil
	if len(p) == 0 {
		return nil
	}
	_, err := m.heldFor.Write(p)
	return err
}

// nextPart returns what is left of the source if err says that it goes on in another format. Else
// it returns nil. From then on errors count their places from there.
func (m *meter) nextPart(err error) io.Reader {
	in := m.in
	off, ok := in.partEnd(err)
	if !ok {
		return nil
	}
	var rest io.Reader
	if m.direct() {
		if _, err := in.f.Seek(in.start+off, io.SeekStart); err != nil {
			return nil
		}
		rest = in.f
	} else {
		kept := m.r.recent.from(in.part + off)
		if kept == nil {
			return nil
		}
		data := bytes.Clone(kept)
		if len(data) < magicSize {
			more, _ := readHead(&m.r) // another read reports an error again
			data = append(data, more...)
		}
		if !beginsPart(data) {
			return nil
		}
		in.prefix = append(in.prefix[:0], data[:min(len(data), magicSize)]...)
		rest = io.MultiReader(bytes.NewReader(data), &m.r)
	}
	in.start += off
	in.part += off
	m.before = m.last
	m.before.Compressed = in.part
	return rest
}

// beginsPart reports whether data that stands behind compressed data begins another part. Formats
// without checksums do not count: garbage could pass for them.
func beginsPart(data []byte) bool {
	if _, ok := compress.DetectFormat(data); ok {
		return true
	}
	f := foreign.Detect(data, "")
	return f != nil && !f.Unchecked
}

// partEnd returns where the part in one format ends that a Reader has restored, in bytes from its
// beginning, if err says that it is complete. ok is false if no part in a known format follows, as
// far as that can be seen: of an input without random access nothing can.
func (s *source) partEnd(err error) (off int64, ok bool) {
	var e *compress.Error
	if !errors.As(err, &e) || e.Offset <= 0 {
		return 0, false
	}
	if !s.strayData(e) && !errors.Is(err, compress.ErrTrailing) {
		return 0, false
	}
	if s.regular() {
		head := make([]byte, magicSize)
		n, _ := s.readerAt().ReadAt(head, s.start+e.Offset)
		return e.Offset, beginsPart(head[:n])
	}
	return e.Offset, true
}

// strayData reports whether an error is about data in a .zst file that is no frame. It may be
// damage of a frame, so it counts as damage.
func (s *source) strayData(e *compress.Error) bool {
	return s.is(compress.Zstd) && errors.Is(e, compress.ErrCorrupt) && e.Part == compress.PartUnknown
}

// goesOn reports whether a part in another format follows where err says.
func (s *source) goesOn(err error) bool {
	_, ok := s.partEnd(err)
	return ok && s.regular()
}

// readHead reads the first bytes of r.
func readHead(r io.Reader) (head []byte, err error) {
	head = make([]byte, magicSize)
	n, err := io.ReadFull(r, head)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return head[:n], err
}

// copyContent copies what a decoder of another format returns.
func (m *meter) copyContent(w io.Writer, r io.Reader) error {
	buf := make([]byte, 256<<10)
	var content int64
	for {
		n, err := r.Read(buf)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return err
			}
			content += int64(n)
			m.progress(compress.Progress{Content: content, Compressed: m.read() - m.before.Compressed})
		}
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return err
		}
	}
}

// recentSize is how many of the bytes read last a recentBytes keeps at least. A Reader that reads a
// pipe reads ahead by a buffer of 128 KiB, and part of another one.
const recentSize = 512 << 10

// recentBytes keeps the end of what has been read of a pipe. A Reader may have read past the end of
// the part that it restores.
type recentBytes struct {
	buf []byte
	end int64 // bytes read so far
}

func (r *recentBytes) addBytes(p []byte) {
	if len(r.buf)+len(p) > 2*recentSize {
		keep := max(0, min(recentSize-len(p), len(r.buf)))
		r.buf = r.buf[:copy(r.buf, r.buf[len(r.buf)-keep:])]
	}
	r.buf = append(r.buf, p[max(0, len(p)-2*recentSize):]...)
	r.end += int64(len(p))
}

// from returns the bytes read from an offset on, or nil if they are not kept.
func (r *recentBytes) from(off int64) []byte {
	at := off - (r.end - int64(len(r.buf)))
	if at < 0 || at > int64(len(r.buf)) {
		return nil
	}
	return r.buf[at:]
}

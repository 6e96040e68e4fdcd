package cli

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/cli/internal/foreign"
)

// restore decompresses in to w. Parts of several formats may follow one another. As in gzip and
// zstd -dcf copies what follows them, or all, if it is in no known format.
func (a *app) restore(w io.Writer, in *source, m *meter, opts []compress.ReaderOption) error {
	if done, err := m.restoreAtOnce(w, opts); done || err != nil {
		return err
	}
	var r io.Reader = &m.r
	if !m.direct() {
		head, err := readHead(&m.r)
		if err != nil {
			return err
		}
		r = io.MultiReader(bytes.NewReader(head), &m.r)
	}
	for {
		rest, err := a.restorePart(w, r, m, opts)
		if rest == nil {
			return err
		}
		if !beginsPart(in.head()) {
			return m.copyContent(w, rest)
		}
		r = rest
	}
}

// passesOn reports whether data in no known format is content.
func (a *app) passesOn(m *meter) bool {
	return a.cfg.force && a.cfg.mode == modeDecompress && m.w.w == io.Writer(a.stdout)
}

// restorePart restores the part in one format that r begins with. If what follows is to be restored
// or copied, rest is that, and the error does not count.
func (a *app) restorePart(
	w io.Writer, r io.Reader, m *meter, opts []compress.ReaderOption,
) (rest io.Reader, err error) {
	_, known := m.in.format()
	if f := m.in.foreignFormat(); f != nil {
		return a.restoreForeign(w, f, r, m)
	}
	if !known && a.passesOn(m) {
		return nil, m.copyContent(w, r)
	}
	if !known && a.cfg.readsArchives() && !m.direct() {
		p := bufio.NewReader(r)
		if head, _ := p.Peek(tarHead); isTarHead(head) {
			_, err := io.Copy(w, p)
			return nil, err
		}
		r = p
	}
	if m.direct() {
		r = m.in.f
	}
	zr, err := compress.NewReader(r, opts...)
	if err != nil {
		return nil, err
	}
	defer zr.Close()
	_, err = zr.WriteTo(w)
	return m.nextPart(err), err
}

// restoreForeign is restorePart for a format that pz does not write.
func (a *app) restoreForeign(
	w io.Writer, f *foreign.Format, r io.Reader, m *meter,
) (rest io.Reader, err error) {
	if a.putOff() {
		return nil, errPutOff // it may need as much memory as the file says
	}
	m.foreign = f
	fr := f.NewReader(r, a.cfg.memory)
	err = m.copyContent(w, fr)
	var trailing *foreign.TrailingError
	if !errors.As(err, &trailing) {
		return nil, err
	}
	rest = fr.Rest()
	head, headErr := readHead(rest)
	if headErr != nil {
		return nil, headErr
	}
	rest = m.beginPart(trailing.Offset, head, io.MultiReader(bytes.NewReader(head), rest))
	switch {
	case rest != nil, f.Behind == foreign.Refused:
	case f.Behind == foreign.Warned:
		err = &compress.Error{Kind: compress.ErrTrailing, Offset: trailing.Offset, Block: -1}
	default:
		a.note(m.in.name, "%s (byte %d) is ignored", trailingGarbage, m.in.part+trailing.Offset)
		err = nil
	}
	return rest, err
}

// nextPart returns what follows the part that a Reader has restored, if err says that it is
// complete and that what follows is to be restored or copied. Else it returns nil.
func (m *meter) nextPart(err error) io.Reader {
	in := m.in
	off, ok := in.partEnd(err)
	switch {
	case !ok:
		return nil
	case m.direct():
		head := make([]byte, magicSize)
		n, _ := in.f.ReadAt(head, in.start+off)
		return m.beginPart(off, head[:n], nil)
	}
	kept := m.r.recent.from(in.part + off)
	if kept == nil {
		return nil
	}
	data := bytes.Clone(kept)
	if len(data) < magicSize {
		more, _ := readHead(&m.r) // another read reports an error again
		data = append(data, more...)
	}
	return m.beginPart(off, data[:min(len(data), magicSize)], io.MultiReader(bytes.NewReader(data), &m.r))
}

// beginPart begins the part that stands off bytes behind the beginning of the last one, with head,
// and returns its reader: rest, or one of a file that is read directly. From then on errors count
// their places from there. It returns nil, and does nothing, if that data is neither to be restored
// nor to be copied.
func (m *meter) beginPart(off int64, head []byte, rest io.Reader) io.Reader {
	in := m.in
	if !beginsPart(head) && !m.app.passesOn(m) {
		return nil
	}
	if m.direct() {
		if _, err := in.f.Seek(in.start+off, io.SeekStart); err != nil {
			return nil
		}
		rest = &m.r
	}
	in.prefix = append(in.prefix[:0], head...)
	in.start += off
	in.part += off
	m.before = m.last
	m.before.Compressed = in.part
	return rest
}

// beginsPart reports whether data that stands behind compressed data begins another part. lzma does
// not count: it has no magic number, so garbage could pass for it.
func beginsPart(data []byte) bool {
	if _, ok := compress.DetectFormat(data); ok {
		return true
	}
	f := foreign.Detect(data, "")
	return f != nil && f.MayFollow()
}

// partEnd returns where the part in one format ends that a Reader has restored, in bytes from its
// beginning, if err says that it is complete and that something else follows.
func (s *source) partEnd(err error) (off int64, ok bool) {
	var e *compress.Error
	if !errors.As(err, &e) || e.Offset <= 0 {
		return 0, false
	}
	if !s.strayData(e) && !errors.Is(err, compress.ErrTrailing) {
		return 0, false
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
	off, ok := s.partEnd(err)
	if !ok || !s.regular() {
		return false
	}
	head := make([]byte, magicSize)
	n, _ := s.readerAt().ReadAt(head, s.start+off)
	return beginsPart(head[:n])
}

// endsBefore reports whether err says that compressed data is complete, and that other data
// follows.
func (s *source) endsBefore(err error) bool {
	var trailing *foreign.TrailingError
	_, ok := s.partEnd(err)
	return ok || errors.As(err, &trailing)
}

// readHead reads the first bytes of r. It waits for no more of them than show a format of pz.
func readHead(r io.Reader) (head []byte, err error) {
	head = make([]byte, magicSize)
	n, err := io.ReadAtLeast(r, head, 4)
	if _, known := compress.DetectFormat(head[:n]); err == nil && !known {
		var more int
		more, err = io.ReadFull(r, head[n:])
		n += more
	}
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

package cli

import (
	"io"
	"sync"

	"github.com/gopz/compress"
)

const (
	// oneShot is the size in bytes of the largest file that is compressed or restored by one call.
	// The call works on the goroutine of the caller and keeps its memory for the next file.
	oneShot = 64<<10 - 1

	// oneShotContent is the most content in bytes that one call restores.
	oneShotContent = 2 << 20

	// keptContent is the most memory for content in bytes that is kept for the next file.
	keptContent = 512 << 10
)

// smallContents holds memory for files that are processed by one call.
var smallContents = sync.Pool{New: func() any { return new(smallContent) }}

// smallContent is what one call reads and writes.
type smallContent struct {
	in  [oneShot + 1]byte
	out []byte
}

// putAway keeps f for the next file.
func (f *smallContent) putAway() {
	if cap(f.out) > keptContent {
		f.out = nil
	}
	smallContents.Put(f)
}

// compressAtOnce compresses size bytes of r, which has no more, and writes the result at once.
func compressAtOnce(w io.Writer, r io.Reader, size int, opts []compress.WriterOption) error {
	f := smallContents.Get().(*smallContent)
	defer f.putAway()
	n, err := io.ReadFull(r, f.in[:size+1]) // one more, so that the reader sees the end
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return err
	}
	f.out, err = compress.AppendEncode(f.out[:0], f.in[:n], opts...)
	if err != nil {
		return err
	}
	_, err = w.Write(f.out)
	return err
}

// restoreAtOnce restores a small regular file and writes the content at once. It reports false, and
// has written nothing, if it cannot do so: if the file is large, damaged, or of several formats.
// Then a Reader restores what can be restored and says what is wrong.
func (m *meter) restoreAtOnce(w io.Writer, opts []compress.ReaderOption) (ok bool, err error) {
	size := m.in.size()
	if !m.direct() || size < 0 || size > oneShot {
		return false, nil
	}
	f := smallContents.Get().(*smallContent)
	defer f.putAway()
	n, _ := m.in.f.Read(f.in[:size+1]) // one more: the file may have grown
	if int64(n) == size {
		opts = append(opts, compress.WithMaxDecodedSize(oneShotContent))
		f.out, err = compress.AppendDecode(f.out[:0], f.in[:n], opts...)
		ok = err == nil
	}
	if !ok {
		m.last = compress.Progress{}
		_, err = m.in.f.Seek(m.in.start, io.SeekStart)
		return false, err
	}
	_, err = w.Write(f.out)
	return true, err
}

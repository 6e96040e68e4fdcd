package archive

import (
	"io"
	"io/fs"
	"sync"
)

// sequentialFile is an open file whose content can be read from front to back only. So a read in
// front of the place where the last one ended begins again.
type sequentialFile struct {
	file
	open func() (io.Reader, error) // returns the content from its beginning

	mu     sync.Mutex
	r      io.Reader // nil before the first read
	at     int64     // of r
	offset int64     // of the next Read
}

func (f *sequentialFile) Read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.readAt(p, f.offset)
	f.offset += int64(n)
	if n > 0 {
		err = nil // as io.SectionReader, of which the next call has the error
	}
	return n, err
}

func (f *sequentialFile) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: fs.ErrInvalid}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.readAt(p, off)
}

// readAt reads len(p) bytes, or fails. The caller holds the lock.
func (f *sequentialFile) readAt(p []byte, off int64) (n int, err error) {
	if off >= f.size {
		return 0, io.EOF
	}
	if f.r == nil || off < f.at {
		f.r, err = f.open()
		if err != nil {
			f.r = nil
			return 0, f.cut(off, err)
		}
		f.at = 0
	}
	skipped, err := io.CopyN(io.Discard, f.r, off-f.at)
	f.at += skipped
	if err != nil {
		f.r = nil
		return 0, f.cut(f.at, err)
	}
	n, err = io.ReadFull(f.r, p[:min(int64(len(p)), f.size-off)])
	f.at += int64(n)
	if err != nil {
		f.r = nil
		return n, f.cut(f.at, err)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *sequentialFile) Seek(off int64, whence int) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch whence {
	case io.SeekCurrent:
		off += f.offset
	case io.SeekEnd:
		off += f.size
	}
	if off < 0 || whence < io.SeekStart || whence > io.SeekEnd {
		return 0, &fs.PathError{Op: "seek", Path: f.name, Err: fs.ErrInvalid}
	}
	f.offset = off
	return off, nil
}

package archive

import (
	"io"
	"io/fs"
	"path"
	"time"
)

// info describes an entry.
type info struct {
	name    string
	size    int64
	mode    fs.FileMode
	modTime time.Time
}

// info describes the entry e under the last element of a path.
func (f *FS) info(name string, e *entry) *info {
	return &info{path.Base(name), e.size, e.mode, time.Unix(e.seconds, int64(e.nanoseconds))}
}

func (i *info) Name() string               { return i.name }
func (i *info) Size() int64                { return i.size }
func (i *info) Mode() fs.FileMode          { return i.mode }
func (i *info) ModTime() time.Time         { return i.modTime }
func (i *info) IsDir() bool                { return i.mode.IsDir() }
func (i *info) Sys() any                   { return nil }
func (i *info) Type() fs.FileMode          { return i.mode.Type() }
func (i *info) Info() (fs.FileInfo, error) { return i, nil }
func (i *info) String() string             { return fs.FormatFileInfo(i) }

// list describes entries of the table.
func (f *FS) list(numbers []int) []fs.DirEntry {
	list := make([]fs.DirEntry, len(numbers))
	for i, k := range numbers {
		e := &f.table.entries[k]
		list[i] = f.info(f.table.get(e.name), e)
	}
	return list
}

// file is an open file.
type file struct {
	*info
	content *io.SectionReader
}

func (f *file) Stat() (fs.FileInfo, error)                { return f.info, nil }
func (f *file) Close() error                              { return nil }
func (f *file) Seek(off int64, whence int) (int64, error) { return f.content.Seek(off, whence) }

func (f *file) Read(p []byte) (int, error) {
	at, _ := f.content.Seek(0, io.SeekCurrent)
	n, err := f.content.Read(p)
	return n, f.cut(at+int64(n), err)
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.content.ReadAt(p, off)
	return n, f.cut(off+int64(n), err)
}

// cut returns the error of a read that has come to an offset: a file that is cut short has no other
// end.
func (f *file) cut(at int64, err error) error {
	if err == io.EOF && at < f.size {
		return io.ErrUnexpectedEOF
	}
	return err
}

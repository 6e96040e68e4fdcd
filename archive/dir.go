package archive

import (
	"errors"
	"io"
	"io/fs"
)

var (
	errNotDir = errors.New("not a directory")
	errIsDir  = errors.New("is a directory")
)

// dir is an open directory.
type dir struct {
	info fs.FileInfo
	list func() ([]fs.DirEntry, error) // returns all entries, sorted by name
	rest []fs.DirEntry                 // what ReadDir has yet to return, once list is nil
}

func (d *dir) Stat() (fs.FileInfo, error) { return d.info, nil }
func (d *dir) Close() error               { return nil }

func (d *dir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.info.Name(), Err: errIsDir}
}

func (d *dir) ReadDir(n int) ([]fs.DirEntry, error) {
	if d.list != nil {
		list, err := d.list()
		if err != nil {
			return nil, err
		}
		d.rest, d.list = list, nil
	}
	part := d.rest
	if n > 0 {
		if len(part) == 0 {
			return nil, io.EOF
		}
		part = part[:min(n, len(part))]
	}
	d.rest = d.rest[len(part):]
	return part, nil
}

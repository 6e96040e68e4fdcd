package source

import (
	"io"
	"io/fs"
	"time"
)

// single is a file system of one file.
type single struct {
	name    string
	src     io.ReaderAt
	size    int64
	modTime time.Time
}

var rootInfo = &fileInfo{name: ".", mode: fs.ModeDir | 0o555}

func (s *single) info() *fileInfo {
	return &fileInfo{name: s.name, size: s.size, mode: 0o444, modTime: s.modTime}
}

// Open opens the file. The directory cannot be opened: see ReadDir.
func (s *single) Open(name string) (fs.File, error) {
	if name != s.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &singleFile{io.NewSectionReader(s.src, 0, s.size), s.info()}, nil
}

func (s *single) Stat(name string) (fs.FileInfo, error) {
	switch name {
	case ".":
		return rootInfo, nil
	case s.name:
		return s.info(), nil
	}
	return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
}

func (s *single) ReadDir(name string) ([]fs.DirEntry, error) {
	if name != "." {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	return []fs.DirEntry{fs.FileInfoToDirEntry(s.info())}, nil
}

type singleFile struct {
	*io.SectionReader
	info *fileInfo
}

func (f *singleFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *singleFile) Close() error               { return nil }

type fileInfo struct {
	name    string
	size    int64
	mode    fs.FileMode
	modTime time.Time
}

func (i *fileInfo) Name() string       { return i.name }
func (i *fileInfo) Size() int64        { return i.size }
func (i *fileInfo) Mode() fs.FileMode  { return i.mode }
func (i *fileInfo) ModTime() time.Time { return i.modTime }
func (i *fileInfo) IsDir() bool        { return i.mode.IsDir() }
func (i *fileInfo) Sys() any           { return nil }

package archive

import (
	"archive/tar"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestNames checks names that would leave the directory of an archive, and names that occur often.
func TestNames(t *testing.T) {
	headers := []tar.Header{
		{Typeflag: tar.TypeReg, Name: "../../etc/passwd"},
		{Typeflag: tar.TypeReg, Name: "/abs/./x//y"},
		{Typeflag: tar.TypeReg, Name: "twice"},
		{Typeflag: tar.TypeReg, Name: "b/../c/.."},
		{Typeflag: tar.TypeReg, Name: "./twice"},
		{Typeflag: tar.TypeReg, Name: "file"},
		{Typeflag: tar.TypeReg, Name: "file/below"},
		{Typeflag: tar.TypeSymlink, Name: "out", Linkname: "../../etc/passwd"},
		{Typeflag: tar.TypeSymlink, Name: "abs-link", Linkname: "/etc/passwd"},
		{Typeflag: tar.TypeSymlink, Name: "loop1", Linkname: "loop2"},
		{Typeflag: tar.TypeSymlink, Name: "loop2", Linkname: "loop1/x"},
		{Typeflag: tar.TypeSymlink, Name: "root", Linkname: "."},
		{Typeflag: tar.TypeLink, Name: "hard-none", Linkname: "none"},
		{Typeflag: tar.TypeLink, Name: "hard1", Linkname: "hard2"},
		{Typeflag: tar.TypeLink, Name: "hard2", Linkname: "hard1"},
		{Typeflag: tar.TypeLink, Name: "hard-self", Linkname: "hard-self"},
		{Typeflag: tar.TypeLink, Name: "hard-dir", Linkname: "abs"},
		{Typeflag: tar.TypeFifo, Name: "fifo"},
		{Typeflag: tar.TypeDir, Name: "./", Mode: 0o700},
		{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"comment": "x"}},
	}
	for i := range headers {
		if headers[i].Typeflag == tar.TypeXGlobalHeader {
			headers[i] = tar.Header{Typeflag: tar.TypeReg, Name: "last"}
		}
	}
	content := func(i int) []byte { return []byte(fmt.Sprint("content ", i)) }
	f := open(t, makeTar(t, headers, content))
	var names []string
	fs.WalkDir(f, ".", func(name string, _ fs.DirEntry, err error) error {
		names = append(names, name)
		return err
	})
	want := []string{
		".", "abs", "abs/x", "abs/x/y", "abs-link", "etc", "etc/passwd", "fifo", "file",
		"hard-dir", "hard-none", "hard-self", "hard1", "hard2", "last", "loop1", "loop2", "out", "root",
		"twice",
	}
	if !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if err := fstest.TestFS(withoutBroken{f}, "abs/x/y"); err != nil {
		t.Error(err)
	}
	for name, i := range map[string]int{
		"etc/passwd": 0, "abs/x/y": 1, "twice": 4, "file": 5, "root/root/twice": 4,
	} {
		if got, err := f.ReadFile(name); err != nil || string(got) != string(content(i)) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, name := range []string{
		"out", "abs-link", "loop1", "loop2/y", "hard-none", "hard1", "hard-self", "hard-dir", "none",
		"twice/x", "file/below", "abs/none", strings.Repeat("loop1/", 1000) + "x",
	} {
		if _, err := f.ReadFile(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"", "/twice", "./twice", "abs/", "../twice", "abs/../twice"} {
		if _, err := f.Open(name); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// withoutBroken leaves out links that lead nowhere, which the suite of file systems opens.
type withoutBroken struct{ *FS }

func (f withoutBroken) Open(name string) (fs.File, error) {
	file, err := f.FS.Open(name)
	if d, ok := file.(*dir); ok {
		d.list = func() ([]fs.DirEntry, error) { return f.ReadDir(name) }
	}
	return file, err
}

func (f withoutBroken) ReadDir(name string) ([]fs.DirEntry, error) {
	i, err := f.resolve("readdir", name, true)
	if err != nil || !f.entry(i).mode.IsDir() {
		return f.FS.ReadDir(name)
	}
	return f.list(f.intact(f.table.children(i))), nil
}

func (f withoutBroken) intact(numbers []int) []int {
	return slices.DeleteFunc(numbers, func(i int) bool {
		_, err := f.Stat(f.table.get(f.table.entries[i].name))
		return err != nil || f.table.entries[i].kind == missing
	})
}

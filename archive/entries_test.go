package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"testing"

	"github.com/gopz/compress"
)

// TestEntries goes through an archive whose names are not sorted, with links of all kinds.
func TestEntries(t *testing.T) {
	headers := []tar.Header{
		{Typeflag: tar.TypeReg, Name: "z/file"},
		{Typeflag: tar.TypeLink, Name: "a-hard", Linkname: "./z/file"},
		{Typeflag: tar.TypeSymlink, Name: "link", Linkname: "../out"},
		{Typeflag: tar.TypeReg, Name: "twice"},
		{Typeflag: tar.TypeDir, Name: "dir/"},
		{Typeflag: tar.TypeReg, Name: "twice"},
		{Typeflag: tar.TypeLink, Name: "gone", Linkname: "none"},
		{Typeflag: tar.TypeReg, Name: "dir/b"},
		{Typeflag: tar.TypeReg, Name: "file"},
		{Typeflag: tar.TypeReg, Name: "file/below"},
		{Typeflag: tar.TypeDir, Name: "./"},
	}
	content := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, i*100+1) }
	want := "z/file  1\na-hard =z/file 1\nlink >../out 0\ndir/  0\ntwice  501\ngone  0\ndir/b  701\n" +
		"file/below  901\n"
	for name, packed := range map[string][]byte{
		"list": write(t, headers, content), "headers": pack(t, makeTar(t, headers, content), compress.PZ),
	} {
		f := open(t, packed)
		got := ""
		for e := range f.Entries() {
			shown, link := e.Name, e.Link
			switch {
			case e.Info.IsDir():
				shown += "/"
			case e.IsHardLink():
				link = "=" + link
			case e.Info.Mode().Type() == fs.ModeSymlink:
				link = ">" + link
			}
			got += fmt.Sprintln(shown, link, e.Info.Size())
		}
		if got != want {
			t.Errorf("%s: got\n%swant\n%s", name, got, want)
		}
		if _, err := f.Open("gone"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
		if e, ok := f.Entry("a-hard"); !ok || !e.IsHardLink() {
			t.Errorf("%s: %+v, %v", name, e, ok)
		} else if file, err := e.Open(); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if p, err := io.ReadAll(file); err != nil || !bytes.Equal(p, content(0)) {
			t.Errorf("%s: %q, %v", name, p, err)
		}
		if e, ok := f.Entry("none"); ok {
			t.Errorf("%s: %+v", name, e)
		}
		for e := range f.Entries() {
			if e.Name != "z/file" {
				t.Errorf("%s: %q after the first entry", name, e.Name)
			}
			break
		}
	}
}

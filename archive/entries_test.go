package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
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
		"file  801\n"
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

// TestAll goes through entries that others replace, and those that others block as they do when GNU
// tar unpacks the archive.
func TestAll(t *testing.T) {
	for _, c := range []struct{ archive, shown, want string }{
		{"a b a d/ d/", "a b d", "-a b a -d d"},
		{"d/f d d/g", "d d/f d/g", "d/f !d=d d/g"},
		{"g g/f g/h/i", "g", "g !g/f=g !g/h/i=g"},
		{"g g/f g", "g", "-g !g/f=g g"},
		{"p/ p/q p p", "p p/q", "p p/q !p=p !p=p"},
		{"p/ p p/q", "p", "-p p !p/q=p"},
		{"p p/ p/q", "p p/q", "-p p p/q"},
		{"p p/q p/", "p", "-p !p/q=p p"},
		{"p p/q p/ p/r", "p p/r", "-p !p/q=p p p/r"},
		{"p p/q p/ p/q", "p p/q", "-p !p/q=p p p/q"},
		{"p p/q/r p/q p/ p/q/r", "p p/q p/q/r", "-p !p/q/r=p !p/q=p p p/q/r"},
		{"p p/q/ p/ p/q p/q/r", "p p/q", "-p !p/q=p p p/q !p/q/r=p/q"},
		{"p/q p p/", "p p/q", "p/q !p=p p"},
		{"p p/q p/ p", "p", "-p !p/q=p -p p"},
		{"a/b/c a/b a/b.d a", "a a/b a/b/c a/b.d", "a/b/c !a/b=a/b a/b.d !a=a"},
		{"a a/b a/b/c a.d", "a a.d", "a !a/b=a !a/b/c=a a.d"},
		{"l@ l/f l@", "l", "-l !l/f=l l"},
		{"f g=f f", "f g", "-f g f"},
		{"f f/h=f g=f", "f g", "f g !f/h=f"},
	} {
		var headers []tar.Header
		for name := range strings.FieldsSeq(c.archive) {
			h := tar.Header{Typeflag: tar.TypeReg, Name: name}
			link, target, isHard := strings.Cut(name, "=")
			switch {
			case isHard:
				h = tar.Header{Typeflag: tar.TypeLink, Name: link, Linkname: target}
			case strings.HasSuffix(name, "@"):
				h = tar.Header{Typeflag: tar.TypeSymlink, Name: name[:len(name)-1], Linkname: "/tmp"}
			case strings.HasSuffix(name, "/"):
				h.Typeflag = tar.TypeDir
			}
			headers = append(headers, h)
		}
		content := func(i int) []byte { return []byte{byte(i)} }
		for form, p := range map[string][]byte{
			"list": write(t, headers, content), "headers": makeTar(t, headers, content),
		} {
			f := open(t, p)
			var all, shown []string
			for e := range f.All() {
				text, conflict := e.Name, e.Conflict()
				switch {
				case e.IsReplaced():
					text = "-" + text
				case conflict != "":
					text = "!" + text + "=" + conflict
				}
				all = append(all, text)
			}
			fs.WalkDir(f, ".", func(name string, _ fs.DirEntry, err error) error {
				shown = append(shown, name)
				return err
			})
			if got := strings.Join(all, " "); got != c.want {
				t.Errorf("%s: %s has entries %s, want %s", form, c.archive, got, c.want)
			}
			if got := strings.Join(shown[1:], " "); got != c.shown {
				t.Errorf("%s: %s shows %s, want %s", form, c.archive, got, c.shown)
			}
		}
	}
}

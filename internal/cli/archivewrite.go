package cli

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/archive"
)

// makeArchive makes an archive of all operands.
func (a *app) makeArchive() {
	e, in := entry{path: "-"}, &source{app: a, name: "archive"}
	if a.cfg.output == "" && !a.cfg.toStdout {
		name := filepath.Clean(a.cfg.files[0]) + ".tar"
		e, in.name = entry{path: name, base: filepath.Base(name)}, name
	}
	a.setTarget(-1)
	j := &job{app: a, e: e, in: in}
	defer j.close()
	if !j.open() {
		return
	}
	j.m = a.newMeter(in, j.out)
	err := a.transfer(in, j.out, j.m)
	j.m.closeBar()
	j.finishOutput(err)
	a.commit([]*job{j})
}

// archiver adds files to an archive.
type archiver struct {
	app   *app
	w     *archive.Writer
	own   []fs.FileInfo     // the archive, and the file that it replaces
	links map[fileID]string // names of files with several hard links
	buf   []byte
	files int64 // entries so far
	bytes int64 // of their content
	err   error // of w; ends the run
}

var errNoEntries = errors.New("not written, since it would be empty")

// archiveTo writes an archive of all operands to w. It writes none if no operand can be read.
func (a *app) archiveTo(w io.Writer, m *meter, opts []compress.WriterOption) error {
	zw, err := archive.NewWriter(w, opts...)
	if err != nil {
		return err
	}
	x := &archiver{app: a, w: zw, links: map[fileID]string{}, buf: make([]byte, 256<<10)}
	x.own = a.ownFiles(m.out)
	a.eachPath(x.operand)
	if x.err == nil && x.files == 0 && a.status == exitError {
		x.err = errNoEntries // an empty archive must not replace a good one
	}
	if x.err == nil {
		x.err = zw.Close()
	}
	if x.err == nil {
		a.note(m.out.name, "archive of %d files and directories, %d bytes of content, %d compressed",
			x.files, x.bytes, m.w.n)
	}
	return x.err
}

// ownFiles describes the output, and the file whose name it is to get.
func (a *app) ownFiles(out *output) (list []fs.FileInfo) {
	if fi, err := out.f.Stat(); err == nil && fi.Mode().IsRegular() {
		list = append(list, fi)
	}
	if out.temp != "" {
		if fi, err := out.at.root.Lstat(out.at.base); err == nil {
			list = append(list, fi)
		}
	}
	return list
}

// operand adds a file, or a directory with all below it.
func (x *archiver) operand(path string) {
	a := x.app
	switch {
	case path == "":
		a.fail("", "the file name is empty")
		return
	case path == "-":
		a.fail("standard input", "has no name for an entry; --tar takes files and directories")
		return
	case a.excluded(path):
		return
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil && isURL(path):
		a.operandURL(path, nil)
	case err != nil:
		a.fail(path, "%s", reason(err))
	case info.IsDir():
		if d := a.openDir(path); d != nil {
			defer a.closeDir(d)
			x.directory(d)
		}
	default:
		root, err := os.OpenRoot(filepath.Dir(path))
		if err != nil {
			a.fail(path, "%s", reason(err))
			return
		}
		defer root.Close()
		x.file(root, filepath.Base(path), path)
	}
}

// directory adds a directory and all below it.
func (x *archiver) directory(d *dir) {
	if x.header(d.path, d.info, "") == nil {
		return
	}
	x.app.visit(d, func(root *os.Root, path string, e fs.DirEntry) {
		switch {
		case x.err != nil:
		case e.IsDir():
			x.app.walkSub(d, e.Name(), path, x.directory)
		case isTempName(e.Name()):
			x.app.noteTemp(path)
		default:
			x.file(root, e.Name(), path)
		}
	})
}

// file adds what is no directory. It is called base in root.
func (x *archiver) file(root *os.Root, base, path string) {
	a := x.app
	info, err := root.Lstat(base)
	target := ""
	if err == nil && info.Mode().Type() == fs.ModeSymlink {
		target, err = root.Readlink(base)
	}
	if err != nil {
		a.fail(path, "%s", reason(err))
		return
	}
	for _, own := range x.own {
		if os.SameFile(own, info) {
			a.note(path, "is the archive -- ignored")
			return
		}
	}
	switch {
	case info.Mode().Type() == fs.ModeSocket:
		a.warn(path, "is a socket -- ignored")
	case !info.Mode().IsRegular():
		x.header(path, info, target)
	case !x.hardLink(path, info):
		x.regular(root, base, path, info)
	}
}

// hardLink adds a regular file as a link if the archive has it under another name.
func (x *archiver) hardLink(path string, info fs.FileInfo) bool {
	id, ok := idOf(info)
	if !ok || linkCount(info) < 2 {
		return false
	}
	first, ok := x.links[id]
	if !ok {
		return false
	}
	h, err := newHeader(path, info, "")
	if err != nil {
		return false
	}
	h.Typeflag, h.Linkname, h.Size = tar.TypeLink, entryName(first), 0
	x.write(path, h)
	return true
}

// regular adds a regular file with its content.
func (x *archiver) regular(root *os.Root, base, path string, was fs.FileInfo) {
	a := x.app
	f, err := root.Open(base)
	if err != nil {
		a.fail(path, "%s", reason(err))
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !os.SameFile(was, info) {
		err = errReplaced
	}
	if err != nil {
		a.fail(path, "%s", reason(err))
		return
	}
	if x.header(path, info, "") == nil {
		return
	}
	if id, ok := idOf(info); ok && linkCount(info) > 1 {
		x.links[id] = path
	}
	x.content(f, path, info)
}

// content adds the content of a regular file. The header says how much it is.
func (x *archiver) content(f *os.File, path string, info fs.FileInfo) {
	a, size := x.app, info.Size()
	a.step("archiving")
	n, err := io.CopyBuffer(&failingWriter{x}, io.LimitReader(struct{ io.Reader }{f}, size), x.buf)
	x.bytes += n
	if x.err != nil {
		return
	}
	if missing := size - n; missing > 0 {
		what := fmt.Sprintf("shrank by %d bytes while it was read", missing)
		if err != nil {
			what = reason(err)
		}
		a.fail(path, "%s; the archive has zeros in place of its last %d bytes", what, missing)
		for missing > 0 && x.err == nil {
			k := min(missing, int64(len(zeroUnit)))
			_, x.err = x.w.Write(zeroUnit[:k])
			missing -= k
		}
		return
	}
	now, err := f.Stat()
	switch {
	case err != nil:
	case now.Size() > size:
		a.warn(path, "grew while it was read; the archive has the first %d bytes", size)
	case hasMore(f):
		a.warn(path, "has more content than its size says; the archive has the first %d bytes", size)
	case now.Size() != size || !now.ModTime().Equal(info.ModTime()):
		a.warn(path, "changed while it was read")
	}
}

// hasMore reports whether a file has more content. Files in /proc do, which state no size. Some of
// them would have a read wait.
func hasMore(f *os.File) bool {
	stopWaiting(f)
	n, _ := f.Read(make([]byte, 1))
	return n > 0
}

// failingWriter writes to the archive and notes the error of that.
type failingWriter struct{ x *archiver }

func (w *failingWriter) Write(p []byte) (n int, err error) {
	n, w.x.err = w.x.w.Write(p)
	return n, w.x.err
}

// header begins an entry. It returns nil if the entry is left out.
func (x *archiver) header(path string, info fs.FileInfo, target string) *tar.Header {
	h, err := newHeader(path, info, target)
	if err != nil {
		x.app.fail(path, "%s", reason(err))
		return nil
	}
	if h.Name == "./" { // tar would give the directory that it extracts to the mode of this one
		return h
	}
	return x.write(path, h)
}

func (x *archiver) write(path string, h *tar.Header) *tar.Header {
	err := x.w.WriteHeader(h)
	switch {
	case errors.Is(err, tar.ErrHeader):
		x.app.fail(path, "%s", reason(err))
		return nil
	case err != nil:
		x.err = err
		x.app.stopped = true // each further file would fail
		return nil
	}
	x.files++
	return h
}

// newHeader returns the header of a file. It does not depend on when the file was read.
func newHeader(path string, info fs.FileInfo, target string) (*tar.Header, error) {
	h, err := tar.FileInfoHeader(info, target)
	if err != nil {
		return nil, err
	}
	h.Format = tar.FormatPAX // has times to the nanosecond
	h.AccessTime, h.ChangeTime = time.Time{}, time.Time{}
	h.Name = entryName(path)
	if info.IsDir() {
		h.Name += "/"
	}
	return h, nil
}

// entryName returns the name of a file in the archive. As with tar it is the path without what
// leads out of the directory that it is extracted to. It is "." for that directory.
func entryName(path string) string {
	path = filepath.Clean(path)
	name := filepath.ToSlash(path[len(filepath.VolumeName(path)):])
	name = strings.TrimLeft(name, "/")
	for name == ".." || strings.HasPrefix(name, "../") {
		name = strings.TrimPrefix(name[2:], "/")
	}
	if name == "" {
		return "."
	}
	return name
}

package cli

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/gopz/compress"
	"github.com/gopz/compress/archive"
)

// extract extracts from the archive that the first operand names.
func (a *app) extract() {
	a.operand(a.cfg.files[0], func(e entry) {
		a.withArchive(e, func(in *source, f *archive.FS) {
			x := &extraction{app: a, in: in, archive: f, first: map[string]string{}}
			x.run()
		})
	})
}

// extraction extracts entries of an archive. Files take the way of all results of pz: they get
// their names in groups, when they are complete and on disk. No symbolic link is followed.
type extraction struct {
	app     *app
	in      *source
	archive *archive.FS
	top     *os.Root // directory to extract to; nil with -c
	dirs    dirCache // open directories below it, by their names in the archive
	made    []madeDir
	jobs    []*job // of the current group
	bytes   int64  // of their content

	hard     []archive.Entry   // hard links, which come last
	first    map[string]string // files that hard links lead to, and the name that each has got
	unsynced map[string]bool   // directories with new names that no job syncs
	buf      []byte
	files    int64 // extracted
}

// run extracts all entries that are wanted.
func (x *extraction) run() {
	a := x.app
	wanted := a.selectMembers(x.archive)
	if !a.cfg.toStdout {
		var err error
		x.top, err = a.openTarget()
		if err != nil {
			a.fail(a.cfg.outputDir, "cannot open or create this directory: %s", reason(err))
			return
		}
		defer x.top.Close()
		defer x.dirs.close()
		defer x.closeJobs()
		for e := range x.archive.Entries() {
			if e.IsHardLink() {
				x.first[e.Link] = ""
			}
		}
	}
	for e := range x.archive.All() {
		if a.stopped {
			return
		}
		if !e.IsReplaced() && wanted.takes(e.Name) {
			x.entry(&e)
		}
	}
	for _, arg := range wanted.missing() {
		a.fail(x.in.name, "has no entry %s", printable(arg))
	}
	x.flush()
	for i := range x.hard {
		x.hardLink(&x.hard[i])
	}
	x.flush()
	x.finishDirs()
	a.bar.close()
	a.note(x.in.name, "%d %s extracted", x.files, plural(x.files, "file"))
}

// openTarget opens the directory to extract to.
func (a *app) openTarget() (*os.Root, error) {
	if a.cfg.outputDir == "" {
		return os.OpenRoot(".")
	}
	return a.openOutputDir()
}

// path returns the path of an entry for messages.
func (x *extraction) path(name string) string {
	return filepath.Join(x.app.cfg.outputDir, filepath.FromSlash(name))
}

// fail reports that an entry cannot be read.
func (x *extraction) fail(e *archive.Entry, err error) {
	text := x.app.explainArchive(x.in, err)
	var damage *compress.Error
	switch {
	case errors.Is(err, fs.ErrNotExist):
		text = "is a hard link to a file that the archive does not have"
	case errors.Is(err, io.ErrUnexpectedEOF) && !errors.As(err, &damage):
		text = "the archive ends inside this file"
	case errors.Is(err, tar.ErrHeader):
		text = "its header, or its map of holes, is damaged"
	}
	x.app.fail(x.in.name, "%s: %s", printable(e.Name), text)
}

// entry extracts an entry. Hard links wait for the end.
func (x *extraction) entry(e *archive.Entry) {
	a := x.app
	mode, conflict := e.Info.Mode(), e.Conflict()
	switch {
	case conflict == e.Name:
		a.fail(x.path(e.Name), "an earlier entry of the archive makes this a directory -- not extracted")
	case conflict != "":
		a.fail(x.path(e.Name), "an earlier entry of the archive makes %s a file or link -- not extracted",
			printable(conflict))
	case a.cfg.toStdout:
		if mode.IsRegular() {
			x.print(e)
		}
	case mode.IsDir():
		if _, err := x.dir(e.Name); err != nil {
			a.fail(x.path(e.Name), "%s", reason(err))
		}
	case mode.Type() == fs.ModeSymlink:
		x.link(e, func(root *os.Root, base, _ string) error { return root.Symlink(e.Link, base) })
	case !mode.IsRegular():
		a.warn(x.path(e.Name), "is a device or a named pipe -- ignored")
	case e.IsHardLink():
		x.hard = append(x.hard, *e)
	default:
		x.file(e)
	}
}

// print writes the content of a file to standard output.
func (x *extraction) print(e *archive.Entry) {
	f, err := e.Open()
	if err != nil {
		x.fail(e, err)
		return
	}
	defer f.Close()
	readErr, writeErr := x.copy(x.app.stdout, f, e.Info.Size())
	switch {
	case writeErr != nil:
		x.app.failStdout(writeErr)
	case readErr != nil:
		x.fail(e, readErr)
	}
}

// copy copies the content of a file of size bytes. It passes over holes.
func (x *extraction) copy(w io.Writer, f fs.File, size int64) (readErr, writeErr error) {
	holes, ok := f.(archive.SparseFile)
	if !ok {
		return x.copyPart(w, f, size)
	}
	for at := int64(0); at < size; {
		begin, end := holes.NextData(at)
		if writeErr = writeHole(w, begin-at); writeErr != nil {
			return nil, writeErr
		}
		r := io.NewSectionReader(f.(io.ReaderAt), begin, end-begin)
		if readErr, writeErr = x.copyPart(w, r, end-begin); readErr != nil || writeErr != nil {
			return readErr, writeErr
		}
		at = end
	}
	return nil, nil
}

// copyPart copies size bytes. A read of many bytes decompresses several blocks at a time.
func (x *extraction) copyPart(w io.Writer, r io.Reader, size int64) (readErr, writeErr error) {
	if want := int(min(size, rangeBuffer)) + 1; len(x.buf) < want {
		x.buf = make([]byte, max(want, 64<<10))
	}
	for {
		n, err := r.Read(x.buf)
		if n > 0 {
			if _, err := w.Write(x.buf[:n]); err != nil {
				return nil, err
			}
			x.app.batch.progress.content.Add(int64(n))
		}
		if err == io.EOF {
			return nil, nil
		}
		if err != nil {
			return err, nil
		}
	}
}

// at returns where an entry goes.
func (x *extraction) at(name string) (location, error) {
	l := location{base: path.Base(name), path: x.path(name)}
	var err error
	l.root, err = x.dir(path.Dir(name))
	return l, err
}

// file extracts a regular file.
func (x *extraction) file(e *archive.Entry) {
	a := x.app
	at, err := x.at(e.Name)
	if err != nil {
		a.fail(at.path, "%s", reason(err))
		return
	}
	f, err := e.Open()
	if err != nil {
		x.fail(e, err)
		return
	}
	defer f.Close()
	a.showRun()
	j := &job{app: a}
	if j.out = a.openFile(at, x.in, e.Info.Mode().Perm()); j.out == nil {
		return
	}
	a.step("created")
	w := &fileWriter{f: j.out.f, sparse: !a.cfg.noSparse}
	readErr, writeErr := x.copy(w, f, e.Info.Size())
	if writeErr == nil {
		writeErr = w.finishHole()
	}
	if readErr == nil && writeErr == nil {
		x.addFile(j, e)
		return
	}
	j.close()
	if readErr != nil {
		x.fail(e, readErr)
	} else {
		a.fail(at.path, "%s", reason(writeErr))
	}
}

// addFile adds a complete file to the group.
func (x *extraction) addFile(j *job, e *archive.Entry) {
	a := x.app
	if err := setTime(j.out.f, j.out.at.root, j.out.temp, e.Info.ModTime()); err != nil {
		a.warn(j.out.name, "cannot set the time: %s", reason(err))
	}
	a.step("written")
	j.ready = true
	if a.cfg.noSync {
		j.sync() // only closes it
	} else {
		startWriteback(j.out.f, 0, 0)
	}
	x.jobs = append(x.jobs, j)
	x.bytes += e.Info.Size()
	x.files++
	a.batch.progress.files.Add(1)
	file := e.Name
	if e.IsHardLink() {
		file = e.Link
	}
	if _, linked := x.first[file]; linked {
		x.first[file] = e.Name
	}
	if len(x.jobs) >= a.batchFiles || x.bytes >= batchBytes {
		x.flush()
	}
}

// flush commits the files of the group, and closes all directories.
func (x *extraction) flush() {
	x.commitJobs()
	x.dirs.close()
}

func (x *extraction) commitJobs() {
	x.app.commit(x.jobs)
	x.closeJobs()
}

// closeJobs discards what has not been committed.
func (x *extraction) closeJobs() {
	for _, j := range x.jobs {
		j.close()
	}
	x.jobs, x.bytes = nil, 0
}

// hardLink extracts a hard link: as a link if another name of the file has been extracted, else as
// a file.
func (x *extraction) hardLink(e *archive.Entry) {
	first := x.first[e.Link]
	if first == "" {
		x.file(e)
		x.flush() // further links lead to it
		return
	}
	x.link(e, func(_ *os.Root, _, full string) error {
		return x.top.Link(filepath.FromSlash(first), full)
	})
}

// link makes a link by calling create with its name in its directory, and with its path from the
// top.
func (x *extraction) link(e *archive.Entry, create func(root *os.Root, base, full string) error) {
	a := x.app
	at, err := x.at(e.Name)
	if err != nil {
		a.fail(at.path, "%s", reason(err))
		return
	}
	replace, ok := a.mayCreate(at, x.in)
	if !ok {
		return
	}
	dir := filepath.FromSlash(path.Dir(e.Name))
	err = a.temp.locked(func() error {
		if !replace {
			return create(at.root, at.base, filepath.Join(dir, at.base))
		}
		temp := tempName(at.base)
		if err := create(at.root, temp, filepath.Join(dir, temp)); err != nil {
			return err
		}
		// To rename a link to the same file does nothing, and is no error.
		defer at.root.Remove(temp)
		return renameOver(at.root, temp, at.base)
	})
	if err != nil {
		a.fail(at.path, "%s", reason(err))
		return
	}
	if e.Info.Mode().Type() == fs.ModeSymlink {
		setLinkTime(at.root, at.base, e.Info.ModTime())
	}
	x.files++
	x.noteNew(e.Name)
}

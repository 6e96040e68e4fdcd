package cli

import (
	"archive/tar"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gopz/compress"
	"github.com/gopz/compress/archive"
)

// readsArchives reports whether the mode reads archives, and not just compressed files.
func (c *config) readsArchives() bool { return c.mode == modeExtract || c.mode == modeList && c.tar }

// checkArchive checks the options for archives.
func (c *config) checkArchive() error {
	switch {
	case c.mode == modeExtract && len(c.files) == 0 && len(c.lists) > 0:
		return errors.New("-x needs the name of the archive; --files-from names what to extract")
	case c.mode == modeExtract && c.recursive:
		return errors.New("-x takes one archive; leave -r out")
	case c.mode == modeExtract || !c.tar:
		return nil
	case c.mode == modeList:
		return nil
	case c.mode != modeCompress:
		return errors.New("--tar makes an archive, or lists one with -l; use -x to extract one")
	case c.sized:
		return errors.New("--stream-size does not go with --tar")
	case len(c.files) == 0 && len(c.lists) == 0:
		return errors.New("--tar needs the names of files or directories")
	case strings.EqualFold(filepath.Ext(c.output), ".tar"):
		return fmt.Errorf("-o %s: --tar writes compressed archives; name it %s, .tar.gz or .tar.zst",
			printable(c.output), printable(c.output+".pz"))
	case c.output != "" || c.toStdout:
		return nil
	case len(c.files) != 1 || len(c.lists) > 0:
		return errors.New("--tar needs -o FILE or -c if it archives several files or directories")
	}
	base := filepath.Base(c.files[0])
	if base == "." || base == ".." || base == string(filepath.Separator) {
		return fmt.Errorf("--tar needs -o FILE or -c: %s has no name for the archive", printable(base))
	}
	return nil
}

// openArchive opens the archive that a source holds. The caller calls done when it has finished
// with it. With an error, which explainArchive explains, f has the entries that can be read. It is
// nil if there are none.
func (a *app) openArchive(in *source) (f *archive.FS, done func(), err error) {
	opts := in.readOptions()
	plain := isTar(in)
	switch format, known := in.format(); {
	case in.size() < 0, !plain && in.foreignFormat() != nil:
		return a.openSpooled(in)
	case plain || !known:
		f, err = archive.OpenTar(in.section(), in.size())
		return f, func() {}, err
	case format == compress.Gzip:
		if r, index := a.openByIndex(in, opts); r != nil {
			return a.openIndexed(in, r, index)
		}
	}
	f, err = archive.Open(in.section(), in.size(), opts...)
	switch {
	case errors.Is(err, compress.ErrNoIndex), in.endsBefore(err):
		return a.openSpooled(in)
	case f == nil:
		return nil, func() {}, err
	}
	return f, func() { f.Close() }, err
}

// section returns a regular source from where reading begins.
func (s *source) section() *io.SectionReader {
	return io.NewSectionReader(s.readerAt(), s.start, s.size())
}

// openSpooled opens an archive that can only be read in order. It restores the archive to a
// temporary file first.
func (a *app) openSpooled(in *source) (f *archive.FS, done func(), err error) {
	file, size, done, err := a.spool(in)
	if err != nil && size == 0 {
		return nil, done, err
	}
	f, tarErr := archive.OpenTar(file, size)
	err = cmp.Or(err, tarErr)
	if err == nil {
		a.note(in.name, "has no index; %d bytes of content went to a temporary file", size)
	}
	return f, done, err
}

// spool restores a source to a temporary file. The caller calls done when it has finished with
// that. If the source is damaged, file has what is in front of the damage.
func (a *app) spool(in *source) (file *os.File, size int64, done func(), err error) {
	file, done, err = a.spoolFile()
	if err != nil {
		return nil, 0, done, err
	}
	m := a.newMeter(in, new(output))
	m.w.w = file
	err = a.restore(&m.w, in, m, append(in.readOptions(), compress.WithProgress(m.progress)))
	m.closeBar()
	if m.w.err != nil {
		err = fmt.Errorf("cannot write the archive to a temporary file: %s", reason(m.w.err))
		return nil, 0, done, err
	}
	if in.endsBefore(err) {
		a.reportTrailing(in, err)
		err = nil
	}
	return file, m.w.n, done, err
}

// openIndexed opens an archive in a .gz file that r reads by the index beside it.
func (a *app) openIndexed(
	in *source, r *compress.ReaderAt, index string,
) (f *archive.FS, done func(), err error) {
	remove := func() {}
	x := &indexedReader{ReaderAt: r, a: a, in: in, index: index}
	x.spool = sync.OnceValues(func() (io.ReaderAt, error) {
		file, _, done, err := a.spool(in)
		remove = done
		return file, err
	})
	done = func() {
		r.Close()
		remove()
	}
	f, err = archive.OpenTar(x, r.Size())
	if err == nil {
		return f, done, nil
	}
	if x.wrong.Load() {
		done()
		return a.openSpooled(in) // its content may have another size
	}
	return f, done, err
}

// reportTrailing reports data behind the end of a compressed archive, which is complete: an error
// where the format allows no such data, as tar does.
func (a *app) reportTrailing(in *source, err error) {
	if errors.Is(err, compress.ErrTrailing) {
		a.warn(in.name, "%s", a.explain(in, err))
	} else {
		a.fail(in.name, "%s", a.explain(in, err))
	}
}

// spoolFile returns an empty temporary file. The caller calls done when it has finished with it.
func (a *app) spoolFile() (f *os.File, done func(), err error) {
	if f, ok, err := a.sandbox.spool.use(); ok {
		return f, func() {}, err
	}
	f, err = createSpool()
	if err != nil {
		return nil, func() {}, err
	}
	os.Remove(f.Name()) // fails on Windows while the file is open
	return f, func() {
		f.Close()
		os.Remove(f.Name())
	}, nil
}

// createSpool makes a temporary file.
func createSpool() (*os.File, error) {
	f, err := os.CreateTemp("", "pz-")
	if err != nil {
		return nil, fmt.Errorf("cannot make a temporary file in %s: %s", os.TempDir(), reason(err))
	}
	return f, nil
}

// withArchive opens an entry that is an archive, and calls work. It prints a message if that fails.
func (a *app) withArchive(e entry, work func(in *source, f *archive.FS)) {
	in := a.openSource(e)
	if in == nil {
		return
	}
	if in.f != a.stdin {
		defer in.close()
	}
	if in.f == a.stdin && !a.cfg.force && a.isTerminal(a.stdin) {
		a.fail("", "an archive is not read from a terminal; name a FILE or redirect, "+
			"or use -f to read it anyway")
		return
	}
	defer in.noteHealed()
	in.openParity(false)
	f, done, err := a.openArchive(in)
	if (isDamage(err) || in.badSection.Load()) && in.openParity(true) {
		done()
		f, done, err = a.openArchive(in)
	}
	if f == nil && in.size() >= 0 && isDamage(err) && !isTar(in) {
		done()
		f, done, _ = a.openSpooled(in)
	}
	defer func() { done() }()
	if f == nil {
		a.fail(in.name, "%s", a.explainArchive(in, err))
		return
	}
	if err := f.EndError(); err != nil {
		a.warn(in.name, "%s", strings.TrimPrefix(err.Error(), "archive: "))
	}
	work(in, f)
	if err != nil && !a.stopped {
		a.failFront(in, err)
	}
}

// failFront reports an error of an archive of which entries have been read. Only a .pz file is
// verified up to the error.
func (a *app) failFront(in *source, err error) {
	var damage *compress.Error
	part := "; only the entries in front of that were read"
	switch {
	case errors.As(err, &damage) && damage.Part == compress.PartIndex: // which is behind all blocks
		part = "; all entries in front of that were read"
	case errors.Is(err, tar.ErrHeader):
		part = "; entries with intact headers in front of that and behind it were read"
	}
	text := a.explainArchive(in, err) + part
	format, known := in.format()
	if (in.foreignFormat() != nil || known && format != compress.PZ) &&
		!errors.Is(err, compress.ErrTruncated) {
		text += ", and may be damaged too"
	}
	a.fail(in.name, "%s", text)
}

// explainArchive returns a message about an error of an archive.
func (a *app) explainArchive(in *source, err error) string {
	var e *compress.Error
	switch {
	case errors.As(err, &e):
		return a.explain(in, err)
	case errors.Is(err, tar.ErrHeader), errors.Is(err, io.ErrUnexpectedEOF):
		if format, tool := a.recognize(in); format != "" && in.foreignFormat() == nil {
			return fmt.Sprintf("is %s data; use %s", format, tool)
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return "is cut short, or is no tar archive"
		}
		return "is no tar archive, or is damaged " + strings.TrimPrefix(reason(err), "archive: ")
	}
	return strings.TrimSpace(strings.TrimPrefix(a.explain(in, err), "archive:"))
}

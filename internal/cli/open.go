package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// openSource opens an entry, or says why it is left out and returns nil.
func (a *app) openSource(e entry) *source {
	if e.path == "-" {
		s := &source{app: a, f: a.stdin, name: "standard input"}
		s.info, _ = a.stdin.Stat()
		if s.regular() {
			// Somebody may have read the beginning, and what is left is all there is to this run.
			s.start, _ = a.stdin.Seek(0, io.SeekCurrent)
		}
		return s
	}
	link, err := e.lstat()
	if err != nil {
		a.fail(e.path, "%s", reason(err))
		return nil
	}
	want := link
	if link.Mode()&fs.ModeSymlink != 0 {
		if e.walked || !a.followsLinks() {
			a.warn(e.path, "is a symbolic link -- ignored (-f follows it)")
			return nil
		}
		if want, err = os.Stat(e.path); err != nil {
			a.fail(e.path, "%s", reason(err))
			return nil
		}
	}
	if !a.acceptable(e, want) {
		return nil
	}
	f, err := e.open()
	if err != nil {
		a.fail(e.path, "%s", reason(err))
		return nil
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(want, info) {
		// What was looked at is not what was opened: perhaps a link put there to lead us elsewhere.
		err = errMoved
	}
	if err != nil {
		f.Close()
		a.fail(e.path, "%s", reason(err))
		return nil
	}
	if want == link {
		link = info
	}
	return &source{app: a, f: f, name: e.path, info: info, link: link}
}

var errNoIndex = errors.New("is not a regular file, which -l and --recover need (name a FILE; what comes from a pipe has to be stored in one first)")

// needsIndex says whether the mode reads a file from its end.
func (c *config) needsIndex() bool { return c.mode == modeList || c.mode == modeRecover }

func (a *app) acceptable(e entry, fi fs.FileInfo) bool {
	if fi.IsDir() {
		a.warn(e.path, "is a directory -- ignored")
		return false
	}
	if a.cfg.needsIndex() && !fi.Mode().IsRegular() {
		// Opening a pipe would wait for somebody to write to it.
		a.fail(e.path, "%s", errNoIndex)
		return false
	}
	if !a.writesBeside() {
		return true
	}
	if !fi.Mode().IsRegular() {
		a.warn(e.path, "is not a regular file -- ignored (-c reads it)")
		return false
	}
	return true
}

// removable says whether the source can go once the output is complete. As with gzip, a file with further names
// needs -f: removing one of them would not free the space, and the others would still hold the old form.
func (a *app) removable(s *source) bool {
	if n := linkCount(s.link); n > 1 && !a.cfg.force {
		others := int64(n - 1)
		a.warn(s.name, "has %d other %s (%s) -- ignored (-f removes this name, --keep removes none)",
			others, plural(others, "name"), plural(others, "hard link"))
		return false
	}
	return true
}

package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

var errOutside = errors.New("has .. in its path, so it has no place below --output-dir; " +
	"run pz in another directory, or name the file by its whole path")

func (c *config) setOutputDir(s string) error {
	if s == "" {
		return errors.New("the name of the directory is empty")
	}
	c.outputDir = s
	return nil
}

// isOutputDir reports whether fi is the directory of --output-dir. -r does not enter it, because
// the results there are no sources.
func (a *app) isOutputDir(fi fs.FileInfo) bool {
	if a.cfg.outputDir == "" {
		return false
	}
	dir, err := os.Stat(a.cfg.outputDir)
	return err == nil && os.SameFile(fi, dir)
}

// mirrored returns the location of the name base in the directory below --output-dir that has the
// path of the source's directory. It creates the directory. A job of a batch shares the root with
// others; another caller closes it.
func (a *app) mirrored(e entry, base string) (location, error) {
	from := filepath.Dir(e.path)
	to := strings.TrimPrefix(from[len(filepath.VolumeName(from)):], string(filepath.Separator))
	if to == "" {
		to = "."
	}
	l := location{base: base, path: filepath.Join(a.cfg.outputDir, to, base)}
	if !filepath.IsLocal(to) {
		return l, errOutside
	}
	open := func() (*os.Root, error) { return a.openMirror(to, from) }
	var err error
	if a.held != nil {
		l.root, err = a.batch.results.get(to, open)
	} else {
		l.root, err = open()
	}
	return l, err
}

// openMirror opens the directory to below --output-dir, which it creates like from.
func (a *app) openMirror(to, from string) (*os.Root, error) {
	root, err := a.openOutputDir()
	if err != nil {
		return nil, err
	}
	// from and to end in the same elements. Their directories get the same permissions.
	front := from[:len(from)-len(to)]
	if to == "." {
		front = from
	}
	for done := 0; err == nil && to != "." && done < len(to); {
		end := len(to)
		if n := strings.IndexRune(to[done:], filepath.Separator); n >= 0 {
			end = done + n
		}
		var sub *os.Root
		sub, err = a.openOrMake(root, to[done:end], front+to[:end])
		root.Close()
		root, done = sub, end+1
	}
	return root, err
}

// openOutputDir opens the directory of --output-dir. It creates the directory, but not the one
// above.
func (a *app) openOutputDir() (*os.Root, error) {
	name := filepath.Clean(a.cfg.outputDir)
	root, err := os.OpenRoot(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return root, err
	}
	up, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	defer up.Close()
	return a.openOrMake(up, filepath.Base(name), "")
}

// openOrMake opens a directory in up. If there is none, it creates one with the permissions of the
// directory like, or those that a shell would give it, and makes its name durable.
func (a *app) openOrMake(up *os.Root, name, like string) (*os.Root, error) {
	perm := fs.FileMode(0o777)
	if fi, err := os.Stat(like); err == nil {
		perm = fi.Mode().Perm() | 0o700
	}
	err := up.Mkdir(name, perm)
	if err == nil {
		err = a.syncDir(up)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return up.OpenRoot(name)
}

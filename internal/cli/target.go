package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// openOutput finds where the result of a source goes and opens it, or says why not and returns nil. done releases
// what it took.
func (a *app) openOutput(e entry, in *source) (o *output, done func()) {
	none := func() {}
	if a.cfg.output != "" {
		if o, handled := a.openSpecial(in); handled {
			return o, func() {
				if o != nil && o.f != a.stdout {
					o.f.Close()
				}
			}
		}
		at := place{base: filepath.Base(a.cfg.output), path: a.cfg.output}
		var err error
		if at.root, err = os.OpenRoot(filepath.Dir(a.cfg.output)); err != nil {
			a.fail(a.cfg.output, "its directory cannot be opened: %s", reason(err))
			return nil, none
		}
		return a.openFile(at, in), func() { at.root.Close() }
	}
	if a.cfg.toStdout || e.path == "-" {
		return a.openStdout(in), none
	}
	base, ok := a.outputName(e, in)
	if !ok {
		return nil, none
	}
	at, err := e.place(base)
	if err != nil {
		a.fail(e.path, "its directory cannot be opened: %s", reason(err))
		return nil, none
	}
	if e.root == nil {
		done = func() { at.root.Close() }
	} else {
		done = none
	}
	return a.openFile(at, in), done
}

func (a *app) openStdout(in *source) *output {
	if a.cfg.mode == modeCompress && !a.cfg.force && a.isTerminal(a.stdout) {
		a.fail("", "compressed data is not written to a terminal (name a FILE, use -o FILE or redirect; -f writes it anyway)")
		a.stopped = true
		return nil
	}
	if fi, err := a.stdout.Stat(); err == nil && in.sameFile(fi) {
		a.fail(in.name, "is also the output (redirect to another file)")
		return nil
	}
	return &output{app: a, f: a.stdout, name: "standard output"}
}

// sameFile says whether fi is the regular file that is read. Reading and writing a terminal or /dev/null is fine.
func (s *source) sameFile(fi fs.FileInfo) bool {
	return s.regular() && os.SameFile(fi, s.info)
}

// openSpecial handles -o NAME where NAME is no place for a file: a device, a pipe, or another name of standard
// output such as /dev/stdout. A symbolic link counts as what it leads to only then; otherwise it is a name in the
// way like any other.
func (a *app) openSpecial(in *source) (o *output, handled bool) {
	name := a.cfg.output
	link, err := os.Lstat(name)
	if err != nil {
		return nil, false // it does not exist, or openFile will say what is wrong
	}
	fi, err := os.Stat(name)
	if err != nil {
		return nil, false
	}
	if link.Mode()&fs.ModeSymlink != 0 {
		if out, err := a.stdout.Stat(); err == nil && os.SameFile(fi, out) {
			return a.openStdout(in), true
		}
	}
	if fi.Mode().IsRegular() || fi.IsDir() {
		return nil, false
	}
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		a.fail(name, "%s", reason(err))
		return nil, true
	}
	if a.cfg.mode == modeCompress && !a.cfg.force && a.isTerminal(f) {
		f.Close()
		a.fail(name, "compressed data is not written to a terminal (-f writes it anyway)")
		return nil, true
	}
	return &output{app: a, f: f, name: name}, true
}

// openFile prepares an output file, if its name is free or may be taken.
func (a *app) openFile(at place, in *source) *output {
	replace := false
	switch fi, err := at.root.Lstat(at.base); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		a.fail(at.path, "%s", reason(err))
		return nil
	case fi.IsDir():
		a.fail(at.path, "is a directory (the result needs another name: -o FILE)")
		return nil
	case in.sameFile(fi):
		a.fail(at.path, "is the input itself (the result needs another name)")
		return nil
	case a.cfg.force:
		replace = true
	case !a.ask(at.path, in):
		a.warn(at.path, "already exists -- not overwritten (-f overwrites it)")
		return nil
	default:
		replace = true
	}
	o, err := a.createOutput(at, replace, in.regular())
	if err != nil {
		a.fail(at.path, "%s", reason(err))
		return nil
	}
	return o
}

// ask asks whether to overwrite, if somebody is there to answer: a question and an answer both need a terminal.
func (a *app) ask(path string, in *source) bool {
	if in.f == a.stdin || a.cfg.quiet || !a.isTerminal(a.stdin) || !a.isTerminal(a.stderr) {
		return false
	}
	fmt.Fprintf(a.stderr, "pz: %s already exists; overwrite (y or n)? ", printable(path))
	// Byte by byte, as what follows the line is not ours.
	var line []byte
	var b [1]byte
	for {
		if _, err := io.ReadFull(a.stdin, b[:]); err != nil {
			fmt.Fprintln(a.stderr)
			return false
		}
		if b[0] == '\n' {
			break
		}
		line = append(line, b[0])
	}
	answer := strings.ToLower(strings.TrimSpace(string(line)))
	return answer == "y" || answer == "yes"
}

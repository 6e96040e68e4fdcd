package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// openOutput opens the output of a source. It returns nil, with a message, if that is not possible.
// The caller calls release when it has finished with the output.
func (a *app) openOutput(e entry, in *source) (o *output, release func()) {
	switch {
	case a.cfg.output != "":
		return a.openNamed(in)
	case a.cfg.toStdout || e.path == "-":
		return a.openStdout(in), func() {}
	}
	base, ok := a.resultName(e, in)
	if !ok {
		return nil, func() {}
	}
	at, err := a.beside(e, base)
	if err != nil {
		return nil, func() {}
	}
	release = func() {}
	if a.held == nil && (e.root == nil || a.cfg.outputDir != "") {
		release = func() { at.root.Close() }
	}
	return a.openResult(at, in), release
}

// beside returns the location of a result called base, in the directory of its source or below
// --output-dir. After an error it has printed a message.
func (a *app) beside(e entry, base string) (at location, err error) {
	if a.cfg.outputDir == "" {
		at, err = e.sibling(base)
		if err != nil {
			a.fail(e.path, "cannot open its directory: %s", reason(err))
		}
		return at, err
	}
	at, err = a.mirrored(e, base)
	switch {
	case err == errOutside:
		a.fail(e.path, "%s", err)
	case err != nil:
		a.fail(filepath.Dir(at.path), "cannot open or create this directory: %s", reason(err))
	}
	return at, err
}

// openNamed opens the output of -o.
func (a *app) openNamed(in *source) (o *output, release func()) {
	if o, handled := a.openSpecial(in); handled {
		return o, func() {
			if o != nil && o.f != a.stdout {
				o.f.Close()
			}
		}
	}
	at := location{base: filepath.Base(a.cfg.output), path: a.cfg.output}
	var err error
	at.root, err = os.OpenRoot(filepath.Dir(a.cfg.output))
	if err != nil {
		a.fail(a.cfg.output, "cannot open its directory: %s", reason(err))
		return nil, func() {}
	}
	return a.openResult(at, in), func() { at.root.Close() }
}

const toTerminal = "compressed data is not written to a terminal; " +
	"name a FILE, use -o FILE or redirect, or use -f to write it anyway"

// writesBinary reports whether the results are of no use on a terminal.
func (c *config) writesBinary() bool { return c.readsContent() || c.mode == modeIndex }

func (a *app) openStdout(in *source) *output {
	if a.cfg.writesBinary() && !a.cfg.force && a.isTerminal(a.stdout) {
		a.fail("", "%s", toTerminal)
		a.stopped = true
		return nil
	}
	if fi, err := a.stdout.Stat(); err == nil && in.sameFile(fi) {
		a.fail(in.name, "is also the output; redirect to another file")
		return nil
	} else if err == nil && fi.Mode().IsRegular() && a.isCopy(fi) {
		a.fail("standard output", "is one of the copies; redirect to another file")
		return nil
	}
	return &output{app: a, f: a.stdout, name: "standard output"}
}

// sameFile reports whether fi is the source and a regular file. To read and write the same terminal
// or /dev/null is allowed.
func (s *source) sameFile(fi fs.FileInfo) bool {
	if runtime.GOARCH == "wasm" && s.f == s.app.stdin {
		return false // hosts give standard input and standard output the same number
	}
	return s.regular() && os.SameFile(fi, s.info)
}

// openSpecial opens -o NAME if NAME is a device, a pipe or another name of standard output, such as
// /dev/stdout. It follows a symbolic link only to those; openFile handles all other links.
func (a *app) openSpecial(in *source) (o *output, handled bool) {
	name := a.cfg.output
	link, err := os.Lstat(name)
	if err != nil {
		return nil, false // openFile creates it or reports the error
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
	if a.cfg.writesBinary() && !a.cfg.force && a.isTerminal(f) {
		f.Close()
		a.fail(name, "%s", toTerminal)
		return nil, true
	}
	return &output{app: a, f: f, name: name}, true
}

// openResult creates the output file of a source.
func (a *app) openResult(at location, in *source) *output {
	if in.onDisk() {
		return a.openFile(at, in, permPrivate)
	}
	return a.openFile(at, in, permPublic)
}

// openFile creates an output file, with permissions less the umask, if its name is free or the user
// allows to overwrite it.
func (a *app) openFile(at location, in *source, perm fs.FileMode) *output {
	replace, ok := a.mayCreate(at, in)
	if !ok {
		return nil
	}
	o, err := a.createOutput(at, replace, perm)
	if err != nil {
		a.fail(at.path, "%s", reason(err))
		return nil
	}
	return o
}

// mayCreate reports whether a name is free or the user allows to overwrite the file that has it. If
// not, it prints a message. replace says whether to overwrite a file.
func (a *app) mayCreate(at location, in *source) (replace, ok bool) {
	advice := "; name another file with -o"
	if a.cfg.mode == modeExtract {
		advice = ""
	}
	replace = a.overwrites() // another program may create the file meanwhile
	switch fi, err := at.root.Lstat(at.base); {
	case errors.Is(err, fs.ErrNotExist):
		return replace, true
	case err != nil && !filepath.IsLocal(at.base): // such as NUL or COM1 on Windows
		a.fail(at.path, "is not a name for a file%s", advice)
	case err != nil:
		a.fail(at.path, "%s", reason(err))
	case fi.IsDir():
		a.fail(at.path, "is a directory%s", advice)
	case in.sameFile(fi):
		a.fail(at.path, "is the input itself%s", advice)
	case a.isCopy(fi):
		a.fail(at.path, "is one of the copies%s", advice)
	case a.overwrites():
		return true, true
	case a.confirm(at.path, in):
		return true, true
	default:
		a.warn(at.path, "already exists -- not overwritten; use -f to overwrite it")
	}
	return false, false
}

// confirm asks the user whether to overwrite a file. Without a terminal for question and answer it
// returns false.
func (a *app) confirm(path string, in *source) bool {
	if a.forAll != askEach || in.f == a.stdin || a.cfg.quiet || !a.isTerminal(a.stdin) ||
		!a.isTerminal(a.stderr) {
		return false
	}
	if a.putOff() {
		return false // a question comes behind the messages about the files before
	}
	fmt.Fprintf(a.stderr, "pz: %s already exists; overwrite it (yes, no, all or none)? ", printable(path))
	// Read byte by byte: the input after the line belongs to other programs.
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
	switch answer {
	case "a", "all":
		a.forAll = overwriteAll
	case "none":
		a.forAll = overwriteNone
	}
	return answer == "y" || answer == "yes" || a.forAll == overwriteAll
}

// answer is what the user has said about all files that would be overwritten.
type answer uint8

const (
	askEach answer = iota
	overwriteAll
	overwriteNone
)

// overwrites reports whether files are overwritten without a question.
func (a *app) overwrites() bool { return a.cfg.force || a.forAll == overwriteAll }

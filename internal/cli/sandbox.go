package cli

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gopz/compress/gpu"
)

// A sandbox takes rights from the process before it decodes what others may have written. Files
// that are open, as the standard ones, stay as they are. All copies of an app share it.
type sandbox struct {
	enter func(rights) (rights, bool) // returns the rights that are left, false without a sandbox; may be nil
	once  sync.Once
	text  string // what -v says at the end; "" if no source was opened
	spool spool
}

// rights is what a process in the sandbox may still open.
type rights struct {
	files   []string // to read them, and if they are directories the files below
	trees   []string // directories, to read all that is below
	lists   []string // directories, to list them and those below
	network bool
}

// mostRules is the most operands that get rights of their own. Each takes some microseconds.
const mostRules = 100

// confine enters the sandbox if the run only reads. The first source is open by then.
func (a *app) confine() {
	if a.sandbox.enter == nil || !a.onlyReads() {
		return
	}
	a.sandbox.once.Do(func() {
		text := "no sandbox: this build may use a GPU; --backend cpu uses none"
		if !a.mayUseGPU() {
			text = a.enterSandbox()
		}
		a.sandbox.text = text
	})
}

// noteSandbox prints what -v says about the sandbox. With -l it lists blocks instead.
func (a *app) noteSandbox() {
	if a.sandbox.text != "" && a.cfg.mode != modeList {
		a.note("", "%s", a.sandbox.text)
	}
}

// enterSandbox enters the sandbox and returns what to say about it.
func (a *app) enterSandbox() string {
	a.openFirst()
	r, ok := a.sandbox.enter(a.rights())
	switch {
	case !ok:
		return "no sandbox: this system has no Landlock"
	case slices.Contains(r.trees, "/"):
		return "in a sandbox: pz can only read files"
	}
	return "in a sandbox: pz can only read its operands"
}

// mayUseGPU reports whether the run may open a GPU at some time, whose driver opens any files.
func (a *app) mayUseGPU() bool {
	c := &a.cfg
	return len(gpu.Devices()) > 1 && // one is in software
		(c.match != gpu.BackendCPU || c.entropy != gpu.BackendCPU)
}

// onlyReads reports whether the run writes to standard output and standard error alone.
func (a *app) onlyReads() bool {
	c := &a.cfg
	switch c.mode {
	case modeTest, modeList:
		return true
	case modeDecompress, modeExtract, modeRecover, modeRepair, modeIndex:
		pipe := c.output == "" && len(c.files) == 1 && c.files[0] == "-" && len(c.lists) == 0
		return c.toStdout || pipe && c.mode == modeDecompress
	}
	return false
}

// openFirst reads and opens what the run may need later, and what the sandbox would not let it
// open.
func (a *app) openFirst() {
	c := &a.cfg
	if c.mode == modeList && (c.tar || a.ofGzip) {
		_, _ = time.Now().Zone() // reads the time zone
	}
	if c.readsArchives() {
		a.sandbox.spool.open()
	}
}

// rights returns what the run may have to open.
func (a *app) rights() (r rights) {
	c := &a.cfg
	operands := c.files
	if c.mode == modeExtract {
		operands = operands[:1] // others name entries
	}
	switch {
	case slices.ContainsFunc(operands, isURL): // needs certificates and names of hosts
		return rights{trees: []string{"/"}, network: true}
	case len(c.lists) > 0: // what they name is not known yet
		return rights{trees: []string{"/"}, network: c.mode != modeExtract && a.openURL != nil}
	case len(operands) > mostRules:
		return rights{trees: []string{"/"}}
	case len(operands) > 1 || c.recursive:
		a.machineMemory() // which reads files of the system now, and not later
	}
	for _, path := range operands {
		fi, err := os.Stat(path)
		if err != nil && a.ofGzip {
			path, fi, err = a.findAsGzip(path, err)
		}
		switch {
		case err != nil:
			continue
		case fi.IsDir():
			if c.recursive {
				r.trees = append(r.trees, path)
			}
			continue
		case len(operands) > 1: // a single one is open
			r.files = append(r.files, path)
			r.lists = append(r.lists, filepath.Dir(path)) // of a batch
		}
		if c.mode != modeTest {
			r.files = append(r.files, indexesOf(path)...)
		}
	}
	slices.Sort(r.lists)
	r.lists = slices.Compact(r.lists)
	return r
}

// A spool is a temporary file without a name, for archives that can only be read in order.
type spool struct {
	f   *os.File // nil if open has not been called
	err error    // of open
}

// open creates the file.
func (s *spool) open() {
	s.f, s.err = createSpool()
	if s.err == nil {
		os.Remove(s.f.Name())
	}
}

// use returns the file, empty, if there is one. ok is false if open has not been called.
func (s *spool) use() (f *os.File, ok bool, err error) {
	if s.f == nil {
		return nil, s.err != nil, s.err
	}
	err = s.f.Truncate(0)
	if err == nil {
		_, err = s.f.Seek(0, 0)
	}
	return s.f, true, err
}

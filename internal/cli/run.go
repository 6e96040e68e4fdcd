package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gopz/compress"
)

// run executes the command line and returns the exit code.
func (a *app) run(args []string) int {
	var err error
	a.cfg, err = parseFlags(args, a.getenv, a.ofGzip)
	for _, text := range a.cfg.gzipWarnings {
		a.print("", "%s", text)
	}
	if err != nil {
		a.fail("", "%s (try pz --help)", err)
		return a.status
	}
	if !a.followSpace() {
		return a.status
	}
	defer a.watchSignals()()
	if a.reportsKernels() {
		a.print("", "%s", a.cfg.kernelWarning)
	}
	switch {
	case a.cfg.help != "":
		err = a.printHelp()
	case a.cfg.version || a.cfg.license:
		_, err = fmt.Fprintln(a.stdout, a.cfg.versionText())
	case a.cfg.listGPUs:
		err = a.listGPUs()
	case !a.loadDictionary():
	case a.cfg.mode == modeList && a.cfg.tar:
		a.runWith(a.listArchives)
	case a.cfg.mode == modeExtract:
		a.runWith(a.extract)
	case a.cfg.tar:
		a.runWith(a.makeArchive)
	case a.cfg.mode == modeList && a.ofGzip && !a.cfg.json:
		a.listAsGzip()
	case a.cfg.mode == modeList:
		a.list()
	case a.cfg.mode == modeTrain:
		a.train()
	case a.cfg.mode == modeBench:
		a.runBench()
	default:
		a.runFiles(a.addEntry)
	}
	if err != nil {
		a.failStdout(err)
	}
	return a.status
}

// signalDelay is how long a run that makes no file waits before it watches signals: to start that
// takes 0.3 ms. Until then the runtime ends the program by the signal, as watchSignals would, but
// SIGQUIT prints stacks.
const signalDelay = 20 * time.Millisecond

// watchSignals makes fatal signals remove temporary files: at once if the run may make one. The
// caller calls stop at the end of the run.
func (a *app) watchSignals() (stop func()) {
	if a.writesBeside() || a.cfg.output != "" || a.cfg.mode == modeExtract {
		a.temp.watchSignals(a.clearLine)
		return func() {}
	}
	watching := make(chan struct{})
	timer := time.AfterFunc(signalDelay, func() {
		a.temp.watchSignals(a.clearLine)
		close(watching)
	})
	return func() {
		if !timer.Stop() {
			<-watching
		}
	}
}

// reportsKernels reports whether the run prints the warning about PZ_SIMD.
func (a *app) reportsKernels() bool {
	c := &a.cfg
	return c.kernelWarning != "" && !c.quiet && c.help == "" && !c.listGPUs && c.mode != modeList
}

// runFiles calls do for all files, which compresses, restores, checks, recovers or measures them.
func (a *app) runFiles(do func(entry)) { a.runWith(func() { a.each(do) }) }

// runWith calls work with what the options say about threads, devices and syncs.
func (a *app) runWith(work func()) {
	if a.cfg.compresses() && !a.cfg.quiet {
		// These warnings do not change the exit code: nothing is missing from the result, and tar
		// treats every other code as a failure.
		for _, text := range a.cfg.envWarnings {
			a.print("", "%s", text)
		}
	}
	// -T limits the whole program, reading and writing included.
	if n := a.cfg.threads; n > 0 {
		runtime.GOMAXPROCS(min(n, runtime.GOMAXPROCS(0)))
	}
	a.sched = compress.NewScheduler(a.cfg.threads)
	reportDevice, err := a.openDevice()
	if err != nil {
		option := "--backend"
		if a.cfg.device != "" {
			option = "--gpu-device " + printable(a.cfg.device)
		}
		a.fail("", "%s: %s", option, deviceReason(a.cfg.device, err))
		return
	}
	if a.cfg.noSync {
		a.syncFile = func(*os.File) error { return nil }
		a.syncDir = func(*os.Root) error { return nil }
	}
	defer a.abandonBatch()
	work()
	a.flush()
	a.printTotal()
	a.noteSandbox()
	reportDevice()
}

// each calls do for every operand and every file in a list, and with -r for every file in the
// directories among them.
func (a *app) each(do func(entry)) { a.eachPath(func(path string) { a.operand(path, do) }) }

// eachPath calls f for every operand and every name in a list.
func (a *app) eachPath(f func(path string)) {
	for _, path := range a.cfg.files {
		if a.stopped {
			return
		}
		f(path)
	}
	for _, l := range a.cfg.lists {
		a.eachListed(l, f)
	}
}

func (a *app) operand(path string, do func(entry)) {
	switch {
	case path == "-":
		do(entry{path: path})
		return
	case path == "": // probably an unset variable of the shell
		a.fail("", "the file name is empty")
		return
	case !a.cfg.readsArchives() && a.excluded(path): // of those it leaves out entries
		return
	}
	fi, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) && len(a.batch.jobs) > 0 {
		a.flush() // it may be the result of a file in front of it
		fi, err = os.Lstat(path)
	}
	if errors.Is(err, fs.ErrNotExist) && a.ofGzip {
		path, fi, err = a.findAsGzip(path, err)
	}
	if err == nil && fi.Mode()&fs.ModeSymlink != 0 && a.followsLinks() {
		fi, err = os.Stat(path)
	}
	switch {
	case err != nil && isURL(path): // on some systems no file can have such a name
		a.operandURL(path, do)
	case errors.Is(err, fs.ErrNotExist):
		a.fail(path, "%s%s", reason(err), a.suggestName(path))
	case err != nil && !shellExpands && hasWildcard(filepath.Base(path)):
		a.fail(path, "no file has such a name")
	case err != nil:
		a.fail(path, "%s", reason(err))
	case !fi.IsDir():
		do(entry{path: path, base: filepath.Base(path)})
	case a.cfg.mode == modeExtract:
		a.fail(path, "is a directory; -x takes an archive")
	case !a.cfg.recursive:
		a.warn(path, "is a directory -- ignored; use -r to process its files")
	default:
		a.directory(path, do)
	}
}

// directory walks an operand that is a directory.
func (a *app) directory(path string, do func(entry)) {
	if d := a.openDir(path); d != nil {
		defer a.closeDir(d)
		a.walk(d, do)
	}
}

// openDir opens an operand that is a directory. It returns nil, with a message, if that fails.
func (a *app) openDir(path string) *dir {
	root, err := os.OpenRoot(path)
	if err != nil {
		a.fail(path, "%s", reason(err))
		return nil
	}
	info, err := root.Stat(".")
	if err != nil {
		root.Close()
		a.fail(path, "%s", reason(err))
		return nil
	}
	return &dir{path: path, root: root, info: info}
}

// followsLinks reports whether an operand may be a symbolic link: with -f, and where no result is
// written beside it.
func (a *app) followsLinks() bool { return a.cfg.force || !a.writesBeside() }

// writesBeside reports whether each result goes into the directory of its source, or one of the
// same path below --output-dir.
func (a *app) writesBeside() bool {
	c := &a.cfg
	return !c.toStdout && c.output == "" &&
		(c.mode == modeCompress || c.mode == modeDecompress || c.mode == modeIndex)
}

// suggestName returns a hint at a compressed file whose suffix the user left out, or at an optional
// value, which -b and --long take without a space only.
func (a *app) suggestName(path string) string {
	if _, err := parseLevels(path); err == nil && a.cfg.mode == modeBench {
		return "; did you mean -b" + path + "?"
	}
	if new(config).setLong(path) == nil && a.cfg.window != 0 {
		return "; did you mean --long=" + path + "?"
	}
	if a.cfg.compresses() {
		return ""
	}
	for _, suffix := range []string{a.cfg.suffix(), ".pz", ".gz", ".zst"} {
		if _, err := os.Lstat(path + suffix); err == nil {
			return "; did you mean " + printable(path+suffix) + "?"
		}
	}
	return ""
}

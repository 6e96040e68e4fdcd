package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gopz/compress"
)

// run does what the arguments say and returns the exit code.
func (a *app) run(args []string) int {
	var err error
	a.cfg, err = parseFlags(args, a.getenv)
	if err != nil {
		a.fail("", "%s (try pz --help)", err)
		return a.status
	}
	if a.cfg.kernels != "" && !a.cfg.quiet && !a.cfg.help && !a.cfg.listGPUs && a.cfg.mode != modeList {
		a.say("", "%s", a.cfg.kernels)
	}
	switch {
	case a.cfg.help:
		err = a.printHelp()
	case a.cfg.version:
		_, err = fmt.Fprintln(a.stdout, versionText())
	case a.cfg.listGPUs:
		err = a.listGPUs()
	case a.cfg.mode == modeList:
		a.list()
	default:
		if a.cfg.mode == modeCompress && !a.cfg.quiet {
			// No warning with an exit code: nothing is left out of the result, and tar takes any code for a failure.
			for _, text := range a.cfg.ignored {
				a.say("", "%s", text)
			}
		}
		// -T bounds the whole program, reading and writing included: with -T1 one processor is all it takes.
		if n := a.cfg.threads; n > 0 {
			runtime.GOMAXPROCS(min(n, runtime.GOMAXPROCS(0)))
		}
		// One set of workers serves all files.
		a.sched = compress.NewScheduler(a.cfg.threads)
		done, err := a.openDevice()
		if err != nil {
			option := "--backend"
			if a.cfg.device != "" {
				option = "--gpu-device " + printable(a.cfg.device)
			}
			a.fail("", "%s: %s", option, libraryReason(err))
			return a.status
		}
		a.each(a.process)
		done()
	}
	if err != nil {
		a.fail("standard output", "%s", reason(err))
	}
	return a.status
}

// each calls do for every operand, and for every file in the directories among them with -r.
func (a *app) each(do func(entry)) {
	for _, path := range a.cfg.files {
		if a.stopped {
			return
		}
		switch path {
		case "-":
			do(entry{path: path})
		case "": // of a variable that is not set, most likely
			a.fail(`""`, "is no name of a file")
		default:
			a.operand(path, do)
		}
	}
}

func (a *app) operand(path string, do func(entry)) {
	fi, err := os.Lstat(path)
	if err == nil && fi.Mode()&fs.ModeSymlink != 0 && a.followsLinks() {
		fi, err = os.Stat(path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		a.fail(path, "%s%s", reason(err), a.suggestName(path))
	case err != nil:
		a.fail(path, "%s", reason(err))
	case !fi.IsDir():
		do(entry{path: path, base: filepath.Base(path)})
	case !a.cfg.recursive:
		a.warn(path, "is a directory -- ignored (-r goes into it)")
	default:
		root, err := os.OpenRoot(path)
		if err != nil {
			a.fail(path, "%s", reason(err))
			return
		}
		info, err := root.Stat(".")
		if err != nil {
			root.Close()
			a.fail(path, "%s", reason(err))
			return
		}
		d := &dir{path: path, root: root, info: info}
		defer d.close()
		a.walk(d, do)
	}
}

// followsLinks says whether an operand may be a symbolic link: where nothing is made beside it, and with -f.
func (a *app) followsLinks() bool { return a.cfg.force || !a.writesBeside() }

// writesBeside says whether each result goes beside its source, under a name made from the source's.
func (a *app) writesBeside() bool {
	return !a.cfg.toStdout && a.cfg.output == "" && (a.cfg.mode == modeCompress || a.cfg.mode == modeDecompress)
}

func (a *app) suggestName(path string) string {
	if a.cfg.mode != modeCompress {
		for _, suffix := range append([]string{a.cfg.suffix()}, ".pz", ".gz", ".zst") {
			if _, err := os.Lstat(path + suffix); err == nil {
				return fmt.Sprintf(" (there is %s)", printable(path+suffix))
			}
		}
	}
	return ""
}

// Package cli is the command pz: it compresses and restores .pz, .gz and .zst files.
package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"

	"github.com/gopz/compress"
	"golang.org/x/term"
)

// Exit codes, as gzip has them. An error outranks a warning.
const (
	exitOK      = 0
	exitError   = 1
	exitWarning = 2
)

// app is one run of the command. Tests make their own; nothing else in the package is global.
type app struct {
	stdin, stdout, stderr *os.File
	getenv                func(string) string
	isTerminal            func(*os.File) bool

	// step is called at the named moments of writing a file, so that a test can stop the program there.
	step func(string)

	// What makes a file, and a name in a directory, durable. Tests look at what is there by then, and let it fail.
	syncFile func(*os.File) error
	syncDir  func(*os.Root) error

	cfg     config
	sched   *compress.Scheduler
	temp    unfinished
	bar     *bar  // on the screen; nil if there is none
	litter  int64 // bytes of the files done since garbage was last collected: they left buffers behind
	status  int
	stopped bool // standard output failed: nothing more can be delivered there
}

func newApp() *app {
	return &app{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		getenv:     os.Getenv,
		isTerminal: func(f *os.File) bool { return term.IsTerminal(int(f.Fd())) },
		step:       func(string) {},
		syncFile:   supportedSync,
		syncDir:    syncDir,
	}
}

// Main runs the command with the arguments of the process and exits with its status.
func Main() {
	quietDrivers()
	os.Exit(newApp().main(os.Args[1:]))
}

// main is run plus what belongs to a whole process: signals, and the closing of standard output, where some file
// systems report a failed write only then.
func (a *app) main(args []string) (status int) {
	// Nearly all memory is buffers that live as long as the program, and there is no garbage per block: collecting each time that
	// the heap has doubled, while it grows to its size, only takes time from the workers. With two threads on 59 MB the default took 4% longer
	// to compress and 6% to restore.
	debug.SetGCPercent(400)
	a.temp.watchSignals()
	defer func() {
		// A bug. The runtime would end with code 2, which means no more than a warning here, and leave a temporary
		// file that process had not yet got from the function that made it. All others it has removed by now.
		if p := recover(); p != nil {
			a.temp.locked(func() error { a.temp.remove(); return nil })
			fmt.Fprintf(a.stderr, "pz: internal error: %v\n%s", p, debug.Stack())
			status = exitError
		}
	}()
	status = a.run(args)
	if err := a.stdout.Close(); err != nil && !errors.Is(err, fs.ErrClosed) && !a.stopped {
		a.fail("standard output", "%s", reason(err))
		status = a.status
	}
	a.temp.giveWay()
	return status
}

// atLeast notes that the run has come to a warning or an error.
func (a *app) atLeast(status int) {
	if a.status != exitError {
		a.status = status
	}
}

// fail reports an error; the run goes on with the next file and ends with exit code 1.
func (a *app) fail(name, format string, args ...any) {
	a.atLeast(exitError)
	a.say(name, format, args...)
}

// warn reports that something was left out; the run ends with exit code 2 if nothing worse happens.
func (a *app) warn(name, format string, args ...any) {
	a.atLeast(exitWarning)
	if !a.cfg.quiet {
		a.say(name, format, args...)
	}
}

// note reports what only -v asks for.
func (a *app) note(name, format string, args ...any) {
	if a.cfg.verbose {
		a.say(name, format, args...)
	}
}

func (a *app) say(name, format string, args ...any) {
	msg := fmt.Sprintf(format, args...)
	if name != "" {
		msg = printable(name) + ": " + msg
	}
	a.bar.aside(func() { fmt.Fprintf(a.stderr, "pz: %s\n", msg) })
}

// Package cli is the command pz. It compresses and restores .pz, .gz and .zst files.
package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
	"golang.org/x/term"
)

// Exit codes are the same as gzip's. An error outranks a warning.
const (
	exitOK      = 0
	exitError   = 1
	exitWarning = 2
)

// app is one run of the command. The package has no other state, so tests can create several.
type app struct {
	stdin, stdout, stderr *os.File
	getenv                func(string) string
	isTerminal            func(*os.File) bool

	// step is called at named moments while a file is written or measured. Tests use it to
	// interrupt the program.
	step func(string)

	system

	now      func() time.Time // clock of rates and of the progress bar
	barDelay time.Duration    // time before the progress bar appears
	openURL  OpenURL          // nil if the build reads no URLs

	batchFiles int // most files in a batch

	ofGzip         bool // the program has one of gzip's names
	cfg            config
	sched          *compress.Scheduler
	device         gpu.Device           // nil for none
	dictionary     *compress.Dictionary // of -D; nil for none
	deepDictionary []byte               // its bytes, for the second decoder of --deep
	sandbox        *sandbox
	temp           *tempFiles
	batch          *batch
	held           *heldMessages // of a job of a batch; nil for the program
	forAll         answer        // to the question whether to overwrite
	bar            *progressBar  // nil while no bar is on the screen
	garbage        int64         // bytes written and read since the last garbage collection
	status         int           // exit code so far
	stopped        bool          // standard output failed; no further file is processed
	noPipe         bool          // the reader of standard output has closed its pipe
}

// system is what the command asks of the machine. Tests replace parts of it.
type system struct {
	// syncFile and syncDir make a file and the names in a directory durable.
	syncFile func(*os.File) error
	syncDir  func(*os.Root) error

	// machineMemory returns the memory in bytes that the process may have, 0 if it is not known.
	machineMemory func() int64
	// spaceLeft returns how many bytes the address space may still grow, MaxInt64 without a limit.
	spaceLeft func() int64
	// limitMemory tells the Go runtime the bytes that the process should take at most. Near them it
	// collects garbage more often.
	limitMemory func(int64)
}

func newApp() *app {
	return &app{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		getenv:     os.Getenv,
		isTerminal: func(f *os.File) bool { return term.IsTerminal(int(f.Fd())) },
		step:       func(string) {},
		now:        time.Now,
		barDelay:   barDelay,
		batchFiles: min(batchFiles, (openFileLimit()-filesOfProgram)/filesOfJob),
		temp:       new(tempFiles),
		batch:      new(batch),

		sandbox: new(sandbox),
		system: system{
			syncFile:      syncFile,
			syncDir:       syncDir,
			machineMemory: sync.OnceValue(machineMemory),
			spaceLeft:     spaceLeft,
			limitMemory:   func(int64) {},
		},
	}
}

// Main runs the command with the arguments of the process and exits with its status. open opens
// URLs; nil is for a build that reads none.
func Main(open OpenURL) {
	reserveStack(false)
	silenceDrivers()
	a := newApp()
	a.openURL = open
	a.limitMemory = func(n int64) { debug.SetMemoryLimit(n) }
	a.sandbox.enter = enterSandbox
	os.Exit(a.main(os.Args))
}

// reserveStack makes the stack of the goroutine large enough for a run. A stack that grows when it
// is deep takes longer: the runtime looks at all frames, each time it doubles.
//
//go:noinline
func reserveStack(use bool) {
	if use {
		var frame [40 << 10]byte
		keepFrame(frame[:])
	}
}

//go:noinline
func keepFrame(frame []byte) { frame[len(frame)-1]++ }

// main calls run and does what concerns the whole process: signals, panics and the closing of
// standard output. Some file systems report a failed write only when the file is closed. args
// includes the name of the program.
func (a *app) main(args []string) (status int) {
	// Buffers live as long as the program and blocks leave no garbage. Collecting less often
	// compresses 4% and restores 6% faster.
	debug.SetGCPercent(400)
	crashBySignal()
	defer func() {
		// The runtime would exit with code 2, which means a warning here. Deferred calls have
		// removed the temporary files already, unless a job had not yet received its own.
		if p := recover(); p != nil {
			a.temp.locked(func() error { a.temp.removeAll(); return nil })
			fmt.Fprintf(a.stderr, "pz: internal error: %v\n%s", p, debug.Stack())
			status = exitError
		}
	}()
	args, a.ofGzip = withNameOptions(args)
	status = a.run(args)
	if a.noPipe {
		a.temp.waitForSignal()
		dieByBrokenPipe(a.stdout)
	}
	if err := a.stdout.Close(); err != nil && !errors.Is(err, fs.ErrClosed) && !a.stopped {
		a.fail("standard output", "%s", reason(err))
		status = a.status
	}
	a.temp.waitForSignal()
	return status
}

// failStdout reports an error of standard output and stops the run. A reader that closes its pipe
// has what it wants, as in pz -dc FILE | head, so that is no message.
func (a *app) failStdout(err error) {
	a.stopped = true
	if isBrokenPipe(err) {
		a.noPipe = true
		a.raise(exitError)
		return
	}
	a.fail("standard output", "%s", reason(err))
}

// raise sets the exit code to status unless an error has set it already.
func (a *app) raise(status int) {
	if a.status != exitError {
		a.status = status
	}
}

// fail reports an error. The run continues with the next file and exits with code 1.
func (a *app) fail(name, format string, args ...any) {
	a.raise(exitError)
	a.print(name, format, args...)
}

// warn reports that the run leaves something out. It exits with code 2 unless an error follows.
func (a *app) warn(name, format string, args ...any) {
	a.raise(exitWarning)
	if !a.cfg.quiet {
		a.print(name, format, args...)
	}
}

// note reports a detail, with -v only. gzip prints no details.
func (a *app) note(name, format string, args ...any) {
	if a.cfg.verbose && !a.ofGzip {
		a.print(name, format, args...)
	}
}

// print writes one message about the file name to standard error. An empty name is left out. The
// message waits while those of files in front of it are held back.
func (a *app) print(name, format string, args ...any) {
	msg := fmt.Sprintf(format, args...)
	if name != "" {
		msg = printable(name) + ": " + msg
	}
	a.printLine("pz: " + msg)
}

// printLine writes a line to standard error, or holds it back as print does.
func (a *app) printLine(msg string) {
	if a.held != nil {
		a.held.texts = append(a.held.texts, msg)
		return
	}
	if n := len(a.batch.jobs); n > 0 {
		last := a.batch.jobs[n-1]
		last.later = append(last.later, msg)
		return
	}
	a.write(msg)
}

// write writes a line to standard error.
func (a *app) write(msg string) {
	catchBrokenPipe()
	a.bar.hideWhile(func() { fmt.Fprintln(a.stderr, msg) })
}

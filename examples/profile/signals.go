package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
)

// env is the world outside of the program, for tests to replace.
type env struct {
	stdout, stderr io.Writer

	exit    func(status int)
	mu      sync.Mutex
	orderly func(interrupted) // ends the measurement in an orderly way; nil outside of it
}

// newEnv returns an env that answers signals from now on. A signal during the measurement ends that
// once. Any other signal ends the program at once, whatever it does.
func newEnv(stdout, stderr io.Writer, signals <-chan os.Signal, exit func(int)) *env {
	e := &env{stdout: stdout, stderr: stderr, exit: exit}
	go func() {
		for s := range signals {
			stopped := interrupted{s}
			e.mu.Lock()
			orderly := e.orderly
			e.orderly = nil
			e.mu.Unlock()
			if orderly != nil {
				go orderly(stopped) // it may wait for a file; the next signal must not
				continue
			}
			fmt.Fprintln(stderr, "profile:", stopped)
			exit(stopped.status())
		}
	}()
	return e
}

// onSignal makes the next signal call orderly, or with nil end the program at once.
func (e *env) onSignal(orderly func(interrupted)) {
	e.mu.Lock()
	e.orderly = orderly
	e.mu.Unlock()
}

// interrupted is the error of work that a signal has ended.
type interrupted struct{ os.Signal }

func (i interrupted) Error() string { return "interrupted by " + i.Signal.String() }

func (i interrupted) String() string { return i.Error() }

// status returns the exit status by the shell's convention.
func (i interrupted) status() int {
	if s, ok := i.Signal.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return exitFailed
}

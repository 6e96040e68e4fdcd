// Command profile runs the compressor in memory and says where the time goes, for people who work on it or tune it:
//
//	go run ./examples/profile --pipeline lzseqr --level 4 --print-scheduler-stats
//	go run ./examples/profile --stage rans --decompress --threads 1
//	go run ./examples/profile --timeline timeline.json --out run1
//	go run ./examples/profile aggregate run1 run2
//
// Lines for programs go to standard output, everything for people to standard error. docs/TUNING.md shows how to read them.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/gopz/compress"
	"github.com/spf13/pflag"
)

// Exit statuses besides 0.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 128 + int(syscall.SIGINT)
)

func main() {
	interrupt := make(chan os.Signal, 1)
	signal.Notify(interrupt, os.Interrupt, syscall.SIGTERM)
	os.Exit(run(os.Args[1:], env{os.Stdout, os.Stderr, interrupt}))
}

// env is the world outside, so that a test can be it.
type env struct {
	stdout, stderr io.Writer
	interrupt      <-chan os.Signal
}

// errInterrupted ends the work when the user asks for it. What was measured until then is written all the same.
var errInterrupted = errors.New("interrupted")

func run(args []string, e env) int {
	var err error
	if len(args) > 0 && args[0] == "aggregate" {
		err = aggregateMain(args[1:], e)
	} else {
		err = profileMain(args, e)
	}
	switch {
	case err == nil, errors.Is(err, pflag.ErrHelp):
		return 0
	}
	fmt.Fprintln(e.stderr, "profile:", err)
	var wrong usageError
	switch {
	case errors.As(err, &wrong):
		return exitUsage
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	}
	return exitFailed
}

func profileMain(args []string, e env) error {
	c, err := parseFlags(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprint(e.stdout, usage)
		return err
	case err != nil:
		return err
	case c.list:
		return list(e.stdout)
	}
	return profile(c, e)
}

// list prints what can be measured here, a line each.
func list(w io.Writer) error {
	for _, p := range pipelineNames() {
		if _, err := fmt.Fprintf(w, "PIPELINE\tname=%s\n", p); err != nil {
			return err
		}
	}
	for _, s := range stages {
		if _, err := fmt.Fprintf(w, "STAGE\tname=%s\n", s.name); err != nil {
			return err
		}
	}
	for _, d := range compress.Devices() {
		if _, err := fmt.Fprintf(w, "DEVICE\tname=%s\thardware=%t\tpresent=%t\n", d, d != softDevice, hasDevice(d)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "MACHINE\tkernels=%s\n", compress.Kernels())
	return err
}

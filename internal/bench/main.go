// Command bench is the project's one measuring program. It has a subcommand for each question:
//
//	bench files     how do pz and other compressors compare as whole commands?
//	bench gunzip    how fast do pz and others restore .gz files of all kinds of programs?
//	bench frontier  which ratio and which speed does every level have in memory?
//	bench gate      is this build slower than a baseline, or than another build?
//
// The scripts scripts/bench.sh and scripts/perf-gate.sh build and run it. All
// subcommands take samples of wall time and processor time, measure by turns and report medians;
// see sample.go and measure.go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Exit statuses besides 0 and, after an interrupt, 130.
const (
	exitFailed = 1 // an error, or a regression that the gate found
	exitUsage  = 2
	exitNoData = 3 // the gate cannot judge
)

// errUsage marks errors of the command line.
var errUsage = errors.New("wrong usage")

// subcommand is one of bench's programs. run returns flag.ErrHelp if the user asks for the usage.
type subcommand struct {
	name  string
	usage string
	run   func(ctx context.Context, args []string, out io.Writer) error
}

var subcommands = []subcommand{
	{"files", filesUsage, runFiles},
	{"gunzip", gunzipUsage, runGunzip},
	{"frontier", frontierUsage, runFrontier},
	{"gate", gateUsage, runGate},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run runs the subcommand that args[0] names and returns the exit status.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	var names []string
	for _, c := range subcommands {
		names = append(names, c.name)
		if len(args) == 0 || args[0] != c.name {
			continue
		}
		err := c.run(ctx, args[1:], out)
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(out, c.usage)
			return 0
		}
		if err != nil {
			fmt.Fprintf(errOut, "bench %s: %v\n", c.name, err)
		}
		return status(ctx, err)
	}
	fmt.Fprintf(errOut, "usage: bench %s [OPTION]...\n", strings.Join(names, "|"))
	return exitUsage
}

func status(ctx context.Context, err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errUsage):
		return exitUsage
	case errors.Is(err, errNoJudgement):
		return exitNoData
	case ctx.Err() != nil:
		return 128 + int(syscall.SIGINT)
	}
	return exitFailed
}

// newFlags returns a flag set that leaves printing of errors and usage to run.
func newFlags(name string) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	return f
}

// parseFlags parses args. Its errors are flag.ErrHelp or wrap errUsage.
func parseFlags(f *flag.FlagSet, args []string) error {
	err := f.Parse(args)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return err
	}
	return usageError("%v", err)
}

func usageError(format string, args ...any) error {
	return fmt.Errorf("%w: %s; see --help", errUsage, fmt.Sprintf(format, args...))
}

// note prints a line of progress.
func note(format string, args ...any) { fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...) }

// Command pzserve serves the contents of directories, tar archives and compressed files over HTTP.
// See docs/SERVING.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/gopz/compress/simd"
	"github.com/spf13/pflag"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// errUsage marks errors in the command line.
var errUsage = errors.New("usage")

// run runs the command and returns its exit status.
func run(args []string, stdout, stderr io.Writer) int {
	err := command(args, stdout, stderr)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprint(stdout, usage)
		return 0
	}
	fmt.Fprintln(stderr, "pzserve:", err)
	if errors.Is(err, errUsage) {
		fmt.Fprintln(stderr, `Try "pzserve --help".`)
		return 2
	}
	return 1
}

// version returns the version of the module that this program was built from.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "(built from source)"
}

func command(args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 && args[0] == "aggregate" {
		return aggregate(args[1:], stdout)
	}
	o, err := parse(args)
	if err != nil {
		return err
	}
	if o.version {
		_, err := fmt.Fprintf(stdout, "pzserve %s, kernels: %s\n", version(), simd.Tier())
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, err := start(o, stderr)
	if err != nil {
		return err
	}
	return s.run(ctx, stop)
}

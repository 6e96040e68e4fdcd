// Command pzbeam compresses, restores and verifies files on an Apache Beam runner. See
// docs/CLUSTER.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"
	pzbeam "github.com/gopz/compress/beam"
)

const usage = `usage: pzbeam COMMAND [OPTION]... PATTERN...

Works on the files that the patterns match, on an Apache Beam runner. Quote patterns, so that the
workers match them.

Commands:
  compress     to .pz, or as --format says
  decompress   restore .pz, .gz and .zst files
  recover      restore the intact parts of damaged files, and log the damage
  verify       log the damage of files, and write no files

Options:
  --out DIR         directory of the output files; not for verify
  --base PREFIX     what the names of the outputs leave out of the names of the sources; without it
                    their directories
  --format FORMAT   pz, gz or zst (pz)
  -1 ... -9         level of compression (4 for pz and zst, 6 for gz)
  --block-size N    bytes of content in a block: a power of two
  --no-check        write no checks
  --no-name         leave name and time of the source out of .gz files
  --group-size N    bytes of content that a worker does at a time (67108864)
  --max-memory N    limit of the memory for a group, in bytes
  --zero-fill       recover: write zeros in place of lost content
  --report FILE     recover, verify: write the damage to a file, one JSON object a line
  --runner NAME     prism, dataflow, flink, spark or universal (prism)

All other options are those of the runner, for instance --endpoint and --project. Exit status: 0, or
1 after an error or damage, or 2 for wrong arguments.
`

func main() {
	c, patterns, err := parse(os.Args[1:], flag.CommandLine)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(usage)
		return
	case err != nil:
		fmt.Fprintf(os.Stderr, "pzbeam: %v; \"pzbeam --help\" lists the options\n", err)
		os.Exit(2)
	}
	beam.Init()
	findings, err := c.run(context.Background(), patterns)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if findings > 0 {
		fmt.Fprintf(os.Stderr, "pzbeam: damage in %d places\n", findings)
		os.Exit(1)
	}
}

// run runs the command and returns the number of damaged places.
func (c *command) run(ctx context.Context, patterns []string) (findings int64, err error) {
	// Building the pipeline panics if the options are wrong.
	defer func() {
		switch e := recover().(type) {
		case nil:
		case error:
			err = e
		default:
			panic(e)
		}
	}()
	p, s := beam.NewPipelineWithRoot()
	files := pzbeam.Match(s, patterns...)
	var found beam.PCollection
	switch c.name {
	case "compress":
		pzbeam.Compress(s, files, c.Options)
	case "decompress":
		pzbeam.Decompress(s, files, c.Options)
	case "recover":
		_, found = pzbeam.Recover(s, files, c.Options)
	case "verify":
		found = pzbeam.Verify(s, files, c.Options)
	}
	if c.report != "" {
		pzbeam.Report(s, found, c.report)
	}
	result, err := beamx.RunWithMetrics(ctx, p)
	if err != nil {
		return 0, err
	}
	for _, m := range result.Metrics().AllMetrics().Counters() {
		if m.Key.Name == "findings" && m.Key.Namespace == "pzbeam" {
			findings += max(m.Committed, m.Attempted)
		}
	}
	return findings, nil
}

// command is what a command line asks for.
type command struct {
	name   string
	report string
	pzbeam.Options
}

// parse parses arguments. Options may stand between the patterns. The flags of runners are already
// in fs.
func parse(args []string, fs *flag.FlagSet) (c command, patterns []string, err error) {
	fs.Init("pzbeam", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&c.Output, "out", "", "")
	fs.StringVar(&c.Base, "base", "", "")
	fs.StringVar(&c.Format, "format", "", "")
	fs.IntVar(&c.BlockSize, "block-size", 0, "")
	fs.BoolVar(&c.NoCheck, "no-check", false, "")
	fs.BoolVar(&c.NoName, "no-name", false, "")
	fs.Int64Var(&c.GroupSize, "group-size", 0, "")
	fs.Int64Var(&c.MaxMemory, "max-memory", 0, "")
	fs.StringVar(&c.report, "report", "", "")
	fs.BoolVar(&c.ZeroFill, "zero-fill", false, "")
	for level := 1; level <= 9; level++ {
		fs.BoolFunc(fmt.Sprint(level), "", func(string) error {
			c.Level = level
			return nil
		})
	}
	var rest []string // behind "--"
	if i := slices.Index(args, "--"); i >= 0 {
		args, rest = args[:i], args[i+1:]
	}
	for len(args) > 0 {
		if err := fs.Parse(args); err != nil {
			return c, nil, err
		}
		if args = fs.Args(); len(args) > 0 {
			patterns, args = append(patterns, args[0]), args[1:]
		}
	}
	patterns = append(patterns, rest...)
	if len(patterns) == 0 {
		return c, nil, errors.New("no command")
	}
	c.name, patterns = patterns[0], patterns[1:]
	switch {
	case !slices.Contains([]string{"compress", "decompress", "recover", "verify"}, c.name):
		return c, nil, fmt.Errorf("unknown command %q", c.name)
	case len(patterns) == 0:
		return c, nil, fmt.Errorf("%s: no files named", c.name)
	case c.Output == "" && c.name != "verify":
		return c, nil, fmt.Errorf("%s: --out is missing", c.name)
	case c.report != "" && c.name != "verify" && c.name != "recover":
		return c, nil, fmt.Errorf("%s: --report has no use", c.name)
	case c.Output != "" && c.name == "verify":
		return c, nil, errors.New("verify: --out has no use")
	}
	return c, patterns, nil
}

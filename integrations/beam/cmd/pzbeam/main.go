// Command pzbeam compresses, restores and verifies files on an Apache Beam runner. See
// docs/CLUSTER.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"
	pzbeam "github.com/gopz/compress/integrations/beam"
)

func main() {
	c, err := parse(os.Args[1:], flag.CommandLine)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(usage)
		return
	case err != nil:
		fmt.Fprintf(os.Stderr, "pzbeam: %v\nTry \"pzbeam --help\".\n", err)
		os.Exit(2)
	}
	beam.Init() // does not return on a worker
	useThisProgram()
	if !c.verbose {
		slog.SetDefault(slog.New(damageLog{}))
	}
	os.Exit(c.main(context.Background(), os.Stdout, os.Stderr))
}

// useThisProgram has workers run this program, if they can, unless an option names another one.
// Beam would compile it, from a directory that has the source.
func useThisProgram() {
	if *jobopts.WorkerBinary != "" || runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return
	}
	if path, err := os.Executable(); err == nil {
		*jobopts.WorkerBinary = path
	}
}

// damageLog is a log of damage only. Runners log errors of the pipeline too, which this program
// prints itself.
type damageLog struct{}

// Enabled implements slog.Handler.
func (damageLog) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }

// Handle implements slog.Handler.
func (damageLog) Handle(_ context.Context, r slog.Record) error {
	text := strings.TrimPrefix(r.Message, "[SDK] ")
	if strings.HasPrefix(text, "pzbeam: ") {
		fmt.Fprintln(os.Stderr, text)
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (h damageLog) WithAttrs([]slog.Attr) slog.Handler { return h }

// WithGroup implements slog.Handler.
func (h damageLog) WithGroup(string) slog.Handler { return h }

// main runs the command and returns the exit status.
func (c *command) main(ctx context.Context, stdout, stderr io.Writer) int {
	fail := func(err error) int {
		fmt.Fprintln(stderr, message(err))
		return 1
	}
	start := time.Now()
	p, err := c.pipeline()
	if err != nil {
		fail(err)
		return 2
	}
	result, err := beamx.RunWithMetrics(ctx, p)
	if err != nil {
		return fail(err)
	}
	if result == nil { // a runner's dry run
		return 0
	}
	if *jobopts.Async {
		fmt.Fprintf(stdout, "submitted %s\n", result.JobID())
		return 0
	}
	t, err := pzbeam.NewTotals(result.Metrics())
	if errors.Is(err, pzbeam.ErrNoMetrics) && !c.finds() && c.profile == "" {
		return 0
	}
	if err != nil {
		return fail(err)
	}
	if c.profile != "" {
		if err := t.WriteProfile(c.profile, "pzbeam "+c.name, time.Since(start)); err != nil {
			return fail(err)
		}
	}
	fmt.Fprintln(stdout, c.summary(t))
	if t.Findings > 0 {
		return 1
	}
	return 0
}

// pipeline builds the pipeline.
func (c *command) pipeline() (p *beam.Pipeline, err error) {
	// Building a pipeline panics if the options are wrong.
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
	files := pzbeam.Match(s, c.patterns...)
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
	return p, nil
}

// summary says what was done.
func (c *command) summary(t *pzbeam.Totals) string {
	var b strings.Builder
	switch c.name {
	case "verify":
		if t.Findings == 0 {
			return "no damage"
		}
		return "damage in " + number(t.Findings, "place")
	case "recover":
		fmt.Fprintf(&b, "%s, damage in %s, %d bytes lost", number(t.Files, "file"),
			number(t.Findings, "place"), t.Lost)
	case "decompress":
		fmt.Fprintf(&b, "%s, %d → %d bytes", number(t.Files, "file"), t.Packed, t.Content)
	default:
		fmt.Fprintf(&b, "%s, %d → %d bytes", number(t.Files, "file"), t.Content, t.Packed)
	}
	if t.Skipped > 0 {
		fmt.Fprintf(&b, ", %s skipped", number(t.Skipped, "file"))
	}
	return b.String()
}

func number(n int64, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprint(n, " ", what)
}

// message returns what an error of a runner is about. A runner repeats the error of a worker
// between traces of its own, and all that comes from the worker's process is its text.
func message(err error) string {
	text := err.Error()
	if i := strings.LastIndex(text, "pzbeam: "); i >= 0 {
		text, _, _ = strings.Cut(text[i:], "\n")
		if strings.HasSuffix(text, ": "+pzbeam.ErrExists.Error()) {
			text += "; -f replaces it, --skip-existing leaves it"
		}
		return text
	}
	return "pzbeam: " + text
}

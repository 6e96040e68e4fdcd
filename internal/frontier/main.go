// Frontier measures every level of every pipeline of pz, and of zstd, lz4 and klauspost/compress, on one file, and draws ratio over speed.
// `scripts/bench.sh --frontier` runs it.
//
// Everything happens in memory, with one thread, and is timed by processor time: what else the machine does then counts only as far as it
// takes caches and memory away. zstd and lz4 measure themselves (their option -b); see program. So do the others, in
// the same manner.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const usage = `usage: scripts/bench.sh --frontier [options] FILE

Measures, in memory and with one thread, every level of all pipelines of pz, of zstd and lz4 if they are installed, and of the codecs of
klauspost/compress, by turns, and writes a picture and a table of ratio and speed (MB of content to a second of processor time).

  --repeats N      rounds; the fastest counts (3)
  --seconds N      each level is measured so long in a round, at least once each way; the fastest try counts (1)
  --output DIR     where frontier.svg and frontier.md go (docs/generated)
  --only LIST      families, of lzseqr, lzr, lzf, deflate, zstd, lz4, kp-zstd, kp-s2, kp-gzip (all)
  --max-level N    leave out levels above N of families that have so many (none left out)
  --note TEXT      goes into the head of the table; may be given more than once
`

type config struct {
	repeats  int
	seconds  int
	output   string
	only     []string
	maxLevel int
	revision string
	notes    []string
	file     string
}

var errUsage = errors.New("wrong usage")

func parse(args []string) (*config, error) {
	cfg := &config{}
	f := flag.NewFlagSet("frontier", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.IntVar(&cfg.repeats, "repeats", 3, "")
	f.StringVar(&cfg.output, "output", filepath.Join("docs", "generated"), "")
	f.IntVar(&cfg.seconds, "seconds", 1, "")
	f.IntVar(&cfg.maxLevel, "max-level", 99, "")
	f.StringVar(&cfg.revision, "revision", "unknown", "") // scripts/bench.sh says it
	f.Func("only", "", func(s string) error { cfg.only = strings.Split(s, ","); return nil })
	f.Func("note", "", func(s string) error { cfg.notes = append(cfg.notes, s); return nil })
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil, err
		}
		return nil, fmt.Errorf("%w: %v; see --help", errUsage, err)
	}
	switch {
	case f.NArg() != 1:
		return nil, fmt.Errorf("%w: one file; see --help", errUsage)
	case cfg.repeats < 1 || cfg.maxLevel < 1 || cfg.seconds < 0:
		return nil, fmt.Errorf("%w: --repeats and --max-level: at least 1; --seconds: at least 0", errUsage)
	}
	for _, name := range cfg.only {
		if !slices.ContainsFunc(families, func(f family) bool { return f.name == name }) {
			return nil, fmt.Errorf("%w: --only: %q is no family; see --help", errUsage, name)
		}
	}
	cfg.file = f.Arg(0)
	return cfg, nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(usage)
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, "frontier:", err)
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "frontier:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	cfg, err := parse(args)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(cfg.file)
	if err != nil {
		return err
	}
	if len(content) == 0 {
		return fmt.Errorf("%s is empty", cfg.file)
	}
	all, err := entrants(ctx, cfg)
	if err != nil {
		return err
	}
	before := load()
	for r := range cfg.repeats {
		fmt.Fprintf(os.Stderr, "frontier: round %d of %d\n", r+1, cfg.repeats)
		for i := range all {
			e := &all[(i+r)%len(all)]
			s, err := e.measure(ctx, cfg.file, content, cfg.seconds)
			if err != nil {
				return fmt.Errorf("%s -%d: %w", e.family.name, e.level, err)
			}
			e.add(s)
		}
	}
	if err := os.MkdirAll(cfg.output, 0o777); err != nil {
		return err
	}
	head := heading(cfg, len(content), before, load())
	if err := os.WriteFile(filepath.Join(cfg.output, "frontier.svg"), picture(all), 0o666); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(cfg.output, "frontier.md"), table(head, all), 0o666)
}

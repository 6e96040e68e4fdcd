// Bench compares pz with other compressors on the same files in one run. scripts/bench.sh builds pz and runs it.
//
// Every contestant runs as a program, from files in the page cache to /dev/null. One round measures every contestant once,
// compression and decompression, and each round begins with the next contestant, so that whatever else the machine does hits
// all of them alike; the figures are medians over the rounds.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

const usage = `usage: scripts/bench.sh [options] [FILE or DIRECTORY ...]
       scripts/bench.sh --frontier [options] FILE     all levels of all, in memory, as a picture; has a --help of its own

Compares pz with the compressors that are installed, on the same files in one run, the contestants by turns: ratio, and MB/s
(1 MB = 1,000,000 bytes of content) of compression and decompression as medians. Every output is decompressed and compared
once. Directories stand for all the files in them; without any, the directory named by PZ_CORPUS does.

  --repeats N      measure every contestant N times (5)
  --threads LIST   numbers of threads, "all" for one per CPU (1,all). Peers that have no threads run with one only
  --peers LIST     of zstd, lz4, pigz, gzip, xz, brotli; "none" for none (all of them)
  --levels LIST    levels, like 1,3,5-7, for everyone who has them; or, for one contestant, after its name, the lists separated
                   by spaces: "pz=1-9 zstd=1,3,19". Who is not named keeps the default
  --pipelines LIST pipelines of pz (lzseqr)
  --join           measure all files as one, joined end to end
  --each           show every file, not only the sum
  --tsv FILE       write the measurements as a table for programs, with the fastest and slowest round
  --pz NAME=PATH   another pz to compare with; may be given more than once
  --files          may stand before the files

Work is done under TMPDIR, which needs room for a copy of the files and all that is made of them. Short runs tell little: a
program takes a millisecond or two to start, which counts. "cpu" is processor time by wall time, the number of busy CPUs.
`

type config struct {
	repeats   int
	threads   []int
	peers     []string
	levels    levelSpec
	pipelines []string
	join      bool
	each      bool
	tsv       string
	pz        []program
	paths     []string
}

// program is a build of pz.
type program struct{ name, path string }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(usage)
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	cfg, err := parse(args)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "pz-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	inputs, err := gather(ctx, dir, cfg.paths, cfg.join)
	if err != nil {
		return err
	}
	contestants, notes, err := line(ctx, cfg)
	if err != nil {
		return err
	}
	results, err := measure(ctx, dir, contestants, inputs, cfg.repeats)
	if err != nil {
		return err
	}
	// The file first: a terminal may go away.
	if cfg.tsv != "" {
		if err := writeTSV(cfg.tsv, results); err != nil {
			return err
		}
	}
	return writeTable(os.Stdout, results, cfg, inputs, notes)
}

var errUsage = errors.New("wrong usage")

func parse(args []string) (*config, error) {
	cfg := &config{}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(discard{})
	f.IntVar(&cfg.repeats, "repeats", 5, "")
	threads := f.String("threads", "1,all", "")
	peers := f.String("peers", strings.Join(peerNames(), ","), "")
	levels := f.String("levels", "", "")
	pipelines := f.String("pipelines", "lzseqr", "")
	f.BoolVar(&cfg.join, "join", false, "")
	f.BoolVar(&cfg.each, "each", false, "")
	f.StringVar(&cfg.tsv, "tsv", "", "")
	f.Bool("files", false, "")
	f.Func("pz", "", func(s string) error {
		name, path, ok := strings.Cut(s, "=")
		if !ok {
			name, path = "pz", s
		}
		path, err := filepath.Abs(path)
		cfg.pz = append(cfg.pz, program{name, path})
		return err
	})
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil, err
		}
		return nil, fmt.Errorf("%w: %v; see --help", errUsage, err)
	}
	cfg.paths = f.Args()
	if len(cfg.paths) == 0 {
		if dir := os.Getenv("PZ_CORPUS"); dir != "" {
			cfg.paths = []string{dir}
		}
	}
	var err error
	if cfg.levels, err = parseLevels(*levels); err != nil {
		return nil, fmt.Errorf("%w: --levels: %v", errUsage, err)
	}
	for s := range strings.SplitSeq(*threads, ",") {
		n := runtime.NumCPU()
		if s != "all" {
			if n, err = strconv.Atoi(s); err != nil || n < 1 {
				return nil, fmt.Errorf("%w: --threads: %q is no number of threads", errUsage, s)
			}
		}
		if !slices.Contains(cfg.threads, n) { // "1,all" on one CPU
			cfg.threads = append(cfg.threads, n)
		}
	}
	if *peers != "none" {
		cfg.peers = strings.Split(*peers, ",")
	}
	cfg.pipelines = strings.Split(*pipelines, ",")
	switch {
	case cfg.repeats < 1:
		return nil, fmt.Errorf("%w: --repeats: at least 1", errUsage)
	case len(cfg.paths) == 0:
		return nil, fmt.Errorf("%w: no files: name some, or set PZ_CORPUS; see --help", errUsage)
	}
	return cfg, nil
}

// discard keeps package flag from printing its own idea of help.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

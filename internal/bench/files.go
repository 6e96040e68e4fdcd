package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/gopz/compress/internal/measuring"
)

const filesUsage = `usage: scripts/bench.sh [OPTION]... [FILE or DIRECTORY]...
       scripts/bench.sh --frontier [OPTION]... FILE...  measure all levels in memory; see its --help

Compares pz with other installed compressors on the same files, from files in the page cache to the
null device. Prints the ratio and MB/s (1,000,000 bytes of content per second) as medians. Checks
once that every output decompresses to its input. A directory stands for all files below it.
Without FILE, bench measures the directory named by PZ_CORPUS.

  --repeats N       rounds (5); all compressors run once in each
  --threads LIST    numbers of threads; "all" is one for each CPU (1,all). Compressors without threads
                    run with 1 only
  --peers LIST      zstd, lz4, pigz, gzip, xz, brotli, or none (all)
  --levels LIST     levels, such as 1,3,5-7; for one compressor as in "pz=1-9 zstd=1,3,19"
  --pipelines LIST  pipelines of pz (lzseqr)
  --join            join all files to one
  --each            show a row for each file
  --tsv FILE        write all figures, with the fastest and slowest round
  --benchfmt        print every sample in the format of Go benchmarks, for benchstat
  --pz NAME=PATH    measure another build of pz, too; may be repeated

Temporary files go to TMPDIR. It needs room for a copy of the files and for all compressed forms.
Start-up of a program takes 1 to 2 ms and counts. Column "cpu" is processor time by wall time, the
number of busy processors. "spread" is slowest less fastest round, as a part of the median.
`

type filesConfig struct {
	repeats   int
	threads   []int
	peers     []string
	levels    levelSpec
	pipelines []string
	join      bool
	each      bool
	tsv       string
	benchfmt  bool
	builds    []build
	paths     []string
}

// build is a build of pz.
type build struct{ name, path string }

// addBuild adds the build that the value NAME=PATH of option --pz describes.
func addBuild(builds *[]build, s string) error {
	name, path, ok := strings.Cut(s, "=")
	if !ok {
		name, path = "pz", s
	}
	// Results are told apart by the name.
	if slices.ContainsFunc(*builds, func(b build) bool { return b.name == name }) {
		return fmt.Errorf("two builds are called %q; use NAME=PATH", name)
	}
	path, err := filepath.Abs(path)
	*builds = append(*builds, build{name, path})
	return err
}

func runFiles(ctx context.Context, args []string, out io.Writer) error {
	cfg, err := parseFiles(args)
	if err != nil {
		return err
	}
	commands, notes, err := cfg.commands(ctx)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "pz-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	inputs, err := copyInputs(ctx, dir, cfg.paths, cfg.join)
	if err != nil {
		return err
	}
	var entries []*entry
	for _, c := range commands {
		note("checking %v", c.setting)
		for _, in := range inputs {
			e, err := c.newEntry(ctx, dir, in, 0)
			if err != nil {
				return err
			}
			entries = append(entries, e)
		}
	}
	if err := measure(ctx, entries, cfg.repeats); err != nil {
		return err
	}
	results := withTotals(entries)
	if cfg.tsv != "" { // before the terminal, which may be closed
		if err := writeFile(cfg.tsv, samplesTable(results).tsv); err != nil {
			return err
		}
	}
	shown := slices.DeleteFunc(slices.Clone(results), func(r *entry) bool {
		return r.file == total && cfg.each && len(inputs) == 1 || r.file != total && !cfg.each
	})
	if cfg.benchfmt {
		return writeBenchmarks(out, "Files", shown)
	}
	fmt.Fprintln(out, measuring.Machine())
	for _, n := range notes {
		fmt.Fprintln(out, n)
	}
	fmt.Fprintf(out, "%s; medians of %d\n\n", describe(inputs), cfg.repeats)
	return summaryTable(shown, cfg.each).text(out)
}

func parseFiles(args []string) (*filesConfig, error) {
	cfg := &filesConfig{}
	f := newFlags("files")
	f.IntVar(&cfg.repeats, "repeats", 5, "")
	threads := f.String("threads", "1,all", "")
	peerList := f.String("peers", strings.Join(peerNames(), ","), "")
	levels := f.String("levels", "", "")
	pipelines := f.String("pipelines", "lzseqr", "")
	f.BoolVar(&cfg.join, "join", false, "")
	f.BoolVar(&cfg.each, "each", false, "")
	f.StringVar(&cfg.tsv, "tsv", "", "")
	f.BoolVar(&cfg.benchfmt, "benchfmt", false, "")
	f.Func("pz", "", func(s string) error { return addBuild(&cfg.builds, s) })
	if err := parseFlags(f, args); err != nil {
		return nil, err
	}
	cfg.paths = f.Args()
	if dir := os.Getenv("PZ_CORPUS"); len(cfg.paths) == 0 && dir != "" {
		cfg.paths = []string{dir}
	}
	var err error
	cfg.levels, err = parseLevels(*levels)
	if err != nil {
		return nil, usageError("--levels: %v", err)
	}
	cfg.threads, err = parseThreads(*threads)
	if err != nil {
		return nil, err
	}
	if *peerList != "none" {
		cfg.peers = strings.Split(*peerList, ",")
	}
	cfg.pipelines = strings.Split(*pipelines, ",")
	switch {
	case cfg.repeats < 1:
		return nil, usageError("--repeats: at least 1")
	case len(cfg.paths) == 0:
		return nil, usageError("no files: name some, or set PZ_CORPUS")
	}
	return cfg, nil
}

// parseThreads parses a list such as "1,all". It leaves out repeated numbers.
func parseThreads(s string) (list []int, err error) {
	for word := range strings.SplitSeq(s, ",") {
		n := runtime.NumCPU()
		if word != "all" {
			if n, err = strconv.Atoi(word); err != nil || n < 1 {
				return nil, usageError("--threads: %q is not a number of threads", word)
			}
		}
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list, nil
}

var errNoCompressor = errors.New("no compressor to measure")

// commands returns all commands in the order of the table, and notes for its heading.
func (cfg *filesConfig) commands(ctx context.Context) (all []command, notes []string, err error) {
	for _, b := range cfg.builds {
		if _, err := exec.LookPath(b.path); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", b.name, err)
		}
		for _, pipeline := range cfg.pipelines {
			for _, t := range cfg.threads {
				for _, l := range cfg.levels.of(b.name, []int{1, 3, 5, 7, 9}, 1, 9) {
					all = append(all, pzCommand(b.name, b.path, pipeline, l, t))
				}
			}
		}
	}
	others, notes, err := peerCommands(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	if all = append(all, others...); len(all) == 0 {
		return nil, nil, fmt.Errorf("%w: %s", errNoCompressor, strings.Join(notes, "; "))
	}
	return all, notes, nil
}

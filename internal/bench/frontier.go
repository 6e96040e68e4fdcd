package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/measuring"
)

const frontierUsage = `usage: scripts/bench.sh --frontier [OPTION]... FILE...

Measures every level of pz, zstd, lz4 and klauspost/compress by turns, in memory, with one thread.
Writes a picture and a table of ratio and speed, in MB of content per second of processor time. A
second table has pz's speed relative to each level of the others, at the lowest level of pz that is
no larger. With several files, ratios and speeds are geometric means: each file weighs the same.

  --repeats N      rounds (3); the tables have medians
  --seconds N      time for each file, level, way and round (1); the fastest try counts, and there is
                   at least one. zstd and lz4 take whole seconds, at least 1
  --output DIR     directory for frontier.svg and frontier.md (docs/generated)
  --only LIST      lzseqr, lzr, lzf, deflate, zstd, lz4, kp-zstd, kp-s2, kp-gzip (all)
  --levels LIST    levels, such as 1,3,5-7; for one compressor as in "1-9 zstd=1,3,19"
  --note TEXT      a line for the heading of the table; may be repeated
  --benchfmt       print every sample in the format of Go benchmarks, for benchstat

zstd and lz4 measure themselves (option -b).
`

// family is all levels of one compressor.
type family struct {
	name   string
	title  string
	lo, hi int
	ours   bool
	run    func(level int, least time.Duration) func(*input) runner
}

// families in the order of the table.
var families = []family{
	{"lzseqr", "pz lzseqr", compress.MinLevel, compress.MaxLevel, true, pzRunner("lzseqr")},
	{"lzr", "pz lzr", compress.MinLevel, compress.MaxLevel, true, pzRunner("lzr")},
	{"lzf", "pz lzf (.zst)", compress.MinLevel, compress.MaxLevel, true, pzRunner("lzf")},
	{"deflate", "pz deflate (.gz)", compress.MinLevel, compress.MaxLevel, true, pzRunner("deflate")},
	{"zstd", "zstd", 1, 19, false, programRunner("zstd")},
	{"lz4", "lz4", 1, 12, false, programRunner("lz4")},
	{"kp-zstd", "klauspost zstd", 1, 4, false, libraryRunner(klauspostZstd)},
	{"kp-s2", "klauspost s2", 1, 3, false, libraryRunner(klauspostS2)},
	{"kp-gzip", "klauspost gzip", 1, 9, false, libraryRunner(klauspostGzip)},
}

func pzRunner(pipeline string) func(int, time.Duration) func(*input) runner {
	return libraryRunner(func(level int) (coder, error) { return pzCoder(pipeline, level) })
}

// libraryRunner returns runners of a level that share one coder.
func libraryRunner(newCoder func(int) (coder, error)) func(int, time.Duration) func(*input) runner {
	return func(level int, least time.Duration) func(*input) runner {
		shared := sync.OnceValues(func() (coder, error) { return newCoder(level) })
		return func(in *input) runner { return coderRunner(in, least, shared) }
	}
}

func programRunner(name string) func(int, time.Duration) func(*input) runner {
	return func(level int, least time.Duration) func(*input) runner {
		return func(in *input) runner { return selfTimed(name, level, in, least) }
	}
}

// point is a level of a family with its measurements of each file.
type point struct {
	family *family
	level  int
	files  []*entry
}

// mean returns the geometric mean over the files.
func (p *point) mean(of func(file int) float64) float64 {
	sum := 0.0
	for i := range p.files {
		sum += math.Log(of(i))
	}
	return math.Exp(sum / float64(len(p.files)))
}

func (p *point) ratio() float64 { return p.mean(func(i int) float64 { return p.files[i].ratio() }) }

// compressSpeed and decompressSpeed return MB of content per second of processor time.
func (p *point) compressSpeed() float64 {
	return p.mean(func(i int) float64 { return p.files[i].speed(p.files[i].compress, cpuClock) })
}

func (p *point) decompressSpeed() float64 {
	return p.mean(func(i int) float64 { return p.files[i].speed(p.files[i].decompress, cpuClock) })
}

type frontierConfig struct {
	repeats  int
	seconds  float64
	output   string
	only     []string
	levels   levelSpec
	revision string
	notes    []string
	benchfmt bool
	files    []string
}

func parseFrontier(args []string) (*frontierConfig, error) {
	cfg := &frontierConfig{}
	f := newFlags("frontier")
	f.IntVar(&cfg.repeats, "repeats", 3, "")
	f.Float64Var(&cfg.seconds, "seconds", 1, "")
	f.StringVar(&cfg.output, "output", filepath.Join("docs", "generated"), "")
	f.StringVar(&cfg.revision, "revision", "unknown", "") // scripts/bench.sh sets it
	f.BoolVar(&cfg.benchfmt, "benchfmt", false, "")
	f.Func("only", "", func(s string) error { cfg.only = strings.Split(s, ","); return nil })
	f.Func("levels", "", func(s string) (err error) { cfg.levels, err = parseLevels(s); return err })
	f.Func("note", "", func(s string) error { cfg.notes = append(cfg.notes, s); return nil })
	if err := parseFlags(f, args); err != nil {
		return nil, err
	}
	switch {
	case f.NArg() == 0:
		return nil, usageError("frontier needs a file")
	case cfg.repeats < 1 || !(cfg.seconds >= 0 && cfg.seconds < 3600):
		return nil, usageError("--repeats: at least 1; --seconds: 0 to 3600")
	}
	for _, name := range cfg.only {
		if !slices.ContainsFunc(families, func(f family) bool { return f.name == name }) {
			return nil, usageError("--only: no compressor is called %q", name)
		}
	}
	cfg.files = f.Args()
	return cfg, nil
}

func runFrontier(ctx context.Context, args []string, out io.Writer) error {
	cfg, err := parseFrontier(args)
	if err != nil {
		return err
	}
	inputs := make([]*input, len(cfg.files))
	for i, path := range cfg.files {
		inputs[i], err = readInput(path)
		if err != nil {
			return err
		}
	}
	points := cfg.points(ctx, inputs)
	before := load()
	var entries []*entry
	for _, p := range points {
		entries = append(entries, p.files...)
	}
	if err := measure(ctx, entries, cfg.repeats); err != nil {
		return err
	}
	if cfg.benchfmt {
		return writeBenchmarks(out, "Frontier", entries)
	}
	if err := os.MkdirAll(cfg.output, 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(cfg.output, "frontier.svg"), picture(points), 0o666); err != nil {
		return err
	}
	head := cfg.heading(inputs, before, load())
	return os.WriteFile(filepath.Join(cfg.output, "frontier.md"), report(head, points), 0o666)
}

// points returns all levels to measure. It leaves out programs that are not installed.
func (cfg *frontierConfig) points(ctx context.Context, inputs []*input) (all []*point) {
	least := time.Duration(cfg.seconds * float64(time.Second))
	for i := range families {
		f := &families[i]
		if len(cfg.only) > 0 && !slices.Contains(cfg.only, f.name) {
			continue
		}
		if f.name == "zstd" || f.name == "lz4" {
			path, err := exec.LookPath(f.name)
			if err != nil {
				cfg.notes = append(cfg.notes, f.name+" is not installed")
				continue
			}
			cfg.notes = append(cfg.notes, programVersion(ctx, f.name, path))
		}
		for _, l := range cfg.levels.of(f.name, span(f.lo, f.hi), f.lo, f.hi) {
			p, run := &point{family: f, level: l}, f.run(l, least)
			for _, in := range inputs {
				r := result{setting: setting{f.name, l, 1}, file: in.name, size: in.size}
				p.files = append(p.files, &entry{r, run(in)})
			}
			all = append(all, p)
		}
	}
	return all
}

func (cfg *frontierConfig) heading(inputs []*input, before, after string) []string {
	names := make([]string, len(inputs))
	for i, in := range inputs {
		names[i] = fmt.Sprintf("%s (%d bytes)", in.name, in.size)
	}
	lines := []string{
		"Content: " + strings.Join(names, ", "),
		fmt.Sprintf("Machine: %s; load average %s before, %s after", measuring.Machine(), before, after),
		fmt.Sprintf("Versions: pz of revision %s; klauspost/compress %s", cfg.revision,
			moduleVersion("github.com/klauspost/compress")),
	}
	lines = append(lines, cfg.notes...)
	return append(lines,
		fmt.Sprintf("Method: median over the rounds (%d) of the fastest try within %g s or more, "+
			"%g s for zstd and lz4; geometric means over the files",
			cfg.repeats, cfg.seconds, max(1, math.Floor(cfg.seconds))),
		"zstd and lz4 measure themselves (option `-b`) in wall time, and their frames have no checksums. "+
			"Their speeds are scaled to processor time. The other decoders verify checksums where "+
			"their format has them")
}

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/pipeline"
)

const gateUsage = `usage: scripts/perf-gate.sh [OPTION]...
       scripts/perf-gate.sh --against REV [OPTION]...

Fails if pz has become slower. The speed that counts is MB of content per second of processor time,
because other programs may use the machine, too. Wall time stands beside it.

With --against REV it builds that revision and this tree and runs both by turns as whole commands.
Without it, it measures in memory, with the scheduler's statistics, and compares with a baseline from
the same machine. Both take levels 1, 4 and 7 of all pipelines, both ways: about 3 minutes.

  --against REV      compare with that revision; works on any machine
  --device NAME      measure this device, too: gpu for the best GPU, soft for the software device, or a
                     name as in pz --list-gpus. Takes three levels that the device can match
  --throughput-regression-pct N  how much slower a row may be, in percent (4)
  --median-regression-pct N      how much slower the median of all rows may be, with --against (2)
  --overhead-regression-abs X    how much more of the workers' time the scheduler may take, with a
                     baseline (0.02, which is 2 points of a percentage)
  --threads N        workers (all processors)
  --pipelines LIST   pipelines (lzr,lzseqr,deflate,lzf)
  --levels LIST      levels, such as 1,3-5 (1,4,7; on a device those that it matches)
  --file FILE        content to compress (made data)
  --size SIZE        how much content (16M; from level 8 on 8M)
  --iterations N     with a baseline: times that a sample does the work (for 0.2 seconds)
  --repeats N        samples of each row, an odd number (7). Rows that look slower get three times as
                     many, slow levels 3
  --baseline FILE    the baseline (docs/generated/perf-gate-baseline.tsv)
  --update-baseline  write the baseline and compare nothing; needs a tree that is committed as it is
  --output FILE      write the table of figures, with the machine and the revisions
  --self-test        show that 10% more work fails, and the same work passes
  --help             this text

A GPU needs a C compiler; PZ_GPU_TAGS is as for scripts/gpu-day.sh. On a GPU wall time counts, too.

Exit status: 0 no regression; 1 a regression, or an error; 2 wrong usage; 3 no judgement, because
the baseline is missing, from another machine or of other work, or there is no such device; 130
interrupted.
`

var (
	errRegression  = errors.New("a regression")
	errNoJudgement = errors.New("no judgement")
)

// gateConfig is the command line of bench gate. scripts/perf-gate.sh sets oldPZ, newPZ, oldName and
// revision.
type gateConfig struct {
	limits
	threads    int
	pipelines  []string
	levels     levelSpec
	device     string // "" for the CPU alone
	file       string
	size       int64 // 0: that of the row
	iterations int   // 0: those of the baseline, or as many as a sample needs
	repeats    int
	baseline   string
	update     bool
	output     string
	selfTest   bool

	oldPZ, newPZ, oldName string // with --against
	revision              string

	in   *input
	dev  gpu.Device             // nil for the CPU alone
	work map[string]*deviceWork // of the device, by pipeline
}

func parseGate(args []string) (*gateConfig, error) {
	cfg := &gateConfig{}
	f := newFlags("gate")
	f.Float64Var(&cfg.throughputPct, "throughput-regression-pct", 4, "")
	f.Float64Var(&cfg.medianPct, "median-regression-pct", 2, "")
	f.Float64Var(&cfg.overheadAbs, "overhead-regression-abs", 0.02, "")
	f.IntVar(&cfg.threads, "threads", runtime.NumCPU(), "")
	pipelines := f.String("pipelines", "lzr,lzseqr,deflate,lzf", "")
	levels := f.String("levels", "", "")
	f.StringVar(&cfg.device, "device", "", "")
	cpuOnly := f.Bool("cpu-only", false, "") // the default, as in earlier versions
	f.StringVar(&cfg.file, "file", "", "")
	f.Func("size", "", func(s string) (err error) { cfg.size, err = parseSize(s); return err })
	f.IntVar(&cfg.iterations, "iterations", 0, "")
	f.IntVar(&cfg.repeats, "repeats", 7, "")
	f.StringVar(&cfg.baseline, "baseline", "docs/generated/perf-gate-baseline.tsv", "")
	f.BoolVar(&cfg.update, "update-baseline", false, "")
	f.StringVar(&cfg.output, "output", "", "")
	f.BoolVar(&cfg.selfTest, "self-test", false, "")
	f.StringVar(&cfg.oldPZ, "old", "", "")
	f.StringVar(&cfg.newPZ, "new", "", "")
	f.StringVar(&cfg.oldName, "old-name", "", "")
	f.StringVar(&cfg.revision, "revision", "unknown", "")
	if err := parseFlags(f, args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, usageError("unexpected argument %q", f.Arg(0))
	}
	if err := cfg.setMatrix(*pipelines, *levels); err != nil {
		return nil, err
	}
	given := map[string]bool{}
	f.Visit(func(x *flag.Flag) { given[x.Name] = true })
	switch {
	case !(cfg.throughputPct >= 0) || !(cfg.medianPct >= 0) || !(cfg.overheadAbs >= 0):
		return nil, usageError("limits are numbers of at least 0")
	case cfg.threads < 1 || given["iterations"] && cfg.iterations < 1 || given["size"] && cfg.size < 1:
		return nil, usageError("--threads, --iterations and --size: at least 1")
	case cfg.repeats < 1 || cfg.repeats%2 == 0:
		return nil, usageError("--repeats: not an odd number")
	case *cpuOnly && cfg.device != "":
		return nil, usageError("--cpu-only and --device exclude each other")
	case cfg.update && cfg.oldPZ != "":
		return nil, usageError("--against does not use a baseline: leave out --update-baseline")
	case cfg.update && (cfg.revision == "unknown" || strings.HasSuffix(cfg.revision, "-dirty")):
		return nil, usageError("--update-baseline: the tree differs from its commit: commit first")
	}
	return cfg, nil
}

// setMatrix sets pipelines and levels.
func (cfg *gateConfig) setMatrix(pipelines, levels string) (err error) {
	cfg.pipelines = strings.Split(pipelines, ",")
	for _, name := range cfg.pipelines {
		named := func(p pipeline.Pipeline) bool { return p.Name == name }
		if !slices.ContainsFunc(bridge.Pipelines(), named) {
			return usageError("--pipelines: no pipeline is called %q", name)
		}
	}
	cfg.levels, err = parseLevels(levels)
	if err != nil {
		return usageError("--levels: %v", err)
	}
	if len(cfg.levels.of("", gateLevels, compress.MinLevel, compress.MaxLevel)) == 0 {
		return usageError("--levels: none in %d to %d", compress.MinLevel, compress.MaxLevel)
	}
	return nil
}

func runGate(ctx context.Context, args []string, out io.Writer) error {
	cfg, err := parseGate(args)
	if err != nil {
		return err
	}
	if err := cfg.openDevice(); err != nil {
		return err
	}
	defer cfg.closeDevice()
	cfg.in, err = cfg.input()
	if err != nil {
		return err
	}
	switch {
	case cfg.selfTest:
		return cfg.runSelfTest(ctx, out)
	case cfg.oldPZ != "":
		return cfg.runAgainst(ctx, out)
	}
	return cfg.runBaseline(ctx, out)
}

// input returns the content of the largest row: of the file, or made data.
func (cfg *gateConfig) input() (*input, error) {
	size := int64(gateSize)
	if cfg.size > 0 {
		size = cfg.size
	}
	if cfg.file == "" {
		return &input{name: "mixed", size: size, content: corpus.ByName("mixed").Make(int(size))}, nil
	}
	in, err := readInput(cfg.file)
	if err != nil {
		return nil, err
	}
	in.content = in.content[:min(int64(len(in.content)), size)]
	in.size = int64(len(in.content))
	return in, nil
}

// first returns the first size bytes of the content.
func (in *input) first(size int64) *input {
	return &input{name: in.name, path: in.path, size: size, content: in.content[:size]}
}

// writeOutput writes a table for --output, with what it depends on in comments at the top.
func (cfg *gateConfig) writeOutput(t *table) error {
	if cfg.output == "" {
		return nil
	}
	keys := append(machineKeys(cfg.threads), [2]string{"revision", cfg.revision})
	if cfg.oldPZ != "" {
		keys = append(keys, [2]string{"against", cfg.oldName})
	}
	if cfg.dev != nil {
		keys = append(keys, [2]string{"device", cfg.device + ": " + cfg.dev.Info().Name})
	}
	return writeFile(cfg.output, func(w io.Writer) error {
		fmt.Fprintln(w, "# Written by scripts/perf-gate.sh --output.")
		writeKeys(w, keys)
		return t.tsv(w)
	})
}

// parseSize parses a number of bytes such as 4096, 512K, 64M, 64MiB or 1G.
func parseSize(s string) (int64, error) {
	digits := strings.TrimRight(s, "KMGkmgiBb")
	n, err := strconv.ParseInt(digits, 10, 32)
	shift, ok := map[string]int{"": 0, "B": 0, "K": 10, "KB": 10, "KIB": 10, "M": 20, "MB": 20, "MIB": 20,
		"G": 30, "GB": 30, "GIB": 30}[strings.ToUpper(s[len(digits):])]
	if err != nil || !ok || n < 0 || n > (1<<40)>>shift {
		return 0, fmt.Errorf("%q is not a size such as 512K or 20M", s)
	}
	return n << shift, nil
}

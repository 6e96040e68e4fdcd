package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/corpus"
)

const gateUsage = `usage: scripts/perf-gate.sh [OPTION]...
       scripts/perf-gate.sh --against REV [OPTION]...

Fails if pz has become slower. The speed that counts is MB of content per second of processor time,
because other programs may use the machine, too. Wall time stands beside it.

With --against REV it builds that revision and this tree and runs both by turns as whole commands, at
all levels of lzseqr, lzf and deflate, both ways. Without it, it measures in memory at the default
level, with the scheduler's statistics, and compares with a baseline from the same machine.

  --against REV      compare with that revision; works on any machine
  --throughput-regression-pct N  how much slower a row may be, in percent (4)
  --median-regression-pct N      how much slower the median of all rows may be, with --against (2)
  --overhead-regression-abs X    how much more of the workers' time the scheduler may take, with a
                     baseline (0.02, which is 2 points of a percentage)
  --threads N        workers (all processors)
  --pipelines LIST   pipelines (lzseqr,lzf,deflate; with a baseline lzr,lzseqr)
  --levels LIST      levels, such as 1,3-5 (1-9; with a baseline the default level)
  --cpu-only         leave out devices
  --file FILE        content to compress (made data)
  --size SIZE        how much content (20M)
  --iterations N     with a baseline: times that a measurement does the work (5; to decompress 15)
  --repeats N        measurements of each row, an odd number (7). Rows that look slower get three times
                     as many, slow levels 3
  --baseline FILE    the baseline (docs/generated/perf-gate-baseline.tsv)
  --update-baseline  write the baseline and compare nothing; needs a tree that is committed as it is
  --output FILE      write the table of figures
  --self-test        show that 10% more work fails, and the same work passes
  --help             this text

Modes with a baseline: cpu and cpu-decompress; soft, with the software device; gpu and
gpu-decompress, if there is a GPU.

Exit status: 0 no regression; 1 a regression, or an error; 2 wrong usage; 3 no judgement, because
the baseline is missing or from another machine; 130 interrupted.
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
	levels     []int
	cpuOnly    bool
	file       string
	size       int64
	iterations int
	repeats    int
	baseline   string
	update     bool
	output     string
	selfTest   bool

	oldPZ, newPZ, oldName string // with --against
	revision              string
}

func parseGate(args []string) (*gateConfig, error) {
	cfg := &gateConfig{size: 20 << 20}
	f := newFlags("gate")
	f.Float64Var(&cfg.throughputPct, "throughput-regression-pct", 4, "")
	f.Float64Var(&cfg.medianPct, "median-regression-pct", 2, "")
	f.Float64Var(&cfg.overheadAbs, "overhead-regression-abs", 0.02, "")
	f.IntVar(&cfg.threads, "threads", runtime.NumCPU(), "")
	pipelines := f.String("pipelines", "", "")
	levels := f.String("levels", "", "")
	f.BoolVar(&cfg.cpuOnly, "cpu-only", false, "")
	f.StringVar(&cfg.file, "file", "", "")
	f.Func("size", "", func(s string) (err error) { cfg.size, err = parseSize(s); return err })
	f.IntVar(&cfg.iterations, "iterations", 5, "")
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
	switch {
	case !(cfg.throughputPct >= 0) || !(cfg.medianPct >= 0) || !(cfg.overheadAbs >= 0):
		return nil, usageError("limits are numbers of at least 0")
	case cfg.threads < 1 || cfg.iterations < 1 || cfg.size < 1:
		return nil, usageError("--threads, --iterations and --size: at least 1")
	case cfg.repeats < 1 || cfg.repeats%2 == 0:
		return nil, usageError("--repeats: not an odd number")
	case cfg.update && cfg.oldPZ != "":
		return nil, usageError("--against does not use a baseline: leave out --update-baseline")
	case cfg.update && (cfg.revision == "unknown" || strings.HasSuffix(cfg.revision, "-dirty")):
		return nil, usageError("--update-baseline: the tree differs from its commit: commit first")
	}
	return cfg, nil
}

// setMatrix sets pipelines and levels, those of the mode if the command line names none.
func (cfg *gateConfig) setMatrix(pipelines, levels string) error {
	cfg.pipelines, cfg.levels = []string{"lzr", "lzseqr"}, []int{compress.DefaultLevel}
	if cfg.oldPZ != "" {
		cfg.pipelines = []string{"lzseqr", "lzf", "deflate"}
		cfg.levels = span(compress.MinLevel, compress.MaxLevel)
	}
	if pipelines != "" {
		cfg.pipelines = strings.Split(pipelines, ",")
	}
	for _, name := range cfg.pipelines {
		named := func(p compress.PipelineInfo) bool { return p.Name == name }
		if !slices.ContainsFunc(compress.Pipelines(), named) {
			return usageError("--pipelines: no pipeline is called %q", name)
		}
	}
	spec, err := parseLevels(levels)
	if err != nil {
		return usageError("--levels: %v", err)
	}
	cfg.levels = spec.of("", cfg.levels, compress.MinLevel, compress.MaxLevel)
	if len(cfg.levels) == 0 {
		return usageError("--levels: none in %d to %d", compress.MinLevel, compress.MaxLevel)
	}
	return nil
}

func runGate(ctx context.Context, args []string, out io.Writer) error {
	cfg, err := parseGate(args)
	if err != nil {
		return err
	}
	in, err := cfg.input()
	if err != nil {
		return err
	}
	switch {
	case cfg.selfTest:
		return cfg.runSelfTest(ctx, in, out)
	case cfg.oldPZ != "":
		return cfg.runAgainst(ctx, in, out)
	}
	return cfg.runBaseline(ctx, in, out)
}

// input returns the first cfg.size bytes of the file or of made data.
func (cfg *gateConfig) input() (*input, error) {
	if cfg.file == "" {
		content := corpus.ByName("mixed").Make(int(cfg.size))
		return &input{name: "mixed", size: cfg.size, content: content}, nil
	}
	in, err := readInput(cfg.file)
	if err != nil {
		return nil, err
	}
	in.content = in.content[:min(int64(len(in.content)), cfg.size)]
	in.size = int64(len(in.content))
	return in, nil
}

// writeOutput writes the table for --output.
func (cfg *gateConfig) writeOutput(t *table) error {
	if cfg.output == "" {
		return nil
	}
	return writeFile(cfg.output, t.tsv)
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

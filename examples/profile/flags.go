package main

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/pipeline"
	"github.com/spf13/pflag"
)

const usage = `usage: profile [options]
       profile aggregate [--out DIR] [--top N] DIR...

Compresses or decompresses in memory, and says how fast and where the time went. Lines for programs, with tab-separated
key=value, go to standard output: PROFILE_STATS always, SCHEDULER_STATS if asked for. An iteration that is not counted comes first.

What to do:
  --pipeline NAME        run whole blocks through this pipeline (lzseqr)
  --stage NAME           or one codec alone, with what it gets inside of a pipeline, without the scheduler
  --decompress           the way back
  --level N              1 ... 9 (4)
  --block-size SIZE      a power of two (the level's)
  --threads N            workers (one for each processor)
  --iterations N         times that the content is worked on (5)
  --size SIZE            content to generate, or how much of the file to take: 512K, 64M, 1G (64M; the whole file)
  --file FILE            the content
  --sink-mbps N          let the output go to something that takes N MB/s, like a slow disk (no limit)
  --list                 print the pipelines, stages and devices there are, and the kernels in use, and do nothing

Where to do it:
  --backend B            auto, cpu or gpu; or two, for matches and for entropy coding: gpu,cpu; or fused: both in one request, where
                         device and level allow it, else like gpu (auto)
  --gpu                  same as --backend gpu
  --gpu-device NAME      the device: webgpu or opengl (with those build tags; webgpu:1 is the second one), or soft, one in software.
                         Without it a GPU, and for gpu and fused else soft
  --soft-batch N         blocks in a batch of the software device (1)
  --soft-latency D       time that a batch takes longer: 5ms
  --soft-lost-after N    batches until the software device is lost, those not counted included

What to find out; without these nothing is measured but the whole:
  --print-scheduler-stats  print SCHEDULER_STATS
  --cpuprofile FILE      a processor profile, for go tool pprof
  --trace FILE           an execution trace with a region for each stage, for go tool trace
  --timeline FILE        Chrome trace events, a track for each worker, for ui.perfetto.dev. Some 150 bytes per block and stage
  --out DIR              summary.md, stats.tsv, stages.csv, histogram.csv, slowest.csv and snapshots.csv, in a directory
                         without any yet. Takes the same memory however long it runs
  --top N                how many of the slowest blocks to keep (20)
  --full                 with --out: blocks.csv with every block, some 200 bytes each
  --snapshot-interval D  with --out: a row in snapshots.csv so often: 1s. There is one at the end in any case
  --slow PCT             do PCT percent more work than is counted; for the self-test of scripts/perf-gate.sh

aggregate adds up what --out wrote in several runs, and prints the summary; with --out it writes the same files again.
`

// config is what the command line asks for.
type config struct {
	pipeline   string
	stage      string // "" for whole blocks
	decompress bool
	level      int
	blockSize  int
	threads    int
	iterations int
	size       int64 // 0: the whole file
	file       string
	sinkMBps   float64
	list       bool

	match, entropy compress.Backend
	device         string // for compress.OpenDevice; "": none
	soft           gpu.SoftConfig

	stats      bool
	cpuprofile string
	trace      string
	timeline   string
	out        string
	top        int
	full       bool
	interval   time.Duration
	slow       int
}

// usageError is for what the user should have said otherwise.
type usageError struct{ error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format+"; see --help", args...)}
}

const (
	defaultSize = 64 << 20
	maxTop      = 100_000 // some 300 bytes each
)

// choices are flags that say the same thing, or that depend on one another.
type choices struct {
	backend string
	gpu     bool
	device  string
}

func (c *config) flagSet(x *choices) *pflag.FlagSet {
	fs := pflag.NewFlagSet("profile", pflag.ContinueOnError)
	fs.Usage = func() {}
	fs.StringVar(&c.pipeline, "pipeline", compress.DefaultPipeline, "")
	fs.StringVar(&c.stage, "stage", "", "")
	fs.BoolVar(&c.decompress, "decompress", false, "")
	fs.IntVar(&c.level, "level", compress.DefaultLevel, "")
	fs.IntVar(&c.threads, "threads", runtime.GOMAXPROCS(0), "")
	fs.IntVar(&c.iterations, "iterations", 5, "")
	fs.StringVar(&c.file, "file", "", "")
	fs.Float64Var(&c.sinkMBps, "sink-mbps", 0, "")
	fs.BoolVar(&c.list, "list", false, "")
	fs.Func("size", "", func(s string) (err error) { c.size, err = parseSize(s); return err })
	fs.Func("block-size", "", func(s string) error {
		n, err := parseSize(s)
		c.blockSize = int(min(n, math.MaxInt32))
		return err
	})
	fs.StringVar(&x.backend, "backend", "auto", "")
	fs.BoolVar(&x.gpu, "gpu", false, "")
	fs.StringVar(&x.device, "gpu-device", "", "")
	fs.IntVar(&c.soft.Batch, "soft-batch", 1, "")
	fs.DurationVar(&c.soft.Latency, "soft-latency", 0, "")
	fs.Int64Var(&c.soft.LostAfter, "soft-lost-after", 0, "")
	fs.BoolVar(&c.stats, "print-scheduler-stats", false, "")
	fs.StringVar(&c.cpuprofile, "cpuprofile", "", "")
	fs.StringVar(&c.trace, "trace", "", "")
	fs.StringVar(&c.timeline, "timeline", "", "")
	fs.StringVar(&c.out, "out", "", "")
	fs.IntVar(&c.top, "top", 20, "")
	fs.BoolVar(&c.full, "full", false, "")
	fs.DurationVar(&c.interval, "snapshot-interval", 0, "")
	fs.IntVar(&c.slow, "slow", 0, "")
	return fs
}

func parseFlags(args []string) (*config, error) {
	c, x := &config{blockSize: -1}, choices{}
	fs := c.flagSet(&x)
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil, err
		}
		return nil, usagef("%v", err)
	}
	for _, name := range []string{"file", "cpuprofile", "trace", "timeline", "out", "stage"} {
		if fs.Changed(name) && fs.Lookup(name).Value.String() == "" {
			return nil, usagef("--%s: the name is empty", name)
		}
	}
	if fs.NArg() > 0 {
		return nil, usagef("unexpected argument %q", fs.Arg(0))
	}
	if x.gpu {
		if fs.Changed("backend") {
			return nil, usagef("--gpu says what --backend says")
		}
		x.backend = "gpu"
	}
	if err := c.setBackend(x.backend); err != nil {
		return nil, err
	}
	if err := c.setDevice(x.device); err != nil {
		return nil, err
	}
	return c, c.check(fs)
}

// check says what does not go together, or is out of range.
func (c *config) check(fs *pflag.FlagSet) error {
	if !slices.Contains(pipelineNames(), c.pipeline) {
		return usagef("--pipeline: there is %s, not %q", strings.Join(pipelineNames(), ", "), c.pipeline)
	}
	if c.stage != "" {
		if stageByName(c.stage) == nil {
			return usagef("--stage: there is %s, not %q", strings.Join(stageNames(), ", "), c.stage)
		}
		for _, name := range []string{"backend", "gpu", "gpu-device", "print-scheduler-stats", "trace", "sink-mbps"} {
			if fs.Changed(name) {
				return usagef("--%s: a stage alone runs on the CPU, without the scheduler", name)
			}
		}
	}
	for _, name := range []string{"soft-batch", "soft-latency", "soft-lost-after"} {
		if fs.Changed(name) && c.device != softDevice {
			return usagef("--%s: this run has no software device", name)
		}
	}
	for _, name := range []string{"top", "full", "snapshot-interval"} {
		if fs.Changed(name) && c.out == "" {
			return usagef("--%s: needs --out", name)
		}
	}
	if fs.Changed("size") && c.size == 0 {
		return usagef("--size: at least 1")
	}
	if c.size == 0 && c.file == "" {
		c.size = defaultSize
	}
	if c.size > math.MaxInt/4 {
		return usagef("--size: %d bytes do not fit into memory", c.size)
	}
	for _, r := range []struct {
		name           string
		value, lo, top int64
	}{
		{"level", int64(c.level), compress.MinLevel, compress.MaxLevel},
		{"threads", int64(c.threads), 1, compress.MaxConcurrency},
		{"iterations", int64(c.iterations), 1, 1_000_000_000},
		{"top", int64(c.top), 0, maxTop},
		{"soft-batch", int64(c.soft.Batch), 1, 1024},
		{"soft-latency", int64(c.soft.Latency), 0, int64(time.Minute)},
		{"soft-lost-after", c.soft.LostAfter, 0, math.MaxInt64},
		{"slow", int64(c.slow), 0, 1000},
	} {
		if r.value < r.lo || r.value > r.top {
			return usagef("--%s: not in %d ... %d", r.name, r.lo, r.top)
		}
	}
	if fs.Changed("sink-mbps") && !(c.sinkMBps >= 0.001 && c.sinkMBps <= 1e6) {
		return usagef("--sink-mbps: not in 0.001 ... 1000000")
	}
	if fs.Changed("snapshot-interval") && c.interval < time.Millisecond {
		return usagef("--snapshot-interval: at least 1ms")
	}
	switch {
	case c.blockSize < 0:
		c.blockSize = pipeline.ByName(c.pipeline).BlockSize(c.level)
	case c.blockSize < compress.MinBlockSize || c.blockSize > compress.MaxBlockSize || c.blockSize&(c.blockSize-1) != 0:
		return usagef("--block-size: not a power of two in %d ... %d", compress.MinBlockSize, compress.MaxBlockSize)
	}
	return nil
}

func (c *config) setBackend(s string) error {
	first, second, two := strings.Cut(s, ",")
	if !two {
		second = first
	}
	for _, b := range []struct {
		name string
		to   *compress.Backend
	}{{first, &c.match}, {second, &c.entropy}} {
		switch b.name {
		case "auto":
			*b.to = compress.Auto
		case "cpu":
			*b.to = compress.CPU
		case "gpu":
			*b.to = compress.GPU
		case "fused":
			*b.to = compress.Fused
		default:
			return usagef("--backend: auto, cpu or gpu, or two of them with a comma between, or fused, not %q", s)
		}
	}
	if (c.match == compress.Fused) != (c.entropy == compress.Fused) {
		return usagef("--backend: fused is for matches and entropy coding together, not %q", s)
	}
	return nil
}

func (c *config) op() string {
	if c.decompress {
		return "decompress"
	}
	return "compress"
}

// what names the thing that is measured.
func (c *config) what() string {
	if c.stage != "" {
		return c.stage
	}
	return c.pipeline
}

func (c *config) backends() string { return c.match.String() + "," + c.entropy.String() }

func pipelineNames() (names []string) {
	for _, p := range compress.Pipelines() {
		names = append(names, p.Name)
	}
	return names
}

var errSize = errors.New("a size is a number of bytes, with K, M or G behind it for KiB, MiB or GiB")

// parseSize reads a size in bytes: 4096, 512K, 64M, 64MiB, 1G.
func parseSize(s string) (int64, error) {
	digits := strings.TrimRight(s, "KMGkmgiBb")
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil {
		return 0, errSize
	}
	shift := 0
	switch strings.ToUpper(s[len(digits):]) {
	case "", "B":
	case "K", "KB", "KIB":
		shift = 10
	case "M", "MB", "MIB":
		shift = 20
	case "G", "GB", "GIB":
		shift = 30
	default:
		return 0, errSize
	}
	if n > math.MaxInt64>>shift {
		return 0, errors.New("the size is out of range")
	}
	return int64(n) << shift, nil
}

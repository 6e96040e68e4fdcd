package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/pipeline"
)

// config is the command line.
type config struct {
	pipeline   string
	decompress bool
	level      int
	blockSize  int64 // 0: the level's
	threads    int
	iterations int
	file       string
	size       int64   // 0: the default
	maxMemory  int64   // 0: no limit
	sinkMBps   float64 // 0: no limit
	list       bool

	backends [2]gpu.Backend
	device   string // "": none
	soft     gpu.SoftConfig

	stats      bool
	cpuProfile string
	trace      string
	timeline   string
	outputs
}

// outputs are the options of --out.
type outputs struct {
	out      string // "": no directory
	top      int
	full     bool
	interval time.Duration // of snapshots; 0: only the last one
}

const (
	softDevice  = "soft"
	defaultSize = 64 << 20
	// maxTop bounds --top. A slow block takes some 300 bytes.
	maxTop = 10_000
)

func (c *config) flagSet() (f *flag.FlagSet, useGPU *bool) {
	f = flag.NewFlagSet("profile", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&c.pipeline, "pipeline", bridge.DefaultPipeline, "")
	f.BoolVar(&c.decompress, "decompress", false, "")
	f.IntVar(&c.level, "level", compress.DefaultLevel, "")
	f.Func("block-size", "", func(s string) (err error) { c.blockSize, err = parseSize(s); return err })
	f.IntVar(&c.threads, "threads", runtime.GOMAXPROCS(0), "")
	f.IntVar(&c.iterations, "iterations", 5, "")
	f.StringVar(&c.file, "file", "", "")
	f.Func("size", "", func(s string) (err error) { c.size, err = parseSize(s); return err })
	f.Func("max-memory", "", func(s string) (err error) { c.maxMemory, err = parseSize(s); return err })
	f.Float64Var(&c.sinkMBps, "sink-mbps", 0, "")
	f.BoolVar(&c.list, "list", false, "")
	f.Func("backend", "", func(s string) (err error) { c.backends, err = parseBackends(s); return err })
	useGPU = f.Bool("gpu", false, "")
	f.StringVar(&c.device, "gpu-device", "", "")
	f.IntVar(&c.soft.Batch, "soft-batch", 1, "")
	f.DurationVar(&c.soft.Latency, "soft-latency", 0, "")
	f.Int64Var(&c.soft.LostAfter, "soft-lost-after", 0, "")
	f.BoolVar(&c.stats, "print-scheduler-stats", false, "")
	f.StringVar(&c.cpuProfile, "cpuprofile", "", "")
	f.StringVar(&c.trace, "trace", "", "")
	f.StringVar(&c.timeline, "timeline", "", "")
	f.StringVar(&c.out, "out", "", "")
	f.IntVar(&c.top, "top", 20, "")
	f.BoolVar(&c.full, "full", false, "")
	f.DurationVar(&c.interval, "snapshot-interval", 0, "")
	return f, useGPU
}

// parseFlags returns the config of a command line. Its errors are flag.ErrHelp or wrap errUsage.
func parseFlags(args []string) (*config, error) {
	c := &config{}
	f, useGPU := c.flagSet()
	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil, err
	}
	given := map[string]bool{}
	f.Visit(func(x *flag.Flag) { given[x.Name] = true })
	switch {
	case err != nil:
		return nil, usageError("%v", err)
	case f.NArg() > 0:
		return nil, usageError("unexpected argument %q", f.Arg(0))
	case *useGPU && given["backend"]:
		return nil, usageError("--gpu and --backend exclude each other")
	case *useGPU:
		c.backends = [2]gpu.Backend{gpu.BackendGPU, gpu.BackendGPU}
	}
	if err := c.check(given); err != nil {
		return nil, err
	}
	if c.device == "" && (c.backends[0].Strict() || c.backends[1].Strict()) {
		c.device = bestDevice()
	}
	return c, nil
}

// check returns an error for options that are out of range or exclude each other.
func (c *config) check(given map[string]bool) error {
	for _, r := range []struct {
		name      string
		value, hi int64
		lo        int64
	}{
		{"level", int64(c.level), compress.MaxLevel, compress.MinLevel},
		{"threads", int64(c.threads), pipeline.MaxWorkers, 1},
		{"iterations", int64(c.iterations), 1 << 30, 1},
		{"top", int64(c.top), maxTop, 0},
		{"soft-batch", int64(c.soft.Batch), 1024, 1},
		{"soft-lost-after", c.soft.LostAfter, 1 << 40, 0},
	} {
		if r.value < r.lo || r.value > r.hi {
			return usageError("--%s: not in %d to %d", r.name, r.lo, r.hi)
		}
	}
	switch {
	case c.soft.Latency < 0:
		return usageError("--soft-latency: negative")
	case given["sink-mbps"] && !(c.sinkMBps >= 0.001 && c.sinkMBps <= 1e6):
		return usageError("--sink-mbps: not in 0.001 to 1000000")
	case given["snapshot-interval"] && c.interval < time.Millisecond:
		return usageError("--snapshot-interval: at least 1ms")
	}
	for _, name := range []string{"top", "full", "snapshot-interval"} {
		if given[name] && c.out == "" {
			return usageError("--%s: needs --out", name)
		}
	}
	for _, name := range []string{"soft-batch", "soft-latency", "soft-lost-after"} {
		if given[name] && c.device != softDevice {
			return usageError("--%s: needs --gpu-device soft", name)
		}
	}
	return c.checkPipeline()
}

// checkPipeline checks the name of the pipeline.
func (c *config) checkPipeline() error {
	var names []string
	for _, p := range bridge.Pipelines() {
		names = append(names, p.Name)
	}
	if !slices.Contains(names, c.pipeline) {
		return usageError("--pipeline: %q is none of %s", c.pipeline, strings.Join(names, ", "))
	}
	return nil
}

// bestDevice returns the device of strict backends: the best GPU in hardware, else the software
// device.
func bestDevice() string {
	for _, name := range gpu.Devices() {
		if name != softDevice && hasDevice(name) {
			return name
		}
	}
	return softDevice
}

func (c *config) op() string {
	if c.decompress {
		return "decompress"
	}
	return "compress"
}

var backends = []gpu.Backend{
	gpu.BackendAuto, gpu.BackendCPU, gpu.BackendGPU, gpu.BackendFused,
}

// parseBackends parses one backend, or two with a comma between them.
func parseBackends(s string) (pair [2]gpu.Backend, err error) {
	first, second, ok := strings.Cut(s, ",")
	if !ok {
		second = first
	}
	for i, name := range []string{first, second} {
		k := slices.IndexFunc(backends, func(b gpu.Backend) bool { return b.String() == name })
		if k < 0 {
			return pair, fmt.Errorf("%q is none of %v", name, backends)
		}
		pair[i] = backends[k]
	}
	return pair, nil
}

// parseSize parses a number of bytes such as 4096, 512K, 64M or 1G.
func parseSize(s string) (int64, error) {
	shift := 0
	if n := len(s) - 1; n >= 0 {
		if i := strings.IndexByte("KMG", s[n]); i >= 0 {
			s, shift = s[:n], 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 1 || n > 1<<40>>shift {
		return 0, errors.New("not a size such as 512K or 64M")
	}
	return n << shift, nil
}

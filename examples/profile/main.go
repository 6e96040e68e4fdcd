// Command profile compresses or decompresses in memory and says where the time goes:
//
//	go run ./examples/profile --level 4 --print-scheduler-stats
//	go run ./examples/profile --file FILE --decompress --threads 1 --cpuprofile cpu.out
//
// Lines for programs go to standard output: a name, then key=value, separated by tabs. Tables for
// people go to standard error. docs/TUNING.md says how to read both. The program uses the public API
// only: a Scheduler with statistics, WithTrace and WithProgress.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"strconv"
	"strings"

	"github.com/gopz/compress"
)

const usage = `usage: profile [OPTION]...

Compresses or decompresses in memory, once uncounted and then N times, and prints PROFILE_STATS.

  --pipeline NAME     pipeline (lzseqr)
  --level N           1 to 9 (4)
  --decompress        decompress
  --block-size SIZE   a power of two (the level's)
  --threads N         workers (one for each processor)
  --iterations N      iterations that count (5)
  --file FILE         content (made data)
  --size SIZE         how much content: 512K, 64M, 1G (64M; the whole file)
  --backend B         auto, cpu, gpu or fused; or two, for matching and entropy coding: gpu,cpu (auto)
  --gpu-device NAME   device, as in pz --list-gpus, or soft for the software device (none)
  --print-scheduler-stats  print SCHEDULER_STATS and, for each stage, STAGE_STATS
  --cpuprofile FILE   write a processor profile, for go tool pprof
  --trace FILE        write an execution trace with a region for each stage, for go tool trace
`

// config is the command line.
type config struct {
	pipeline   string
	level      int
	decompress bool
	blockSize  int64 // 0: the level's
	threads    int
	iterations int
	file       string
	size       int64 // 0: the default
	backends   [2]compress.Backend
	device     string
	stats      bool
	cpuProfile string
	trace      string
}

// errUsage marks errors of the command line.
var errUsage = errors.New("wrong usage")

func main() {
	err := run(os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err == nil:
		return
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(usage)
		return
	}
	fmt.Fprintln(os.Stderr, "profile:", err)
	if errors.Is(err, errUsage) {
		os.Exit(2)
	}
	os.Exit(1)
}

func parse(args []string) (*config, error) {
	c := &config{}
	f := flag.NewFlagSet("profile", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&c.pipeline, "pipeline", compress.DefaultPipeline, "")
	f.IntVar(&c.level, "level", compress.DefaultLevel, "")
	f.BoolVar(&c.decompress, "decompress", false, "")
	f.Func("block-size", "", func(s string) (err error) { c.blockSize, err = parseSize(s); return err })
	f.IntVar(&c.threads, "threads", runtime.GOMAXPROCS(0), "")
	f.IntVar(&c.iterations, "iterations", 5, "")
	f.StringVar(&c.file, "file", "", "")
	f.Func("size", "", func(s string) (err error) { c.size, err = parseSize(s); return err })
	f.Func("backend", "", func(s string) (err error) { c.backends, err = parseBackends(s); return err })
	f.StringVar(&c.device, "gpu-device", "", "")
	f.BoolVar(&c.stats, "print-scheduler-stats", false, "")
	f.StringVar(&c.cpuProfile, "cpuprofile", "", "")
	f.StringVar(&c.trace, "trace", "", "")
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return nil, err
	case err == nil && f.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", f.Arg(0))
	case err == nil && (c.threads < 1 || c.iterations < 1):
		err = errors.New("--threads and --iterations: at least 1")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %v; see --help", errUsage, err)
	}
	return c, nil
}

var backends = []compress.Backend{compress.Auto, compress.CPU, compress.GPU, compress.Fused}

// parseBackends parses one backend, or two with a comma between them.
func parseBackends(s string) (pair [2]compress.Backend, err error) {
	first, second, ok := strings.Cut(s, ",")
	if !ok {
		second = first
	}
	for i, name := range []string{first, second} {
		k := slices.IndexFunc(backends, func(b compress.Backend) bool { return b.String() == name })
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

// run measures and prints. Profiles cover the iterations that count.
func run(args []string, out, errOut io.Writer) (err error) {
	c, err := parse(args)
	if err != nil {
		return err
	}
	content, err := c.content()
	if err != nil {
		return err
	}
	j, err := newJob(c, content)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.close()) }()
	if err := j.iterate(); err != nil { // fills buffers and caches
		return err
	}
	stop, err := c.startProfiles()
	if err != nil {
		return err
	}
	err = j.measure(c.iterations)
	if err := errors.Join(err, stop()); err != nil {
		return err
	}
	return j.report(out, errOut)
}

// content returns what to compress.
func (c *config) content() ([]byte, error) {
	if c.file == "" {
		if c.size == 0 {
			c.size = 64 << 20
		}
		return makeContent(int(c.size)), nil
	}
	data, err := os.ReadFile(c.file)
	if err == nil && len(data) == 0 {
		err = fmt.Errorf("%s is empty", c.file)
	}
	if c.size > 0 && c.size < int64(len(data)) {
		data = data[:c.size]
	}
	c.size = int64(len(data))
	return data, err
}

// startProfiles starts the profiles that the command line names. The caller calls stop once.
func (c *config) startProfiles() (stop func() error, err error) {
	var files [2]*os.File
	for i, p := range []struct {
		name  string
		start func(io.Writer) error
	}{{c.cpuProfile, pprof.StartCPUProfile}, {c.trace, trace.Start}} {
		if p.name == "" {
			continue
		}
		if files[i], err = os.Create(p.name); err != nil {
			break
		}
		if err = p.start(files[i]); err != nil {
			break
		}
	}
	stop = func() error {
		pprof.StopCPUProfile()
		trace.Stop()
		var errs []error
		for _, f := range files {
			if f != nil {
				errs = append(errs, f.Close())
			}
		}
		return errors.Join(errs...)
	}
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	return stop, nil
}

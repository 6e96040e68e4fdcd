// Command profile compresses or decompresses in memory and says where the time goes:
//
//	go run ./examples/profile --level 4 --print-scheduler-stats
//	go run ./examples/profile --decompress --threads 1 --cpuprofile cpu.out
//	go run ./examples/profile --out run1 --timeline timeline.json
//	go run ./examples/profile aggregate run1 run2
//
// Lines for programs go to standard output: a name, then key=value, separated by tabs. Text for
// people goes to standard error. docs/TELEMETRY.md has every column of every file that the program
// writes, docs/RUNBOOKS.md what to do with them. The program uses the public API.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/pipeline"
	"github.com/gopz/compress/simd"
)

const usage = `usage: profile [OPTION]...
       profile aggregate [--out DIR] [--top N] DIR...

Compresses or decompresses in memory, once uncounted and then N times, and prints PROFILE_STATS.

What to do:
  --pipeline NAME     pipeline (lzseqr)
  --decompress        decompress
  --level N           1 to 9 (4)
  --block-size SIZE   a power of two (the level's)
  --threads N         workers (one for each processor)
  --iterations N      iterations that count (5)
  --file FILE         content (made data)
  --size SIZE         how much content: 512K, 64M, 1G (64M; the whole file)
  --max-memory SIZE   limit the memory for blocks and workers (no limit)
  --sink-mbps N       take the output at N MB/s, as a slow disk does (no limit)
  --list              list pipelines, stages, devices and kernels

Where to do it:
  --backend B         auto, cpu, gpu or fused; or two, for matching and entropy coding: gpu,cpu (auto)
  --gpu               the same as --backend gpu
  --gpu-device NAME   device, as in pz --list-gpus, or soft for the software device (none; with gpu and
                      fused the best GPU, or soft)
  --soft-batch N      blocks in a batch of the software device (1)
  --soft-latency D    time that each of its batches takes longer: 5ms (0)
  --soft-lost-after N batches before it is lost (never)

What to find out:
  --print-scheduler-stats  print SCHEDULER_STATS and, for each stage, STAGE_STATS, and a summary
  --cpuprofile FILE   write a processor profile, for go tool pprof
  --trace FILE        write an execution trace with a region for each stage, for go tool trace
  --timeline FILE     write Chrome trace events, for ui.perfetto.dev; 150 bytes for a block and stage
  --out DIR           write summary.md and tables to a directory; saved anew every half second
  --top N             with --out: the number of slowest blocks to keep (20)
  --full              with --out: write blocks.csv, 200 bytes for each block
  --snapshot-interval D  with --out: add a snapshot this often: 1s (only one at the end)

aggregate adds up the directories that --out wrote, of runs that were killed, too. It prints the
summary of all, and with --out writes the same tables again.

The first ^C during the measurement ends it and keeps what is known. Any other ^C ends the program
at once. Exit status: 0 success; 1 an error; 2 wrong usage; 130 interrupted.
`

// Exit statuses besides 0 and, after a signal, 128 and its number.
const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	os.Exit(run(os.Args[1:], newEnv(os.Stdout, os.Stderr, signals, os.Exit)))
}

// errUsage marks errors of the command line.
var errUsage = errors.New("wrong usage")

func usageError(format string, args ...any) error {
	return fmt.Errorf("%w: %s; see --help", errUsage, fmt.Sprintf(format, args...))
}

// run does what the command line asks for and returns the exit status.
func run(args []string, e *env) int {
	var err error
	if len(args) > 0 && args[0] == "aggregate" {
		err = aggregateMain(args[1:], e)
	} else {
		err = profileMain(args, e)
	}
	var stopped interrupted
	switch {
	case err == nil:
		return 0
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(e.stdout, usage)
		return 0
	}
	fmt.Fprintln(e.stderr, "profile:", err)
	switch {
	case errors.Is(err, errUsage):
		return exitUsage
	case errors.As(err, &stopped):
		return stopped.status()
	}
	return exitFailed
}

func profileMain(args []string, e *env) error {
	c, err := parseFlags(args)
	switch {
	case err != nil:
		return err
	case c.list:
		return list(e.stdout)
	}
	return profile(c, e)
}

// list prints what can be measured here, a line each.
func list(w io.Writer) error {
	var b strings.Builder
	for _, info := range bridge.Pipelines() {
		p := pipeline.ByName(info.Name)
		fmt.Fprintf(&b, "PIPELINE\tname=%s\tcompress=%s\tdecompress=%s\n", p.Name,
			strings.Join(p.StageNames(pipeline.Compress), ","),
			strings.Join(p.StageNames(pipeline.Decompress), ","))
	}
	for _, name := range gpu.Devices() {
		fmt.Fprintf(&b, "DEVICE\tname=%s\tpresent=%t\n", name, hasDevice(name))
	}
	fmt.Fprintf(&b, "MACHINE\tkernels=%s\n", simd.Tier())
	_, err := io.WriteString(w, b.String())
	return err
}

// hasDevice reports whether this machine has a device of that driver, other than a GPU in software.
func hasDevice(driver string) bool {
	if driver == softDevice {
		return true
	}
	list, err := gpu.Adapters()
	return err == nil && slices.ContainsFunc(list, func(a gpu.Adapter) bool {
		return strings.HasPrefix(a.Device, driver+":") && a.Kind != gpu.Software
	})
}

package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"strconv"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/gopz/compress/integrations/serve/internal/source"
	"github.com/gopz/compress/integrations/serve/internal/stats"
	"github.com/spf13/pflag"
)

const usage = `Usage: pzserve [OPTION]... [NAME=]DIR|ARCHIVE|FILE|URL...
       pzserve aggregate [--out DIR] [--top N] DIR|FILE...

Serves what directories, tar archives and compressed files contain over HTTP,
read-only. Of a .pz, .zst or .gz file it sends the content, or any part of it.
A single operand is at /, each of several at /NAME/.

Addresses
  --listen ADDR            address and port (default 127.0.0.1:8080)
  --debug-listen ADDR      address and port of /debug/stats and /debug/pprof
  --allow-url PREFIX       allow URLs that begin with PREFIX; may be repeated

Limits
  --memory SIZE            memory of the process (default 512 MiB)
  --cache SIZE             of it, for decompressed blocks (default: half)
  --threads N              workers and processors (default: all)
  --max-connections N      more wait until one closes (default 1000)
  --max-header SIZE        header of a request (default 16 KiB)
  --header-timeout TIME    for header and body of a request (default 10s)
  --idle-timeout TIME      between requests of a connection (default 60s)
  --write-timeout TIME     for a client to take 64 KiB (default 30s)
  --wait-timeout TIME      of a request for memory (default 30s)
  --shutdown-timeout TIME  for responses after SIGTERM (default 30s)

Responses
  --no-encoded             do not send stored .gz and .zst files as they are

Profiles
  --profile-dir DIR        write snapshots to DIR
  --profile MODE           counters, top or full (default counters)
  --top N                  blocks and files that top and full name (default 20)
  --snapshot-interval TIME between snapshots (default 60s)
  --snapshots N            snapshots of a run that stay (default 60)
  --profile-log-size SIZE  of the log of mode full (default 1 GiB)

  -v, --verbose            log clients that go away
  --log-json               log as JSON
  -h, --help               print this help
      --version            print the version and the kernels in use

SIZE is as in 512MiB or 1GB, TIME as in 90s or 5m. The log goes to standard
error. docs/SERVING.md explains all of this.
`

// options are those of the server.
type options struct {
	operands                    []string
	listen, debugListen         string
	allow                       source.AllowList
	memory, cache, maxHeader    int64
	threads, maxConnections     int
	headerTimeout, idleTimeout  time.Duration
	writeTimeout, waitTimeout   time.Duration
	shutdownTimeout             time.Duration
	noEncoded, verbose, logJSON bool
	version                     bool
	profileDir                  string
	mode                        stats.Mode
	top, snapshots              int
	snapshotInterval            time.Duration
	logSize                     int64
}

// sizeValue is an option with a size in bytes.
type sizeValue struct{ n *int64 }

func (v sizeValue) String() string { return "" }
func (v sizeValue) Type() string   { return "SIZE" }

func (v sizeValue) Set(s string) error {
	n, err := humanize.ParseBytes(s)
	if err != nil || n > math.MaxInt64 {
		return errors.New("want a size as in 512MiB")
	}
	*v.n = int64(n)
	return nil
}

// leastMemory is the least --memory in bytes.
const leastMemory = 64 << 20

// parse parses the command line of the server.
func parse(args []string) (*options, error) {
	o := &options{memory: 512 << 20, cache: -1, maxHeader: 16 << 10, logSize: 1 << 30}
	var mode string
	var allow []string
	f := pflag.NewFlagSet("pzserve", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&o.listen, "listen", "127.0.0.1:8080", "")
	f.StringVar(&o.debugListen, "debug-listen", "", "")
	f.StringArrayVar(&allow, "allow-url", nil, "")
	f.Var(sizeValue{&o.memory}, "memory", "")
	f.Var(sizeValue{&o.cache}, "cache", "")
	f.Var(sizeValue{&o.maxHeader}, "max-header", "")
	f.Var(sizeValue{&o.logSize}, "profile-log-size", "")
	f.IntVar(&o.threads, "threads", 0, "")
	f.IntVar(&o.maxConnections, "max-connections", 1000, "")
	f.DurationVar(&o.headerTimeout, "header-timeout", 10*time.Second, "")
	f.DurationVar(&o.idleTimeout, "idle-timeout", time.Minute, "")
	f.DurationVar(&o.writeTimeout, "write-timeout", 30*time.Second, "")
	f.DurationVar(&o.waitTimeout, "wait-timeout", 30*time.Second, "")
	f.DurationVar(&o.shutdownTimeout, "shutdown-timeout", 30*time.Second, "")
	f.BoolVar(&o.noEncoded, "no-encoded", false, "")
	f.StringVar(&o.profileDir, "profile-dir", "", "")
	f.StringVar(&mode, "profile", "counters", "")
	f.IntVar(&o.top, "top", 20, "")
	f.DurationVar(&o.snapshotInterval, "snapshot-interval", time.Minute, "")
	f.IntVar(&o.snapshots, "snapshots", 60, "")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "")
	f.BoolVar(&o.logJSON, "log-json", false, "")
	f.BoolVar(&o.version, "version", false, "")
	if err := f.Parse(args); err != nil {
		return nil, usageError(err)
	}
	if o.version {
		return o, nil
	}
	o.operands = f.Args()
	var err error
	o.mode, err = stats.ParseMode(mode)
	if err != nil {
		return nil, usageError(fmt.Errorf("--profile: %w", err))
	}
	o.allow, err = source.ParseAllowList(allow)
	if err != nil {
		return nil, usageError(err)
	}
	if o.cache < 0 {
		o.cache = o.memory / 2
	}
	return o, usageError(o.check())
}

// check checks ranges.
func (o *options) check() error {
	if len(o.operands) == 0 {
		return errors.New("name a directory, an archive, a file or a URL")
	}
	for _, addr := range []string{o.listen, o.debugListen} {
		if _, _, err := net.SplitHostPort(addr); addr != "" && err != nil {
			return fmt.Errorf("address %q: want HOST:PORT", addr)
		}
	}
	size := func(n int64) string { return humanize.IBytes(uint64(n)) }
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	for _, x := range []struct {
		name            string
		text            func(int64) string
		value, low, top int64
	}{
		{"memory", size, o.memory, leastMemory, math.MaxInt64},
		{"cache", size, o.cache, 0, o.memory / 4 * 3},
		{"max-header", size, o.maxHeader, 1 << 10, 1 << 20},
		{"threads", number, int64(o.threads), 0, 1 << 12},
		{"max-connections", number, int64(o.maxConnections), 1, 1 << 20},
		{"top", number, int64(o.top), 1, 10_000},
		{"snapshots", number, int64(o.snapshots), 1, 1_000_000},
		{"profile-log-size", size, o.logSize, 0, math.MaxInt64},
	} {
		if x.value < x.low || x.value > x.top {
			return fmt.Errorf("--%s: %s is not in %s … %s", x.name, x.text(x.value), x.text(x.low),
				x.text(x.top))
		}
	}
	for _, x := range []struct {
		name string
		d    time.Duration
	}{
		{"header-timeout", o.headerTimeout}, {"idle-timeout", o.idleTimeout},
		{"write-timeout", o.writeTimeout}, {"wait-timeout", o.waitTimeout},
		{"shutdown-timeout", o.shutdownTimeout}, {"snapshot-interval", o.snapshotInterval},
	} {
		if x.d <= 0 {
			return fmt.Errorf("--%s: %v is not positive", x.name, x.d)
		}
	}
	if o.mode != stats.Aggregate && o.profileDir == "" && o.debugListen == "" {
		return fmt.Errorf("--profile %v needs --profile-dir or --debug-listen", o.mode)
	}
	if o.mode == stats.Full && o.profileDir == "" {
		return errors.New("--profile full needs --profile-dir")
	}
	return nil
}

// usageError marks an error as one in the command line.
func usageError(err error) error {
	if err == nil || errors.Is(err, pflag.ErrHelp) {
		return err
	}
	return &lineError{err}
}

type lineError struct{ error }

func (e *lineError) Is(target error) bool { return target == errUsage }
func (e *lineError) Unwrap() error        { return e.error }

// aggregate adds up the snapshots of many servers.
func aggregate(args []string, stdout io.Writer) error {
	f := pflag.NewFlagSet("aggregate", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	out := f.String("out", "", "")
	top := f.Int("top", 20, "")
	if err := f.Parse(args); err != nil {
		return usageError(err)
	}
	if f.NArg() == 0 {
		return usageError(errors.New("aggregate: name directories or files of snapshots"))
	}
	runs, err := stats.ReadRuns(f.Args())
	if err != nil {
		return err
	}
	sum := stats.Add(runs, max(0, *top))
	if *out != "" {
		if err := sum.Write(*out); err != nil {
			return err
		}
	}
	_, err = io.WriteString(stdout, sum.Summary())
	return err
}

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gopz/compress/internal/measuring"
)

const gunzipUsage = `usage: scripts/bench.sh --gunzip [OPTION]... [FILE or DIRECTORY]...

Compresses the files with every installed program that writes .gz, and measures how fast pz and other
programs restore them. Prints MB of content per second, as medians, a row for each file. The last
rows are about the first column: the median over the files of its speed divided by the others', and
the lowest. Checks once that every decoder restores the content.

  --repeats N      rounds (5); all decoders restore each file once in a round
  --threads LIST   numbers of threads of pz; "all" is one for each CPU (1,all)
  --peers LIST     gzip, pigz, libdeflate-gunzip, igzip, rapidgzip, or none (all)
  --writers LIST   programs that compress, with levels (all; see internal/bench/gzset.go)
  --set DIR        keep the compressed files in DIR, and use those that are there
  --to-file        write to a file instead of the null device
  --memory         measure decoders of Deflate in memory instead of programs, on one thread. With the
                   build tag libdeflate, libdeflate is one of them
  --clock CLOCK    wall, or cpu for the time of all threads (wall; with --memory cpu)
  --tsv FILE       write all figures, with both clocks
  --pz NAME=PATH   measure another build of pz, too; may be repeated
`

type gunzipConfig struct {
	repeats int
	threads []int
	peers   []string
	writers []gzWriter
	set     string
	toFile  bool
	memory  bool
	clock   clock
	tsv     string
	builds  []build
	paths   []string
}

// restorer restores files of a set in one way.
type restorer struct {
	name string
	// check restores a file once and compares the content.
	check func(ctx context.Context, f *gzFile, in *input) error
	// open prepares the measurement of a file: run restores it once.
	open func(f *gzFile) (run func(ctx context.Context) (sample, error), err error)
}

// restored is the measurement of a restorer on a file.
type restored struct {
	file    *gzFile
	by      string
	samples []sample
	run     func(ctx context.Context) (sample, error)
}

func runGunzip(ctx context.Context, args []string, out io.Writer) error {
	cfg, err := parseGunzip(args)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "pz-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	inputs, err := copyInputs(ctx, dir, cfg.paths, false)
	if err != nil {
		return err
	}
	if cfg.set == "" {
		cfg.set = dir
	} else if err := os.MkdirAll(cfg.set, 0o777); err != nil {
		return err
	}
	set, notes, err := makeSet(ctx, cfg.set, inputs, cfg.writers)
	if err != nil {
		return err
	}
	list := memoryRestorers
	if !cfg.memory {
		var more []string
		list, more = cfg.commands(ctx, dir)
		notes = append(notes, more...)
	}
	// The files of an input follow each other in the set.
	var all []*restored
	for i, f := range set {
		note("measuring %s", f.name)
		rows, err := measureFile(ctx, f, inputs[i*len(inputs)/len(set)], list, cfg.repeats)
		if err != nil {
			return err
		}
		all = append(all, rows...)
	}
	if cfg.tsv != "" {
		if err := writeFile(cfg.tsv, restoredTable(all).tsv); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, measuring.Machine())
	for _, n := range notes {
		fmt.Fprintln(out, n)
	}
	fmt.Fprintf(out, "%s; medians of %d\n\n", describe(inputs), cfg.repeats)
	return speedTable(all, len(list), cfg.clock).text(out)
}

// measureFile measures all restorers on a file, by turns.
func measureFile(ctx context.Context, f *gzFile, in *input, list []restorer, repeats int) (
	rows []*restored, err error) {
	for _, r := range list {
		if err := r.check(ctx, f, in); err != nil {
			return nil, fmt.Errorf("%s, %s: %w", f.name, r.name, err)
		}
		run, err := r.open(f)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", f.name, r.name, err)
		}
		rows = append(rows, &restored{file: f, by: r.name, run: run})
	}
	return rows, byTurns(repeats, len(rows), func(i int) error {
		s, err := rows[i].run(ctx)
		rows[i].samples = append(rows[i].samples, s)
		return err
	})
}

func parseGunzip(args []string) (*gunzipConfig, error) {
	cfg := &gunzipConfig{}
	f := newFlags("gunzip")
	f.IntVar(&cfg.repeats, "repeats", 5, "")
	threads := f.String("threads", "1,all", "")
	peerList := f.String("peers", strings.Join(gunzipPeers, ","), "")
	writers := f.String("writers", strings.Join(writerNames(), ","), "")
	f.StringVar(&cfg.set, "set", "", "")
	f.BoolVar(&cfg.toFile, "to-file", false, "")
	f.BoolVar(&cfg.memory, "memory", false, "")
	clockName := f.String("clock", "", "")
	f.StringVar(&cfg.tsv, "tsv", "", "")
	f.Func("pz", "", func(s string) error { return addBuild(&cfg.builds, s) })
	if err := parseFlags(f, args); err != nil {
		return nil, err
	}
	cfg.paths = f.Args()
	var err error
	cfg.threads, err = parseThreads(*threads)
	if err != nil {
		return nil, err
	}
	cfg.writers, err = selectWriters(strings.Split(*writers, ","))
	if err != nil {
		return nil, err
	}
	if *peerList != "none" {
		cfg.peers = strings.Split(*peerList, ",")
	}
	for _, p := range cfg.peers {
		if !slices.Contains(gunzipPeers, p) {
			return nil, usageError("--peers: %q is none of %s", p, strings.Join(gunzipPeers, ", "))
		}
	}
	switch *clockName {
	case "wall":
		cfg.clock = wallClock
	case "cpu":
		cfg.clock = cpuClock
	case "":
		cfg.clock = wallClock
		if cfg.memory {
			cfg.clock = cpuClock
		}
	default:
		return nil, usageError("--clock: wall or cpu")
	}
	switch {
	case cfg.repeats < 1:
		return nil, usageError("--repeats: at least 1")
	case len(cfg.paths) == 0:
		return nil, usageError("no files")
	}
	return cfg, nil
}

// gunzipPeers are programs that restore .gz files with the options -d and -c.
var gunzipPeers = []string{"gzip", "pigz", "libdeflate-gunzip", "igzip", "rapidgzip"}

// commands returns the programs that restore files, pz first, and notes on them. They write to a
// file in dir or to the null device.
func (cfg *gunzipConfig) commands(ctx context.Context, dir string) (list []restorer, notes []string) {
	to := os.DevNull
	if cfg.toFile {
		to = filepath.Join(dir, "content")
	}
	for _, b := range cfg.builds {
		for _, t := range cfg.threads {
			args := []string{b.path, "-d", "-c", "-T" + strconv.Itoa(t)}
			list = append(list, commandRestorer(fmt.Sprintf("%s -T%d", b.name, t), args, to))
		}
	}
	for _, name := range cfg.peers {
		path, err := exec.LookPath(name)
		if err != nil {
			notes = append(notes, name+" is not installed: left out")
			continue
		}
		notes = append(notes, programVersion(ctx, name, path))
		list = append(list, commandRestorer(name, []string{path, "-d", "-c"}, to))
	}
	return list, notes
}

// commandRestorer returns a program that writes to the file to.
func commandRestorer(name string, args []string, to string) restorer {
	return restorer{
		name: name,
		check: func(ctx context.Context, f *gzFile, in *input) error {
			c := command{decompress: args}
			return c.check(ctx, f.path, in.path)
		},
		open: func(f *gzFile) (func(context.Context) (sample, error), error) {
			return func(ctx context.Context) (sample, error) {
				// A new file each time: truncating a large one takes time that the program would
				// pay.
				if to != os.DevNull {
					os.Remove(to)
				}
				out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, 0o600)
				if err != nil {
					return sample{}, err
				}
				defer out.Close()
				return execute(ctx, args, f.path, out)
			}, nil
		},
	}
}

// speedTable returns the table for people. rows has n neighbours for each file.
func speedTable(rows []*restored, n int, by clock) *table {
	t := &table{left: 1, columns: []string{"MB/s"}}
	ratios := make([][]float64, n)
	for ; len(rows) > 0; rows = rows[n:] {
		if len(t.rows) == 0 {
			for _, r := range rows[:n] {
				t.columns = append(t.columns, r.by)
			}
		}
		line := []string{rows[0].file.name}
		first := by(median(rows[0].samples)).Seconds()
		for i, r := range rows[:n] {
			d := by(median(r.samples))
			line = append(line, fmt.Sprintf("%.0f", measuring.MBps(r.file.size, d)))
			ratios[i] = append(ratios[i], d.Seconds()/first)
		}
		t.addRow(line...)
	}
	mid, low := []string{"median of " + t.columns[1] + " ÷ this"}, []string{"lowest"}
	for _, r := range ratios {
		mid = append(mid, fmt.Sprintf("%.2f", measuring.Middle(r)))
		low = append(low, fmt.Sprintf("%.2f", slices.Min(r)))
	}
	t.addRow(mid...)
	t.addRow(low...)
	return t
}

// restoredTable returns the table for programs.
func restoredTable(rows []*restored) *table {
	t := &table{columns: []string{"file", "bytes", "compressed", "decoder", "wall_mbps", "wall_s", "cpu_s",
		"spread"}}
	for _, r := range rows {
		m := median(r.samples)
		t.addRow(r.file.name, strconv.FormatInt(r.file.size, 10), strconv.FormatInt(r.file.packed, 10), r.by,
			fmt.Sprintf("%.1f", measuring.MBps(r.file.size, m.wall)), fmt.Sprintf("%.6f", m.wall.Seconds()),
			fmt.Sprintf("%.6f", m.cpu.Seconds()), fmt.Sprintf("%.3f", spread(r.samples, wallClock)))
	}
	return t
}

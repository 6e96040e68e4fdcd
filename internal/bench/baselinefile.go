package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/gopz/compress"
)

// baselineColumn is a median in the baseline.
type baselineColumn struct {
	name   string
	format string
	value  func(*job, *statsSample) float64
}

// Columns that judge compares.
const (
	speedColumn    = "cpu_mbps_median"
	overheadColumn = "scheduler_overhead_pct_median"
	computeColumn  = "stage_compute_ns_median"
)

type schedulerStats = compress.SchedulerStats

var baselineColumns = []baselineColumn{
	{"mbps_median", "%.3f", func(j *job, s *statsSample) float64 {
		return mbps(j.bytes*int64(j.iterations), s.total.wall)
	}},
	{overheadColumn, "%.3f", func(_ *job, s *statsSample) float64 { return s.stats.OverheadPct() }},
	{"runs_median", "%.0f", count(func(s *schedulerStats) int64 { return s.Runs })},
	{"total_ns_median", "%.0f", nanoseconds(func(s *schedulerStats) time.Duration { return s.Total })},
	{"tracked_thread_time_ns_median", "%.0f", nanoseconds((*schedulerStats).Tracked)},
	{computeColumn, "%.0f", nanoseconds(func(s *schedulerStats) time.Duration { return s.Compute })},
	{"queue_wait_ns_median", "%.0f",
		nanoseconds(func(s *schedulerStats) time.Duration { return s.QueueWait })},
	{"queue_admin_ns_median", "%.0f",
		nanoseconds(func(s *schedulerStats) time.Duration { return s.QueueAdmin })},
	{"gpu_handoff_ns_median", "%.0f",
		nanoseconds(func(s *schedulerStats) time.Duration { return s.Handoff })},
	{"gpu_try_send_full_count_median", "%.0f", count(func(s *schedulerStats) int64 { return s.QueueFull })},
	{"gpu_try_send_disconnected_count_median", "%.0f",
		count(func(s *schedulerStats) int64 { return s.DeviceLost })},
	{speedColumn, "%.3f", func(j *job, s *statsSample) float64 { return mbps(j.bytes, s.fastest.cpu) }},
}

func nanoseconds(f func(*schedulerStats) time.Duration) func(*job, *statsSample) float64 {
	return func(_ *job, s *statsSample) float64 { return float64(f(&s.stats)) }
}

func count(f func(*schedulerStats) int64) func(*job, *statsSample) float64 {
	return func(_ *job, s *statsSample) float64 { return float64(f(&s.stats)) }
}

// machineKeys returns the properties of this machine and build on which speeds depend, in order.
func machineKeys(threads int) [][2]string {
	var id []string
	for _, key := range []string{"cpu family", "model", "stepping", "CPU implementer", "CPU part",
		"CPU revision"} {
		if v := cpuinfo(key); v != "" {
			id = append(id, key+" "+v)
		}
	}
	return [][2]string{
		{"cpu", processor()},
		{"cpuid", strings.Join(id, ", ")},
		{"kernels", compress.Kernels()},
		{"cores", strconv.Itoa(runtime.NumCPU())},
		{"go", runtime.Version()},
		{"threads", strconv.Itoa(threads)},
	}
}

// baseline is a table of medians under version control, with the machine that it is from.
type baseline struct {
	keys [][2]string // in comments at the top
	rows []map[string]string
}

// baselineHead is the columns before the medians.
var baselineHead = []string{"mode", "pipeline", "level", "size", "iterations", "repeats"}

func newBaseline(cfg *gateConfig, jobs []*job) *baseline {
	b := &baseline{keys: append(machineKeys(cfg.threads), [2]string{"revision", cfg.revision})}
	for _, j := range jobs {
		row := map[string]string{"mode": j.mode, "pipeline": j.pipeline, "level": strconv.Itoa(j.level),
			"size": strconv.FormatInt(j.bytes, 10), "iterations": strconv.Itoa(j.iterations),
			"repeats": strconv.Itoa(len(j.samples))}
		for i := range baselineColumns {
			c := &baselineColumns[i]
			row[c.name] = fmt.Sprintf(c.format, j.median(c))
		}
		b.rows = append(b.rows, row)
	}
	return b
}

func (b *baseline) write(w io.Writer) error {
	fmt.Fprintln(w, "# Written by scripts/perf-gate.sh --update-baseline; valid on this machine only.")
	for _, k := range b.keys {
		fmt.Fprintf(w, "# %s\t%s\n", k[0], k[1])
	}
	t := &table{columns: baselineHead}
	for _, c := range baselineColumns {
		t.columns = append(t.columns[:len(t.columns):len(t.columns)], c.name)
	}
	for _, row := range b.rows {
		var cells []string
		for _, name := range t.columns {
			cells = append(cells, row[name])
		}
		t.add(cells...)
	}
	return t.tsv(w)
}

func readBaseline(path string) (*baseline, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	b := &baseline{}
	var columns []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if comment, ok := strings.CutPrefix(line, "# "); ok {
			if key, value, ok := strings.Cut(comment, "\t"); ok {
				b.keys = append(b.keys, [2]string{key, value})
			}
			continue
		}
		cells := strings.Split(line, "\t")
		if columns == nil {
			columns = cells
			continue
		}
		if len(cells) != len(columns) {
			return nil, fmt.Errorf("%s: %d cells in a row, not %d", path, len(cells), len(columns))
		}
		row := map[string]string{}
		for i, name := range columns {
			row[name] = cells[i]
		}
		b.rows = append(b.rows, row)
	}
	return b, nil
}

func (b *baseline) key(name string) string {
	for _, k := range b.keys {
		if k[0] == name {
			return k[1]
		}
	}
	return "unknown"
}

func (b *baseline) row(mode, pipeline string, level int) map[string]string {
	for _, r := range b.rows {
		if r["mode"] == mode && r["pipeline"] == pipeline && r["level"] == strconv.Itoa(level) {
			return r
		}
	}
	return nil
}

// check returns an error if the baseline is from another machine or of other work.
func (b *baseline) check(cfg *gateConfig, modes []string, size int64) error {
	for _, k := range machineKeys(cfg.threads) {
		if was := b.key(k[0]); was != k[1] {
			return fmt.Errorf("the baseline is from another machine: %s %s, here %s", k[0], was, k[1])
		}
	}
	for _, mode := range modes {
		for _, pipeline := range cfg.pipelines {
			for _, level := range cfg.levels {
				iterations := cfg.iterations
				if strings.HasSuffix(mode, "-decompress") {
					iterations *= decodeFactor
				}
				r := b.row(mode, pipeline, level)
				if r == nil {
					return fmt.Errorf("the baseline lacks %s %s -%d", mode, pipeline, level)
				}
				if r["size"] != strconv.FormatInt(size, 10) || r["iterations"] != strconv.Itoa(iterations) {
					return fmt.Errorf("the baseline is of other work: size %s, iterations %s, here %d and %d",
						r["size"], r["iterations"], size, iterations)
				}
			}
		}
	}
	return nil
}

// calmPart is the part of the stages' wall time that their threads must have had a processor for the
// scheduler's overhead to be judged. It is wall time, too, and grows when other programs run.
const calmPart = 0.9

// judge compares a job with its row and returns the row of the table.
func (b *baseline) judge(j *job, l limits) (failed bool, row []string) {
	was := b.row(j.mode, j.pipeline, j.level)
	number := func(column string) float64 {
		v, _ := strconv.ParseFloat(was[column], 64)
		return v
	}
	now := map[string]float64{}
	for i := range baselineColumns {
		now[baselineColumns[i].name] = j.median(&baselineColumns[i])
	}
	var cpu []time.Duration
	for _, s := range j.samples {
		cpu = append(cpu, s.total.cpu)
	}
	calm := float64(middle(cpu)) >= calmPart*now[computeColumn]
	speed := now[speedColumn] / number(speedColumn)
	overhead := (now[overheadColumn] - number(overheadColumn)) / 100
	slower := !(speed >= 1-l.throughputPct/100)
	failed = slower || calm && overhead > l.overheadAbs
	verdict := "ok"
	switch {
	case slower:
		verdict = "FAIL: speed"
	case failed:
		verdict = "FAIL: overhead"
	case !calm:
		verdict = "ok; overhead not judged, machine busy"
	}
	return failed, []string{j.name(), formatSpeed(now[speedColumn]), fmt.Sprintf("%.3f", speed),
		fmt.Sprintf("%.3f", now["mbps_median"]/number("mbps_median")),
		fmt.Sprintf("%.2f%%", now[overheadColumn]), fmt.Sprintf("%.2f%%", number(overheadColumn)),
		strconv.Itoa(len(j.samples)), verdict}
}

package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/measuring"
	"github.com/gopz/compress/simd"
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
	wallColumn     = "wall_mbps_median"
	overheadColumn = "scheduler_overhead_pct_median"
	computeColumn  = "stage_compute_ns_median"
	blocksColumn   = "gpu_blocks_median"
)

type schedulerStats = compress.Stats

var baselineColumns = []baselineColumn{
	{"mbps_median", "%.3f", func(j *job, s *statsSample) float64 {
		return measuring.MBps(j.bytes*int64(j.iterations), s.total.wall)
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
	{speedColumn, "%.3f", func(j *job, s *statsSample) float64 {
		return measuring.MBps(j.bytes, s.fastest.cpu)
	}},
	{wallColumn, "%.3f", func(j *job, s *statsSample) float64 {
		return measuring.MBps(j.bytes, s.fastest.wall)
	}},
	{"gpu_strict_waiting_count_median", "%.0f",
		count(func(s *schedulerStats) int64 { return s.StrictWaiting })},
	{"gpu_strict_wait_ns_median", "%.0f",
		nanoseconds(func(s *schedulerStats) time.Duration { return s.StrictWait })},
	{"gpu_reclaimed_count_median", "%.0f", count(func(s *schedulerStats) int64 { return s.Reclaimed })},
	{"gpu_returned_count_median", "%.0f", count(func(s *schedulerStats) int64 { return s.Returned })},
	{blocksColumn, "%.0f", count(deviceBlocks)},
}

// deviceBlocks returns the number of blocks of which the device did a stage.
func deviceBlocks(s *schedulerStats) (n int64) {
	for _, x := range s.Stages {
		if x.Backend == gpu.BackendGPU {
			n = max(n, x.Blocks)
		}
	}
	return n
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
		if v := measuring.CPUInfo(key); v != "" {
			id = append(id, key+" "+v)
		}
	}
	return [][2]string{
		{"cpu", measuring.Processor()},
		{"cpuid", strings.Join(id, ", ")},
		{"kernels", simd.Tier()},
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

// write writes the baseline with the machine that it is from.
func (b *baseline) write(w io.Writer) error {
	fmt.Fprintln(w, "# Written by scripts/perf-gate.sh --update-baseline; valid on this machine only.")
	writeKeys(w, b.keys)
	return b.table().tsv(w)
}

// writeKeys writes properties as comments.
func writeKeys(w io.Writer, keys [][2]string) {
	for _, k := range keys {
		fmt.Fprintf(w, "# %s\t%s\n", k[0], k[1])
	}
}

// table returns the rows.
func (b *baseline) table() *table {
	t := &table{columns: slices.Clone(baselineHead)}
	for _, c := range baselineColumns {
		t.columns = append(t.columns, c.name)
	}
	for _, row := range b.rows {
		var cells []string
		for _, name := range t.columns {
			cells = append(cells, row[name])
		}
		t.addRow(cells...)
	}
	return t
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

func (b *baseline) row(row gateRow) map[string]string {
	for _, r := range b.rows {
		if r["mode"] == row.mode && r["pipeline"] == row.pipeline && r["level"] == strconv.Itoa(row.level) {
			return r
		}
	}
	return nil
}

// checkMachine returns an error if the baseline is from another machine.
func (b *baseline) checkMachine(threads int) error {
	for _, k := range machineKeys(threads) {
		if was := b.key(k[0]); was != k[1] {
			return fmt.Errorf("the baseline is from another machine: %s %s, here %s", k[0], was, k[1])
		}
	}
	return nil
}

// checkRows returns an error if the baseline lacks rows or is of other work.
func (b *baseline) checkRows(cfg *gateConfig, rows []gateRow) error {
	for _, row := range rows {
		r := b.row(row)
		if r == nil {
			return fmt.Errorf("the baseline lacks %v", row)
		}
		size, iterations := cfg.rowSize(row), iterationsOf(r)
		if r["size"] != strconv.FormatInt(size, 10) || cfg.iterations > 0 && cfg.iterations != iterations {
			return fmt.Errorf("the baseline is of other work: %v has size %s, iterations %d, here %d and %d",
				row, r["size"], iterations, size, cfg.iterations)
		}
	}
	return nil
}

// calmPart is the part of the stages' wall time that their threads must have had a processor for
// the scheduler's overhead to be judged. It is wall time, too, and grows when other programs run.
const calmPart = 0.9

// idlePct is the overhead from which on the workers mainly wait, so that overhead says nothing: the
// caller decodes a .gz file, or a strict device does the work.
const idlePct = 50

// judge compares a job with its row and returns the row of the table.
func (b *baseline) judge(j *job, l limits) (failed bool, row []string) {
	was := b.row(j.gateRow)
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
	calm := float64(measuring.Middle(cpu)) >= calmPart*now[computeColumn]
	speed := now[speedColumn] / number(speedColumn)
	overhead := (now[overheadColumn] - number(overheadColumn)) / 100
	wall := now[wallColumn] / number(wallColumn)
	least := 1 - l.throughputPct/100
	slower := !(speed >= least) || calm && j.wallCounts() && !(wall >= least)
	worked := number(overheadColumn) < idlePct
	unused := j.device() != "" && number(blocksColumn) > 0 && now[blocksColumn] == 0
	failed = slower || unused || calm && worked && overhead > l.overheadAbs
	verdict := "ok"
	switch {
	case unused:
		verdict = "FAIL: the device does nothing"
	case slower:
		verdict = "FAIL: speed"
	case failed:
		verdict = "FAIL: overhead"
	case !worked:
		verdict = "ok; overhead not judged, workers idle"
	case !calm:
		verdict = "ok; overhead not judged, machine busy"
	}
	return failed, []string{j.String(), formatSpeed(now[speedColumn]), fmt.Sprintf("%.3f", speed),
		fmt.Sprintf("%.3f", wall),
		fmt.Sprintf("%.2f%%", now[overheadColumn]), fmt.Sprintf("%.2f%%", number(overheadColumn)),
		strconv.Itoa(len(j.samples)), verdict}
}

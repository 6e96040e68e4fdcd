package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// aggregateMain adds up the output of several runs.
func aggregateMain(args []string, e *env) error {
	fs := flag.NewFlagSet("aggregate", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	out := fs.String("out", "", "")
	top := fs.Int("top", 20, "")
	switch err := fs.Parse(args); {
	case err == flag.ErrHelp:
		return err
	case err != nil:
		return usageError("%v", err)
	case fs.NArg() == 0:
		return usageError("aggregate: no directories")
	case *top < 0 || *top > maxTop:
		return usageError("--top: not in 0 to %d", maxTop)
	}
	var runs []*result
	seen := map[string]bool{}
	for _, dir := range fs.Args() {
		if dir = filepath.Clean(dir); seen[dir] {
			return usageError("aggregate: %s is named twice", dir)
		}
		seen[dir] = true
		r, err := readResult(dir)
		if err != nil {
			return err
		}
		runs = append(runs, r)
	}
	sum := aggregate(runs, *top)
	if *out != "" {
		if err := createDir(*out); err != nil {
			return err
		}
		if err := sum.write(*out); err != nil {
			return err
		}
	}
	_, err := io.WriteString(e.stdout, sum.summary())
	return err
}

// Fields of PROFILE_STATS that add up, and those that several runs do not have together.
var (
	profileSums = []string{"elapsed_ns", "cpu_ns", "cpu_wait_ns", "iterations", "content_bytes",
		"compressed_bytes", "blocks", "order_wait_ns"}
	profileDropped = []string{"mbps", "mbps_median", "mbps_best", "order_wait_max_ns"}
)

// aggregate adds up runs and keeps the slowest blocks of all, top of them at most.
func aggregate(runs []*result, top int) *result {
	sum := &result{runs: runs, name: fmt.Sprintf("%d runs", len(runs))}
	for _, r := range runs {
		sum.device = sum.device || r.device
		sum.stats.Add(&r.stats)
		sum.addStages(r)
		sum.order.merge(&r.order)
		for _, s := range r.slow {
			s.run = filepath.Join(r.name, s.run)
			sum.slow = append(sum.slow, s)
		}
	}
	sum.profile = aggregateFields(runs)
	sum.profile.addField("order_wait_max_ns", "%d", int64(sum.order.max))
	sortStages(sum.stages)
	slices.SortStableFunc(sum.slow, func(a, b slowRow) int { return cmp.Compare(b.span, a.span) })
	sum.slow = sum.slow[:min(len(sum.slow), top)]
	return sum
}

// addStages adds the stages of a run.
func (r *result) addStages(run *result) {
	for i := range run.stages {
		s := &run.stages[i]
		k := slices.IndexFunc(r.stages, func(t stageSum) bool { return t.stageKey == s.stageKey })
		if k < 0 {
			k = len(r.stages)
			r.stages = append(r.stages, stageSum{stageKey: s.stageKey})
		}
		r.stages[k].bytes += s.bytes
		r.stages[k].times.merge(&s.times)
	}
}

// aggregateFields returns PROFILE_STATS of several runs: sums, values that all have, and ranges or
// lists of values that differ.
func aggregateFields(runs []*result) (f fields) {
	var keys []string
	for _, r := range runs {
		for _, x := range r.profile {
			if !slices.Contains(keys, x.key) && !slices.Contains(profileDropped, x.key) {
				keys = append(keys, x.key)
			}
		}
	}
	content, elapsed := int64(0), time.Duration(0)
	for _, r := range runs {
		content += r.profile.number("content_bytes")
		elapsed += time.Duration(r.profile.number("elapsed_ns"))
	}
	f.addField("mbps", "%.3f", mbps(content, elapsed))
	for _, key := range keys {
		if !slices.Contains(profileSums, key) {
			f.addField(key, "%s", together(runs, key))
			continue
		}
		n := int64(0)
		for _, r := range runs {
			n += r.profile.number(key)
		}
		f.addField(key, "%d", n)
	}
	return f
}

// together returns the value of a field in all runs: the value itself, the range of numbers, or the
// list of texts. A run that lacks the field has "unknown".
func together(runs []*result, key string) string {
	var values []string
	lo, hi, numeric := int64(0), int64(0), true
	for i, r := range runs {
		v := r.profile.get(key)
		if v == "" {
			v = "unknown"
		}
		if !slices.Contains(values, v) {
			values = append(values, v)
		}
		n, err := strconv.ParseInt(v, 10, 64)
		numeric = numeric && err == nil
		if i == 0 {
			lo, hi = n, n
		}
		lo, hi = min(lo, n), max(hi, n)
	}
	switch {
	case len(values) == 1:
		return values[0]
	case numeric:
		return fmt.Sprintf("%d..%d", lo, hi)
	}
	slices.Sort(values)
	return strings.Join(values, ", ")
}

// summarizeRuns lists the runs that were added up, and how far their figures lie apart.
func (r *result) summarizeRuns(p *page) {
	if r.runs == nil {
		return
	}
	p.printf("\n## Runs\n")
	rows := [][]string{{"directory", "what", "threads", "MB/s", "overhead", "host", "kernels", "Go",
		"status"}}
	for _, x := range r.runs {
		f := &x.profile
		what := f.get("op") + " " + f.get("pipeline") + " " + f.get("stage")
		rows = append(rows, []string{x.name, strings.TrimSpace(what) + " -" + f.get("level"),
			f.get("threads"), f.get("mbps"), x.overhead(), orUnknown(f.get("host")),
			orUnknown(f.get("kernels")), orUnknown(f.get("go")), x.status()})
	}
	p.table(rows)
	r.summarizeRanges(p)
}

// overhead returns the scheduler's overhead as text, "–" for a run without a scheduler.
func (r *result) overhead() string {
	if r.stats.Tracked() == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f%%", r.stats.OverheadPct())
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// summarizeRanges shows the slowest, the middle and the fastest run for each figure.
func (r *result) summarizeRanges(p *page) {
	rows := [][]string{{"", "lowest", "median", "highest"}}
	add := func(name, format string, values []float64) {
		if len(values) == 0 {
			return
		}
		slices.Sort(values)
		n := len(values)
		row := []string{name}
		for _, v := range []float64{values[0], (values[(n-1)/2] + values[n/2]) / 2, values[n-1]} {
			row = append(row, fmt.Sprintf(format, v))
		}
		rows = append(rows, row)
	}
	var speed, overhead, memory []float64
	for _, x := range r.runs {
		if n := x.profile.number("content_bytes"); n > 0 {
			speed = append(speed, mbps(n, time.Duration(x.profile.number("elapsed_ns"))))
		}
		if n := x.profile.number("rss_max_bytes"); n > 0 {
			memory = append(memory, float64(n)/1e6)
		}
		if x.stats.Tracked() > 0 {
			overhead = append(overhead, x.stats.OverheadPct())
		}
	}
	add("MB/s", "%.1f", speed)
	add("scheduler overhead", "%.2f%%", overhead)
	add("memory of the process, MB", "%.1f", memory)
	for i := range r.stages {
		key := r.stages[i].stageKey
		var speed []float64
		for _, x := range r.runs {
			for k := range x.stages {
				if s := &x.stages[k]; s.stageKey == key && s.times.sum > 0 {
					speed = append(speed, mbps(s.bytes, s.times.sum))
				}
			}
		}
		add(fmt.Sprintf("%s %s on %v, MB/s", key.op, key.stage, key.backend), "%.0f", speed)
	}
	p.printf("\n## Ranges over the runs\n")
	p.table(rows)
}

package pzbeam

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
)

// ErrNoMetrics means that a runner has returned no metrics of a run.
var ErrNoMetrics = errors.New("pzbeam: the runner returned no metrics")

// Totals are the metrics of a run, over all workers.
type Totals struct {
	Files, Skipped  int64 // output files that are complete, and sources left out
	Content, Packed int64 // bytes of content of the files, and of the compressed files
	Lost, Findings  int64 // bytes of content that could not be restored, and damaged places
	Groups          int64
	GroupTime       time.Duration // of all groups

	groupContent     int64         // bytes
	longestGroupTime time.Duration // of one group
	stages           map[stage]*stageWork
}

// NewTotals adds up the metrics of a run. Without any the error is [ErrNoMetrics].
func NewTotals(m metrics.Results) (*Totals, error) {
	t := &Totals{stages: map[stage]*stageWork{}}
	plain := map[string]*int64{
		"files": &t.Files, "skipped_files": &t.Skipped, "content_bytes": &t.Content,
		"packed_bytes": &t.Packed, "lost_bytes": &t.Lost, "findings": &t.Findings, "groups": &t.Groups,
	}
	all := m.AllMetrics()
	for _, c := range all.Counters() {
		if c.Namespace() != namespace {
			continue
		}
		if sum, ok := plain[c.Name()]; ok {
			*sum += c.Result()
		} else {
			t.addStage(c.Name(), c.Result())
		}
	}
	for _, d := range all.Distributions() {
		if d.Namespace() != namespace {
			continue
		}
		v := d.Result()
		switch d.Name() {
		case "group_ms":
			t.GroupTime += time.Duration(v.Sum) * time.Millisecond
			t.longestGroupTime = max(t.longestGroupTime, time.Duration(v.Max)*time.Millisecond)
		case "group_bytes":
			t.groupContent += v.Sum
		default:
			t.addStage(d.Name(), v.Max)
		}
	}
	if t.Groups == 0 && t.Skipped == 0 {
		return nil, ErrNoMetrics
	}
	return t, nil
}

// addStage adds a metric of a stage, whose name is as meter.end makes it.
func (t *Totals) addStage(name string, n int64) {
	f := strings.Split(name, ".")
	if len(f) < 4 {
		return
	}
	s := stage{f[1], f[2], f[3]}
	w := t.stages[s]
	if w == nil {
		w = new(stageWork)
		t.stages[s] = w
	}
	switch f[0] {
	case "stage_bytes":
		w.bytes += n
	case "stage_ns":
		w.ns += n
	case "stage_longest_ns":
		w.longest = max(w.longest, n)
	case "stage_blocks":
		if i, err := strconv.Atoi(f[len(f)-1]); err == nil && i >= 0 && i < len(w.buckets) {
			w.buckets[i] += n
		}
	}
}

// WriteProfile writes a profile of a run that took so long, and of which name tells people what it
// did, to the directory dir: the files of which `profile aggregate` makes a report. That is the
// program examples/profile of the module github.com/gopz/compress. Times of blocks are exact to a
// factor of two. dir must not have the profile of another run.
func (t *Totals) WriteProfile(dir, name string, took time.Duration) error {
	stats := filepath.Join(dir, "stats.tsv")
	if _, err := os.Lstat(stats); err == nil {
		return fmt.Errorf("pzbeam: %s has the profile of another run", dir)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	stages := [][]string{{"op", "stage", "backend", "bytes", "time_ns", "max_ns"}}
	times := [][]string{{"op", "stage", "backend", "up_to_ns", "count"}}
	keys := make([]stage, 0, len(t.stages))
	for s := range t.stages {
		keys = append(keys, s)
	}
	slices.SortFunc(keys, func(a, b stage) int { return cmp.Compare(a.String(), b.String()) })
	for _, s := range keys {
		w := t.stages[s]
		head := []string{s.op, s.name, s.backend}
		stages = append(stages, append(slices.Clip(head), itoa(w.bytes), itoa(w.ns), itoa(w.longest)))
		for i, n := range w.buckets {
			if n > 0 {
				times = append(times, append(slices.Clip(head), itoa(1<<i-1), itoa(n)))
			}
		}
	}
	mbps := float64(t.groupContent) / 1e6 / max(took, 1).Seconds()
	line := fmt.Sprintf("PROFILE_STATS\tmbps=%.3f\telapsed_ns=%d\tstage=%s\titerations=1\t"+
		"content_bytes=%d\tcompressed_bytes=%d\tgroups=%d\tgroup_ns=%d\tgroup_max_ns=%d\tstatus=done\n",
		mbps, took.Nanoseconds(), strings.Join(strings.Fields(name), " "), t.groupContent, t.Packed,
		t.Groups, t.GroupTime.Nanoseconds(), t.longestGroupTime.Nanoseconds())
	for _, f := range []struct {
		name string
		rows [][]string
	}{{"stages.csv", stages}, {"histogram.csv", times}, {"slowest.csv", [][]string{{"run", "span_ns"}}}} {
		var b bytes.Buffer
		csv.NewWriter(&b).WriteAll(f.rows) // into memory: no error
		if err := os.WriteFile(filepath.Join(dir, f.name), b.Bytes(), 0o666); err != nil {
			return err
		}
	}
	return os.WriteFile(stats, []byte(line), 0o666)
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

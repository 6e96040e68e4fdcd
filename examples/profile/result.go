package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
)

// result is what is known of a run, or of several.
type result struct {
	name    string // for people
	profile fields
	stats   compress.Stats
	stages  []stageSum
	order   hist
	slow    []slowRow
	device  bool
	runs    []*result // that this one adds up; nil for one run
}

// slowRow is one of the slowest blocks.
type slowRow struct {
	run  string // its directory, for several runs
	span time.Duration
	row  []string // columns of blockHead
}

// unfinished reports whether the run goes on or was killed.
func (r *result) unfinished() bool {
	status := r.profile.get("status")
	return status == statusRunning || status == statusPreparing
}

// status returns how the run ended, for people.
func (r *result) status() string {
	status := r.profile.get("status")
	if r.unfinished() {
		status += ", or killed"
	}
	return status
}

// lines returns the lines for programs, with those of the scheduler and the stages if all is set.
func (r *result) lines(all bool) string {
	text := r.profile.line("PROFILE_STATS")
	if !all {
		return text
	}
	text += schedulerFields(&r.stats).line("SCHEDULER_STATS")
	for i := range r.stages {
		var f fields
		for k, value := range r.stageRow(&r.stages[i]) {
			f.addField(stageHead[k], "%s", value)
		}
		text += f.line("STAGE_STATS")
	}
	return text
}

// write writes the files of results to dir. stats.tsv comes last, so that it speaks of files that
// are there.
func (r *result) write(dir string) error {
	for _, f := range []struct {
		name string
		text func() []byte
	}{
		{stagesFile, func() []byte { return csvText(r.stageRows()) }},
		{histogramFile, func() []byte { return csvText(r.histogramRows()) }},
		{slowestFile, func() []byte { return csvText(r.slowRows()) }},
		{summaryFile, func() []byte { return []byte(r.summary()) }},
		{statsFile, func() []byte { return []byte(r.lines(true)) }},
	} {
		if err := replaceFile(filepath.Join(dir, f.name), f.text()); err != nil {
			return err
		}
	}
	return nil
}

// replaceFile writes a file so that a reader finds the old text or the new one, never a part.
func replaceFile(path string, text []byte) error {
	temp := path + ".new"
	if err := os.WriteFile(temp, text, 0o666); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

func csvText(rows [][]string) []byte {
	var b bytes.Buffer
	csv.NewWriter(&b).WriteAll(rows) // into memory: no error
	return b.Bytes()
}

// stageHead has the columns of a stage.
var stageHead = []string{"op", "stage", "backend", "blocks", "bytes", "time_ns", "share_pct", "mbps",
	"mean_ns", "p50_ns", "p99_ns", "max_ns"}

// stageRows returns a table with a row for each stage on each backend.
func (r *result) stageRows() [][]string {
	rows := [][]string{stageHead}
	for i := range r.stages {
		rows = append(rows, r.stageRow(&r.stages[i]))
	}
	return rows
}

func (r *result) stageRow(s *stageSum) []string {
	h := &s.times
	return []string{s.op, s.stage, s.backend.String(), itoa(h.count), itoa(s.bytes), itoa(h.sum),
		fmt.Sprintf("%.2f", percent(h.sum, r.stageTime())), fmt.Sprintf("%.3f", mbps(s.bytes, h.sum)),
		itoa(h.mean()), itoa(h.quantile(0.5)), itoa(h.quantile(0.99)), itoa(h.max)}
}

// stageTime returns the time of all stages.
func (r *result) stageTime() (sum time.Duration) {
	for i := range r.stages {
		sum += r.stages[i].times.sum
	}
	return sum
}

// orderName stands for the wait in order in place of the name of a stage.
const orderName = "(order)"

// histogramRows returns a table of the counts behind the percentiles.
func (r *result) histogramRows() [][]string {
	rows := [][]string{{"op", "stage", "backend", "up_to_ns", "count"}}
	add := func(op, stage, backend string, h *hist) {
		for i, n := range h.buckets {
			if n > 0 {
				rows = append(rows, []string{op, stage, backend, itoa(upper(i)), itoa(n)})
			}
		}
	}
	for i := range r.stages {
		s := &r.stages[i]
		add(s.op, s.stage, s.backend.String(), &s.times)
	}
	add("", orderName, "", &r.order)
	return rows
}

func (r *result) slowRows() [][]string {
	rows := [][]string{append([]string{"run"}, blockHead...)}
	for _, s := range r.slow {
		rows = append(rows, append([]string{s.run}, s.row...))
	}
	return rows
}

// parseKey parses the columns that name a stage.
func parseKey(op, stage, backend string) (k stageKey, err error) {
	k.stage = strings.Clone(stage)
	switch op {
	case "compress", "decompress":
		k.op = op
	default:
		return k, fmt.Errorf("unknown op %q", op)
	}
	for _, b := range []gpu.Backend{gpu.BackendCPU, gpu.BackendGPU} {
		if b.String() == backend {
			k.backend = b
			return k, nil
		}
	}
	return k, errors.New("unknown backend " + backend)
}

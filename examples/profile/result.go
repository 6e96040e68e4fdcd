package main

import (
	"encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/pipeline"
)

// result is what is known at the end of a run, or of several.
type result struct {
	profile fields
	stats   compress.SchedulerStats
	stages  []stageSum
	order   hist
	slow    []slowRow
	top     int
	runs    []*result // what it was added up from
	name    string    // of the run, for people
}

// slowRow is one of the slowest blocks.
type slowRow struct {
	run  string // "" for this one
	span time.Duration
	row  []string // columns of blockHead
}

func newResult(c *config, m measurement, s compress.SchedulerStats) *result {
	return &result{profile: profileFields(c, &m), stats: s, top: c.top, name: c.op() + " " + c.what()}
}

// add adds what the recorder knows.
func (r *result) add(p *picture) {
	r.stages, r.order = p.stages, p.order
	for i := range p.slowest {
		b := &p.slowest[i]
		r.slow = append(r.slow, slowRow{"", b.span(), b.row(p.start)})
	}
	r.profile.add("blocks", "%d", p.passed)
	r.profile.add("order_wait_ns", "%d", int64(p.order.sum))
	r.profile.add("order_wait_max_ns", "%d", int64(p.order.max))
}

// print writes the lines for programs.
func (r *result) print(w io.Writer, scheduler bool) error {
	text := r.profile.line("PROFILE_STATS")
	if scheduler {
		text = schedulerFields(&r.stats).line("SCHEDULER_STATS") + text
	}
	_, err := io.WriteString(w, text)
	return err
}

// write writes the files of --out that are written at the end.
func (r *result) write(dir string) error {
	stats := schedulerFields(&r.stats).line("SCHEDULER_STATS") + r.profile.line("PROFILE_STATS")
	return errors.Join(
		os.WriteFile(filepath.Join(dir, statsFile), []byte(stats), 0o666),
		writeCSV(filepath.Join(dir, stagesFile), r.stageRows()),
		writeCSV(filepath.Join(dir, histogramFile), r.histogramRows()),
		writeCSV(filepath.Join(dir, slowestFile), r.slowRows()),
		os.WriteFile(filepath.Join(dir, summaryFile), []byte(r.summary()), 0o666),
	)
}

func writeCSV(path string, rows [][]string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	return errors.Join(w.WriteAll(rows), f.Close()) // WriteAll flushes
}

var stageHead = []string{"op", "stage", "backend", "blocks", "bytes", "time_ns", "share_pct", "mbps", "mean_ns", "p50_ns", "p99_ns", "max_ns"}

// stageRows has a row for each stage and backend. The share is that of all stages' time; speeds are of one worker, or of the device.
func (r *result) stageRows() [][]string {
	rows := [][]string{stageHead}
	all := r.stageTime()
	for i := range r.stages {
		s := &r.stages[i]
		h := &s.times
		rows = append(rows, []string{opName(s.op), s.stage, s.backend.String(), itoa(h.count), itoa(s.bytes), itoa(h.sum),
			strconv.FormatFloat(percent(h.sum, all), 'f', 2, 64), strconv.FormatFloat(mbps(s.bytes, h.sum), 'f', 3, 64),
			itoa(h.mean()), itoa(h.quantile(0.5)), itoa(h.quantile(0.99)), itoa(h.max)})
	}
	return rows
}

func (r *result) stageTime() (sum time.Duration) {
	for i := range r.stages {
		sum += r.stages[i].times.sum
	}
	return sum
}

func percent(part, whole time.Duration) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

// orderName stands for the wait in order where others have the name of a stage.
const orderName = "(order)"

// histogramRows has the counts behind the percentiles, so that they can be made for several runs together.
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
		add(opName(s.op), s.stage, s.backend.String(), &s.times)
	}
	add("", orderName, "", &r.order)
	return rows
}

func (r *result) slowRows() [][]string {
	head := blockHead
	if r.runs != nil {
		head = append([]string{"run"}, blockHead...)
	}
	rows := [][]string{head}
	for _, s := range r.slow {
		if r.runs != nil {
			rows = append(rows, append([]string{s.run}, s.row...))
		} else {
			rows = append(rows, s.row)
		}
	}
	return rows
}

// parseKey reads the columns that name a stage.
func parseKey(op, stage, backend string) (k stageKey, err error) {
	k = stageKey{stage: strings.Clone(stage)}
	switch op {
	case opName(pipeline.Compress):
	case opName(pipeline.Decompress):
		k.op = pipeline.Decompress
	default:
		return k, errors.New("no such op: " + op)
	}
	for _, b := range []compress.Backend{compress.CPU, compress.GPU} {
		if b.String() == backend {
			k.backend = b
			return k, nil
		}
	}
	return k, errors.New("no such backend: " + backend)
}

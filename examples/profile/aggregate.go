package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// aggregateMain adds up the output of several runs.
func aggregateMain(args []string, e env) error {
	fs := pflag.NewFlagSet("profile aggregate", pflag.ContinueOnError)
	fs.Usage = func() {}
	out := fs.String("out", "", "")
	top := fs.Int("top", 20, "")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			fmt.Fprint(e.stdout, usage)
			return err
		}
		return usagef("%v", err)
	}
	switch {
	case fs.NArg() == 0:
		return usagef("aggregate: no directories")
	case *top < 0 || *top > maxTop:
		return usagef("--top: not in 0 ... %d", maxTop)
	case fs.Changed("out") && *out == "":
		return usagef("--out: the name is empty")
	}
	var runs []*result
	seen := map[string]bool{}
	for _, dir := range fs.Args() {
		if dir = filepath.Clean(dir); seen[dir] {
			return usagef("aggregate: %s is named twice", dir)
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
		if err := newOut(*out); err != nil {
			return err
		}
		if err := sum.write(*out); err != nil {
			return err
		}
	}
	_, err := io.WriteString(e.stdout, sum.summary())
	return err
}

// Fields of PROFILE_STATS that add up. Of the others those remain that all runs agree on.
var profileSums = []string{"elapsed_ns", "cpu_ns", "cpu_wait_ns", "iterations", "content_bytes", "compressed_bytes", "blocks", "order_wait_ns"}

func aggregate(runs []*result, top int) *result {
	sum := &result{runs: runs, top: top, name: fmt.Sprintf("%d runs", len(runs))}
	for _, f := range runs[0].profile {
		switch f.key {
		case "mbps", "mbps_median", "mbps_best", "order_wait_max_ns":
			continue
		}
		n, same, everywhere := int64(0), true, true
		for _, r := range runs {
			v := r.profile.get(f.key)
			n += r.profile.number(f.key)
			same, everywhere = same && v == f.value, everywhere && v != ""
		}
		switch {
		case slices.Contains(profileSums, f.key):
			sum.profile.add(f.key, "%d", n)
		case same:
			sum.profile.add(f.key, "%s", f.value)
		case everywhere:
			sum.profile.add(f.key, "%s", "different")
		}
	}
	for _, r := range runs {
		sum.stats.Add(&r.stats)
		for i := range r.stages {
			s := &r.stages[i]
			k := slices.IndexFunc(sum.stages, func(t stageSum) bool { return t.stageKey == s.stageKey })
			if k < 0 {
				k = len(sum.stages)
				sum.stages = append(sum.stages, stageSum{stageKey: s.stageKey})
			}
			sum.stages[k].bytes += s.bytes
			sum.stages[k].times.merge(&s.times)
		}
		sum.order.merge(&r.order)
		for _, s := range r.slow {
			s.run = filepath.Join(r.name, s.run)
			sum.slow = append(sum.slow, s)
		}
	}
	speed := mbps(sum.profile.number("content_bytes"), time.Duration(sum.profile.number("elapsed_ns")))
	sum.profile = append(fields{{"mbps", strconv.FormatFloat(speed, 'f', 3, 64)}}, sum.profile...)
	sum.profile.add("order_wait_max_ns", "%d", int64(sum.order.max))
	sortStages(sum.stages)
	slices.SortStableFunc(sum.slow, func(a, b slowRow) int { return cmp.Compare(b.span, a.span) })
	sum.slow = sum.slow[:min(len(sum.slow), top)]
	return sum
}

// readResult reads what --out has written.
func readResult(dir string) (*result, error) {
	r := &result{name: dir}
	text, err := os.ReadFile(filepath.Join(dir, statsFile))
	if err != nil {
		return nil, err
	}
	for l := range strings.Lines(string(text)) {
		name, f, err := parseLine(l)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(dir, statsFile), err)
		}
		switch name {
		case "SCHEDULER_STATS":
			r.stats = f.schedulerStats()
		case "PROFILE_STATS":
			r.profile = f
		}
	}
	if r.profile == nil {
		return nil, fmt.Errorf("%s: no line PROFILE_STATS", filepath.Join(dir, statsFile))
	}
	r.order.sum = time.Duration(r.profile.number("order_wait_ns"))
	r.order.max = time.Duration(r.profile.number("order_wait_max_ns"))
	for _, x := range []struct {
		file string
		row  func(get func(column string) string) error
	}{{stagesFile, r.readStage}, {histogramFile, r.readBucket}, {slowestFile, r.readSlow}} {
		path := filepath.Join(dir, x.file)
		if err := readCSV(path, x.row); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return r, nil
}

// readCSV calls f for every row, with a function that gets the value in a column, "" if there is none.
func readCSV(path string, f func(get func(column string) string) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return errors.New("empty")
	}
	columns := map[string]int{}
	for i, name := range rows[0] {
		columns[name] = i
	}
	for i, row := range rows[1:] {
		err := f(func(column string) string {
			if k, ok := columns[column]; ok {
				return row[k]
			}
			return ""
		})
		if err != nil {
			return fmt.Errorf("row %d: %w", i+2, err)
		}
	}
	return nil
}

// numbers reads several columns, all or an error.
func numbers(get func(string) string, columns ...string) ([]int64, error) {
	var list []int64
	for _, c := range columns {
		n, err := strconv.ParseInt(get(c), 10, 64)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("column %s: %q is not a number", c, get(c))
		}
		list = append(list, n)
	}
	return list, nil
}

func (r *result) readStage(get func(string) string) error {
	k, err := parseKey(get("op"), get("stage"), get("backend"))
	if err != nil {
		return err
	}
	n, err := numbers(get, "bytes", "time_ns", "max_ns")
	if err != nil {
		return err
	}
	s := stageSum{stageKey: k, bytes: n[0]}
	s.times.sum, s.times.max = time.Duration(n[1]), time.Duration(n[2])
	r.stages = append(r.stages, s)
	return nil
}

func (r *result) readBucket(get func(string) string) error {
	n, err := numbers(get, "up_to_ns", "count")
	if err != nil {
		return err
	}
	h := &r.order
	if get("stage") != orderName {
		k, err := parseKey(get("op"), get("stage"), get("backend"))
		if err != nil {
			return err
		}
		i := slices.IndexFunc(r.stages, func(s stageSum) bool { return s.stageKey == k })
		if i < 0 {
			return fmt.Errorf("%s is not in %s", k.stage, stagesFile)
		}
		h = &r.stages[i].times
	}
	h.count += n[1]
	h.buckets[bucket(time.Duration(n[0]))] += n[1]
	return nil
}

func (r *result) readSlow(get func(string) string) error {
	n, err := numbers(get, "span_ns")
	if err != nil {
		return err
	}
	s := slowRow{run: get("run"), span: time.Duration(n[0])}
	for _, column := range blockHead {
		s.row = append(s.row, get(column))
	}
	r.slow = append(r.slow, s)
	return nil
}

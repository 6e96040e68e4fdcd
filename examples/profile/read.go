package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// readResult reads a directory that --out wrote, or that it has written so far.
func readResult(dir string) (*result, error) {
	r := &result{name: dir}
	path := filepath.Join(dir, statsFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for l := range strings.Lines(string(text)) {
		name, f, err := parseLine(l)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		switch name {
		case "SCHEDULER_STATS":
			r.stats = f.schedulerStats()
		case "PROFILE_STATS":
			r.profile = f
		}
	}
	if r.profile == nil {
		return nil, fmt.Errorf("%s: no line PROFILE_STATS", path)
	}
	device := r.profile.get("device")
	r.device = device != "" && device != "none"
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

// readCSV calls f for every row. get returns the value of a column, "" if there is none.
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

// numbers returns the values of columns, or an error if one is not a number of at least 0.
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
			return fmt.Errorf("%s lacks %s", stagesFile, k.stage)
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

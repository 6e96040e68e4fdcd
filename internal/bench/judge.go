package main

import (
	"fmt"
	"slices"
	"strings"
)

// limits says how much slower a build may be.
type limits struct {
	throughputPct float64 // of a row, in percent
	medianPct     float64 // of the median of all rows, in percent
	overheadAbs   float64 // more scheduler overhead, as a part of the workers' time
}

// change compares one operation before and after.
type change struct {
	name     string
	old, new []sample
	sizes    [2]int64 // of the compressed form, old and new
}

// ratio returns the new speed divided by the old one, by medians.
func (c *change) ratio(by clock) float64 {
	return by(median(c.old)).Seconds() / by(median(c.new)).Seconds()
}

// slower says whether both the median and the fastest sample are past the limit of processor time.
// Noise only adds time, so a slower build has slower fastest samples, too.
func (c *change) slower(l limits) bool {
	least := 1 - l.throughputPct/100
	fastest := slices.Min(times(c.old, cpuClock)).Seconds() / slices.Min(times(c.new, cpuClock)).Seconds()
	return c.ratio(cpuClock) < least && fastest < least
}

// verdict is the judgement on all rows.
type verdict struct {
	failed    bool
	slower    []string // names of rows past their limit
	cpu, wall float64  // medians of the ratios
}

func (v verdict) String() string {
	s := fmt.Sprintf("median of the ratios %.3f, by wall time %.3f", v.cpu, v.wall)
	if len(v.slower) > 0 {
		s += "; slower: " + strings.Join(v.slower, ", ")
	}
	if v.failed {
		return "FAIL: " + s
	}
	return "ok: " + s
}

// judge fails if any row, or the median of all rows, is past its limit of processor time.
func judge(changes []*change, l limits) (v verdict) {
	var cpu, wall []float64
	for _, c := range changes {
		cpu, wall = append(cpu, c.ratio(cpuClock)), append(wall, c.ratio(wallClock))
		if c.slower(l) {
			v.slower = append(v.slower, c.name)
		}
	}
	v.cpu, v.wall = middle(cpu), middle(wall)
	v.failed = len(v.slower) > 0 || v.cpu < 1-l.medianPct/100
	return v
}

// changeTable has a row for each change; size is the content's in bytes.
func changeTable(changes []*change, l limits, size int64) *table {
	t := &table{left: 1, columns: []string{"operation", "old MB/cpu-s", "new MB/cpu-s", "ratio",
		"wall ratio", "spread", "samples", "verdict"}}
	for _, c := range changes {
		verdict := "ok"
		if c.slower(l) {
			verdict = "FAIL"
		}
		if c.sizes[0] != c.sizes[1] {
			verdict += fmt.Sprintf(", %d bytes, were %d", c.sizes[1], c.sizes[0])
		}
		speed := func(samples []sample) string { return formatSpeed(mbps(size, median(samples).cpu)) }
		t.add(c.name, speed(c.old), speed(c.new),
			fmt.Sprintf("%.3f", c.ratio(cpuClock)), fmt.Sprintf("%.3f", c.ratio(wallClock)),
			fmt.Sprintf("%.0f%%", 100*max(spread(c.old, cpuClock), spread(c.new, cpuClock))),
			fmt.Sprint(len(c.new)), verdict)
	}
	return t
}

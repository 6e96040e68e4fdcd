package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gopz/compress/internal/measuring"
)

// limits says how much slower a build may be.
type limits struct {
	throughputPct float64 // of a row, in percent
	medianPct     float64 // of the median of all rows, in percent
	overheadAbs   float64 // more scheduler overhead, as a part of the workers' time
}

// least returns the least ratio of speeds that a row may have.
func (l limits) least() float64 { return 1 - l.throughputPct/100 }

// change compares one operation before and after.
type change struct {
	name     string
	old, new []sample
	size     int64    // of the content in bytes
	sizes    [2]int64 // of the compressed form, old and new
	wall     bool     // wall time counts, too
}

// ratios returns the new speed divided by the old one for each round. The samples of a round are
// neighbours in time, so a disturbance hits both.
func (c *change) ratios(by clock) []float64 {
	list := make([]float64, min(len(c.old), len(c.new)))
	for i := range list {
		list[i] = by(c.old[i]).Seconds() / by(c.new[i]).Seconds()
	}
	return list
}

// ratio returns the median of the ratios.
func (c *change) ratio(by clock) float64 { return measuring.Middle(c.ratios(by)) }

// bounds returns bounds of the median ratio that hold with a probability of 98%, whatever the
// distribution of the noise: by the order statistics of the sign test. Of fewer than seven ratios
// they are the least and the greatest.
func (c *change) bounds(by clock) (lo, hi float64) {
	v := slices.Sorted(slices.Values(c.ratios(by)))
	n := len(v)
	k := int(max(0, (float64(n)-2.33*math.Sqrt(float64(n)))/2))
	return v[k], v[n-1-k]
}

// slower reports whether the change is certainly past the limit, by processor time or, if wall is
// set, by wall time.
func (c *change) slower(l limits) bool {
	slower := func(by clock) bool { _, hi := c.bounds(by); return hi < l.least() }
	return slower(cpuClock) || c.wall && slower(wallClock)
}

// looksSlower reports whether the median ratio is past the limit.
func (c *change) looksSlower(l limits) bool {
	return c.ratio(cpuClock) < l.least() || c.wall && c.ratio(wallClock) < l.least()
}

// certain reports whether more samples of processor time would hardly change the verdict.
func (c *change) certain(l limits) bool {
	if len(c.new) < 7 {
		return false
	}
	lo, hi := c.bounds(cpuClock)
	return lo >= l.least() || hi < l.least()
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
	v.cpu, v.wall = measuring.Middle(cpu), measuring.Middle(wall)
	v.failed = len(v.slower) > 0 || v.cpu < 1-l.medianPct/100
	return v
}

// changeTable has a row for each change.
func changeTable(changes []*change, l limits) *table {
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
		speed := func(samples []sample) string {
			return formatSpeed(measuring.MBps(c.size, median(samples).cpu))
		}
		t.addRow(c.name, speed(c.old), speed(c.new),
			fmt.Sprintf("%.3f", c.ratio(cpuClock)), fmt.Sprintf("%.3f", c.ratio(wallClock)),
			fmt.Sprintf("%.0f%%", 100*max(spread(c.old, cpuClock), spread(c.new, cpuClock))),
			fmt.Sprint(len(c.new)), verdict)
	}
	return t
}

package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gopz/compress"
)

// fields are the key=value pairs of a line for programs, in the order in which they are printed.
type fields []field

type field struct{ key, value string }

func (f *fields) add(key, format string, value any) {
	*f = append(*f, field{key, fmt.Sprintf(format, value)})
}

func (f fields) get(key string) string {
	for _, x := range f {
		if x.key == key {
			return x.value
		}
	}
	return ""
}

// number returns a field's value, 0 if it is none.
func (f fields) number(key string) int64 {
	n, _ := strconv.ParseInt(f.get(key), 10, 64)
	return n
}

// line is the fields as they are printed.
func (f fields) line(name string) string {
	var b strings.Builder
	b.WriteString(name)
	for _, x := range f {
		fmt.Fprintf(&b, "\t%s=%s", x.key, x.value)
	}
	b.WriteByte('\n')
	return b.String()
}

// parseLine is the reverse of line.
func parseLine(s string) (name string, f fields, err error) {
	parts := strings.Split(strings.TrimSuffix(s, "\n"), "\t")
	for _, p := range parts[1:] {
		key, value, ok := strings.Cut(p, "=")
		if !ok {
			return "", nil, fmt.Errorf("%q is not key=value", p)
		}
		f = append(f, field{key, value})
	}
	return parts[0], f, nil
}

// schedulerField is a figure of SchedulerStats that can be added up.
type schedulerField struct {
	key string
	at  func(s *compress.SchedulerStats) *int64
}

func duration(d *time.Duration) *int64 { return (*int64)(d) }

var schedulerSums = []schedulerField{
	{"runs", func(s *compress.SchedulerStats) *int64 { return &s.Runs }},
	{"total_ns", func(s *compress.SchedulerStats) *int64 { return duration(&s.Total) }},
	{"stage_compute_ns", func(s *compress.SchedulerStats) *int64 { return duration(&s.Compute) }},
	{"queue_wait_ns", func(s *compress.SchedulerStats) *int64 { return duration(&s.QueueWait) }},
	{"queue_admin_ns", func(s *compress.SchedulerStats) *int64 { return duration(&s.QueueAdmin) }},
	{"gpu_handoff_ns", func(s *compress.SchedulerStats) *int64 { return duration(&s.Handoff) }},
	{"gpu_try_send_full_count", func(s *compress.SchedulerStats) *int64 { return &s.SendFull }},
	{"gpu_try_send_disconnected_count", func(s *compress.SchedulerStats) *int64 { return &s.SendClosed }},
	{"gpu_failed_count", func(s *compress.SchedulerStats) *int64 { return &s.Failed }},
	{"gpu_wrong_count", func(s *compress.SchedulerStats) *int64 { return &s.Wrong }},
	{"gpu_returned_count", func(s *compress.SchedulerStats) *int64 { return &s.Returned }},
}

// schedulerFields is SCHEDULER_STATS. Times of workers add up over the workers; the percentage is of tracked_thread_time_ns, 0 … 100.
func schedulerFields(s *compress.SchedulerStats) (f fields) {
	for i, x := range schedulerSums {
		if i == 8 { // what is derived from those before
			f.add("scheduler_overhead_ns", "%d", int64(s.Overhead()))
			f.add("tracked_thread_time_ns", "%d", int64(s.Tracked()))
			f.add("scheduler_overhead_pct", "%.4f", s.OverheadPct())
		}
		f.add(x.key, "%d", *x.at(s))
	}
	return f
}

// schedulerStats is the reverse.
func (f fields) schedulerStats() (s compress.SchedulerStats) {
	for _, x := range schedulerSums {
		*x.at(&s) = f.number(x.key)
	}
	return s
}

// profileFields is PROFILE_STATS. Speeds are of content, in millions of bytes per second.
func profileFields(c *config, m *measurement) (f fields) {
	n := int64(len(m.rounds))
	f.add("mbps", "%.3f", mbps(n*c.size, m.elapsed))
	f.add("elapsed_ns", "%d", int64(m.elapsed))
	f.add("mbps_median", "%.3f", mbps(c.size, m.middle()))
	f.add("mbps_best", "%.3f", mbps(c.size, m.fastest()))
	f.add("cpu_ns", "%d", int64(m.cpu))
	f.add("cpu_wait_ns", "%d", int64(m.wait))
	f.add("op", "%s", c.op())
	if c.stage != "" {
		f.add("stage", "%s", c.stage)
	}
	f.add("pipeline", "%s", c.pipeline)
	f.add("level", "%d", c.level)
	f.add("block_size", "%d", c.blockSize)
	f.add("threads", "%d", c.threads)
	f.add("backend", "%s", c.backends())
	f.add("device", "%s", c.deviceName())
	f.add("size", "%d", c.size)
	f.add("iterations", "%d", n)
	f.add("content_bytes", "%d", n*c.size)
	f.add("compressed_bytes", "%d", n*m.out)
	status := "ok"
	if m.err != nil {
		status = "ended early"
	}
	f.add("status", "%s", status)
	return f
}

func mbps(bytes int64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(bytes) / d.Seconds() / 1e6
}

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// page is a Markdown page.
type page struct{ strings.Builder }

func (p *page) printf(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// table writes a table whose columns are aligned. The first row is its head.
func (p *page) table(rows [][]string) {
	widths := make([]int, len(rows[0]))
	for i, row := range rows {
		for k := range row {
			rows[i][k] = strings.ReplaceAll(row[k], "|", `\|`)
			widths[k] = max(widths[k], len([]rune(rows[i][k])))
		}
	}
	p.WriteByte('\n')
	for i, row := range rows {
		for k, cell := range row {
			p.printf("| %-*s ", widths[k], cell)
		}
		p.WriteString("|\n")
		if i > 0 {
			continue
		}
		for k := range row {
			p.printf("|%s", strings.Repeat("-", widths[k]+2))
		}
		p.WriteString("|\n")
	}
}

// summary returns the result for people, in Markdown.
func (r *result) summary() string {
	var p page
	f := &r.profile
	p.printf("# Profile: %s\n", r.name)
	rows := [][]string{{"", ""}}
	add := func(name, format string, args ...any) {
		rows = append(rows, []string{name, fmt.Sprintf(format, args...)})
	}
	content, elapsed := f.number("content_bytes"), time.Duration(f.number("elapsed_ns"))
	add("speed", "%.1f MB/s of content", mbps(content, elapsed))
	if best := f.get("mbps_best"); best != "" {
		add("iterations", "median %s MB/s, best %s MB/s", f.get("mbps_median"), best)
	}
	add("work", "%.1f MB of content in %s; %s iterations", float64(content)/1e6, short(elapsed),
		f.get("iterations"))
	if cpu := time.Duration(f.number("cpu_ns")); cpu > 0 && elapsed > 0 {
		add("processors", "%.2f busy; threads waited %s for one", float64(cpu)/float64(elapsed),
			short(time.Duration(f.number("cpu_wait_ns"))))
	}
	if n := f.number("compressed_bytes"); n > 0 {
		add("ratio", "%.3f", float64(content)/float64(n))
	}
	if n := f.number("rss_max_bytes"); n > 0 {
		add("memory", "%.1f MB at most, content and Go runtime included; planned for blocks: %.1f MB",
			float64(n)/1e6, float64(f.number("planned_bytes"))/1e6)
	}
	for _, key := range []string{"pipeline", "level", "threads", "backend", "device",
		"device_open_ns", "device_too_slow", "device_error", "host", "cpu", "platform", "kernels", "go"} {
		value := f.get(key)
		ns := f.number(key)
		if key == "device_open_ns" && value != "" && r.runs == nil {
			key, value = "device opened in", short(time.Duration(ns))
		}
		if value != "" {
			add(strings.ReplaceAll(key, "_", " "), "%s", value)
		}
	}
	add("status", "%s", r.status())
	p.table(rows)
	r.summarizeRuns(&p)
	r.summarizeWorkers(&p)
	r.summarizeDevice(&p)
	r.summarizeStages(&p)
	r.summarizeBlocks(&p)
	return p.String()
}

// summarizeWorkers says what the workers did with their time.
func (r *result) summarizeWorkers(p *page) {
	s := &r.stats
	if s.Tracked() == 0 {
		return
	}
	p.printf("\n## Workers\n\nScheduler overhead: %.2f%% of the workers' time.\n", s.OverheadPct())
	// One number of threads for all runs gives the time that the workers had.
	all, known := s.Tracked(), false
	if n := r.profile.number("threads"); n > 0 {
		all, known = max(time.Duration(n)*s.Total, all), true
	}
	rows := [][]string{{"", "time", "share"}}
	for _, x := range []struct {
		name string
		d    time.Duration
	}{
		{"in stages", s.Compute},
		{"waiting for a block", s.QueueWait},
		{"retiring blocks", s.QueueAdmin},
		{"preparing device requests", s.Handoff},
	} {
		rows = append(rows, []string{x.name, short(x.d), fmt.Sprintf("%.2f%%", percent(x.d, all))})
	}
	const idle = "idle: fewer blocks than workers"
	if known {
		rows = append(rows, []string{idle, short(all - s.Tracked()),
			fmt.Sprintf("%.2f%%", percent(all-s.Tracked(), all))})
	} else {
		rows = append(rows, []string{idle, "unknown: thread counts differ", "unknown"})
	}
	p.table(rows)
}

// summarizeDevice lists the counts of requests to a device.
func (r *result) summarizeDevice(p *page) {
	if !r.device {
		return
	}
	rows := [][]string{{"", ""}}
	texts := map[string]string{
		"gpu_strict_waiting_count":        "requests of gpu and fused that waited for the device",
		"gpu_strict_wait_ns":              "their wait, from offer to batch",
		"gpu_try_send_full_count":         "requests of auto that found the device's queue full",
		"gpu_try_send_disconnected_count": "requests that found the device lost",
		"gpu_failed_count":                "requests that the device failed at",
		"gpu_wrong_count":                 "of these, with a wrong result",
		"gpu_reclaimed_count":             "blocks that an idle worker took back",
		"gpu_returned_count":              "blocks that returned to the CPU after a failure",
	}
	// Columns that have nothing to do with the device.
	plain := []string{"runs", "total_ns", "stage_compute_ns", "queue_wait_ns", "queue_admin_ns",
		"gpu_handoff_ns", "pauses_count", "paused_ns"}
	for i := range schedulerColumns {
		c := &schedulerColumns[i]
		if slices.Contains(plain, c.name) {
			continue
		}
		name, value := texts[c.name], itoa(c.of(&r.stats))
		if name == "" {
			name = c.name
		}
		if strings.HasSuffix(c.name, "_ns") {
			value = short(time.Duration(c.of(&r.stats)))
		}
		rows = append(rows, []string{name, value})
	}
	p.printf("\n## Device\n")
	p.table(rows)
}

func (r *result) summarizeStages(p *page) {
	if len(r.stages) == 0 {
		return
	}
	p.printf("\n## Stages\n\nMB/s are of one worker, or of the device.\n")
	rows := [][]string{{"", "stage", "on", "blocks", "time", "share", "MB/s", "median", "99%", "longest"}}
	all := r.stageTime()
	for i := range r.stages {
		s := &r.stages[i]
		h := &s.times
		rows = append(rows, []string{s.op, s.stage, s.backend.String(), itoa(h.count), short(h.sum),
			fmt.Sprintf("%.1f%%", percent(h.sum, all)), fmt.Sprintf("%.0f", mbps(s.bytes, h.sum)),
			short(h.quantile(0.5)), short(h.quantile(0.99)), short(h.max)})
	}
	p.table(rows)
}

// summarizeBlocks shows the wait for the turn in the output, and the slowest blocks.
func (r *result) summarizeBlocks(p *page) {
	if h := &r.order; h.count > 0 {
		p.printf("\n## Finished blocks waiting for their turn in the output\n")
		p.table([][]string{{"blocks", "mean", "median", "99%", "longest"}, {itoa(h.count), short(h.mean()),
			short(h.quantile(0.5)), short(h.quantile(0.99)), short(h.max)}})
	}
	if len(r.slow) == 0 {
		return
	}
	const most = 5
	p.printf("\n## Slowest blocks\n\n%s has more.\n", slowestFile)
	rows := [][]string{{"time", "block", "stages, in ns"}}
	for _, s := range r.slow[:min(len(r.slow), most)] {
		name := "iteration " + s.row[0] + ", block " + s.row[1]
		if s.run != "" {
			name = s.run + ", " + name
		}
		rows = append(rows, []string{short(s.span), name, s.row[len(s.row)-1]})
	}
	p.table(rows)
}

// short returns a duration with about three figures.
func short(d time.Duration) string {
	switch {
	case d < 10*time.Microsecond:
		return d.String()
	case d < 10*time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < 10*time.Second:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

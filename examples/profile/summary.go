package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/gopz/compress"
)

// summary is the result for people, in Markdown.
func (r *result) summary() string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	f := &r.profile
	content, elapsed := f.number("content_bytes"), time.Duration(f.number("elapsed_ns"))

	p("# Profile: %s\n\n| | |\n|---|---|\n", r.name)
	p("| speed | %.1f MB/s of content |\n", mbps(content, elapsed))
	if best := f.get("mbps_best"); best != "" {
		p("| iterations | median %s MB/s, best %s MB/s |\n", f.get("mbps_median"), best)
	}
	p("| work | %s iterations, %.1f MB of content in %s |\n", f.get("iterations"), float64(content)/1e6, short(elapsed))
	if cpu, wait := time.Duration(f.number("cpu_ns")), time.Duration(f.number("cpu_wait_ns")); cpu > 0 && elapsed > 0 {
		p("| processors | %.2f busy; %s waiting for one that others had |\n", float64(cpu)/float64(elapsed), short(wait))
	}
	if n := f.number("compressed_bytes"); n > 0 {
		p("| ratio | %.3f |\n", float64(content)/float64(n))
	}
	for _, key := range []string{"pipeline", "level", "block_size", "threads", "backend", "device", "status"} {
		if v := f.get(key); v != "" {
			p("| %s | %s |\n", strings.ReplaceAll(key, "_", " "), v)
		}
	}
	r.summarizeRuns(p)
	r.summarizeTime(p)
	r.summarizeStages(p)
	if h := &r.order; h.count > 0 {
		p("\n## After the stages: waiting for their turn in the ordered output\n\n| blocks | mean | median | 99%% | longest |\n|---|---|---|---|---|\n")
		p("| %d | %s | %s | %s | %s |\n", h.count, short(h.mean()), short(h.quantile(0.5)), short(h.quantile(0.99)), short(h.max))
	}
	if len(r.slow) > 0 {
		const most = 5
		p("\n## Slowest blocks\n\nMore are in %s.\n\n| took | block | stages, in ns |\n|---|---|---|\n", slowestFile)
		for _, s := range r.slow[:min(len(r.slow), most)] {
			name := "iteration " + s.row[0] + ", block " + s.row[1]
			if s.run != "" {
				name = s.run + ", " + name
			}
			p("| %s | %s | %s |\n", short(s.span), name, s.row[len(s.row)-1])
		}
	}
	return b.String()
}

func (r *result) summarizeRuns(p func(string, ...any)) {
	if r.runs == nil {
		return
	}
	p("\n## Runs\n\n| directory | what | MB/s | overhead | status |\n|---|---|---|---|---|\n")
	for _, x := range r.runs {
		f := &x.profile
		what := f.get("pipeline")
		if s := f.get("stage"); s != "" {
			what = s
		}
		overhead := "–"
		if x.stats.Tracked() > 0 {
			overhead = fmt.Sprintf("%.2f%%", x.stats.OverheadPct())
		}
		p("| %s | %s %s, level %s, %s threads | %s | %s | %s |\n", x.name, f.get("op"), what, f.get("level"), f.get("threads"),
			f.get("mbps"), overhead, f.get("status"))
	}
}

// summarizeTime says what the workers did with the time they had.
func (r *result) summarizeTime(p func(string, ...any)) {
	s := &r.stats
	threads := r.profile.number("threads")
	had := time.Duration(threads) * s.Total
	if s.Tracked() == 0 {
		return
	}
	if threads == 0 || had < s.Tracked() {
		had = s.Tracked() // of several runs that differ, or with a device that took a processor
	}
	p("\n## Where the workers' time went\n\nScheduler overhead: %.2f%% of the time that is accounted for.\n\n| | time | share |\n|---|---|---|\n", s.OverheadPct())
	for _, x := range []struct {
		what string
		d    time.Duration
	}{
		{"in stages and checks", s.Compute},
		{"without a block, or waiting for the queue's lock", s.QueueWait},
		{"holding the lock", s.QueueAdmin},
		{"handing blocks to the device", s.Handoff},
		{"idle, with fewer blocks left than workers", had - s.Tracked()},
	} {
		p("| %s | %s | %.2f%% |\n", x.what, short(x.d), percent(x.d, had))
	}
	if s.SendFull+s.SendClosed+s.Failed+s.Returned > 0 || r.onDevice() {
		p("\n## The device\n\n| | |\n|---|---|\n| requests that found its channel full | %d |\n| closed | %d |\n", s.SendFull, s.SendClosed)
		p("| requests it failed at | %d |\n| of these without saying so | %d |\n| blocks that went back to the CPU | %d |\n", s.Failed, s.Wrong, s.Returned)
	}
}

func (r *result) onDevice() bool {
	for i := range r.stages {
		if r.stages[i].backend == compress.GPU {
			return true
		}
	}
	return false
}

func (r *result) summarizeStages(p func(string, ...any)) {
	if len(r.stages) == 0 {
		return
	}
	p("\n## Inside the stages\n\nMB/s are of one worker, or of the device.\n\n")
	p("| | stage | on | blocks | time | share | MB/s | median | 99%% | longest |\n|---|---|---|---|---|---|---|---|---|---|\n")
	all := r.stageTime()
	for i := range r.stages {
		s := &r.stages[i]
		h := &s.times
		p("| %s | %s | %v | %d | %s | %.1f%% | %.0f | %s | %s | %s |\n", opName(s.op), s.stage, s.backend, h.count, short(h.sum),
			percent(h.sum, all), mbps(s.bytes, h.sum), short(h.quantile(0.5)), short(h.quantile(0.99)), short(h.max))
	}
}

// short is a duration with three figures or so.
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

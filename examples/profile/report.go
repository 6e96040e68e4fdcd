package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gopz/compress"
)

// line is a line for programs: a name, then key=value.
type line struct{ strings.Builder }

func (l *line) add(key, format string, value any) {
	fmt.Fprintf(l, "\t%s="+format, key, value)
}

// report prints lines for programs to out and tables for people to errOut.
func (j *job) report(out, errOut io.Writer) error {
	stats := j.sched.Stats()
	lines := []string{j.profileLine()}
	if j.stats {
		lines = append(lines, schedulerLine(&stats))
		for i := range stats.Stages {
			lines = append(lines, stageLine(&stats.Stages[i]))
		}
	}
	for _, l := range lines {
		if _, err := fmt.Fprintln(out, l); err != nil {
			return err
		}
	}
	if !j.stats {
		return nil
	}
	return j.tables(errOut, &stats)
}

func (j *job) profileLine() string {
	n := int64(j.iterations)
	var l line
	l.WriteString("PROFILE_STATS")
	l.add("mbps", "%.3f", mbps(n*j.size, j.elapsed))
	l.add("elapsed_ns", "%d", int64(j.elapsed))
	l.add("cpu_ns", "%d", int64(j.cpu))
	l.add("op", "%s", map[bool]string{false: "compress", true: "decompress"}[j.decompress])
	l.add("pipeline", "%s", j.pipeline)
	l.add("level", "%d", j.level)
	l.add("threads", "%d", j.threads)
	l.add("backend", "%s", j.backends[0].String()+","+j.backends[1].String())
	l.add("device", "%q", j.device)
	l.add("size", "%d", j.size)
	l.add("iterations", "%d", n)
	l.add("content_bytes", "%d", n*j.size)
	l.add("compressed_bytes", "%d", n*j.compressed)
	if j.stats {
		l.add("blocks", "%d", j.order.blocks)
		l.add("order_wait_ns", "%d", int64(j.order.sum))
		l.add("order_wait_max_ns", "%d", int64(j.order.max))
	}
	return l.String()
}

// schedulerLine formats statistics of all iterations. Times of workers add up over the workers.
func schedulerLine(s *compress.SchedulerStats) string {
	var l line
	l.WriteString("SCHEDULER_STATS")
	for _, f := range []struct {
		key   string
		value int64
	}{
		{"runs", s.Runs},
		{"total_ns", int64(s.Total)},
		{"stage_compute_ns", int64(s.Compute)},
		{"queue_wait_ns", int64(s.QueueWait)},
		{"queue_admin_ns", int64(s.QueueAdmin)},
		{"gpu_handoff_ns", int64(s.Handoff)},
		{"gpu_try_send_full_count", s.QueueFull},
		{"gpu_try_send_disconnected_count", s.DeviceLost},
		{"gpu_failed_count", s.Failed},
		{"gpu_wrong_count", s.Wrong},
		{"gpu_returned_count", s.Returned},
		{"gpu_reclaimed_count", s.Reclaimed},
		{"scheduler_overhead_ns", int64(s.Overhead())},
		{"tracked_thread_time_ns", int64(s.Tracked())},
	} {
		l.add(f.key, "%d", f.value)
	}
	l.add("scheduler_overhead_pct", "%.4f", s.OverheadPct())
	return l.String()
}

func stageLine(s *compress.StageStats) string {
	var l line
	l.WriteString("STAGE_STATS")
	l.add("stage", "%s", s.Stage)
	l.add("backend", "%s", s.Backend.String())
	l.add("blocks", "%d", s.Blocks)
	l.add("bytes", "%d", s.Bytes)
	l.add("time_ns", "%d", int64(s.Time))
	l.add("mbps", "%.3f", mbps(s.Bytes, s.Time))
	return l.String()
}

// tables prints what the workers did, and the stages.
func (j *job) tables(w io.Writer, s *compress.SchedulerStats) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	all := max(time.Duration(j.threads)*s.Total, s.Tracked())
	fmt.Fprintf(t, "%.1f MB/s\t%.2f processors busy\tratio %.3f\t\n\n",
		mbps(int64(j.iterations)*j.size, j.elapsed), float64(j.cpu)/float64(j.elapsed),
		float64(j.size)/float64(j.compressed))
	fmt.Fprintf(t, "workers\ttime\tshare\t\n")
	for _, row := range []struct {
		name string
		d    time.Duration
	}{
		{"in stages", s.Compute},
		{"waiting for a block", s.QueueWait},
		{"retiring blocks", s.QueueAdmin},
		{"preparing device requests", s.Handoff},
		{"idle: fewer blocks than workers", all - s.Tracked()},
	} {
		fmt.Fprintf(t, "%s\t%v\t%.1f%%\t\n", row.name, row.d.Round(time.Microsecond), percent(row.d, all))
	}
	fmt.Fprintf(t, "\nstage\ton\tblocks\ttime\tshare\tMB/s\ttime of a block\t\n")
	var sum time.Duration
	for i := range s.Stages {
		sum += s.Stages[i].Time
	}
	for _, x := range s.Stages {
		fmt.Fprintf(t, "%s\t%v\t%d\t%v\t%.1f%%\t%.0f\t%v\t\n", x.Stage, x.Backend, x.Blocks,
			x.Time.Round(time.Microsecond), percent(x.Time, sum), mbps(x.Bytes, x.Time),
			(x.Time / time.Duration(x.Blocks)).Round(time.Microsecond))
	}
	if j.order.blocks > 0 {
		fmt.Fprintf(t, "\nwait for the turn in the output\tmean %v\tmax %v\t\n",
			(j.order.sum / time.Duration(j.order.blocks)).Round(time.Microsecond),
			j.order.max.Round(time.Microsecond))
	}
	return t.Flush()
}

func percent(part, whole time.Duration) float64 { return 100 * float64(part) / float64(max(whole, 1)) }

// mbps returns millions of bytes per second.
func mbps(bytes int64, d time.Duration) float64 { return float64(bytes) / 1e6 / max(d, 1).Seconds() }

package main

import (
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/gopz/compress"
	"github.com/gopz/compress/simd"
)

// fields are the key=value pairs of a line for programs, in order.
type fields []field

type field struct{ key, value string }

// addField appends a field. Spaces that would end it become plain spaces.
func (f *fields) addField(key, format string, value any) {
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, fmt.Sprintf(format, value))
	*f = append(*f, field{key, text})
}

func (f fields) get(key string) string {
	for _, x := range f {
		if x.key == key {
			return x.value
		}
	}
	return ""
}

// number returns the value of a field, 0 if it is none.
func (f fields) number(key string) int64 {
	n, _ := strconv.ParseInt(f.get(key), 10, 64)
	return n
}

// line returns a name and the fields as a line.
func (f fields) line(name string) string {
	var b strings.Builder
	b.WriteString(name)
	for _, x := range f {
		fmt.Fprintf(&b, "\t%s=%s", x.key, x.value)
	}
	b.WriteByte('\n')
	return b.String()
}

// parseLine parses what line returns.
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

// schedulerColumn is a field of compress.Stats that adds up over runs.
type schedulerColumn struct {
	name  string
	index int // of the field
}

// columnNames names the columns of fields. A field that it lacks gets a name made of its own.
var columnNames = map[string]string{
	"Runs":          "runs",
	"Total":         "total_ns",
	"Compute":       "stage_compute_ns",
	"QueueWait":     "queue_wait_ns",
	"QueueAdmin":    "queue_admin_ns",
	"Handoff":       "gpu_handoff_ns",
	"Pauses":        "pauses_count",
	"Paused":        "paused_ns",
	"StrictWaiting": "gpu_strict_waiting_count",
	"StrictWait":    "gpu_strict_wait_ns",
	"QueueFull":     "gpu_try_send_full_count",
	"DeviceLost":    "gpu_try_send_disconnected_count",
	"Failed":        "gpu_failed_count",
	"Wrong":         "gpu_wrong_count",
	"Reclaimed":     "gpu_reclaimed_count",
	"Returned":      "gpu_returned_count",
}

// schedulerColumns has every number of compress.Stats, so that no table lacks a new one.
var schedulerColumns = func() (list []schedulerColumn) {
	t := reflect.TypeFor[compress.Stats]()
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Type.Kind() != reflect.Int64 {
			continue
		}
		name := columnNames[f.Name]
		if name == "" {
			name = columnName(f.Name, f.Type == reflect.TypeFor[time.Duration]())
		}
		list = append(list, schedulerColumn{name, i})
	}
	return list
}()

// columnName returns the name of the column of a field, such as strict_wait_ns for StrictWait.
func columnName(field string, isDuration bool) string {
	var b strings.Builder
	for i, r := range field {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	if isDuration {
		return b.String() + "_ns"
	}
	return b.String() + "_count"
}

// of returns the value of the column.
func (c *schedulerColumn) of(s *compress.Stats) int64 {
	return reflect.ValueOf(s).Elem().Field(c.index).Int()
}

// schedulerFields returns SCHEDULER_STATS. Times of workers add up over the workers.
func schedulerFields(s *compress.Stats) (f fields) {
	for i := range schedulerColumns {
		c := &schedulerColumns[i]
		f.addField(c.name, "%d", c.of(s))
	}
	f.addField("scheduler_overhead_ns", "%d", int64(s.Overhead()))
	f.addField("tracked_thread_time_ns", "%d", int64(s.Tracked()))
	f.addField("scheduler_overhead_pct", "%.4f", s.OverheadPct())
	return f
}

// schedulerStats parses SCHEDULER_STATS. Columns that are missing are zero.
func (f fields) schedulerStats() (s compress.Stats) {
	for _, c := range schedulerColumns {
		reflect.ValueOf(&s).Elem().Field(c.index).SetInt(f.number(c.name))
	}
	return s
}

// machine returns what describes this machine and program.
func machine() (f fields) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	f.addField("host", "%s", host)
	f.addField("cpu", "%s", processor())
	f.addField("cpus", "%d", runtime.NumCPU())
	f.addField("platform", "%s", runtime.GOOS+"/"+runtime.GOARCH)
	f.addField("kernels", "%s", simd.Tier())
	f.addField("go", "%s", runtime.Version())
	return f
}

// processor returns the processor's name if Linux tells it.
func processor() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

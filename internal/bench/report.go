package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// total stands for the file's name in the sum over all files.
const total = "(all)"

// withTotals returns the results with, after the files of each contestant, their sum: round by round, so that a round is a
// measurement of the whole set.
func withTotals(results []result) []result {
	var out []result
	for len(results) > 0 {
		first := results[0]
		n := 1
		for n < len(results) && results[n].String() == first.String() {
			n++
		}
		sum := result{
			contestant: first.contestant,
			file:       total,
			compress:   make([]sample, len(first.compress)),
			decompress: make([]sample, len(first.decompress)),
		}
		for _, r := range results[:n] {
			sum.size += r.size
			sum.packed += r.packed
			addTo(sum.compress, r.compress)
			addTo(sum.decompress, r.decompress)
		}
		out = append(append(out, results[:n]...), sum)
		results = results[n:]
	}
	return out
}

func addTo(sum, more []sample) {
	for i, s := range more {
		sum[i].wall += s.wall
		sum[i].cpu += s.cpu
	}
}

func byWall(a, b sample) int { return cmp.Compare(a.wall, b.wall) }

// median returns the sample whose wall time is in the middle; of an even number of them the slower of the two.
func median(samples []sample) sample {
	return slices.SortedFunc(slices.Values(samples), byWall)[len(samples)/2]
}
func fastest(samples []sample) sample { return slices.MinFunc(samples, byWall) }
func slowest(samples []sample) sample { return slices.MaxFunc(samples, byWall) }

// spread returns how far the rounds lie apart, as a part of the median.
func spread(samples []sample) float64 {
	return (slowest(samples).wall - fastest(samples).wall).Seconds() / median(samples).wall.Seconds()
}

func (r result) ratio() float64 { return float64(r.size) / float64(r.packed) }

// speed returns MB/s of content.
func (r result) speed(s sample) float64 { return float64(r.size) / 1e6 / s.wall.Seconds() }

// busy returns how many processors worked.
func (s sample) busy() float64 { return s.cpu.Seconds() / s.wall.Seconds() }

func writeTable(w io.Writer, results []result, cfg *config, inputs []input, notes []string) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s, %d CPUs, %s/%s\n", processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
	for _, note := range notes {
		fmt.Fprintln(b, note)
	}
	var size int64
	for _, in := range inputs {
		size += in.size
	}
	if len(inputs) == 1 {
		fmt.Fprintf(b, "%s, %d bytes; ", inputs[0].name, size)
	} else {
		fmt.Fprintf(b, "%d files, %d bytes; ", len(inputs), size)
	}
	fmt.Fprintf(b, "medians of %d\n\n", cfg.repeats)

	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "tool\tlevel\tthreads\tratio\tcompr. MB/s\tcpu\tdecompr. MB/s\tcpu\tspread\t")
	if cfg.each {
		fmt.Fprint(t, "file\t")
	}
	fmt.Fprintln(t)
	for _, r := range withTotals(results) {
		if !shown(r.file == total, cfg.each, len(inputs)) {
			continue
		}
		c, d := median(r.compress), median(r.decompress)
		fmt.Fprintf(t, "%s\t%d\t%d\t%.3f\t%.1f\t%.2f\t%.1f\t%.2f\t%.0f%%\t",
			r.tool, r.level, r.threads, r.ratio(), r.speed(c), c.busy(), r.speed(d), d.busy(),
			100*max(spread(r.compress), spread(r.decompress)))
		if cfg.each {
			fmt.Fprintf(t, "%s\t", r.file)
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return b.Flush()
}

// shown says which rows the table has: the sums, or with --each the files and, if there are several, their sum.
func shown(sum, each bool, files int) bool {
	if sum {
		return !each || files > 1
	}
	return each
}

func writeTSV(name string, results []result) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(f)
	fmt.Fprintln(b, "tool\tlevel\tthreads\tfile\tbytes\tcompressed\tratio"+
		"\tcompress_mbps\tcompress_wall_s\tcompress_cpu_s\tcompress_min_s\tcompress_max_s"+
		"\tdecompress_mbps\tdecompress_wall_s\tdecompress_cpu_s\tdecompress_min_s\tdecompress_max_s")
	noTabs := strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")
	for _, r := range withTotals(results) {
		fmt.Fprintf(b, "%s\t%d\t%d\t%s\t%d\t%d\t%.4f", r.tool, r.level, r.threads, noTabs.Replace(r.file), r.size, r.packed, r.ratio())
		for _, samples := range [][]sample{r.compress, r.decompress} {
			m := median(samples)
			fmt.Fprintf(b, "\t%.2f\t%s\t%s\t%s\t%s", r.speed(m), seconds(m.wall), seconds(m.cpu),
				seconds(fastest(samples).wall), seconds(slowest(samples).wall))
		}
		fmt.Fprintln(b)
	}
	if err := b.Flush(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.6f", d.Seconds()) }

// processor returns the processor's name where Linux tells it.
func processor() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}

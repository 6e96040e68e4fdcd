package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/gopz/compress/internal/measuring"
)

// total stands for a file's name in the sum over all files.
const total = "(all)"

// withTotals returns the results with, after the files of each setting, their sum. It adds the
// samples round by round, so that a round is a measurement of all files.
func withTotals(entries []*entry) (out []*entry) {
	for len(entries) > 0 {
		first := entries[0]
		sum := &entry{result: result{
			setting:    first.setting,
			file:       total,
			compress:   make([]sample, len(first.compress)),
			decompress: make([]sample, len(first.decompress)),
		}}
		for len(entries) > 0 && entries[0].setting == first.setting {
			r := entries[0]
			entries = entries[1:]
			out = append(out, r)
			sum.size += r.size
			sum.packed += r.packed
			for i := range sum.compress {
				sum.compress[i] = sum.compress[i].plus(r.compress[i])
				sum.decompress[i] = sum.decompress[i].plus(r.decompress[i])
			}
		}
		out = append(out, sum)
	}
	return out
}

func describe(inputs []*input) string {
	var size int64
	for _, in := range inputs {
		size += in.size
	}
	if len(inputs) == 1 {
		return fmt.Sprintf("%s, %d bytes", inputs[0].name, size)
	}
	return fmt.Sprintf("%d files, %d bytes", len(inputs), size)
}

// summaryTable returns the table for people.
func summaryTable(results []*entry, files bool) *table {
	t := &table{left: 1, columns: []string{"tool", "level", "threads", "ratio", "compress MB/s", "cpu",
		"decompress MB/s", "cpu", "spread"}}
	if files {
		t.columns = append(t.columns, "file")
	}
	for _, r := range results {
		row := []string{r.tool, strconv.Itoa(r.level), strconv.Itoa(r.threads),
			fmt.Sprintf("%.3f", r.ratio())}
		for _, samples := range [][]sample{r.compress, r.decompress} {
			row = append(row, fmt.Sprintf("%.1f", r.speed(samples, wallClock)),
				fmt.Sprintf("%.2f", median(samples).busy()))
		}
		row = append(row, fmt.Sprintf("%.0f%%",
			100*max(spread(r.compress, wallClock), spread(r.decompress, wallClock))))
		if files {
			row = append(row, r.file)
		}
		t.addRow(row...)
	}
	return t
}

// samplesTable returns the table for programs.
func samplesTable(results []*entry) *table {
	t := &table{columns: []string{"tool", "level", "threads", "file", "bytes", "compressed", "ratio"}}
	for _, way := range []string{"compress", "decompress"} {
		for _, c := range []string{"_mbps", "_wall_s", "_cpu_s", "_min_s", "_max_s"} {
			t.columns = append(t.columns, way+c)
		}
	}
	seconds := func(d time.Duration) string { return fmt.Sprintf("%.6f", d.Seconds()) }
	for _, r := range results {
		row := []string{r.tool, strconv.Itoa(r.level), strconv.Itoa(r.threads), r.file,
			strconv.FormatInt(r.size, 10), strconv.FormatInt(r.packed, 10), fmt.Sprintf("%.4f", r.ratio())}
		for _, samples := range [][]sample{r.compress, r.decompress} {
			m, walls := median(samples), times(samples, wallClock)
			row = append(row, fmt.Sprintf("%.2f", measuring.MBps(r.size, m.wall)), seconds(m.wall),
				seconds(m.cpu), seconds(slices.Min(walls)), seconds(slices.Max(walls)))
		}
		t.addRow(row...)
	}
	return t
}

// writeFile creates a file and has write fill it.
func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = write(f)
	cerr := f.Close()
	if err == nil {
		err = cerr
	}
	return err
}

package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/gopz/compress/internal/measuring"
)

// table has columns and rows of text. The first left columns are names and stand to the left.
type table struct {
	columns []string
	left    int
	rows    [][]string
}

func (t *table) addRow(cells ...string) { t.rows = append(t.rows, cells) }

// text writes the table for a terminal.
func (t *table) text(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	widths := make([]int, t.left)
	for _, row := range append([][]string{t.columns}, t.rows...) {
		for i := range widths {
			widths[i] = max(widths[i], len([]rune(row[i])))
		}
	}
	for _, row := range append([][]string{t.columns}, t.rows...) {
		for i, cell := range row {
			if i < t.left {
				cell = fmt.Sprintf("%-*s", widths[i], cell)
			}
			fmt.Fprintf(tw, "%s\t", cell)
		}
		fmt.Fprintln(tw)
	}
	return tw.Flush()
}

// markdown writes the table for documents.
func (t *table) markdown(w io.Writer) {
	fmt.Fprintf(w, "| %s |\n|", strings.Join(t.columns, " | "))
	for i := range t.columns {
		if i < t.left {
			fmt.Fprint(w, "---|")
		} else {
			fmt.Fprint(w, "--:|")
		}
	}
	fmt.Fprintln(w)
	for _, row := range t.rows {
		fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
	}
}

// tsv writes the table for programs. Tabs and ends of lines within cells become spaces.
func (t *table) tsv(w io.Writer) error {
	b := bufio.NewWriter(w)
	clean := strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")
	for _, row := range append([][]string{t.columns}, t.rows...) {
		for i, cell := range row {
			if i > 0 {
				b.WriteByte('\t')
			}
			clean.WriteString(b, cell)
		}
		b.WriteByte('\n')
	}
	return b.Flush()
}

// writeBenchmarks writes every sample as a line of the Go benchmark format, for benchstat.
func writeBenchmarks(w io.Writer, name string, entries []*entry) error {
	b := bufio.NewWriter(w)
	goos, goarch := platform()
	fmt.Fprintf(b, "goos: %s\ngoarch: %s\ncpu: %s\n", goos, goarch, measuring.Processor())
	plain := strings.NewReplacer(" ", "_", "\t", "_", "\n", "_")
	for _, e := range entries {
		r := &e.result
		for _, d := range []struct {
			name    string
			samples []sample
		}{{"compress", r.compress}, {"decompress", r.decompress}} {
			for _, s := range d.samples {
				fmt.Fprintf(b, "Benchmark%s/%s/%s/level=%d/threads=%d/file=%s 1 %d ns/op %.2f MB/s"+
					" %d cpu-ns/op %.2f MB/cpu-s %.4f ratio\n", name, d.name, plain.Replace(r.tool), r.level,
					r.threads, plain.Replace(r.file), s.wall, measuring.MBps(r.size, s.wall), s.cpu,
					measuring.MBps(r.size, s.cpu), r.ratio())
			}
		}
	}
	return b.Flush()
}

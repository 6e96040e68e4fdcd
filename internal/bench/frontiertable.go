package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/gopz/compress/internal/measuring"
)

// report returns the measurements as Markdown.
func report(head []string, points []*point) []byte {
	var b bytes.Buffer
	b.WriteString("# Ratio and speed\n\nWritten by `scripts/bench.sh --frontier`.\n\n" +
		"Compression ratio and speed of every level of pz, zstd, lz4 and the codecs of\n" +
		"klauspost/compress. All work runs in memory on one thread. A speed is MB of content per\n" +
		"second of processor time.\n\n")
	for _, line := range head {
		b.WriteString(wrap("- "+strings.TrimSuffix(line, ".")+".", "  "))
	}
	b.WriteString("\n![Ratio over speed](frontier.svg)\n\n" +
		"A speed is **bold** if no other level is both smaller and faster, and *slanted* if no other\n" +
		"level of pz is.\n\n")
	t := &table{left: 1}
	t.columns = []string{"compressor", "level", "ratio", "compression, MB/s", "decompression, MB/s"}
	for _, p := range points {
		row := []string{p.family.title, strconv.Itoa(p.level), fmt.Sprintf("%.3f", p.ratio())}
		for _, speed := range directions {
			mark := emphasis(p, points, speed)
			row = append(row, mark+formatSpeed(speed(p))+mark)
		}
		t.addRow(row...)
	}
	t.markdown(&b)
	if t := relativeTable(points); len(t.rows) > 0 {
		b.WriteString("\n## Relative speed\n\n" +
			"pz's speed divided by the other's, at the lowest level of each pipeline that is no larger:\n" +
			"×c compressing, ×d decompressing; medians over the rounds, geometric means over the files.\n\n")
		t.markdown(&b)
	}
	return b.Bytes()
}

// wrap breaks a line of Markdown into lines of at most 100 bytes; indent begins all but the first.
func wrap(line, indent string) string {
	var b strings.Builder
	column := 0
	for word := range strings.FieldsSeq(line) {
		switch {
		case column > 0 && column+1+len(word) > 100:
			b.WriteString("\n" + indent)
			column = len(indent)
		case column > 0:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String() + "\n"
}

func formatSpeed(speed float64) string {
	if speed < 100 {
		return fmt.Sprintf("%.1f", speed)
	}
	return fmt.Sprintf("%.0f", speed)
}

// emphasis returns the Markdown around a speed.
func emphasis(p *point, points []*point, speed func(*point) float64) string {
	switch {
	case undominated(p, points, speed):
		return "**"
	case p.family.ours && undominated(p, ownPoints(points), speed):
		return "*"
	}
	return ""
}

func ownPoints(points []*point) (own []*point) {
	for _, p := range points {
		if p.family.ours {
			own = append(own, p)
		}
	}
	return own
}

// undominated says whether no other point is at least as small and as fast as p and better in one.
func undominated(p *point, points []*point, speed func(*point) float64) bool {
	for _, o := range points {
		if o.ratio() >= p.ratio() && speed(o) > speed(p) ||
			o.ratio() > p.ratio() && speed(o) >= speed(p) {
			return false
		}
	}
	return true
}

// relativeTable has a row for each level of another compressor, and for each pipeline of pz the
// lowest level that is no larger with its speeds relative to that.
func relativeTable(points []*point) *table {
	t := &table{left: 1, columns: []string{"compressor", "level", "ratio"}}
	var own []*family
	for _, p := range points {
		if p.family.ours && (len(own) == 0 || own[len(own)-1] != p.family) {
			own = append(own, p.family)
			t.columns = append(t.columns, p.family.name, "×c", "×d")
		}
	}
	if len(own) == 0 {
		return t
	}
	for _, p := range points {
		if p.family.ours {
			continue
		}
		row := []string{p.family.title, strconv.Itoa(p.level), fmt.Sprintf("%.3f", p.ratio())}
		for _, f := range own {
			if q := lowest(f, points, p.ratio()); q != nil {
				row = append(row, strconv.Itoa(q.level),
					fmt.Sprintf("%.2f", relative(q, p, func(e *entry) []sample { return e.compress })),
					fmt.Sprintf("%.2f", relative(q, p, func(e *entry) []sample { return e.decompress })))
			} else {
				row = append(row, "–", "–", "–")
			}
		}
		t.addRow(row...)
	}
	return t
}

// lowest returns the lowest level of f that has at least that ratio, nil if there is none.
func lowest(f *family, points []*point, ratio float64) *point {
	for _, p := range points {
		if p.family == f && p.ratio() >= ratio {
			return p
		}
	}
	return nil
}

// relative returns the speed of ours divided by that of theirs: the geometric mean over the files
// of the median over the rounds.
func relative(ours, theirs *point, samples func(*entry) []sample) float64 {
	return ours.mean(func(i int) float64 {
		a, b := samples(ours.files[i]), samples(theirs.files[i])
		v := make([]float64, len(a))
		for k := range v {
			v[k] = b[k].cpu.Seconds() / a[k].cpu.Seconds()
		}
		return measuring.Middle(v)
	})
}

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

// heading returns lines on what was measured, on what, and how calm it was.
func heading(cfg *config, size int, before, after string) []string {
	lines := []string{
		fmt.Sprintf("%s, %d bytes; the fastest of %d rounds, by turns, in memory, one thread, MB of content to a second of %s.",
			filepath.Base(cfg.file), size, cfg.repeats, clockName),
		fmt.Sprintf("%s, %d CPUs, %s/%s, %s; load average before %s, after %s.",
			processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), before, after),
		fmt.Sprintf("pz of revision %s; klauspost/compress %s.", cfg.revision, dependency("github.com/klauspost/compress")),
	}
	for _, note := range cfg.notes {
		lines = append(lines, strings.TrimSuffix(note, ".")+".")
	}
	return append(lines, "zstd and lz4 time themselves (option -b, frames without checks), scaled to processor time; the others check what they decode where their format has a check.", fmt.Sprintf("Each speed is the best of %d s and more.", cfg.seconds))
}

func dependency(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == path {
				return d.Version
			}
		}
	}
	return "of unknown version"
}

// load returns the load averages where Linux tells them.
func load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	f := strings.Fields(string(text))
	if len(f) < 3 {
		return "unknown"
	}
	return strings.Join(f[:3], " ")
}

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

// table returns what was measured as Markdown.
func table(head []string, all []entrant) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Ratio and speed\n\nWritten by `scripts/bench.sh --frontier`.\n\n")
	for _, line := range head {
		fmt.Fprintf(&b, "- %s\n", line)
	}
	fmt.Fprintf(&b, "\n![Ratio over speed](frontier.svg)\n\nA level is **bold** if no other is both smaller and faster, and *slanted* if it is so among pz's own.\n\n")
	fmt.Fprintf(&b, "| compressor | level | ratio | compression, MB/s | decompression, MB/s |\n|---|--:|--:|--:|--:|\n")
	for i := range all {
		e := &all[i]
		fmt.Fprintf(&b, "| %s | %d | %.3f |", e.family.title, e.level, e.best.ratio(e.content))
		for _, d := range directions {
			mark := ""
			switch {
			case best(e, all, d.speed, false):
				mark = "**"
			case e.family.ours && best(e, all, d.speed, true):
				mark = "*"
			}
			fmt.Fprintf(&b, " %s%.*f%s |", mark, decimals(d.speed(&e.best)), d.speed(&e.best), mark)
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func decimals(speed float64) int {
	if speed < 100 {
		return 1
	}
	return 0
}

// best says whether nobody is both smaller and faster than e, of all or of ours.
func best(e *entrant, all []entrant, speed func(*sample) float64, ours bool) bool {
	for i := range all {
		o := &all[i]
		if ours && !o.family.ours {
			continue
		}
		if o.best.size <= e.best.size && speed(&o.best) > speed(&e.best) || o.best.size < e.best.size && speed(&o.best) >= speed(&e.best) {
			return false
		}
	}
	return true
}

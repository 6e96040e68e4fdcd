package main

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// contestant is one program with one set of options.
type contestant struct {
	tool    string
	level   int
	threads int
	suffix  string // of its files; most tools insist on their own

	compress   []string // the program and its options; the name of a file follows
	decompress []string
}

func (c contestant) String() string { return fmt.Sprintf("%s -%d -T%d", c.tool, c.level, c.threads) }

// peer is how a foreign tool is called. All write to stdout, and read the file that is named last.
type peer struct {
	name, suffix string
	levels       []int // measured by default
	lo, hi       int
	threads      bool // has an option for threads
	compress     func(level, threads int) []string
	decompress   func(threads int) []string
}

var peers = []peer{
	{
		name: "zstd", suffix: ".zst", levels: []int{1, 3, 9}, lo: 1, hi: 19, threads: true,
		compress:   func(l, t int) []string { return append(zstdThreads(t), "-q", "-c", dash(l)) },
		decompress: func(t int) []string { return append(zstdThreads(t), "-q", "-d", "-c") },
	},
	{
		name: "lz4", suffix: ".lz4", levels: []int{1, 9}, lo: 1, hi: 12,
		compress:   func(l, _ int) []string { return []string{"-q", "-c", dash(l)} },
		decompress: func(int) []string { return []string{"-q", "-d", "-c"} },
	},
	{
		name: "pigz", suffix: ".gz", levels: []int{6}, lo: 1, hi: 9, threads: true,
		compress:   func(l, t int) []string { return []string{"-c", "-p", strconv.Itoa(t), dash(l)} },
		decompress: func(t int) []string { return []string{"-d", "-c", "-p", strconv.Itoa(t)} },
	},
	{
		name: "gzip", suffix: ".gz", levels: []int{6}, lo: 1, hi: 9,
		compress:   func(l, _ int) []string { return []string{"-c", dash(l)} },
		decompress: func(int) []string { return []string{"-d", "-c"} },
	},
	{
		name: "xz", suffix: ".xz", levels: []int{1}, lo: 0, hi: 9, threads: true,
		compress:   func(l, t int) []string { return []string{"-c", "-T" + strconv.Itoa(t), dash(l)} },
		decompress: func(t int) []string { return []string{"-d", "-c", "-T" + strconv.Itoa(t)} },
	},
	{
		name: "brotli", suffix: ".br", levels: []int{1, 5}, lo: 0, hi: 11,
		compress:   func(l, _ int) []string { return []string{"-c", "-q", strconv.Itoa(l)} },
		decompress: func(int) []string { return []string{"-d", "-c"} },
	},
}

func dash(level int) string { return "-" + strconv.Itoa(level) }

// zstdThreads asks for t threads. With -T1 alone zstd still runs a second one beside the one that reads and writes.
func zstdThreads(t int) []string {
	if t == 1 {
		return []string{"-T1", "--single-thread"}
	}
	return []string{"-T" + strconv.Itoa(t)}
}

func peerNames() []string {
	var names []string
	for _, p := range peers {
		names = append(names, p.name)
	}
	return names
}

// line returns all who take part, in the order of the table, and notes about programs: their versions, or that they are missing.
func line(ctx context.Context, cfg *config) ([]contestant, []string, error) {
	var all []contestant
	var notes []string
	for _, pz := range cfg.pz {
		if _, err := exec.LookPath(pz.path); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", pz.name, err)
		}
		for _, pipeline := range cfg.pipelines {
			for _, t := range cfg.threads {
				for _, l := range cfg.levels.of(pz.name, []int{1, 3, 5, 7, 9}, 1, 9) {
					threads := strconv.Itoa(t)
					all = append(all, contestant{
						tool: pz.name + "/" + pipeline, level: l, threads: t, suffix: ".pz",
						compress:   []string{pz.path, "-c", "-T", threads, dash(l), "-p", pipeline},
						decompress: []string{pz.path, "-d", "-c", "-T", threads},
					})
				}
			}
		}
	}
	for _, name := range cfg.peers {
		i := slices.IndexFunc(peers, func(p peer) bool { return p.name == name })
		if i < 0 {
			return nil, nil, fmt.Errorf("%w: --peers: %q is none of %s", errUsage, name, strings.Join(peerNames(), ", "))
		}
		p := peers[i]
		path, err := exec.LookPath(p.name)
		if err != nil {
			notes = append(notes, p.name+" is not installed: left out")
			continue
		}
		notes = append(notes, version(ctx, p.name, path))
		for _, t := range cfg.threads {
			if !p.threads && t != 1 {
				continue
			}
			for _, l := range cfg.levels.of(p.name, p.levels, p.lo, p.hi) {
				all = append(all, contestant{
					tool: p.name, level: l, threads: t, suffix: p.suffix,
					compress:   append([]string{path}, p.compress(l, t)...),
					decompress: append([]string{path}, p.decompress(t)...),
				})
			}
		}
	}
	if len(all) == 0 {
		return nil, nil, fmt.Errorf("nobody takes part: %s", strings.Join(notes, "; "))
	}
	return all, notes, nil
}

func version(ctx context.Context, name, path string) string {
	out, err := exec.CommandContext(ctx, path, "--version").CombinedOutput()
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if err != nil || first == "" {
		return name + ": version unknown"
	}
	return name + ": " + strings.Trim(first, "* ")
}

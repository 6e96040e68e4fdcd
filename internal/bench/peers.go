package main

import (
	"context"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// peer describes the command line of another compressor.
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

// zstdThreads returns zstd's options for t threads. With -T1 alone zstd still runs a second thread
// beside the one that reads and writes.
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

// peerCommands returns the commands of the named peers that are installed, and a note on each peer.
func peerCommands(ctx context.Context, cfg *filesConfig) (all []command, notes []string, err error) {
	for _, name := range cfg.peers {
		i := slices.IndexFunc(peers, func(p peer) bool { return p.name == name })
		if i < 0 {
			return nil, nil, usageError("--peers: %q is none of %s", name, strings.Join(peerNames(), ", "))
		}
		p := peers[i]
		path, err := exec.LookPath(p.name)
		if err != nil {
			notes = append(notes, p.name+" is not installed: left out")
			continue
		}
		notes = append(notes, programVersion(ctx, p.name, path))
		for _, t := range cfg.threads {
			if !p.threads && t != 1 {
				continue
			}
			for _, l := range cfg.levels.of(p.name, p.levels, p.lo, p.hi) {
				all = append(all, command{
					setting: setting{p.name, l, t}, suffix: p.suffix,
					compress:   append([]string{path}, p.compress(l, t)...),
					decompress: append([]string{path}, p.decompress(t)...),
				})
			}
		}
	}
	return all, notes, nil
}

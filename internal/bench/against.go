package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gopz/compress/internal/measuring"
)

// runAgainst compares two builds of pz.
func (cfg *gateConfig) runAgainst(ctx context.Context, out io.Writer) error {
	onDevice, err := cfg.deviceRows()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "pz-gate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	inputs := map[int64]*input{} // by size
	var all []*change
	for _, row := range append(cfg.cpuRows(), onDevice...) {
		if row.decompress() {
			continue // measured with compression
		}
		size := cfg.rowSize(row)
		if inputs[size] == nil {
			in := cfg.in.first(size)
			in.path = filepath.Join(dir, fmt.Sprint("content", size))
			if err := os.WriteFile(in.path, in.content, 0o600); err != nil {
				return err
			}
			inputs[size] = in
		}
		note("%v", row)
		changes, err := cfg.compareCommands(ctx, dir, inputs[size], row)
		if err != nil {
			return err
		}
		all = append(all, changes...)
	}
	t := changeTable(all, cfg.limits)
	fmt.Fprintf(out, "%s\n%s, %d threads; new %s, old %s; medians by turns\n\n",
		measuring.Machine(), cfg.in.name, cfg.threads, cfg.revision, cfg.oldName)
	if err := errors.Join(t.text(out), cfg.writeOutput(t)); err != nil {
		return err
	}
	v := judge(all, cfg.limits)
	fmt.Fprintln(out, v)
	if v.failed {
		return errRegression
	}
	return nil
}

const (
	// slowSample is how long a run lasts of which three are enough. It is much longer than what
	// disturbs a machine.
	slowSample  = 2 * time.Second
	slowRepeats = 3

	// doubtFactor is how many times more samples a row gets that looks slower.
	doubtFactor = 3
)

// compareCommands measures a row with both builds by turns, both ways. A sample is the fastest of
// the runs that take leastSample.
func (cfg *gateConfig) compareCommands(ctx context.Context, dir string, in *input, row gateRow) (
	[]*change, error) {
	dir, err := os.MkdirTemp(dir, "level")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var entries []*entry
	for _, path := range []string{cfg.oldPZ, cfg.newPZ} {
		c := pzCommand("pz", path, row.pipeline, row.level, cfg.threads)
		if row.device() != "" {
			match, entropy := cfg.backends(row)
			c.useDevice(row.device(), match, entropy)
		}
		e, err := c.newEntry(ctx, dir, in, leastSample)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	back := row
	back.mode += decodeSuffix
	changes := func() (list []*change) {
		o, n := &entries[0].result, &entries[1].result
		for _, x := range []struct {
			name     string
			old, new []sample
		}{{row.String(), o.compress, n.compress},
			{back.String(), o.decompress, n.decompress}} {
			list = append(list, &change{name: x.name, old: x.old, new: x.new, size: in.size,
				sizes: [2]int64{o.packed, n.packed}, wall: row.wallCounts()})
		}
		return list
	}
	rounds := func(total int) error {
		more := max(0, total-len(entries[0].compress))
		return byTurns(more, len(entries), func(i int) error { return entries[i].measure(ctx) })
	}
	if err := rounds(1); err != nil {
		return nil, err
	}
	repeats := cfg.repeats
	if entries[0].compress[0].wall > slowSample {
		repeats = min(repeats, slowRepeats)
	}
	if err := rounds(repeats); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(changes(), func(c *change) bool { return c.looksSlower(cfg.limits) }) {
		if err := rounds(doubtFactor * repeats); err != nil {
			return nil, err
		}
	}
	return changes(), nil
}

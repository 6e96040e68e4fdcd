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
)

// runAgainst compares two builds of pz.
func (cfg *gateConfig) runAgainst(ctx context.Context, in *input, out io.Writer) error {
	dir, err := os.MkdirTemp("", "pz-gate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	in.path = filepath.Join(dir, "content")
	if err := os.WriteFile(in.path, in.content, 0o600); err != nil {
		return err
	}
	in.content = nil
	var all []*change
	for _, pipeline := range cfg.pipelines {
		for _, level := range cfg.levels {
			note("%s -%d", pipeline, level)
			changes, err := cfg.compareCommands(ctx, dir, in, pipeline, level)
			if err != nil {
				return err
			}
			all = append(all, changes...)
		}
	}
	t := changeTable(all, cfg.limits, in.size)
	fmt.Fprintf(out, "%s\n%s, %d bytes, %d threads; new %s, old %s; medians by turns\n\n", machine(),
		in.name, in.size, cfg.threads, cfg.revision, cfg.oldName)
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
	// leastSample is how long the runs last of which the fastest is a sample: runs of a few
	// milliseconds are mostly noise.
	leastSample = 200 * time.Millisecond

	// slowSample is how long a run lasts of which three are enough. It is much longer than what
	// disturbs a machine.
	slowSample  = 2 * time.Second
	slowRepeats = 3

	// doubtFactor is how many times more samples a row gets that looks slower.
	doubtFactor = 3
)

// compareCommands measures a level of a pipeline with both builds by turns.
func (cfg *gateConfig) compareCommands(ctx context.Context, dir string, in *input, pipeline string,
	level int) ([]*change, error) {
	dir, err := os.MkdirTemp(dir, "level")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var entries []*entry
	for _, path := range []string{cfg.oldPZ, cfg.newPZ} {
		c := pzCommand("pz", path, pipeline, level, cfg.threads)
		e, err := c.newEntry(ctx, dir, in, leastSample)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	changes := func() (list []*change) {
		o, n := &entries[0].result, &entries[1].result
		name := fmt.Sprintf("%s -%d ", pipeline, level)
		sizes := [2]int64{o.packed, n.packed}
		return []*change{{name + "compress", o.compress, n.compress, sizes},
			{name + "decompress", o.decompress, n.decompress, sizes}}
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
	slower := func(c *change) bool { return c.slower(cfg.limits) }
	if slices.ContainsFunc(changes(), slower) {
		if err := rounds(doubtFactor * repeats); err != nil {
			return nil, err
		}
	}
	return changes(), nil
}

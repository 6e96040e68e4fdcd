package main

import (
	"context"
	"fmt"

	"github.com/gopz/compress/internal/measuring"
)

// setting is a compressor with its options.
type setting struct {
	tool    string // a program, or pz/PIPELINE
	level   int
	threads int
}

func (s setting) String() string { return fmt.Sprintf("%s -%d -T%d", s.tool, s.level, s.threads) }

// trial is one measurement of a setting on one input, both ways.
type trial struct {
	packed     int64 // size of the compressed form in bytes
	compress   sample
	decompress sample
}

// runner measures a setting on an input once.
type runner func(ctx context.Context) (trial, error)

// result holds the samples of a setting on a file, one for each round.
type result struct {
	setting
	file       string
	size       int64 // of the content in bytes
	packed     int64
	compress   []sample
	decompress []sample
}

func (r *result) ratio() float64 { return float64(r.size) / float64(r.packed) }

// speed returns MB/s of content.
func (r *result) speed(samples []sample, by clock) float64 {
	return measuring.MBps(r.size, by(median(samples)))
}

// entry is a result that takes part in a measurement.
type entry struct {
	result
	run runner
}

func (e *entry) measure(ctx context.Context) error {
	t, err := e.run(ctx)
	if err != nil {
		return fmt.Errorf("%v: %s: %w", e.setting, e.file, err)
	}
	e.packed = t.packed
	e.compress = append(e.compress, t.compress)
	e.decompress = append(e.decompress, t.decompress)
	return nil
}

// byTurns calls f for each of n indices once per round. Each round begins with the next index, and
// every second round goes backwards. So whatever disturbs the machine hits all alike, and of two
// neighbours each comes first equally often.
func byTurns(rounds, n int, f func(i int) error) error {
	for r := range rounds {
		for i := range n {
			k := (i + r) % n
			if r%2 == 1 {
				k = n - 1 - k
			}
			if err := f(k); err != nil {
				return err
			}
		}
	}
	return nil
}

// measure adds a sample both ways to every entry in each round.
func measure(ctx context.Context, entries []*entry, rounds int) error {
	done := 0
	return byTurns(rounds, len(entries), func(i int) error {
		if done%len(entries) == 0 {
			note("round %d of %d", done/len(entries)+1, rounds)
		}
		done++
		return entries[i].measure(ctx)
	})
}

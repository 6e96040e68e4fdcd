package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/bridge"
)

// runBaseline compares with the baseline, or writes it.
func (cfg *gateConfig) runBaseline(ctx context.Context, out io.Writer) error {
	var base *baseline
	if !cfg.update {
		var err error
		base, err = readBaseline(cfg.baseline)
		if err == nil {
			err = base.checkMachine(cfg.threads)
		}
		if err != nil {
			return fmt.Errorf("%w: %w: write a baseline with --update-baseline, or use --against REV",
				errNoJudgement, err)
		}
	}
	onDevice, err := cfg.deviceRows()
	if err != nil {
		return err
	}
	rows := append(cfg.cpuRows(), onDevice...)
	if base != nil {
		if err := base.checkRows(cfg, rows); err != nil {
			return fmt.Errorf("%w: %w: use --update-baseline or --against REV", errNoJudgement, err)
		}
	}
	var jobs []*job
	for _, row := range rows {
		j, err := cfg.newJob(row, cfg.in.first(cfg.rowSize(row)))
		switch {
		case err != nil:
			return fmt.Errorf("%v: %w", row, err)
		case cfg.iterations > 0:
			j.iterations = cfg.iterations
		case base != nil:
			j.iterations = iterationsOf(base.row(row))
		default:
			err = j.calibrate()
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		jobs = append(jobs, j)
	}
	note("%d rows, %d samples each", len(jobs), cfg.repeats)
	if err := byTurns(cfg.repeats, len(jobs), func(i int) error { return jobs[i].measure(ctx) }); err != nil {
		return err
	}
	if !cfg.update {
		return cfg.judgeJobs(ctx, base, jobs, out)
	}
	if err := os.MkdirAll(filepath.Dir(cfg.baseline), 0o777); err != nil {
		return err
	}
	if err := cfg.writeOutput(newBaseline(cfg, jobs).table()); err != nil {
		return err
	}
	return writeFile(cfg.baseline, newBaseline(cfg, jobs).write)
}

// judgeJobs compares jobs with the baseline. Jobs that look slower are measured again first.
func (cfg *gateConfig) judgeJobs(ctx context.Context, base *baseline, jobs []*job, out io.Writer) error {
	var doubtful []*job
	for _, j := range jobs {
		if failed, _ := base.judge(j, cfg.limits); failed {
			doubtful = append(doubtful, j)
		}
	}
	err := byTurns((doubtFactor-1)*cfg.repeats, len(doubtful), func(i int) error {
		return doubtful[i].measure(ctx)
	})
	if err != nil {
		return err
	}
	regression := false
	t := &table{left: 1, columns: []string{"row", "MB/cpu-s", "ratio", "wall ratio", "overhead", "was",
		"samples", "verdict"}}
	for _, j := range jobs {
		failed, row := base.judge(j, cfg.limits)
		regression = regression || failed
		t.addRow(row...)
	}
	if err := t.text(out); err != nil {
		return err
	}
	if err := cfg.writeOutput(newBaseline(cfg, jobs).table()); err != nil {
		return err
	}
	if regression {
		return errRegression
	}
	return nil
}

// selfTestRow is the row of the self-test in each direction.
var selfTestRow = gateRow{cpuMode, bridge.DefaultPipeline, compress.DefaultLevel}

// selfTestRepeats bounds the rounds of the self-test, by cfg.repeats.
const selfTestRepeats = 9

// runSelfTest measures a job, the same job again, and a job with 10% more work, by turns. Contents
// share their memory, so that the work is the only difference. Rounds go on until both verdicts are
// certain.
func (cfg *gateConfig) runSelfTest(ctx context.Context, out io.Writer) error {
	size := cfg.in.size * 10 / 11
	for _, suffix := range []string{"", decodeSuffix} {
		row := selfTestRow
		row.mode += suffix
		var jobs []*job
		for _, n := range []int64{size, size, cfg.in.size} {
			j, err := cfg.newJob(row, cfg.in.first(n))
			if err != nil {
				return err
			}
			if jobs = append(jobs, j); len(jobs) == 1 {
				err = j.calibrate()
			}
			j.iterations = jobs[0].iterations
			if err != nil {
				return err
			}
		}
		same := &change{name: row.mode + ", same work"}
		more := &change{name: row.mode + ", 10% more work"}
		for i := 0; i < selfTestRepeats && !(same.certain(cfg.limits) && more.certain(cfg.limits)); i++ {
			err := byTurns(cfg.repeats, len(jobs), func(i int) error { return jobs[i].measure(ctx) })
			if err != nil {
				return err
			}
			same.old, same.new = jobs[0].times(), jobs[1].times()
			more.old, more.new = jobs[0].times(), jobs[2].times()
		}
		for _, c := range []*change{same, more} {
			fmt.Fprintf(out, "%s: ratio %.3f, %d samples\n", c.name, c.ratio(cpuClock), len(c.new))
			if c.slower(cfg.limits) != (c == more) {
				return fmt.Errorf("self-test: wrong verdict on %s", c.name)
			}
		}
	}
	return nil
}

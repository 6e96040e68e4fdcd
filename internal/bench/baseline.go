package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gopz/compress"
)

// modes returns the modes that this machine has.
func (cfg *gateConfig) modes() []string {
	modes := []string{"cpu", "cpu-decompress"}
	if cfg.cpuOnly {
		return modes
	}
	modes = append(modes, "soft")
	d, err := openDevice("gpu")
	if err != nil {
		note("skipped: gpu, for there is no device")
		return modes
	}
	d.Close()
	return append(modes, "gpu", "gpu-decompress")
}

// runBaseline compares with the baseline, or writes it.
func (cfg *gateConfig) runBaseline(ctx context.Context, in *input, out io.Writer) error {
	var base *baseline
	modes := cfg.modes()
	if !cfg.update {
		var err error
		if base, err = readBaseline(cfg.baseline); err != nil {
			return fmt.Errorf("%w: %v: write a baseline with --update-baseline, or use --against REV",
				errNoJudgement, err)
		}
		if err := base.check(cfg, modes, in.size); err != nil {
			return fmt.Errorf("%w: %v: use --against REV or --update-baseline", errNoJudgement, err)
		}
	}
	var jobs []*job
	for _, mode := range modes {
		for _, pipeline := range cfg.pipelines {
			for _, level := range cfg.levels {
				j, d, err := cfg.newJob(mode, pipeline, level, in)
				if d != nil {
					defer d.Close()
				}
				if err != nil {
					return fmt.Errorf("%s %s -%d: %w", mode, pipeline, level, err)
				}
				jobs = append(jobs, j)
			}
		}
	}
	err := byTurns(cfg.repeats, len(jobs), func(i int) error { return jobs[i].measure(ctx) })
	if err != nil {
		return err
	}
	if cfg.update {
		if err := os.MkdirAll(filepath.Dir(cfg.baseline), 0o777); err != nil {
			return err
		}
		return writeFile(cfg.baseline, newBaseline(cfg, jobs).write)
	}
	return cfg.judgeJobs(ctx, base, jobs, out)
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
		t.add(row...)
	}
	if err := t.text(out); err != nil {
		return err
	}
	if cfg.output != "" {
		if err := writeFile(cfg.output, newBaseline(cfg, jobs).write); err != nil {
			return err
		}
	}
	if regression {
		return errRegression
	}
	return nil
}

// runSelfTest measures a job, the same job again, and a job with 10% more work.
func (cfg *gateConfig) runSelfTest(ctx context.Context, in *input, out io.Writer) error {
	more := *in
	more.content = append(bytes.Clone(in.content), in.content[:len(in.content)/10]...)
	more.size = int64(len(more.content))
	for _, mode := range []string{"cpu", "cpu-decompress"} {
		var jobs []*job
		for _, content := range []*input{in, in, &more} {
			j, _, err := cfg.newJob(mode, compress.DefaultPipeline, compress.DefaultLevel, content)
			if err != nil {
				return err
			}
			jobs = append(jobs, j)
		}
		err := byTurns(doubtFactor*cfg.repeats, len(jobs), func(i int) error { return jobs[i].measure(ctx) })
		if err != nil {
			return err
		}
		for i, name := range []string{"", "same work", "10% more work"} {
			if i == 0 {
				continue
			}
			c := &change{name: mode + ", " + name, old: jobs[0].times(), new: jobs[i].times()}
			fmt.Fprintf(out, "%s: ratio %.3f\n", c.name, c.ratio(cpuClock))
			if c.slower(cfg.limits) != (i == 2) {
				return fmt.Errorf("self-test: wrong verdict on %s", c.name)
			}
		}
	}
	return nil
}

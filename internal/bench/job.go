package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/measuring"
)

// statsSample is a measurement of a job with the scheduler's statistics.
type statsSample struct {
	fastest sample // iteration with the least processor time
	total   sample // all iterations
	stats   compress.Stats
}

// job is the work of one row of the baseline.
type job struct {
	gateRow
	bytes      int64 // of content that one iteration does
	iterations int   // of one sample
	sched      *compress.Scheduler
	iterate    func() error
	samples    []statsSample
}

// measure adds a sample.
func (j *job) measure(ctx context.Context) error {
	j.sched.ResetStats()
	var s statsSample
	for i := range j.iterations {
		t, err := timed(j.iterate)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		s.total = s.total.plus(t)
		if i == 0 || t.cpu < s.fastest.cpu {
			s.fastest = t
		}
	}
	s.stats = j.sched.Stats()
	if d, _ := j.sched.DeviceStatus(); d.Err != nil {
		return fmt.Errorf("%v: %w", j, d.Err)
	}
	j.samples = append(j.samples, s)
	return nil
}

// newJob returns a job that has run once.
func (cfg *gateConfig) newJob(row gateRow, in *input) (*job, error) {
	j := &job{gateRow: row, bytes: in.size, sched: compress.NewScheduler(cfg.threads)}
	match, entropy := cfg.backends(row)
	sched, dev := compress.WithScheduler(j.sched), compress.WithDevice(nil, gpu.BackendCPU, gpu.BackendCPU)
	if row.device() != "" {
		dev = compress.WithDevice(cfg.dev, match, entropy)
	}
	var packed bytes.Buffer
	w, err := compress.NewWriter(&packed,
		bridge.Pipeline(row.pipeline), compress.WithLevel(row.level), sched, dev)
	if err != nil {
		return nil, err
	}
	encode := func(to io.Writer) error {
		w.Reset(to)
		if _, err := w.Write(in.content); err != nil {
			return err
		}
		return w.Close()
	}
	if err := encode(&packed); err != nil {
		return nil, err
	}
	j.iterate = func() error { return encode(io.Discard) }
	if row.decompress() {
		r, err := compress.NewReader(bytes.NewReader(packed.Bytes()), sched, dev)
		if err != nil {
			return nil, err
		}
		j.iterate = func() error {
			r.Reset(bytes.NewReader(packed.Bytes()))
			n, err := r.WriteTo(io.Discard)
			if err == nil && n != in.size {
				err = errRoundTrip
			}
			return err
		}
	}
	j.sched.EnableStats(true)
	return j, j.iterate()
}

// times returns the fastest iteration of every sample.
func (j *job) times() []sample {
	list := make([]sample, len(j.samples))
	for i, s := range j.samples {
		list[i] = s.fastest
	}
	return list
}

// median returns the median of a column over the samples.
func (j *job) median(c *baselineColumn) float64 {
	v := make([]float64, len(j.samples))
	for i := range v {
		v[i] = c.value(j, &j.samples[i])
	}
	return measuring.Middle(v)
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gopz/compress"
)

// statsSample is a measurement of a job with the scheduler's statistics.
type statsSample struct {
	fastest sample // iteration with the least processor time
	total   sample // all iterations
	stats   compress.SchedulerStats
}

// job is the work of one row of the baseline: a mode, a pipeline and a level.
type job struct {
	mode, pipeline string
	level          int
	bytes          int64 // of content that one iteration does
	iterations     int
	sched          *compress.Scheduler
	iterate        func() error
	samples        []statsSample
}

func (j *job) name() string { return fmt.Sprintf("%s %s -%d", j.mode, j.pipeline, j.level) }

// measure adds a sample.
func (j *job) measure(ctx context.Context) error {
	j.sched.ResetStats()
	var s statsSample
	for i := range j.iterations {
		t, err := timed(j.iterate)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if s.total = s.total.add(t); i == 0 || t.cpu < s.fastest.cpu {
			s.fastest = t
		}
	}
	s.stats = j.sched.Stats()
	j.samples = append(j.samples, s)
	return nil
}

// decodeFactor is how many times more iterations decompression has. It is that much faster.
const decodeFactor = 3

// newJob returns a job that has run once. The caller closes the device, if it is not nil.
func (cfg *gateConfig) newJob(mode, pipeline string, level int, in *input) (
	*job, compress.Device, error) {
	device, decompress := strings.CutSuffix(mode, "-decompress")
	j := &job{mode: mode, pipeline: pipeline, level: level, bytes: in.size, iterations: cfg.iterations,
		sched: compress.NewScheduler(cfg.threads)}
	opts := []compress.Option{compress.WithPipeline(pipeline), compress.WithLevel(level),
		compress.WithScheduler(j.sched)}
	var d compress.Device
	if device == "cpu" {
		opts = append(opts, compress.WithBackend(compress.CPU, compress.CPU))
	} else {
		var err error
		if d, err = openDevice(device); err != nil {
			return nil, nil, err
		}
		if err := j.sched.SetDevice(d); err != nil {
			return nil, d, err
		}
	}
	var packed bytes.Buffer
	w, err := compress.NewWriter(&packed, opts...)
	if err != nil {
		return nil, d, err
	}
	encode := func(to io.Writer) error {
		w.Reset(to)
		if _, err := w.Write(in.content); err != nil {
			return err
		}
		return w.Close()
	}
	if err := encode(&packed); err != nil {
		return nil, d, err
	}
	j.iterate = func() error { return encode(io.Discard) }
	if decompress {
		j.iterations *= decodeFactor
		r, err := compress.NewReader(bytes.NewReader(packed.Bytes()), opts...)
		if err != nil {
			return nil, d, err
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
	return j, d, j.iterate()
}

// openDevice opens the software device or, by the name "gpu", the best GPU.
func openDevice(name string) (compress.Device, error) {
	if name == "gpu" {
		name = ""
	}
	return compress.OpenDevice(name)
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
	return middle(v)
}

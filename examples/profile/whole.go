package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
)

// whole is a job of whole blocks, through the scheduler.
type whole struct {
	sched   *compress.Scheduler
	dev     gpu.Device // nil without
	content []byte
	packed  []byte // decompress: its input

	w *compress.Writer // one of these
	r *compress.Reader

	sinkMBps float64
}

var errRoundTrip = errors.New("the content does not come back")

func newJob(ctx context.Context, c *config, content []byte, rec *recorder) (job, error) {
	if c.stage != "" {
		return newStageJob(ctx, c, content, rec)
	}
	return newWhole(ctx, c, content, rec)
}

func newWhole(ctx context.Context, c *config, content []byte, rec *recorder) (*whole, error) {
	j := &whole{sched: compress.NewScheduler(c.threads), content: content, sinkMBps: c.sinkMBps}
	format := []compress.Option{compress.WithPipeline(c.pipeline), compress.WithLevel(c.level), compress.WithBlockSize(c.blockSize),
		compress.WithContentSize(int64(len(content))), compress.WithConcurrency(c.threads)}
	// What is measured shall be right, too.
	packed, err := compress.AppendEncode(nil, content, format...)
	if err != nil {
		return nil, err
	}
	if back, err := compress.AppendDecode(nil, packed, compress.WithConcurrency(c.threads)); err != nil || !bytes.Equal(back, content) {
		return nil, errors.Join(errRoundTrip, err)
	}
	if c.device != "" {
		if j.dev, err = c.openDevice(); err != nil {
			return nil, err
		}
		if err := j.sched.SetDevice(j.dev); err != nil {
			return nil, errors.Join(err, j.dev.Close())
		}
	}
	opts := append(format, compress.WithScheduler(j.sched), compress.WithContext(ctx), compress.WithBackend(c.match, c.entropy))
	if rec != nil {
		// Blocks pass in order, so that their number is the block's in the stream.
		opts = append(opts, compress.WithTrace(rec.event), compress.WithProgress(func(p compress.Progress) {
			rec.pass(p.Blocks-1, time.Now())
			if c.interval > 0 {
				rec.publish(j.stats())
			}
		}))
	}
	if c.decompress {
		j.packed = packed
		j.r, err = compress.NewReader(bytes.NewReader(nil), opts...)
	} else {
		j.w, err = compress.NewWriter(io.Discard, opts...)
	}
	if err != nil {
		return nil, errors.Join(err, j.close())
	}
	return j, nil
}

// counter is a writer that counts, and takes its time if it is to play a slow disk or network.
type counter struct {
	n    int64
	mbps float64 // 0: no limit
}

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	if c.mbps > 0 {
		time.Sleep(time.Duration(float64(len(p)) / c.mbps * 1e3))
	}
	return len(p), nil
}

func (j *whole) iterate() (int64, error) {
	sink := counter{mbps: j.sinkMBps}
	if j.w != nil {
		j.w.Reset(&sink)
		if _, err := j.w.Write(j.content); err != nil {
			return 0, err
		}
		return sink.n, j.w.Close()
	}
	j.r.Reset(bytes.NewReader(j.packed))
	if _, err := j.r.WriteTo(&sink); err != nil {
		return 0, err
	}
	if sink.n != int64(len(j.content)) {
		return 0, fmt.Errorf("%w: %d bytes of %d", errRoundTrip, sink.n, len(j.content))
	}
	return int64(len(j.packed)), nil
}

func (j *whole) count() { j.sched.EnableStats(true) }

// stats includes the iteration under way if it is called by the job's own goroutine.
func (j *whole) stats() compress.SchedulerStats {
	if j.w != nil {
		return j.w.Stats()
	}
	return j.r.Stats()
}

func (j *whole) close() (err error) {
	if j.r != nil {
		err = j.r.Close()
	}
	if j.dev == nil {
		return err
	}
	if j.w != nil {
		// Blocks in flight are taken back, which also ends what an interrupted run has left.
		j.w.Reset(io.Discard)
	}
	return errors.Join(err, j.dev.Close())
}

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"time"

	"github.com/gopz/compress"
)

// job is what is measured.
type job interface {
	// iterate works on the content once, and returns the bytes that came of it.
	iterate() (out int64, err error)
	// count switches statistics on, for what follows.
	count()
	stats() compress.SchedulerStats
	close() error
}

// measurement is what came out.
type measurement struct {
	rounds  []time.Duration // iterations that were completed
	elapsed time.Duration   // their sum
	cpu     time.Duration   // what they took of the processors; 0 if that is not known
	wait    time.Duration   // how long they would have liked to have one and had none; 0 if that is not known
	out     int64           // bytes of one iteration
	err     error           // why there were no more
}

func profile(c *config, e env) (err error) {
	content, err := c.content()
	if err != nil {
		return err
	}
	c.size = int64(len(content))
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)

	var rec *recorder
	if c.out != "" || c.timeline != "" {
		rec = newRecorder(c.top)
	}
	var dir *outDir
	if c.out != "" {
		if dir, err = openOut(c, rec); err != nil {
			return err
		}
		defer closing(&err, dir.close)
	}
	if c.timeline != "" {
		f, err := os.Create(c.timeline)
		if err != nil {
			return err
		}
		t := newTimeline(f)
		rec.timeline = t
		defer closing(&err, t.finish)
	}
	j, err := newJob(ctx, c, lengthen(content, c.slow), rec)
	if err != nil {
		return err
	}
	defer closing(&err, j.close)

	fmt.Fprintf(e.stderr, "%s %s, level %d, %d bytes, %d threads, %d iterations\n", c.op(), c.what(), c.level, c.size, c.threads, c.iterations)
	if _, err := j.iterate(); err != nil { // fills buffers, caches and pools
		return err
	}
	stop, err := c.startProfiles()
	if err != nil {
		return err
	}
	m := c.measure(j, rec, dir, e, cancel, ctx)

	// All that is worth something is taken before anything is shut down: an end that goes wrong shall not cost it.
	r := newResult(c, m, j.stats())
	if rec != nil {
		r.add(rec.take(time.Now(), true))
	}
	if dir != nil {
		err = dir.snapshot("final", r.stats)
	}
	if perr := stop(); err == nil {
		err = perr
	}
	if dir != nil {
		if werr := r.write(c.out); err == nil {
			err = werr
		}
	}
	if werr := r.print(e.stdout, c.stats); err == nil {
		err = werr
	}
	if m.err != nil {
		return m.err
	}
	if err == nil && rec != nil {
		err = rec.err
	}
	return err
}

// closing ends something when the work is done, and has its error reported if there is no other.
func closing(err *error, f func() error) {
	if cerr := f(); *err == nil {
		*err = cerr
	}
}

// lengthen returns content with the first pct percent of it once more, to be worked on without being counted.
func lengthen(content []byte, pct int) []byte {
	for n := len(content) * pct / 100; n > 0; {
		k := min(n, len(content))
		content = append(content, content[:k]...)
		n -= k
	}
	return content
}

// measure does the iterations that count.
func (c *config) measure(j job, rec *recorder, dir *outDir, e env, cancel context.CancelCauseFunc, ctx context.Context) (m measurement) {
	if c.stats || dir != nil {
		j.count()
	}
	if rec != nil {
		rec.begin(time.Now())
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		var tick <-chan time.Time
		if dir != nil && c.interval > 0 {
			t := time.NewTicker(c.interval)
			defer t.Stop()
			tick = t.C
		}
		interrupt := e.interrupt
		for {
			select {
			case <-interrupt:
				interrupt = nil
				if dir != nil {
					rec.fail(dir.snapshot("interrupt", rec.stats()))
				}
				cancel(errInterrupted)
			case <-tick:
				rec.fail(dir.snapshot("interval", rec.stats()))
			case <-end:
				return
			}
		}
	}()
	for i := range c.iterations {
		if rec != nil {
			rec.setIteration(i)
		}
		wait, cpu, begin := cpuWait(), cpuTime(), time.Now()
		out, err := j.iterate()
		took := time.Since(begin)
		if err != nil {
			if m.err = err; ctx.Err() != nil {
				m.err = context.Cause(ctx)
			}
			break
		}
		m.out = out
		m.rounds = append(m.rounds, took)
		m.elapsed += took
		m.cpu += cpuTime() - cpu
		m.wait += max(0, cpuWait()-wait)
	}
	close(end)
	<-ended
	return m
}

// fastest and middle say how long an iteration takes.
func (m *measurement) fastest() time.Duration {
	if len(m.rounds) == 0 {
		return 0
	}
	return slices.Min(m.rounds)
}

func (m *measurement) middle() time.Duration {
	if len(m.rounds) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(m.rounds))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// startProfiles begins what the Go runtime writes. The function that it returns ends that.
func (c *config) startProfiles() (stop func() error, err error) {
	var ends []func() error
	stop = func() (err error) {
		for _, end := range ends {
			closing(&err, end)
		}
		return err
	}
	for _, p := range []struct {
		file  string
		start func(io.Writer) error
		stop  func()
	}{
		{c.cpuprofile, pprof.StartCPUProfile, pprof.StopCPUProfile},
		{c.trace, trace.Start, trace.Stop},
	} {
		if p.file == "" {
			continue
		}
		f, err := os.Create(p.file)
		if err == nil {
			err = p.start(f)
		}
		if err != nil {
			stop()
			return nil, err
		}
		ends = append(ends, func() error { p.stop(); return f.Close() })
	}
	return stop, nil
}

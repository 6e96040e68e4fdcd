package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"runtime/trace"
	"time"
)

// profile measures and writes everything that the command line asks for.
func profile(c *config, e *env) (err error) {
	content, err := c.content()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	m := &measurement{config: c, rec: newRecorder(c.top), status: statusPreparing}
	if c.timeline != "" {
		f, err := os.Create(c.timeline)
		if err != nil {
			return err
		}
		m.rec.timeline = newTimeline(f)
		defer closing(&err, m.rec.timeline.close)
	}
	if c.out != "" {
		m.dir, err = newOutDir(m)
		if err != nil {
			return err
		}
		defer closing(&err, m.dir.close)
		m.save("")
	}
	m.job, err = newJob(ctx, c, content, m.rec)
	if err != nil {
		return err
	}
	defer closing(&err, m.job.close)
	fmt.Fprintf(e.stderr, "%s, level %d, %d bytes, %d threads, %d iterations\n", c.title(), c.level,
		c.size, c.threads, c.iterations)
	if _, err := m.job.iterate(); err != nil { // fills buffers and caches
		return err
	}
	stop, err := c.startProfiles()
	if err != nil {
		return err
	}
	e.onSignal(func(i interrupted) {
		m.save("interrupt")
		cancel(i)
	})
	failed := m.run(ctx)
	e.onSignal(nil)
	// The results are saved before anything is shut down.
	m.finishRun(failed)
	err = errors.Join(stop(), m.print(e.stdout, e.stderr))
	if failed != nil {
		return failed
	}
	return errors.Join(err, m.rec.failure())
}

// closing calls f at the end of a function and reports its error if there is no other.
func closing(err *error, f func() error) {
	cerr := f()
	if *err == nil {
		*err = cerr
	}
}

// content returns what to compress, and sets its size.
func (c *config) content() ([]byte, error) {
	if c.file == "" {
		if c.size == 0 {
			c.size = defaultSize
		}
		return makeContent(int(c.size)), nil
	}
	data, err := os.ReadFile(c.file)
	if err == nil && len(data) == 0 {
		err = fmt.Errorf("%s is empty", c.file)
	}
	if c.size > 0 && c.size < int64(len(data)) {
		data = data[:c.size]
	}
	c.size = int64(len(data))
	return data, err
}

// startProfiles starts the profiles that the command line names. The caller calls stop once.
func (c *config) startProfiles() (stop func() error, err error) {
	var files [2]*os.File
	for i, p := range []struct {
		name  string
		start func(io.Writer) error
	}{{c.cpuProfile, pprof.StartCPUProfile}, {c.trace, trace.Start}} {
		if p.name == "" {
			continue
		}
		files[i], err = os.Create(p.name)
		if err != nil {
			break
		}
		if err = p.start(files[i]); err != nil {
			break
		}
	}
	stop = func() error {
		pprof.StopCPUProfile()
		trace.Stop()
		var errs []error
		for _, f := range files {
			if f != nil {
				errs = append(errs, f.Close())
			}
		}
		return errors.Join(errs...)
	}
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	return stop, nil
}

// saveInterval is how often --out writes its files anew. A run that is killed loses no more.
const saveInterval = 500 * time.Millisecond

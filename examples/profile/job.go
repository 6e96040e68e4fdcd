package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/gopz/compress"
)

// job compresses or decompresses the same content again and again.
type job struct {
	*config
	sched   *compress.Scheduler
	dev     compress.Device // nil without
	content []byte
	packed  []byte           // compressed content, for decompression
	w       *compress.Writer // nil for decompression
	r       *compress.Reader // nil for compression
	order   orderWait

	compressed int64 // bytes of one iteration
	elapsed    time.Duration
	cpu        time.Duration // processor time of all threads, 0 if the system does not tell
}

func newJob(c *config, content []byte) (j *job, err error) {
	j = &job{config: c, sched: compress.NewScheduler(c.threads), content: content}
	defer func() {
		if err != nil {
			err = errors.Join(err, j.close())
		}
	}()
	opts := []compress.Option{compress.WithPipeline(c.pipeline), compress.WithLevel(c.level),
		compress.WithBlockSize(int(c.blockSize)), compress.WithContentSize(int64(len(content))),
		compress.WithScheduler(j.sched)}
	if c.decompress {
		if j.packed, err = compress.AppendEncode(nil, content, opts...); err != nil {
			return j, err
		}
		j.compressed = int64(len(j.packed))
	}
	if c.device != "" {
		if j.dev, err = compress.OpenDevice(c.device); err != nil {
			return j, err
		}
		if err = j.sched.SetDevice(j.dev); err != nil {
			return j, err
		}
	}
	opts = append(opts, compress.WithBackend(c.backends[0], c.backends[1]))
	if c.stats {
		opts = append(opts, compress.WithTrace(j.order.stage), compress.WithProgress(j.order.pass))
	}
	if c.decompress {
		j.r, err = compress.NewReader(bytes.NewReader(nil), opts...)
	} else {
		j.w, err = compress.NewWriter(io.Discard, opts...)
	}
	return j, err
}

// close ends the job. The device goes last, after everything that uses it.
func (j *job) close() (err error) {
	if j.r != nil {
		err = j.r.Close()
	}
	if j.w != nil {
		j.w.Reset(io.Discard) // takes back blocks in flight
	}
	if j.dev != nil {
		err = errors.Join(err, j.dev.Close())
	}
	return err
}

// iterate does the work once.
func (j *job) iterate() error {
	if j.w == nil {
		j.r.Reset(bytes.NewReader(j.packed))
		n, err := j.r.WriteTo(io.Discard)
		if err == nil && n != int64(len(j.content)) {
			err = fmt.Errorf("decompressed to %d bytes, not %d", n, len(j.content))
		}
		return err
	}
	var out counter
	j.w.Reset(&out)
	if _, err := j.w.Write(j.content); err != nil {
		return err
	}
	err := j.w.Close()
	j.compressed = int64(out)
	return err
}

// counter is an io.Writer that counts bytes.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// measure does n iterations that count.
func (j *job) measure(n int) error {
	j.sched.EnableStats(j.stats)
	j.sched.ResetStats()
	j.order = orderWait{}
	cpu, start := cpuTime(), time.Now()
	for range n {
		if err := j.iterate(); err != nil {
			return err
		}
	}
	j.elapsed, j.cpu = time.Since(start), cpuTime()-cpu
	return nil
}

// orderWait measures how long blocks that are done wait for their turn in the output.
type orderWait struct {
	mu     sync.Mutex
	done   map[int64]time.Time // end of the last stage so far, by block
	blocks int64
	sum    time.Duration
	max    time.Duration
}

// stage notes the end of a stage. Workers call it concurrently.
func (o *orderWait) stage(e compress.StageEvent) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done == nil {
		o.done = map[int64]time.Time{}
	}
	if end := e.Start.Add(e.Took); end.After(o.done[e.Block]) {
		o.done[e.Block] = end
	}
}

// pass notes that a block is passed on. Blocks pass in order, one call each.
func (o *orderWait) pass(p compress.Progress) {
	o.mu.Lock()
	defer o.mu.Unlock()
	block := p.Blocks - 1
	done, ok := o.done[block]
	if !ok {
		return
	}
	delete(o.done, block)
	wait := max(0, time.Since(done))
	o.blocks++
	o.sum += wait
	o.max = max(o.max, wait)
}

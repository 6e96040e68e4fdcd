package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/pipeline"
)

// job is the work that is measured.
type job struct {
	sched    *compress.Scheduler
	dev      gpu.Device // nil without
	opened   time.Duration
	content  []byte
	packed   []byte           // compressed content, for decompression
	w        *compress.Writer // nil for decompression
	r        *compress.Reader // nil for compression
	sinkMBps float64
	memory   int64 // that it takes at most, in bytes, as the library says
}

var errRoundTrip = errors.New("decompresses to other content")

func newJob(ctx context.Context, c *config, content []byte, rec *recorder) (
	j *job, err error) {
	j = &job{sched: compress.NewScheduler(c.threads), content: content, sinkMBps: c.sinkMBps}
	defer func() {
		if err != nil {
			err = errors.Join(err, j.close())
		}
	}()
	file := []compress.WriterOption{
		bridge.Pipeline(c.pipeline), compress.WithLevel(c.level),
		compress.WithBlockSize(int(c.blockSize)), compress.WithContentSize(int64(len(content))),
	}
	both := []compress.Option{
		compress.WithScheduler(j.sched), compress.WithContext(ctx), compress.WithMaxMemory(c.maxMemory),
	}
	if c.decompress {
		j.packed, err = compress.AppendEncode(nil, content, asWriter(file, both)...)
		if err != nil {
			return j, err
		}
	}
	if c.device != "" {
		start := time.Now()
		j.dev, err = c.openDevice()
		if err != nil {
			return j, err
		}
		j.opened = time.Since(start)
	}
	both = append(both, compress.WithDevice(j.dev, c.backends[0], c.backends[1]))
	if c.traced() {
		both = append(both, compress.WithTrace(rec.event), compress.WithProgress(
			func(p compress.Progress) { rec.pass(p.Blocks-1, p, j.stats()) }))
	}
	if c.decompress {
		opts := asReader(both)
		j.r, err = compress.NewReader(bytes.NewReader(nil), opts...)
		if err == nil {
			j.memory, err = compress.ReaderMemory(file, opts...)
		}
		return j, err
	}
	opts := asWriter(file, both)
	j.w, err = compress.NewWriter(io.Discard, opts...)
	if err == nil {
		j.memory, err = compress.WriterMemory(opts...)
	}
	return j, err
}

// asWriter returns the options of a Writer.
func asWriter(file []compress.WriterOption, both []compress.Option) []compress.WriterOption {
	list := slices.Clone(file)
	for _, o := range both {
		list = append(list, o)
	}
	return list
}

// asReader returns the options of a Reader.
func asReader(both []compress.Option) (list []compress.ReaderOption) {
	for _, o := range both {
		list = append(list, o)
	}
	return list
}

// openDevice opens the device that the command line names. Backend auto tries the pace of the
// software device, as that of any other.
func (c *config) openDevice() (gpu.Device, error) {
	if c.device == softDevice {
		soft := c.soft
		soft.Trial = true
		return gpu.NewSoft(pipeline.Host, soft), nil
	}
	return gpu.Open(c.device)
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

func (j *job) iterate() (compressed int64, err error) {
	out := sink{mbps: j.sinkMBps}
	if j.w != nil {
		j.w.Reset(&out)
		if _, err := j.w.Write(j.content); err != nil {
			return 0, err
		}
		err := j.w.Close()
		return out.bytes, err
	}
	j.r.Reset(bytes.NewReader(j.packed))
	_, err = j.r.WriteTo(&out)
	if err == nil && out.bytes != int64(len(j.content)) {
		err = fmt.Errorf("%w: %d bytes, not %d", errRoundTrip, out.bytes, len(j.content))
	}
	return int64(len(j.packed)), err
}

func (j *job) enableStats() { j.sched.EnableStats(true) }

func (j *job) stats() compress.Stats {
	if j.w != nil {
		return j.w.Stats()
	}
	return j.r.Stats()
}

func (j *job) plannedMemory() int64 { return j.memory }

func (j *job) device() (opened time.Duration, s gpu.Status) {
	s, _ = j.sched.DeviceStatus()
	return j.opened, s
}

// sink is an io.Writer that counts bytes.
type sink struct {
	bytes int64
	mbps  float64 // speed at which it takes them, in MB/s; 0: no limit
}

func (s *sink) Write(p []byte) (int, error) {
	s.bytes += int64(len(p))
	if s.mbps > 0 {
		time.Sleep(time.Duration(float64(len(p)) / s.mbps * 1e3))
	}
	return len(p), nil
}

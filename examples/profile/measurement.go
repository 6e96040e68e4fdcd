package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gopz/compress/gpu"
)

// measurement is a run of the job with all that is known of it.
type measurement struct {
	*config
	job *job
	rec *recorder
	dir *outDir // nil without --out

	mu         sync.Mutex
	status     string
	start      time.Time
	begun      usageOfCPU // at start
	rounds     []time.Duration
	compressed int64   // bytes of one iteration
	ended      *ending // nil while the measurement goes on
}

// ending is the state at the end of the measurement.
type ending struct {
	elapsed time.Duration
	cpu     usageOfCPU
	rss     int64 // most memory of the process during the measurement, in bytes
}

// usageOfCPU is processor time of this process.
type usageOfCPU struct {
	time time.Duration // of all threads; 0 if the system does not tell
	wait time.Duration // threads were ready while others had the processors; 0 if it does not tell
}

func cpuNow() usageOfCPU { return usageOfCPU{cpuTime(), cpuWait()} }

// Values of status.
const (
	statusPreparing = "preparing" // or killed then
	statusRunning   = "running"   // or killed then
	statusOK        = "ok"
)

// run does the iterations that count.
func (m *measurement) run(ctx context.Context) error {
	if m.stats || m.dir != nil {
		m.job.enableStats()
	}
	m.mu.Lock()
	m.status, m.start, m.begun = statusRunning, time.Now(), cpuNow()
	m.mu.Unlock()
	resetPeak()
	m.rec.beginCounting(m.start)
	if m.dir != nil {
		m.save("")
		defer m.saveRegularly()()
	}
	for i := range m.iterations {
		m.rec.beginIteration(i)
		begin := time.Now()
		compressed, err := m.job.iterate()
		if err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return err
		}
		m.mu.Lock()
		m.rounds = append(m.rounds, time.Since(begin))
		m.compressed = compressed
		m.mu.Unlock()
	}
	return nil
}

// saveRegularly saves everything and adds snapshots until the caller calls stop.
func (m *measurement) saveRegularly() (stop func()) {
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		saves := time.NewTicker(saveInterval)
		defer saves.Stop()
		var snapshots <-chan time.Time
		if m.interval > 0 {
			t := time.NewTicker(m.interval)
			defer t.Stop()
			snapshots = t.C
		}
		for {
			select {
			case <-saves.C:
				m.save("")
			case <-snapshots:
				m.save("interval")
			case <-end:
				return
			}
		}
	}()
	return func() { close(end); <-done }
}

// save writes the files of --out, and adds a snapshot if kind is not "".
func (m *measurement) save(kind string) {
	if m.dir != nil {
		m.rec.fail(m.dir.save(m, kind))
	}
}

// finishRun saves the results for the last time.
func (m *measurement) finishRun(failed error) {
	now, cpu := time.Now(), cpuNow()
	m.rec.endCounting(m.job.stats())
	m.mu.Lock()
	m.status = statusOK
	if failed != nil {
		m.status = failed.Error()
	}
	_, rss := resident()
	m.ended = &ending{now.Sub(m.start), cpu, rss}
	m.mu.Unlock()
	m.save(finalSnapshot)
}

// result returns what is known so far. It may be called from any goroutine.
func (m *measurement) result() *result {
	p := m.rec.state(time.Now())
	m.mu.Lock()
	defer m.mu.Unlock()
	var now ending
	switch {
	case m.ended != nil:
		now = *m.ended
	case !m.start.IsZero():
		_, rss := resident()
		now = ending{time.Since(m.start), cpuNow(), rss}
	}
	r := &result{profile: m.fields(p, now), stats: p.stats, stages: p.stages, order: p.order,
		name: m.title(), device: m.device != ""}
	for i := range p.slowest {
		b := &p.slowest[i]
		r.slow = append(r.slow, slowRow{span: b.span(), row: b.row(p.start)})
	}
	return r
}

// fields returns PROFILE_STATS. The caller holds m.mu.
func (m *measurement) fields(p *state, now ending) (f fields) {
	// Without events of blocks only whole iterations are known.
	content := max(p.content, int64(len(m.rounds))*m.size)
	compressed := max(p.compressed, int64(len(m.rounds))*m.compressed)
	f.addField("mbps", "%.3f", mbps(content, now.elapsed))
	f.addField("elapsed_ns", "%d", int64(now.elapsed))
	if len(m.rounds) > 0 {
		f.addField("mbps_median", "%.3f", mbps(m.size, median(m.rounds)))
		f.addField("mbps_best", "%.3f", mbps(m.size, slices.Min(m.rounds)))
	}
	f.addField("cpu_ns", "%d", int64(now.cpu.time-m.begun.time))
	f.addField("cpu_wait_ns", "%d", int64(max(0, now.cpu.wait-m.begun.wait)))
	f.addField("op", "%s", m.op())
	f.addField("pipeline", "%s", m.pipeline)
	f.addField("level", "%d", m.level)
	f.addField("threads", "%d", m.threads)
	f.addField("backend", "%s", m.backends[0].String()+","+m.backends[1].String())
	f.addField("device", "%s", orNone(m.device))
	if m.device != "" {
		opened, s := time.Duration(0), gpu.Status{}
		if m.job != nil {
			opened, s = m.job.device()
		}
		f.addField("device_open_ns", "%d", int64(opened))
		f.addField("device_too_slow", "%s", orNone(strings.Join(s.TooSlow, ",")))
		f.addField("device_error", "%s", orNone(errorText(s.Err)))
	}
	f.addField("size", "%d", m.size)
	f.addField("iterations", "%d", len(m.rounds))
	f.addField("content_bytes", "%d", content)
	f.addField("compressed_bytes", "%d", compressed)
	if m.traced() {
		f.addField("blocks", "%d", p.passed)
		f.addField("block_bytes_max", "%d", p.largest)
		f.addField("order_wait_ns", "%d", int64(p.order.sum))
		f.addField("order_wait_max_ns", "%d", int64(p.order.max))
	}
	if m.job != nil {
		f.addField("planned_bytes", "%d", m.job.plannedMemory())
	}
	f.addField("rss_max_bytes", "%d", now.rss)
	for _, x := range machine() {
		f.addField(x.key, "%s", x.value)
	}
	f.addField("status", "%s", m.status)
	return f
}

// title says what is measured.
func (c *config) title() string { return c.op() + " " + c.pipeline }

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// print prints lines for programs to out and a summary for people to errOut.
func (m *measurement) print(out, errOut io.Writer) error {
	r := m.result()
	if _, err := io.WriteString(out, r.lines(m.stats)); err != nil || !m.stats {
		return err
	}
	_, err := fmt.Fprintf(errOut, "\n%s", r.summary())
	return err
}

func median(d []time.Duration) time.Duration {
	s := slices.Sorted(slices.Values(d))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// traced reports whether the recorder gets the events of blocks.
func (c *config) traced() bool { return c.stats || c.out != "" || c.timeline != "" }

// mbps returns millions of bytes per second.
func mbps(bytes int64, d time.Duration) float64 { return float64(bytes) / 1e6 / max(d, 1).Seconds() }

func percent(part, whole time.Duration) float64 { return 100 * float64(part) / float64(max(whole, 1)) }

package pipeline

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/pipeline/internal/offload"
)

// Stats says where the time of runs went. Times of workers add up over the workers: two workers
// have up to two seconds of Compute for each second of Total.
type Stats struct {
	Runs  int64         // that have ended; 1 for a run that has not
	Total time.Duration // from a run's first block to its end

	Compute    time.Duration // workers and helpers: in stages and checks, waiting for a helper
	QueueWait  time.Duration // workers: without a block during the run, and waiting for the lock
	QueueAdmin time.Duration // workers: holding the lock, retiring blocks
	Handoff    time.Duration // workers: preparing and sending requests to the device

	Pauses int64         // stages that made way for other runs
	Paused time.Duration // the sum of these pauses; no worker waits meanwhile

	// Requests of GPU and Fused are strict: they wait for the device however long that takes.
	StrictWaiting int64         // strict requests that found the device busy, and waited
	StrictWait    time.Duration // sum over all strict requests, from offer to batch

	QueueFull  int64 // requests of Auto that found the device's queue full
	DeviceLost int64 // requests that found the device lost
	Failed     int64 // requests that the device failed at
	Wrong      int64 // those of Failed whose result was wrong; after the first the device is lost
	Reclaimed  int64 // blocks that an idle worker reclaimed from the device
	Returned   int64 // blocks returned to the CPU: the device failed at them or was lost

	Stages []StageStats
}

// StageStats is what one stage did on one backend.
type StageStats struct {
	Op      Op
	Stage   string
	Backend gpu.Backend // CPU or GPU
	Blocks  int64       // with "ahead", pieces of blocks, of 64 or 128 KiB
	Bytes   int64       // of content
	Time    time.Duration
}

// Overhead returns the time that workers spent on scheduling.
func (s *Stats) Overhead() time.Duration { return s.QueueWait + s.QueueAdmin + s.Handoff }

// Tracked returns all time of the workers that is accounted for.
func (s *Stats) Tracked() time.Duration { return s.Compute + s.Overhead() }

// OverheadPct returns the part of Overhead in Tracked, 0 … 100.
func (s *Stats) OverheadPct() float64 {
	if s.Tracked() == 0 {
		return 0
	}
	return 100 * float64(s.Overhead()) / float64(s.Tracked())
}

// Add adds t to s.
func (s *Stats) Add(t *Stats) {
	s.Runs += t.Runs
	s.Total += t.Total
	s.Compute += t.Compute
	s.QueueWait += t.QueueWait
	s.QueueAdmin += t.QueueAdmin
	s.Handoff += t.Handoff
	s.Pauses += t.Pauses
	s.Paused += t.Paused
	s.StrictWaiting += t.StrictWaiting
	s.StrictWait += t.StrictWait
	s.QueueFull += t.QueueFull
	s.DeviceLost += t.DeviceLost
	s.Failed += t.Failed
	s.Wrong += t.Wrong
	s.Reclaimed += t.Reclaimed
	s.Returned += t.Returned
next:
	for _, x := range t.Stages {
		for i := range s.Stages {
			if y := &s.Stages[i]; y.Op == x.Op && y.Stage == x.Stage && y.Backend == x.Backend {
				y.Blocks += x.Blocks
				y.Bytes += x.Bytes
				y.Time += x.Time
				continue next
			}
		}
		s.Stages = append(s.Stages, x)
	}
}

// totals are the statistics of a scheduler.
type totals struct {
	on  atomic.Bool
	mu  sync.Mutex
	sum Stats
}

// EnableStats switches statistics on or off for runs that start from then on. They are off at
// first, and then cost one atomic load for each block.
func (s *Scheduler) EnableStats(on bool) { s.stats.on.Store(on) }

// Stats returns the statistics of the runs that have ended since the last ResetStats.
func (s *Scheduler) Stats() Stats {
	s.stats.mu.Lock()
	defer s.stats.mu.Unlock()
	var sum Stats
	sum.Add(&s.stats.sum)
	return sum
}

// ResetStats forgets the runs that have ended.
func (s *Scheduler) ResetStats() {
	s.stats.mu.Lock()
	defer s.stats.mu.Unlock()
	s.stats.sum = Stats{}
}

// maxStages bounds the stages of a pipeline, with one more for "check".
const maxStages = 6

// counters are the statistics of a run that goes on.
type counters struct {
	op     Op
	stages []stage
	since  time.Time

	compute, wait, admin, paused       atomic.Int64 // ns
	pauses                             atomic.Int64
	offers                             offload.Counters
	failed, wrong, returned, reclaimed atomic.Int64
	counts                             [maxStages][2]stageCounters // check and stages, CPU and GPU
	fused, verify, tune, ahead         stageCounters
}

type stageCounters struct{ blocks, bytes, ns atomic.Int64 }

func (c *stageCounters) addBlock(bytes int, took time.Duration) {
	c.blocks.Add(1)
	c.bytes.Add(int64(bytes))
	c.ns.Add(int64(took))
}

// stats returns the statistics so far.
func (c *counters) stats() Stats {
	ns := func(v *atomic.Int64) time.Duration { return time.Duration(v.Load()) }
	s := Stats{
		Runs:          1,
		Total:         time.Since(c.since),
		Compute:       ns(&c.compute),
		QueueWait:     ns(&c.wait),
		QueueAdmin:    ns(&c.admin),
		Handoff:       ns(&c.offers.Handoff),
		Pauses:        c.pauses.Load(),
		Paused:        ns(&c.paused),
		StrictWaiting: c.offers.StrictWaiting.Load(),
		StrictWait:    ns(&c.offers.StrictWait),
		QueueFull:     c.offers.Full.Load(),
		DeviceLost:    c.offers.Lost.Load(),
		Failed:        c.failed.Load(),
		Wrong:         c.wrong.Load(),
		Reclaimed:     c.reclaimed.Load(),
		Returned:      c.returned.Load(),
	}
	add := func(name string, backend gpu.Backend, x *stageCounters) {
		t := StageStats{c.op, name, backend, x.blocks.Load(), x.bytes.Load(), ns(&x.ns)}
		if t.Blocks > 0 {
			s.Stages = append(s.Stages, t)
		}
	}
	add("fused", gpu.BackendGPU, &c.fused)
	for i := range c.stages {
		add(c.stages[i].name, gpu.BackendCPU, &c.counts[i+1][0])
		add(c.stages[i].name, gpu.BackendGPU, &c.counts[i+1][1])
	}
	add("tune", gpu.BackendCPU, &c.tune)
	add("ahead", gpu.BackendCPU, &c.ahead)
	add("verify", gpu.BackendCPU, &c.verify)
	add("check", gpu.BackendCPU, &c.counts[0][0])
	return s
}

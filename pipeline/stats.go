package pipeline

import (
	"sync"
	"sync/atomic"
	"time"
)

// Stats says where the time of runs went. Times of workers add up over the workers: with two of them a second of Total has
// up to two seconds of Compute.
type Stats struct {
	Runs  int64         // that have ended; 1 for a run that has not
	Total time.Duration // from a run's first block to its end

	Compute    time.Duration // workers: in stages and checks, those who help others too; a stage may wait for who helps it
	QueueWait  time.Duration // workers: without a block while the run went on, and waiting for the queue's lock
	QueueAdmin time.Duration // workers: holding the lock, retiring blocks
	Handoff    time.Duration // workers: preparing and sending requests to the device

	SendFull   int64 // requests that found the device's channel full
	SendClosed int64 // requests that found it closed: the device was lost
	Failed     int64 // requests that the device failed at
	Wrong      int64 // those of Failed that it did wrong without saying so; after the first it is lost
	Reclaimed  int64 // blocks that an idle worker took back before the device had begun
	Returned   int64 // blocks that went back to the CPU, because the device failed at them or was lost

	Stages []StageStats
}

// StageStats is what one stage did on one backend.
type StageStats struct {
	Op      Op
	Stage   string
	Backend Backend // CPU or GPU
	Blocks  int64   // pieces of blocks, of 64 or 128 KiB, with "ahead"
	Bytes   int64   // of content
	Time    time.Duration
}

// Overhead is the time that workers gave to the scheduler.
func (s *Stats) Overhead() time.Duration { return s.QueueWait + s.QueueAdmin + s.Handoff }

// Tracked is all the time of the workers that is accounted for.
func (s *Stats) Tracked() time.Duration { return s.Compute + s.Overhead() }

// OverheadPct is the part of Overhead in Tracked, 0 … 100.
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
	s.SendFull += t.SendFull
	s.SendClosed += t.SendClosed
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

// EnableStats switches statistics on or off, for runs that start from then on. They are off at first, and cost nothing then.
func (s *Scheduler) EnableStats(on bool) { s.stats.on.Store(on) }

// Stats returns the statistics of the runs that have ended, since the beginning or the last ResetStats.
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

// maxStages is one more than a pipeline has at most, for check.
const maxStages = 5

// counters are the statistics of a run while it goes on.
type counters struct {
	op     Op
	stages []stage
	since  time.Time

	compute, wait, admin, handoff                    atomic.Int64
	full, closed, failed, wrong, returned, reclaimed atomic.Int64
	counts                                           [maxStages][2]stageCounters // check and the stages, by CPU and GPU
	fused, verify, tune, ahead                       stageCounters
}

type stageCounters struct{ blocks, bytes, ns atomic.Int64 }

func (c *stageCounters) add(bytes int, took time.Duration) {
	c.blocks.Add(1)
	c.bytes.Add(int64(bytes))
	c.ns.Add(int64(took))
}

// stats returns what the counters say.
func (c *counters) stats() Stats {
	ns := func(v *atomic.Int64) time.Duration { return time.Duration(v.Load()) }
	s := Stats{
		Runs: 1, Total: time.Since(c.since),
		Compute: ns(&c.compute), QueueWait: ns(&c.wait), QueueAdmin: ns(&c.admin), Handoff: ns(&c.handoff),
		SendFull: c.full.Load(), SendClosed: c.closed.Load(), Failed: c.failed.Load(), Wrong: c.wrong.Load(), Reclaimed: c.reclaimed.Load(), Returned: c.returned.Load(),
	}
	add := func(name string, backend Backend, x *stageCounters) {
		if t := (StageStats{c.op, name, backend, x.blocks.Load(), x.bytes.Load(), ns(&x.ns)}); t.Blocks > 0 {
			s.Stages = append(s.Stages, t)
		}
	}
	add("fused", GPU, &c.fused)
	for i := range c.stages {
		add(c.stages[i].name, CPU, &c.counts[i+1][0])
		add(c.stages[i].name, GPU, &c.counts[i+1][1])
	}
	add("tune", CPU, &c.tune)
	add("ahead", CPU, &c.ahead)
	add("verify", CPU, &c.verify)
	add("check", CPU, &c.counts[0][0])
	return s
}

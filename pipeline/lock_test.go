package pipeline

import (
	"fmt"
	"testing"
	"time"
)

// stageTimes are the times of blocks of 1 MiB in all their stages, in µs: ten quantiles for
// dickens, mr, nci and xml at the default level on one core.
var stageTimes = map[Op][10]time.Duration{
	Compress:   {1097, 1762, 1996, 2090, 2174, 2222, 2756, 6932, 7678, 11615},
	Decompress: {473, 742, 832, 847, 880, 903, 1386, 1557, 1610, 1813},
}

// BenchmarkLock simulates many workers without codecs: a block is a sleep. It shows from how many
// workers on the one lock costs. It reports the part of the time in which the workers are busy, and
// for each block how long a worker waits, for the lock or a block, and holds the lock.
func BenchmarkLock(b *testing.B) {
	for _, op := range []Op{Compress, Decompress} {
		for workers := 1; workers <= 256; workers *= 2 {
			name := [...]string{"compress", "decompress"}[op]
			b.Run(fmt.Sprintf("%s/%d", name, workers), func(b *testing.B) {
				times := stageTimes[op]
				s := NewScheduler(workers)
				s.EnableStats(true)
				p := fake(func(ws *workspace, b *Block) error {
					time.Sleep(times[uint64(b.Index)*0x9E3779B97F4A7C15>>32%10] * time.Microsecond)
					return nil
				})
				blocks, began := 0, time.Now()
				r := s.Start(Config{Pipeline: p, Op: Decompress, InFlight: 4 * workers})
				for b.Loop() {
					for range 16 * workers { // some tens of milliseconds
						x := r.Get()
						if x == nil {
							x, _ = r.Next(true)
						}
						x.Kind = codedKind
						r.Submit(x)
						blocks++
					}
				}
				for r.Pending() > 0 {
					r.Next(true)
				}
				took := time.Since(began)
				st := r.Stats()
				r.Close()
				b.ReportMetric(100*float64(st.Compute)/float64(took)/float64(workers), "%busy")
				b.ReportMetric(float64(st.QueueAdmin)/float64(blocks), "held-ns/block")
				b.ReportMetric(float64(st.QueueWait)/float64(blocks), "wait-ns/block")
				b.ReportMetric(float64(blocks)/took.Seconds(), "blocks/s")
			})
		}
	}
}

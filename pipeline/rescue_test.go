package pipeline

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/corpus"
)

// TestRescue: a device that does not answer holds nobody up who does not insist on it, and gets blocks again when it does.
func TestRescue(t *testing.T) {
	for _, workers := range forWorkers {
		g := newGate(gpu.SoftConfig{Batch: 2, Concurrent: 2, Only: []gpu.Op{gpu.Stage0}})
		s := NewScheduler(workers)
		s.EnableStats(true)
		s.SetDevice(g)
		c := s.device.Load()
		const n = 12
		r := s.Start(Config{Pipeline: ByName("lzseqr"), Op: Compress, Level: 3, InFlight: n})
		burst(t, r, n)
		finish(t, r, n) // which the device has not let go
		if st := r.Stats(); st.Reclaimed == 0 || onBackend(st, GPU) != 0 {
			t.Errorf("%d workers: %d taken back, %d on the device", workers, st.Reclaimed, onBackend(st, GPU))
		}
		if s.DeviceError() != nil {
			t.Error(s.DeviceError())
		}
		close(g.open)
		until(t, "the device is idle", func() bool { return !c.busy.Load() })
		again := s.Start(Config{Pipeline: ByName("lzseqr"), Op: Compress, Level: 3, InFlight: n})
		burst(t, again, n)
		finish(t, again, n)
		if onBackend(again.Stats(), GPU) == 0 {
			t.Errorf("%d workers: nothing for a device that answers", workers)
		}
		r.Close()
		again.Close()
	}
}

// TestRescueNot: blocks that are to be done by the device, or whose content is the caller's, wait for it.
func TestRescueNot(t *testing.T) {
	for _, x := range []struct {
		backend Backend
		lent    bool
	}{{GPU, false}, {Auto, true}} {
		g := newGate(gpu.SoftConfig{Only: []gpu.Op{gpu.Stage0}})
		s := NewScheduler(2)
		s.EnableStats(true)
		s.SetDevice(g)
		r := s.Start(Config{Pipeline: ByName("lzseqr"), Op: Compress, Level: 3, Assign: Assignment{x.backend, CPU}})
		b := r.Get()
		copy(b.Grow(deviceBlock), corpus.ByName("text").Make(deviceBlock))
		b.Lent = x.lent
		r.Submit(b)
		<-g.in
		time.Sleep(rescueUnknown + 100*time.Millisecond)
		if b, err := r.Next(false); b != nil || err != nil {
			t.Errorf("%+v: it is done: %v", x, err)
		}
		close(g.open)
		finish(t, r, 1)
		if n := onBackend(r.Stats(), GPU); n != 1 {
			t.Errorf("%+v: %d on the device", x, n)
		}
		r.Close()
	}
}

// TestRescueAtAnyTime: whenever a device comes back, before its blocks are taken away, meanwhile or after that, they are right.
func TestRescueAtAnyTime(t *testing.T) {
	rounds := 12
	if small() {
		rounds = 3
	}
	taken := int64(0)
	for i := range rounds {
		s := withSoft(t, 1+i%3, gpu.SoftConfig{Batch: 1 + i%4, Concurrent: 1 + i%2, Observe: func(gpu.Op, []*gpu.Request) { time.Sleep(time.Duration(rand.IntN(2 * int(rescueLeast)))) }})
		sameAsCPU(t, s, ByName("lzseqr"), 5, Assignment{Auto, Auto})
		if s.DeviceError() != nil {
			t.Fatal(s.DeviceError())
		}
		taken += s.Stats().Reclaimed
	}
	if taken == 0 {
		t.Error("nothing was taken back")
	}
}

// TestPace: it follows what the CPU takes, and is unknown before.
func TestPace(t *testing.T) {
	var p pace
	if p.time(1<<20) != 0 {
		t.Error("known beforehand")
	}
	p.learn(1<<20, time.Millisecond)
	if got := p.time(2 << 20); got < 1990*time.Microsecond || got > 2*time.Millisecond {
		t.Errorf("%v for twice as much as took 1 ms", got)
	}
	for range 100 {
		p.learn(1<<20, 3*time.Millisecond)
	}
	if got := p.time(1 << 20); got < 2900*time.Microsecond || got > 3*time.Millisecond {
		t.Errorf("%v after many times of 3 ms", got)
	}
	p.learn(0, time.Hour)
}

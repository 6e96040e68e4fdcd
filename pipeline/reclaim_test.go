package pipeline

import (
	"bytes"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/corpus"
)

// TestReclaim: a device that does not answer holds up no run that does not insist on it, and gets
// blocks again once it answers.
func TestReclaim(t *testing.T) {
	for _, workers := range forWorkers {
		synctest.Test(t, func(t *testing.T) {
			g := newGate(gpu.SoftConfig{Batch: 2, Concurrent: 2, Ops: []gpu.Op{gpu.Stage0}})
			s := NewScheduler(workers)
			s.EnableStats(true)
			s.SetDevice(g)
			const n = 12
			cfg := Config{Pipeline: ByName("lzseqr"), Op: Compress, Level: 3, InFlight: n}
			r := s.Start(cfg)
			burst(t, r, n)
			finish(t, r, n) // although the device still holds some
			if st := r.Stats(); st.Reclaimed == 0 || onBackend(st, GPU) != 0 {
				t.Errorf("%d workers: %d reclaimed, %d on the device",
					workers, st.Reclaimed, onBackend(st, GPU))
			}
			if s.DeviceError() != nil {
				t.Error(s.DeviceError())
			}
			close(g.open)
			synctest.Wait()
			again := s.Start(cfg)
			burst(t, again, n)
			finish(t, again, n)
			if onBackend(again.Stats(), GPU) == 0 {
				t.Errorf("%d workers: nothing for a device that answers", workers)
			}
			r.Close()
			again.Close()
		})
	}
}

// TestReclaimNot: blocks that are assigned to the device wait for it.
func TestReclaimNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, s := startGate(2)
		r := occupy(t, s, g)
		time.Sleep(gpu.DefaultTimeout / 2)
		if b, err := r.Next(false); b != nil || err != nil {
			t.Errorf("it is done: %v", err)
		}
		close(g.open)
		finish(t, r, 1)
		if n := onBackend(r.Stats(), GPU); n != 1 {
			t.Errorf("%d on the device", n)
		}
		r.Close()
	})
}

// TestCloseLeavesDevice: Close does not wait for a device that holds blocks of the run, of any
// backend.
func TestCloseLeavesDevice(t *testing.T) {
	for _, backend := range []gpu.Backend{Auto, GPU} {
		synctest.Test(t, func(t *testing.T) {
			g, s := startGate(2)
			r := s.Start(Config{
				Pipeline: ByName("lzseqr"), Op: Compress, Level: 3, InFlight: 9,
				Assign: Assignment{backend, CPU},
			})
			burst(t, r, 9)
			<-g.in
			start := time.Now() // of the bubble's clock, which stands still while anything runs
			r.Close()
			if took := time.Since(start); took != 0 {
				t.Errorf("%v: Close waits for %v", backend, took)
			}
			close(g.open)
			synctest.Wait()
			if s.DeviceError() != nil {
				t.Error(s.DeviceError())
			}
			again := s.Start(Config{Pipeline: ByName("lzseqr"), Op: Compress, Level: 3, InFlight: 1})
			burst(t, again, 1)
			finish(t, again, 1)
			again.Close()
		})
	}
}

// TestReclaimAtAnyTime: whenever the device ends a batch, before its blocks are reclaimed,
// meanwhile or after that, the output is right. Workers reclaim after 20 ms of the bubble's time,
// in which computing takes no time.
func TestReclaimAtAnyTime(t *testing.T) {
	reclaimed := int64(0)
	for i := range 12 {
		synctest.Test(t, func(t *testing.T) {
			s := withSoft(t, 1+i%3, gpu.SoftConfig{
				Batch:      1 + i%4,
				Concurrent: 1 + i%2,
				Observe: func(gpu.Op, []*gpu.Request) {
					time.Sleep(time.Duration(5*rand.IntN(9)) * time.Millisecond)
				},
			})
			sameAsCPU(t, s, ByName("lzseqr"), 5, Assignment{Auto, Auto})
			if s.DeviceError() != nil {
				t.Fatal(s.DeviceError())
			}
			reclaimed += s.Stats().Reclaimed
			time.Sleep(time.Second) // until the last batches end
		})
	}
	if reclaimed == 0 {
		t.Error("nothing was reclaimed")
	}
}

// lateWriter is a device that overwrites all results when hold is closed.
type lateWriter struct {
	gpu.Device
	hold, done chan struct{}
}

func (d lateWriter) Run(op gpu.Op, batch []*gpu.Request) error {
	<-d.hold
	for _, r := range batch {
		p := r.Dst[:cap(r.Dst)]
		for i := range p {
			p[i] = 0xEE
		}
	}
	close(d.done)
	return nil
}

// TestLateDeviceWrites: a device that was given up does not write into the results of blocks.
func TestLateDeviceWrites(t *testing.T) {
	s := NewScheduler(1)
	soft := gpu.NewSoft(Host, gpu.SoftConfig{Timeout: 20 * time.Millisecond})
	d := lateWriter{soft, make(chan struct{}), make(chan struct{})}
	r := s.Start(Config{Pipeline: ByName("lzseqr"), Op: Compress, Level: 3, InFlight: 1})
	defer r.Close()
	src := corpus.ByName("text").Make(deviceBlock)
	run := func() []byte {
		b := r.Get()
		copy(b.Grow(len(src)), src)
		r.Submit(b)
		b = next(t, r)
		r.Put(b)
		return b.Out()
	}
	want := bytes.Clone(run()) // the block has memory for its result now
	s.SetDevice(d)
	r.device, r.cfg.Assign = s.device.Load(), Assignment{Fused, Fused}
	got := run()
	close(d.hold)
	<-d.done
	if !bytes.Equal(got, want) {
		t.Error("a device that was given up has written into a block's result")
	}
}

// TestTrialOfDevice: Auto uses a device that keeps up in its trial, and none that does not. The
// output is the same. Computing takes no time of the bubble's clock.
func TestTrialOfDevice(t *testing.T) {
	for _, slow := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var requests atomic.Int64
			cfg := gpu.SoftConfig{
				Batch: 4, Concurrent: 2, Trial: true,
				Observe: func(_ gpu.Op, batch []*gpu.Request) { requests.Add(int64(len(batch))) },
			}
			if slow {
				cfg.Latency = 200 * time.Millisecond // a probe may take 40 ms longer than a worker
			}
			s := withSoft(t, 2, cfg)
			for range 3 {
				sameAsCPU(t, s, ByName("lzseqr"), 5, Assignment{Auto, Auto})
				time.Sleep(time.Second) // until the last batches end
			}
			used := onBackend(s.Stats(), GPU)
			st, _ := s.DeviceStatus()
			if slow && (used > 0 || requests.Load() > 8 || len(st.TooSlow) == 0) {
				t.Errorf("slow device: %d requests, %d stages, status %v", requests.Load(), used, &st)
			}
			if !slow && (used == 0 || len(st.TooSlow) > 0) {
				t.Errorf("fast device: %d requests, %d stages, status %v", requests.Load(), used, &st)
			}
		})
	}
}

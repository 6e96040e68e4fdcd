package pipeline

import (
	"bytes"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/optimal"
)

// TestHelped: a single block has a helper at levels with optimal parsing, and the same output.
func TestHelped(t *testing.T) {
	pieces, forWorkers := 4, []int{1, 2, 8}
	if brief() {
		pieces, forWorkers = 2, []int{1, 2}
	}
	content := corpus.ByName("mixed").Make(pieces*optimal.MaxChunk + 1000)
	for i := range Pipelines() {
		p := &Pipelines()[i]
		level := p.lowestOptimal()
		var want []byte
		for _, workers := range forWorkers {
			var events atomic.Int64
			s := NewScheduler(workers)
			s.EnableStats(true)
			r := s.Start(Config{Pipeline: p, Op: Compress, Level: level, Trace: func(e Event) {
				if e.Stage == "ahead" {
					events.Add(1)
					if e.Worker < 0 || e.Worker >= workers || e.Bytes <= 0 {
						t.Errorf("%s: %+v", p.Name, e)
					}
				}
			}})
			b := r.Get()
			b.Src = content
			r.Submit(b)
			if b = next(t, r); b.Err != nil {
				t.Fatalf("%s: %v", p.Name, b.Err)
			}
			if workers == 1 {
				want = bytes.Clone(b.Out())
			} else if !bytes.Equal(b.Out(), want) {
				t.Errorf("%s, %d workers: other bytes", p.Name, workers)
			}
			r.Put(b)
			r.Close()
			var ahead StageStats
			st := s.Stats()
			for _, x := range st.Stages {
				if x.Stage == "ahead" {
					ahead = x
				}
			}
			if (ahead.Blocks > 0) != (workers > 1) || ahead.Blocks != events.Load() ||
				ahead.Bytes >= int64(len(content)) {
				t.Errorf("%s, %d workers: %+v, %d events", p.Name, workers, ahead, events.Load())
			}
			if s.alive != 0 || len(s.slots) != workers {
				t.Errorf("%s, %d workers: %d at work, %d free", p.Name, workers, s.alive, len(s.slots))
			}
		}
	}
}

func (p *Pipeline) lowestOptimal() (level int) {
	for level = 1; !p.levels[level].Optimal(); level++ {
	}
	return level
}

// TestHelpOrder: a helper starts only if no block waits, and a block that comes meanwhile gets the
// place of the helper when that ends.
func TestHelpOrder(t *testing.T) {
	helping, gate, second := make(chan struct{}), make(chan struct{}), make(chan struct{})
	s := NewScheduler(2)
	r := s.Start(Config{Op: Decompress, InFlight: 4, Pipeline: fake(func(ws *workspace, b *Block) error {
		if b.Tag == 1 {
			close(second)
			return nil
		}
		h := ws.matcher.Helper
		if !h.Help(func(func()) int { close(helping); <-gate; return 1 }) {
			return errors.New("no helper")
		}
		if (&worker{sched: s}).Help(func(func()) int { return 1 }) {
			return errors.New("more goroutines than workers")
		}
		h.Wait()
		return within(second) // while this one is still at work
	})})
	feed(t, r, 0)
	soon(t, "help", helping)
	feed(t, r, 1) // no worker is free for it
	select {
	case <-second:
		t.Error("three at work")
	case <-time.After(5 * time.Millisecond):
	}
	close(gate)
	for range 2 {
		if b := next(t, r); b.Err != nil {
			t.Error(b.Err)
		}
	}
	r.Close()

	s = NewScheduler(2) // a block waits, although a place is free
	r = s.Start(Config{Op: Decompress, Pipeline: fake(nil)})
	defer r.Close()
	r.share.queue.Push(&Block{run: r})
	s.enqueueShare(r.share)
	if (&worker{sched: s}).Help(func(func()) int { return 1 }) {
		t.Error("helped while a block waited")
	}
	r.share.queue.Pop()
	s.dequeueShare(r.share)
}

// TestHelperStartsWorker: a block returns from the device while a helper has the last free place.
// It gets that place when the helper ends.
func TestHelperStartsWorker(t *testing.T) {
	done := make(chan struct{})
	s := NewScheduler(2)
	r := s.Start(Config{Op: Decompress, InFlight: 4, Pipeline: fake(func(ws *workspace, b *Block) error {
		if b.Tag == 1 {
			close(done)
			return nil
		}
		if !ws.matcher.Helper.Help(func(func()) int {
			back := b.run.Get() // the owner waits
			back.Tag, back.prepared, back.state = 1, true, stateReclaimed
			b.run.acquireScratch()
			s.resumeBlock(back)
			return 1
		}) {
			return errors.New("no helper")
		}
		ws.matcher.Helper.Wait()
		return within(done)
	})})
	feed(t, r, 0)
	if b := next(t, r); b.Err != nil {
		t.Error(b.Err)
	}
	r.Close()
}

// TestHelpTracked: statistics count a place once, whether a worker or a helper has it.
func TestHelpTracked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers = 2
		s := NewScheduler(workers)
		s.EnableStats(true)
		r := s.Start(Config{Op: Decompress, InFlight: 4, Pipeline: fake(func(ws *workspace, b *Block) error {
			if b.Tag == 0 {
				time.Sleep(5 * time.Millisecond) // so that the other block has another worker
				return nil
			}
			for range 10 {
				if ws.matcher.Helper.Help(func(func()) int { time.Sleep(5 * time.Millisecond); return 1 }) {
					ws.matcher.Helper.Wait()
				}
			}
			return nil
		})})
		for _, tags := range [][]int64{{0, 0}, {1}, {0, 0}} {
			for _, tag := range tags {
				feed(t, r, tag)
			}
			for range tags {
				r.Put(next(t, r))
			}
		}
		st := r.Stats() // of the bubble's clock, which stands still while goroutines run
		if most := workers * st.Total; st.Tracked() > most || st.Compute < 100*time.Millisecond {
			t.Errorf("%v of %v are accounted for: %+v", st.Tracked(), most, st)
		}
		r.Close()
	})
}

// TestHelperPanics: a helper's panic is the block's error, with the helper's stack.
func TestHelperPanics(t *testing.T) {
	s := NewScheduler(2)
	r := s.Start(Config{Op: Decompress, InFlight: 1, Pipeline: fake(func(ws *workspace, b *Block) error {
		if ws.matcher.Helper.Help(failingHelp) {
			ws.matcher.Helper.Wait()
		}
		return nil
	})})
	defer r.Close()
	for i := range int64(3) {
		feed(t, r, i)
		b := next(t, r)
		var pe *PanicError
		if !errors.As(b.Err, &pe) || pe.Stage != "fake" || pe.Value != "bad help" ||
			!bytes.Contains(pe.Stack, []byte("failingHelp")) {
			t.Errorf("block %d: %v", i, b.Err)
		}
		r.Put(b)
	}
	s.mu.Lock()
	if s.alive > 1 || len(s.slots) < 1 {
		t.Errorf("%d at work", s.alive)
	}
	s.mu.Unlock()
}

func failingHelp(func()) int { panic("bad help") }

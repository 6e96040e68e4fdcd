package pipeline

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gopz/compress/internal/corpus"
)

// longPiece is the time between two checkpoints of the long stages below.
const longPiece = 3 * time.Millisecond

// long returns a pipeline whose blocks take pieces of longPiece, as many as their tag says. It
// counts the pieces.
func long(pieces *atomic.Int64) *Pipeline {
	return fake(func(ws *workspace, b *Block) error {
		for range b.Tag {
			time.Sleep(longPiece)
			pieces.Add(1)
			ws.check()
		}
		return nil
	})
}

// TestEqualShares: runs with long blocks get equal shares of the workers' time, whatever the number
// of their blocks in flight.
func TestEqualShares(t *testing.T) {
	for _, workers := range []int{1, 2, 5} {
		synctest.Test(t, func(t *testing.T) {
			s := NewScheduler(workers)
			var pieces [3]atomic.Int64
			for i := range pieces {
				r := s.Start(Config{Pipeline: long(&pieces[i]), Op: Decompress, InFlight: 50})
				defer r.Close()
				for range workers * (1 + 3*i) {
					feed(t, r, 1e6)
				}
				time.Sleep(20 * longPiece) // the first ones are alone for a while
			}
			var before [len(pieces)]int64
			for i := range pieces {
				before[i] = pieces[i].Load()
			}
			const took = 3 * time.Second
			time.Sleep(took)
			want := int64(workers) * int64(took/longPiece) / int64(len(pieces))
			slack := int64(workers) * int64(2*quantum/longPiece+1)
			for i := range pieces {
				if n := pieces[i].Load() - before[i]; n < want-slack || n > want+slack {
					t.Errorf("%d workers, run %d: %d pieces, want %d ± %d", workers, i, n, want, slack)
				}
			}
		})
	}
}

// TestShortWait: a short block waits for a piece of a stage and, for each other run, for a quantum
// divided by the number of workers and a piece.
func TestShortWait(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		for _, others := range []int{1, 2, 7} {
			synctest.Test(t, func(t *testing.T) {
				s := NewScheduler(workers)
				var pieces, own atomic.Int64
				for range others {
					r := s.Start(Config{Pipeline: long(&pieces), Op: Decompress, InFlight: 2 * workers})
					defer r.Close()
					for range 2 * workers {
						feed(t, r, 1e6)
					}
				}
				r := s.Start(Config{Pipeline: long(&own), Op: Decompress})
				defer r.Close()
				turn := quantum/time.Duration(workers) + longPiece
				most := time.Duration(others)*turn + 3*longPiece // own one included
				for range 50 {
					time.Sleep(7 * time.Millisecond)
					began := time.Now()
					feed(t, r, 1)
					r.Put(next(t, r))
					if took := time.Since(began); took > most {
						t.Errorf("%d workers, %d others: %v, at most %v", workers, others, took, most)
					}
				}
			})
		}
	}
}

// TestPauseBounds: no run has more blocks in a stage, working or paused, than there are workers.
func TestPauseBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers = 2
		s := NewScheduler(workers)
		s.EnableStats(true)
		var runs [3]*Run
		for i := range runs {
			var inside atomic.Int64
			r := s.Start(Config{Op: Decompress, InFlight: 8, Pipeline: fake(
				func(ws *workspace, b *Block) error {
					if n := inside.Add(1); n > workers {
						t.Errorf("%d blocks have begun", n)
					}
					defer inside.Add(-1)
					for range 9 {
						time.Sleep(longPiece)
						ws.check()
					}
					return nil
				})})
			for range 8 {
				feed(t, r, 0)
			}
			runs[i] = r
		}
		for _, r := range runs {
			for r.Pending() > 0 {
				if b := next(t, r); b.Err != nil {
					t.Error(b.Err)
				}
			}
		}
		synctest.Wait()
		if s.alive != 0 || s.ring.Len() != 0 || len(s.idle) > workers || len(s.slots) != workers {
			t.Errorf("%d alive, %d in the ring, %d idle", s.alive, s.ring.Len(), len(s.idle))
		}
		var sum Stats
		for _, r := range runs {
			r.Close()
			st := r.Stats()
			if st.Pauses == 0 || st.Paused == 0 {
				t.Errorf("%d pauses, %v", st.Pauses, st.Paused)
			}
			sum.Add(&st)
		}
		if want := 3 * 8 * 9 * longPiece; sum.Compute != want {
			t.Errorf("stages took %v, want %v: pauses must not count", sum.Compute, want)
		}
	})
}

// TestCloseStops: Close and the end of the context stop stages that work and stages that pause.
func TestCloseStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewScheduler(2)
		var pieces atomic.Int64
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var runs []*Run
		for range 5 {
			r := s.Start(Config{Pipeline: long(&pieces), Op: Decompress, InFlight: 9, Context: ctx})
			for range 9 {
				feed(t, r, 1e9)
			}
			runs = append(runs, r)
		}
		time.Sleep(time.Second) // some work, some pause
		for i, r := range runs {
			if i == 3 {
				cancel()
				if _, err := r.Next(true); !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			}
			began := time.Now()
			r.Close()
			if took := time.Since(began); took > longPiece {
				t.Errorf("run %d: %v until Close returned", i, took)
			}
		}
		synctest.Wait()
		if s.alive != 0 || s.ring.Len() != 0 {
			t.Errorf("%d alive, %d in the ring", s.alive, s.ring.Len())
		}
	})
}

// TestHelpStops: a helper stops as well.
func TestHelpStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewScheduler(2)
		r := s.Start(Config{Op: Decompress, InFlight: 1, Pipeline: fake(func(ws *workspace, b *Block) error {
			ws.matcher.Helper.Help(func(checkpoint func()) int {
				for {
					time.Sleep(longPiece)
					checkpoint()
				}
			})
			ws.matcher.Helper.Wait()
			return nil
		})})
		feed(t, r, 0)
		time.Sleep(time.Second)
		r.Close()
		synctest.Wait()
		if s.alive != 0 {
			t.Errorf("%d alive", s.alive)
		}
	})
}

// TestPausedOutput: blocks whose stages pause have the same bytes.
func TestPausedOutput(t *testing.T) {
	content := corpus.ByName("mixed").Make(300_000)
	for i := range Pipelines() {
		p := &Pipelines()[i]
		for _, level := range levels(1, 6, 8) {
			var want []byte
			for _, others := range []int{0, 3} {
				s := NewScheduler(1)
				var pieces atomic.Int64
				var spinning []*Run
				for range others {
					r := s.Start(Config{Op: Decompress, Pipeline: fake(func(ws *workspace, b *Block) error {
						for pieces.Add(1); ; runtime.Gosched() {
							ws.check()
						}
					})})
					spinning = append(spinning, r)
					feed(t, r, 0)
				}
				r := s.Start(Config{Pipeline: p, Op: Compress, Level: level})
				b := r.Get()
				b.Src = content
				r.Submit(b)
				if b = next(t, r); b.Err != nil {
					t.Fatal(b.Err)
				}
				if others == 0 {
					want = bytes.Clone(b.Out())
				} else if !bytes.Equal(b.Out(), want) {
					t.Errorf("%s, level %d: other bytes", p.Name, level)
				}
				for _, r := range append(spinning, r) {
					r.Close()
				}
			}
		}
	}
}

// TestCriticalSections: a block costs two critical sections of the scheduler: one to submit it, one
// in which a worker ends it and takes the next.
func TestCriticalSections(t *testing.T) {
	const blocks = 1000
	for _, workers := range []int{1, 4} {
		s := NewScheduler(workers)
		r := s.Start(Config{Op: Decompress, InFlight: blocks,
			Pipeline: fake(func(*workspace, *Block) error { return nil })})
		rounds := func() int64 {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.mu.rounds
		}
		hold := make(chan struct{})
		p := *r.cfg.Pipeline
		p.decode = []stage{{name: "fake", run: func(ws *workspace, b *Block) error {
			if b.Tag == 0 {
				<-hold // until all are submitted, so that no worker runs out of blocks
			}
			return nil
		}}}
		r.cfg.Pipeline, r.stages = &p, p.decode
		before := rounds()
		for i := range int64(blocks) {
			feed(t, r, max(0, i-int64(workers)+1))
		}
		close(hold)
		for r.Pending() > 0 {
			next(t, r)
		}
		// Besides: the first claim of the run, the start of each worker, and this round.
		if n, most := rounds()-before, int64(2*blocks+1+workers+1); n > most {
			t.Errorf("%d workers: %d critical sections for %d blocks, at most %d", workers, n, blocks, most)
		}
		r.Close()
	}
}

package pipeline

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// TestDo checks that the caller's goroutine does a block while all workers have other work, and
// takes no lock.
func TestDo(t *testing.T) {
	s := NewScheduler(1)
	begun, hold := make(chan struct{}), make(chan struct{})
	busy := s.Start(Config{Op: Decompress, Pipeline: fake(func(*workspace, *Block) error {
		close(begun)
		<-hold
		return nil
	})})
	feed(t, busy, 0)
	<-begun
	var events []Event
	r := s.Start(Config{Op: Decompress, InFlight: 2, Trace: func(e Event) { events = append(events, e) },
		Pipeline: fake(func(ws *workspace, b *Block) error {
			if b.Tag == 3 {
				panic("three")
			}
			b.out = fmt.Append(nil, b.Tag)
			return nil
		})})
	rounds := s.mu.rounds // the worker waits in its stage
	for i := range int64(6) {
		b := r.Get()
		b.Kind, b.Tag = codedKind, i
		r.Do(b)
		b, err := r.Next(false) // done
		if err != nil || b == nil || b.Index != i {
			t.Fatalf("block %d: %v, %v", i, b, err)
		}
		var pe *PanicError
		if (i == 3) != errors.As(b.Err, &pe) || i != 3 && string(b.Out()) != fmt.Sprint(i) {
			t.Errorf("block %d: %q, %v", i, b.Out(), b.Err)
		}
		r.Put(b)
	}
	for _, e := range events {
		if e.Worker != callerSlot {
			t.Errorf("%+v", e)
		}
	}
	if n := s.mu.rounds - rounds; n > 0 {
		t.Errorf("%d critical sections", n)
	}
	close(hold)
	busy.Close()
	r.Close()
	if len(events) == 0 {
		t.Error("no events")
	}
}

// TestDoKeepsMemory checks that blocks that need a payload and blocks that need none share one.
func TestDoKeepsMemory(t *testing.T) {
	testenv.Measures(t)
	r := NewScheduler(1).Start(Config{Op: Decompress, InFlight: 1,
		Pipeline: fake(func(ws *workspace, b *Block) error {
			b.payload.streams.Lits = resize(b.payload.streams.Lits, 1000)
			return nil
		})})
	defer r.Close()
	cycle := func() {
		for _, kind := range []uint8{storedKind, codedKind} {
			b := r.Get()
			b.Kind, b.Raw = kind, len(b.Src)
			r.Do(b)
			if b, err := r.Next(false); b == nil || b.Err != nil || err != nil {
				t.Fatal(b, err)
			}
			r.Put(b)
		}
	}
	cycle()
	if n := testing.AllocsPerRun(100, cycle); n > 0 {
		t.Errorf("%v allocations for two blocks", n)
	}
}

// TestRunReset checks that a run becomes one of another scheduler and configuration, with its
// blocks, but not while a block is in use or after Close.
func TestRunReset(t *testing.T) {
	tagged := func(tag byte) *Pipeline {
		return fake(func(ws *workspace, b *Block) error {
			b.out = []byte{tag}
			return nil
		})
	}
	one, two := NewScheduler(1), NewScheduler(2)
	one.EnableStats(true)
	two.EnableStats(true)
	r := one.Start(Config{Op: Decompress, Pipeline: tagged('a'), InFlight: 3})
	cycle := func(want byte, blocks int) {
		t.Helper()
		for tag := range blocks {
			feed(t, r, int64(tag))
		}
		if r.Get() != nil {
			t.Error("a block too many")
		}
		for i := range blocks {
			b := next(t, r)
			if b.Index != int64(i) || string(b.Out()) != string(want) {
				t.Errorf("block %d: index %d, result %q, want %q", i, b.Index, b.Out(), want)
			}
			if r.Reset(two, r.cfg) {
				t.Error("Reset with a block in use")
			}
			r.Put(b)
		}
	}
	cycle('a', 3)
	if !r.Reset(two, Config{Op: Decompress, Pipeline: tagged('b'), InFlight: 2}) {
		t.Fatal("no Reset")
	}
	cycle('b', 2)
	if one.Stats().Stages[0].Blocks != 3 {
		t.Errorf("statistics of the first scheduler: %+v", one.Stats())
	}
	r.Release()
	if two.Stats().Stages[0].Blocks != 2 || r.Stats().Runs != 2 {
		t.Errorf("statistics of the second scheduler: %+v, of the run: %+v", two.Stats(), r.Stats())
	}
	if !r.Reset(one, Config{Op: Decompress, Pipeline: tagged('c'), InFlight: 4}) {
		t.Fatal("no Reset after Release")
	}
	cycle('c', 4)
	r.Release()
	r.Close()
	if r.Reset(one, Config{Op: Decompress, Pipeline: tagged('d')}) {
		t.Error("Reset after Close")
	}
}

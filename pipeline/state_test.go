package pipeline

import (
	"slices"
	"testing"

	"github.com/gopz/compress/gpu"
)

// TestTransitions checks every pair of states against setState.
func TestTransitions(t *testing.T) {
	if len(transitions) != len(stateNames) {
		t.Fatalf("%d rows of transitions, %d names", len(transitions), len(stateNames))
	}
	for from := range transitions {
		for to := range transitions {
			b := &Block{Index: 7, state: blockState(from)}
			var got any
			func() {
				defer func() { got = recover() }()
				b.setState(blockState(to))
			}()
			switch {
			case slices.Contains(transitions[from], blockState(to)):
				if got != nil || b.state != blockState(to) {
					t.Errorf("%v to %v: state %v, panic %v", blockState(from), blockState(to), b.state, got)
				}
			case got != "pipeline: block 7 changes from "+stateNames[from]+" to "+stateNames[to]:
				t.Errorf("%v to %v: panic %v", blockState(from), blockState(to), got)
			case b.state != blockState(from):
				t.Errorf("%v to %v: the state changed to %v", blockState(from), blockState(to), b.state)
			}
		}
	}
}

// TestWrongTransition: a stage that breaks the state of its block costs that block alone.
func TestWrongTransition(t *testing.T) {
	p := fake(func(_ *workspace, b *Block) error {
		if b.Tag == 0 {
			b.setState(stateReturned)
		}
		return nil
	})
	r := NewScheduler(1).Start(Config{Pipeline: p, Op: Decompress, InFlight: 1})
	defer r.Close()
	feed(t, r, 0)
	b := next(t, r)
	want := "panic in stage fake: pipeline: block 0 changes from running to returned"
	if b.Err == nil || b.Err.Error() != want {
		t.Errorf("error %v, want %s", b.Err, want)
	}
	r.Put(b)
	feed(t, r, 1)
	if b := next(t, r); b.Err != nil {
		t.Error(b.Err)
	}
}

// TestPutWhileQueued: a block that the scheduler owns cannot be freed.
func TestPutWhileQueued(t *testing.T) {
	s := NewScheduler(1)
	hold, begun := make(chan bool), make(chan bool)
	r := s.Start(Config{Op: Decompress, InFlight: 1, Pipeline: fake(func(*workspace, *Block) error {
		begun <- true
		<-hold
		return nil
	})})
	defer r.Close()
	quick := fake(func(*workspace, *Block) error { return nil })
	other := s.Start(Config{Pipeline: quick, Op: Decompress, InFlight: 1})
	defer other.Close()
	feed(t, r, 0)
	soon(t, "the block runs", begun)
	b := other.Get()
	b.Kind = codedKind
	other.Submit(b)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("Put frees a block that waits for a worker")
			}
		}()
		other.Put(b)
	}()
	close(hold)
	finish(t, r, 1)
	finish(t, other, 1)
}

// TestStatesSeen: a block on the device passes through all states but that of reclaimed blocks.
func TestStatesSeen(t *testing.T) {
	g := newGate(gpu.SoftConfig{Batch: 1, Concurrent: 1})
	s := NewScheduler(1)
	if err := s.SetDevice(g); err != nil {
		t.Fatal(err)
	}
	r := startFused(s, 1)
	defer r.Close()
	b := r.Get()
	if b.state != stateFilling {
		t.Errorf("after Get: %v", b.state)
	}
	r.Put(b)
	if b.state != stateFree {
		t.Errorf("after Put: %v", b.state)
	}
	burst(t, r, 1)
	soon(t, "the block is on the device", g.in)
	if b.state != stateOnDevice {
		t.Errorf("on the device: %v", b.state)
	}
	close(g.open)
	if b := next(t, r); b.state != stateDelivered || b.Err != nil {
		t.Errorf("after Next: %v, error %v", b.state, b.Err)
	}
}

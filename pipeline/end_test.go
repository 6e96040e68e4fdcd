package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// TestClose: Close waits for blocks that were begun, drops the others, and leaves the scheduler as
// it was.
func TestClose(t *testing.T) {
	base := runtime.NumGoroutine()
	const workers = 2
	s := NewScheduler(workers)
	gate, begun := make(chan bool), make(chan bool, 100)
	var ended atomic.Int32
	r := s.Start(Config{Pipeline: fake(func(ws *workspace, b *Block) error {
		begun <- true
		<-gate
		ended.Add(1)
		return nil
	}), Op: Decompress, InFlight: 10})
	for i := range int64(10) {
		feed(t, r, i)
	}
	for range workers {
		soon(t, "begin", begun)
	}
	closed := make(chan bool)
	go func() {
		r.Close()
		if n := ended.Load(); n != workers {
			t.Errorf("Close returned after %d blocks, %d were begun", n, workers)
		}
		r.Close()
		close(closed)
	}()
	for !r.canceled.Load() {
		runtime.Gosched()
	}
	select {
	case <-closed:
		t.Error("Close did not wait")
	case <-time.After(5 * time.Millisecond):
	}
	close(gate)
	soon(t, "Close", closed)
	if n := len(begun); n != 0 {
		t.Errorf("%d blocks begun after Close", n)
	}
	again := s.Start(Config{Pipeline: fake(func(*workspace, *Block) error { return nil }), Op: Decompress})
	feed(t, again, 1)
	if b := next(t, again); b.Err != nil {
		t.Errorf("another run: %v", b.Err)
	}
	again.Close()
	settled(t, base)
	if len(s.idle) != 0 || s.runs != 0 || s.alive != 0 {
		t.Errorf("%d idle workers kept, %d runs, %d alive", len(s.idle), s.runs, s.alive)
	}
}

// TestCloseTwice: a second Close does not count as that of another run.
func TestCloseTwice(t *testing.T) {
	s := NewScheduler(1)
	p := fake(func(ws *workspace, b *Block) error { return nil })
	a, b := s.Start(Config{Pipeline: p, Op: Decompress}), s.Start(Config{Pipeline: p, Op: Decompress})
	for _, r := range []*Run{a, b} {
		feed(t, r, 1)
		next(t, r)
	}
	a.ReleaseScratch()
	a.ReleaseScratch()
	if s.runs != 1 {
		t.Errorf("%d runs open while one has released its claim, want 1", s.runs)
	}
	a.Close()
	a.Close()
	if s.runs != 1 {
		t.Errorf("%d runs open, want 1", s.runs)
	}
	b.Close()
	b.Close()
	if s.runs != 0 {
		t.Errorf("%d runs open", s.runs)
	}
}

// TestDroppedRun: a run that is dropped without Close releases its claim once it is garbage.
func TestDroppedRun(t *testing.T) {
	s := NewScheduler(2)
	p := fake(func(ws *workspace, b *Block) error { return nil })
	for range 3 {
		r := s.Start(Config{Pipeline: p, Op: Decompress})
		feed(t, r, 1)
		next(t, r)
	}
	for range 1000 {
		runtime.GC()
		s.mu.Lock()
		runs, idle := s.runs, len(s.idle)
		s.mu.Unlock()
		if runs == 0 && idle == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d runs open, %d idle workers kept", s.runs, len(s.idle))
}

// TestCloseBehindOthers: blocks that no worker has begun do not wait for those of another run.
func TestCloseBehindOthers(t *testing.T) {
	s := NewScheduler(1)
	gate, begun := make(chan bool), make(chan bool, 1)
	p := fake(func(ws *workspace, b *Block) error { begun <- true; <-gate; return nil })
	slow := s.Start(Config{Pipeline: p, Op: Decompress, InFlight: 1})
	feed(t, slow, 1)
	<-begun
	quick := fake(func(*workspace, *Block) error { return nil })
	waiting := s.Start(Config{Pipeline: quick, Op: Decompress, InFlight: 3})
	for i := range int64(3) {
		feed(t, waiting, i)
	}
	closed := make(chan struct{})
	go func() {
		waiting.Close()
		close(closed)
	}()
	soon(t, "Close", closed)
	close(gate)
	if b := next(t, slow); b.Err != nil {
		t.Errorf("the other run: %v", b.Err)
	}
	slow.Close()
}

// TestDroppedGoroutines: a run that is dropped without Close leaves no goroutine once its blocks
// are done.
func TestDroppedGoroutines(t *testing.T) {
	base := runtime.NumGoroutine()
	for _, workers := range []int{1, 4} {
		p := fake(func(ws *workspace, b *Block) error { return nil })
		r := NewScheduler(workers).Start(Config{Pipeline: p, Op: Decompress})
		for i := range int64(2 * workers) {
			feed(t, r, i)
		}
	}
	settled(t, base)
}

// TestCancel ends the context after each number of blocks. The run stops with the cause of the
// context, nothing hangs, and blocks that Next returns are in order and either done or dropped.
func TestCancel(t *testing.T) {
	base := runtime.NumGoroutine()
	cause := errors.New("enough")
	const blocks = 12
	for _, workers := range forWorkers {
		for after := range blocks + 1 {
			ctx, cancel := context.WithCancelCause(context.Background())
			var ran atomic.Int32
			p := fake(func(ws *workspace, b *Block) error {
				ran.Add(1)
				if int(b.Tag) == after {
					cancel(cause)
				}
				return nil
			})
			cfg := Config{Pipeline: p, Op: Decompress, Context: ctx, InFlight: blocks}
			r := NewScheduler(workers).Start(cfg)
			for i := range int64(blocks) {
				feed(t, r, i)
			}
			index := int64(0)
			var err error
			for r.Pending() > 0 && err == nil {
				var b *Block
				b, err = r.Next(true)
				if b == nil {
					break
				}
				if b.Index != index || b.Err != nil && !errors.Is(b.Err, ErrCanceled) {
					t.Fatalf("block %d: index %d, error %v", index, b.Index, b.Err)
				}
				if b.Err != nil && ctx.Err() == nil {
					t.Fatalf("block %d dropped before the context ended", index)
				}
				index++
			}
			stopped := errors.Is(err, cause) && errors.Is(err, context.Canceled)
			if err != nil && !stopped || after == blocks && err != nil {
				t.Errorf("canceled in block %d: error %v", after, err)
			}
			// The oldest block may never be done: then only the context can end the wait.
			r.Close()
			if workers == 1 && int(ran.Load()) != min(after+1, blocks) {
				t.Errorf("canceled in block %d of one worker: %d blocks ran", after, ran.Load())
			}
			cancel(nil)
		}
	}
	settled(t, base)
}

// TestCancelWait: Next stops waiting when the context ends.
func TestCancelWait(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	gate, begun := make(chan bool), make(chan bool, 1)
	p := fake(func(ws *workspace, b *Block) error { begun <- true; <-gate; return nil })
	r := NewScheduler(1).Start(Config{Pipeline: p, Op: Decompress, Context: ctx})
	feed(t, r, 0)
	soon(t, "the block", begun) // a block that is canceled before is done at once
	got := make(chan error, 1)
	go func() {
		_, err := r.Next(true)
		got <- err
		close(gate)
	}()
	cancel()
	soon(t, "Next", gate)
	if err := <-got; err != context.Canceled {
		t.Errorf("error %v", err)
	}
	r.Close()
}

// TestPanic: a panic is the error of its block alone, and no block gets the workspace of a stage
// that panicked.
func TestPanic(t *testing.T) {
	base := runtime.NumGoroutine()
	for _, workers := range forWorkers {
		var panicked atomic.Pointer[workspace]
		p := fake(func(ws *workspace, b *Block) error {
			if ws == panicked.Load() {
				return errors.New("the workspace of a stage that panicked is used again")
			}
			if b.Tag%5 == 3 {
				if workers == 1 {
					panicked.Store(ws)
				}
				panic(fmt.Sprint("at ", b.Tag))
			}
			b.out = []byte{byte(b.Tag)}
			return nil
		})
		s := NewScheduler(workers)
		r := s.Start(Config{Pipeline: p, Op: Decompress, InFlight: 4})
		for i := range int64(60) {
			if r.Pending() == 4 {
				b := next(t, r)
				var pe *PanicError
				switch {
				case b.Tag%5 != 3:
					if b.Err != nil || !slices.Equal(b.Out(), []byte{byte(b.Tag)}) {
						t.Errorf("block %d: error %v", b.Tag, b.Err)
					}
				case !errors.As(b.Err, &pe):
					t.Errorf("block %d: error %v", b.Tag, b.Err)
				case pe.Stage != "fake" || pe.Value != fmt.Sprint("at ", b.Tag) || len(pe.Stack) == 0:
					t.Errorf("block %d: %+v", b.Tag, pe)
				}
				r.Put(b)
			}
			feed(t, r, i)
		}
		r.Close()
	}
	settled(t, base)
}

// TestStageError: the error of a stage is the error of the block, and later stages do not run.
func TestStageError(t *testing.T) {
	bad := errors.New("bad")
	second := 0
	p := &Pipeline{decode: []stage{
		{name: "first", run: func(ws *workspace, b *Block) error {
			if b.Tag == 1 {
				return bad
			}
			return nil
		}},
		{name: "second", run: func(*workspace, *Block) error { second++; panic("second") }},
	}}
	r := NewScheduler(1).Start(Config{Pipeline: p, Op: Decompress, InFlight: 1})
	defer r.Close()
	for i := range int64(3) {
		feed(t, r, i)
		b := next(t, r)
		var pe *PanicError
		if i == 1 && b.Err != bad || i != 1 && (!errors.As(b.Err, &pe) || pe.Stage != "second") {
			t.Errorf("block %d: error %v", i, b.Err)
		}
		r.Put(b) // and the next use of the block starts afresh
	}
	if second != 2 {
		t.Errorf("second stage ran %d times, want 2", second)
	}
}

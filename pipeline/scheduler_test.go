package pipeline

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gopz/compress/internal/corpus"
)

// TestOrder: Next returns blocks in the order of submission, though some take a hundred times
// longer than others.
func TestOrder(t *testing.T) {
	const blocks = 150
	slow := fake(func(ws *workspace, b *Block) error {
		if b.Tag%7 == 0 {
			time.Sleep(2 * time.Millisecond)
		} else if b.Tag%3 == 0 {
			runtime.Gosched()
		}
		b.out = fmt.Appendf(nil, "block %d", b.Tag)
		return nil
	})
	for _, workers := range []int{1, 2, 3, 16} {
		r := NewScheduler(workers).Start(Config{Pipeline: slow, Op: Decompress})
		got := int64(0)
		take := func() {
			b := next(t, r)
			want := fmt.Sprint("block ", got)
			if b.Index != got || b.Tag != got || b.Err != nil || string(b.Out()) != want {
				t.Fatalf("%d workers: got index %d, %q, error %v; want %q",
					workers, b.Index, b.Out(), b.Err, want)
			}
			got++
			r.Put(b)
		}
		for i := range int64(blocks) {
			if r.Pending() == 2*workers {
				take()
			}
			feed(t, r, i)
		}
		for r.Pending() > 0 {
			take()
		}
		if b, err := r.Next(true); b != nil || err != nil || got != blocks {
			t.Errorf("after %d blocks: %v, %v", got, b, err)
		}
		r.Close()
	}
}

// TestBounds: no more than InFlight blocks exist, and the scheduler works on as many at once as it
// has workers.
func TestBounds(t *testing.T) {
	for _, workers := range []int{1, 2, 5} {
		var running, most atomic.Int32
		full := make(chan bool)
		p := fake(func(ws *workspace, b *Block) error {
			n := running.Add(1)
			defer running.Add(-1)
			for {
				m := most.Load()
				if n <= m || most.CompareAndSwap(m, n) {
					break
				}
			}
			if int(n) == workers && b.Tag < int64(workers) {
				close(full)
			}
			<-full // the first ones wait for one another
			time.Sleep(100 * time.Microsecond)
			return nil
		})
		s := NewScheduler(workers)
		if s.Workers() != workers {
			t.Errorf("Workers: %d, want %d", s.Workers(), workers)
		}
		for _, inFlight := range []int{0, workers, 3*workers + 1} {
			full = make(chan bool)
			r := s.Start(Config{Pipeline: p, Op: Decompress, InFlight: inFlight})
			want := inFlight
			if want == 0 {
				want = 2 * workers
			}
			seen := map[*Block]bool{}
			for i := range int64(10 * want) {
				if int(i) >= want {
					if r.Get() != nil {
						t.Fatalf("more than %d blocks", want)
					}
					if i == int64(want) {
						soon(t, fmt.Sprintf("%d blocks at once", workers), full)
					}
					r.Put(next(t, r))
				}
				b := r.Get()
				if b == nil {
					t.Fatalf("no block %d of %d", i, want)
				}
				seen[b] = true
				b.Kind, b.Tag = codedKind, i
				r.Submit(b)
			}
			if len(seen) > want {
				t.Errorf("%d blocks exist, at most %d may", len(seen), want)
			}
			r.Close()
		}
		if int(most.Load()) != workers {
			t.Errorf("%d blocks at once with %d workers", most.Load(), workers)
		}
	}
	if n := NewScheduler(0).Workers(); n != runtime.GOMAXPROCS(0) {
		t.Errorf("%d workers by default", n)
	}
}

// TestNextNoWait: Next(false) returns at once, and leaves a block that is not done in place.
func TestNextNoWait(t *testing.T) {
	gate := make(chan bool)
	p := fake(func(ws *workspace, b *Block) error { <-gate; return nil })
	r := NewScheduler(2).Start(Config{Pipeline: p, Op: Decompress})
	defer r.Close()
	if b, err := r.Next(false); b != nil || err != nil || r.Pending() != 0 {
		t.Fatalf("before any block: %v, %v", b, err)
	}
	feed(t, r, 0)
	feed(t, r, 1)
	if b, err := r.Next(false); b != nil || err != nil || r.Pending() != 2 {
		t.Fatalf("while the blocks are under way: %v, %v, %d pending", b, err, r.Pending())
	}
	close(gate)
	for i := range int64(2) {
		var b *Block
		for start := time.Now(); b == nil; b, _ = r.Next(false) {
			if time.Since(start) > 20*time.Second {
				t.Fatal("block is never done")
			}
			runtime.Gosched()
		}
		if b.Tag != i {
			t.Errorf("block %d, want %d", b.Tag, i)
		}
	}
}

// TestManyRuns: runs of both directions and several pipelines share a scheduler from many
// goroutines.
func TestManyRuns(t *testing.T) {
	blocks := 12
	if brief() {
		blocks = 4
	}
	for _, workers := range []int{1, 2, 16} {
		s := NewScheduler(workers)
		var wg sync.WaitGroup
		for i, k := range corpus.Kinds() {
			wg.Go(func() {
				src := k.Make(blocks * 10_000)
				p := &table[i%2]
				coded, err := compressAll(s, p, 1+i%7, 10_000, src)
				if err != nil {
					t.Errorf("%s: %v", k.Name, err)
					return
				}
				out, err := decompressAll(s, p, coded)
				if err != nil || !bytes.Equal(out, src) {
					t.Errorf("%s: content differs, error %v", k.Name, err)
				}
			})
		}
		wg.Wait()
	}
}

// TestWorkersWithinBlocks: with one block in flight there is one workspace, however soon the next
// block follows.
func TestWorkersWithinBlocks(t *testing.T) {
	seen := map[*workspace]bool{}
	s := NewScheduler(4)
	p := fake(func(ws *workspace, b *Block) error { seen[ws] = true; return nil })
	r := s.Start(Config{Pipeline: p, Op: Decompress, InFlight: 1})
	defer r.Close()
	for i := range int64(20_000) {
		feed(t, r, i)
		r.Put(next(t, r))
	}
	if len(seen) != 1 {
		t.Errorf("%d workspaces for one block in flight", len(seen))
	}
}

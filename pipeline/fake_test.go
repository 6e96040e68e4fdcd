package pipeline

import (
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// Short names of the backends, for tables.
const (
	Auto  = gpu.BackendAuto
	CPU   = gpu.BackendCPU
	GPU   = gpu.BackendGPU
	Fused = gpu.BackendFused
)

// brief reports whether tests use less data and fewer cases: by default, and with the race
// detector, which makes the codecs some twenty times slower.
func brief() bool { return !testenv.All() || testenv.Race }

// oneGoroutine skips a test with the race detector. Such a test is of codecs, on one goroutine or a
// few that other tests have as well.
func oneGoroutine(t *testing.T) {
	t.Helper()
	if testenv.Race {
		t.Skip("one goroutine has no races")
	}
}

// Kinds of blocks, as Block.Kind has them.
const (
	storedKind = uint8(container.Stored)
	fillKind   = uint8(container.Fill)
	codedKind  = uint8(container.Coded)
)

// fake returns a pipeline with one decoding stage that sees each block. Its payloads have kind
// coded, so that nothing happens to a block before the stage runs.
func fake(run func(ws *workspace, b *Block) error) *Pipeline {
	return &Pipeline{Name: "fake", decode: []stage{{name: "fake", run: run}}}
}

// feed gets a block and submits it with the given tag.
func feed(t testing.TB, r *Run, tag int64) {
	t.Helper()
	b := r.Get()
	if b == nil {
		t.Fatalf("no block free for tag %d, %d pending", tag, r.Pending())
	}
	b.Kind, b.Tag = codedKind, tag
	r.Submit(b)
}

// next waits for the oldest block.
func next(t testing.TB, r *Run) *Block {
	t.Helper()
	b, err := r.Next(true)
	if b == nil || err != nil {
		t.Fatalf("no block: %v", err)
	}
	return b
}

// settled fails the test unless the number of goroutines falls back to base. A worker is still
// there for a moment after the caller has its last block.
func settled(t *testing.T, base int) {
	t.Helper()
	for wait := time.Microsecond; runtime.NumGoroutine() > base; wait *= 2 {
		if wait > 2*time.Second {
			buf := make([]byte, 1<<16)
			n := runtime.Stack(buf, true)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), base, buf[:n])
		}
		time.Sleep(wait)
	}
}

// soon waits for a channel. It fails the test after 20 s.
func soon[T any](t *testing.T, what string, c <-chan T) {
	t.Helper()
	if err := within(c); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// within is soon for a stage, which cannot end the test.
func within[T any](c <-chan T) error {
	select {
	case <-c:
		return nil
	case <-time.After(20 * time.Second):
		return errors.New("did not happen")
	}
}

// execute takes a block through its stages with the given workspace, as a worker would. It returns
// false if a stage panicked.
func execute(ws *workspace, b *Block) bool {
	w := &worker{sched: b.run.sched, ws: ws}
	b.state = stateQueued
	b.beginWork(b.run.cfg.Op)
	w.runBlock(b)
	b.setState(stateDone)
	b.setState(stateDelivered)
	if b.payload != nil {
		ws.payload, b.payload = b.payload, nil
	}
	return w.ws == ws
}

// levels returns all levels, or the given ones in brief tests.
func levels(some ...int) []int {
	if brief() {
		return some
	}
	return []int{1, 2, 3, 4, 5, 6, 7, 8, 9}
}

// kinds returns all kinds of test data, or the named ones in brief tests.
func kinds(some ...string) (list []corpus.Kind) {
	for _, k := range corpus.Kinds() {
		if !brief() || slices.Contains(some, k.Name) {
			list = append(list, k)
		}
	}
	return list
}

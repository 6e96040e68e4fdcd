package gputest

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
)

// samples are requests of each thing that a device does, with what the CPU gives.
type samples struct {
	names []string
	ask   []func() *gpu.Request
	right []func(*gpu.Request) bool
}

// newSamples makes them of blocks of size bytes.
func newSamples(d gpu.Device, size int) (s samples) {
	text := corpus.ByName("text").Make(size)
	add := func(name string, ask func() *gpu.Request, right func(*gpu.Request) bool) {
		s.names, s.ask, s.right = append(s.names, name), append(s.ask, ask), append(s.right, right)
	}
	if d.Info().Ops[gpu.StageN].Batch > 0 {
		c := literals("", text)
		add("encode", c.encode, func(r *gpu.Request) bool { return bytes.Equal(r.Dst, c.payload) })
		add("decode", c.decode, func(r *gpu.Request) bool { return bytes.Equal(r.Streams.Lits, text) })
	}
	if d.Info().Ops[gpu.Stage0].Batch > 0 {
		ask := func() *gpu.Request { return matchRequest(text, 0, 6, lzseq.Repeat.Limits) }
		want := parse(ask())
		add("match", ask, func(r *gpu.Request) bool {
			seqs, ok := accept(r)
			return ok && slices.Equal(seqs, want)
		})
	}
	if d.Info().Ops[gpu.Fused].Batch > 0 {
		ask := func() *gpu.Request { return fusedRequest(text, 6, lzseq.Repeat) }
		want := fusedPayload(ask())
		add("fused", ask, func(r *gpu.Request) bool { return bytes.Equal(r.Dst, want) })
	}
	return s
}

// run does n requests of the kind i in one batch, and says what is wrong with the results. An error of Run comes as it is.
func (s *samples) run(d gpu.Device, i, n int) error {
	var batch []*gpu.Request
	for range n {
		batch = append(batch, s.ask[i]())
	}
	if err := d.Run(batch[0].Op, batch); err != nil {
		return err
	}
	for k, r := range batch {
		if r.Err != nil || !s.right[i](r) {
			return fmt.Errorf("%s %d of %d: wrong: %w", s.names[i], k, n, errors.Join(r.Err, errResult))
		}
	}
	return nil
}

var errResult = errors.New("a result that the CPU does not give")

// Smoke has everything done once that the device does: for a test that opens many.
func Smoke(t *testing.T, d gpu.Device) {
	t.Helper()
	s := newSamples(d, 40_000)
	for i := range s.ask {
		if err := s.run(d, i, 2); err != nil {
			t.Error(err)
		}
	}
}

// testBatches has batches of all sizes done, of large ones some, each request with what the CPU gives.
func testBatches(t *testing.T, d gpu.Device) {
	s := newSamples(d, 20_000)
	for i := range s.ask {
		limit := d.Info().Ops[s.ask[i]().Op].Batch
		for n := 1; n <= limit; n++ {
			if n < limit-1 && (n > 16 && n%8 != 0 || n > 3 && testing.Short()) {
				continue
			}
			if err := s.run(d, i, n); err != nil {
				t.Error(err)
			}
		}
	}
}

var errLost = errors.New("test: lost")

// testLost plays the loss of the device before each submission of a batch.
func testLost(t *testing.T, open Open) {
	var left atomic.Int64
	d := open.device(t, Config{Fault: func() error {
		if left.Add(-1) < 0 {
			return errLost
		}
		return nil
	}})
	defer d.Close()
	s := newSamples(d, 40_000)
	for i := range s.ask {
		submissions := int64(0)
		for ; ; submissions++ {
			left.Store(submissions)
			err := s.run(d, i, 2)
			if err == nil {
				break
			}
			if !errors.Is(err, errLost) || submissions > 100 {
				t.Fatalf("%s, after %d submissions: %v", s.names[i], submissions, err)
			}
			// It is in order again for a device that comes back.
			left.Store(1000)
			for range d.Info().Concurrent + 1 {
				if err := s.run(d, i, 1); err != nil {
					t.Error(err)
				}
			}
		}
		if t.Logf("%s: %d submissions", s.names[i], submissions); submissions == 0 {
			t.Errorf("%s: the loss is not noticed", s.names[i])
		}
	}
}

// testManyAtOnce runs batches of all kinds at the same time, more of them than the device does at once, and closes the device in the middle of others: the scheduler does so
// with one that does not answer.
func testManyAtOnce(t *testing.T, open Open) {
	d := open.device(t, Config{})
	defer d.Close()
	s := newSamples(d, 50_000)
	n := d.Info().Concurrent + 1
	var wg sync.WaitGroup
	for k := range n {
		wg.Go(func() {
			for i := range 6 {
				if err := s.run(d, (i+k)%len(s.ask), 1+i%2); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	var started atomic.Int64
	for k := range n {
		wg.Go(func() {
			for i := 0; ; i++ {
				started.Add(1)
				if err := s.run(d, (i+k)%len(s.ask), 1); err != nil {
					if errors.Is(err, errResult) {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	for started.Load() < int64(2*n) {
		time.Sleep(time.Millisecond)
	}
	d.Close()
	wg.Wait()
	if err := d.Run(gpu.StageN, []*gpu.Request{s.ask[0]()}); err == nil {
		t.Error("it runs after Close")
	}
}

// Holder is a device that can say how many of the system's objects it has, buffers above all.
type Holder interface{ Held() int }

// testRelease opens and closes devices: no goroutine stays, and nothing that can be counted.
func testRelease(t *testing.T, open Open) {
	open.device(t, Config{}).Close() // what a driver starts once stays
	base := runtime.NumGoroutine()
	for i := range 3 {
		d := open.device(t, Config{})
		h, counts := d.(Holder)
		if i > 0 {
			s := newSamples(d, 20_000)
			for k := range s.ask {
				if err := s.run(d, k, 1); err != nil {
					t.Error(err)
				}
			}
			if counts && h.Held() == 0 {
				t.Error("it holds nothing, it says")
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if err := d.Close(); err != nil {
			t.Error("closed twice: ", err)
		}
		if counts && h.Held() != 0 {
			t.Errorf("%d objects are left", h.Held())
		}
	}
	// Five seconds, or less in a test that shall not take long: of what it has left to its -timeout a thirtieth.
	patience := 5 * time.Second
	if end, ok := t.Deadline(); ok {
		patience = min(patience, time.Until(end)/30)
	}
	for end := time.Now().Add(patience); runtime.NumGoroutine() > base; {
		if time.Now().After(end) {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), base, buf[:runtime.Stack(buf, true)])
		}
		time.Sleep(time.Millisecond)
	}
}

// Allocs checks that a larger batch allocates no more than a smaller one, once memory has grown. It is no part of Run: it says nothing
// under the race detector.
func Allocs(t *testing.T, open Open) {
	d := open.device(t, Config{})
	defer d.Close()
	text := corpus.ByName("text").Make(60_000)
	c := literals("", text)
	for name, ask := range map[string]func() *gpu.Request{
		"encode": c.encode, "decode": c.decode,
		"match": func() *gpu.Request { return matchRequest(text[:20_000], 0, 5, lzseq.Repeat.Limits) },
		"fused": func() *gpu.Request { return fusedRequest(text[:20_000], 6, lzseq.Repeat) },
	} {
		limit := d.Info().Ops[ask().Op].Batch
		if limit == 0 {
			continue
		}
		limit = min(limit, 9)
		var batch []*gpu.Request
		for range limit {
			r := ask()
			r.Seqs, r.Dst = make([]lz77.Sequence, 0, len(text)), make([]byte, 0, 2*len(text))
			batch = append(batch, r)
		}
		count := func(n int) float64 {
			slots := d.Info().Concurrent
			return testing.AllocsPerRun(3, func() {
				for range slots { // all that the device has to itself for a batch
					if err := d.Run(batch[0].Op, batch[:n]); err != nil {
						t.Fatal(err)
					}
					for _, r := range batch[:n] {
						r.FreeCandidates()
					}
				}
			}) / float64(slots)
		}
		count(limit)
		few, many := count(1), count(limit)
		t.Logf("%s: %.0f allocations for 1 block, %.0f for %d", name, few, many, limit)
		if many > few+8 {
			t.Errorf("%s: %.0f allocations for 1 block, %.0f for %d", name, few, many, limit)
		}
	}
}

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
	"github.com/gopz/compress/gpu/internal/host"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
)

// samples holds one request of each kind that a device supports, and a check of its result.
type samples struct {
	names   []string
	request []func() *gpu.Request
	right   []func(*gpu.Request) bool
}

// newSamples returns samples of blocks of size bytes.
func newSamples(d gpu.Device, size int) samples {
	return samplesOf(d, corpus.ByName("text").Make(size))
}

// samplesOf returns samples of blocks with a content.
func samplesOf(d gpu.Device, text []byte) (s samples) {
	add := func(name string, request func() *gpu.Request, right func(*gpu.Request) bool) {
		s.names = append(s.names, name)
		s.request = append(s.request, request)
		s.right = append(s.right, right)
	}
	if d.Info().Ops[gpu.StageN].Batch > 0 {
		c := literals("", text)
		add("encode", c.encode, func(r *gpu.Request) bool { return bytes.Equal(r.Dst, c.payload) })
		add("decode", c.decode, func(r *gpu.Request) bool { return bytes.Equal(r.Streams.Lits, text) })
	}
	if d.Info().Ops[gpu.Stage0].Batch > 0 {
		request := func() *gpu.Request { return matchRequest(text, 0, 6, lzseq.Repeat.Limits) }
		want := parse(request())
		add("match", request, func(r *gpu.Request) bool {
			seqs, ok := accept(r)
			return ok && slices.Equal(seqs, want)
		})
	}
	if d.Info().Ops[gpu.Fused].Batch > 0 {
		request := func() *gpu.Request { return fusedRequest(text, 6, lzseq.Repeat) }
		want := fusedPayload(request())
		add("fused", request, func(r *gpu.Request) bool { return bytes.Equal(r.Dst, want) })
	}
	return s
}

// run runs n requests of kind i in one batch. It returns the error of Run, or errResult if a result
// is wrong.
func (s *samples) run(d gpu.Device, i, n int) error {
	var batch []*gpu.Request
	for range n {
		batch = append(batch, s.request[i]())
	}
	if err := d.Run(batch[0].Op, batch); err != nil {
		return err
	}
	for k, r := range batch {
		if r.Err != nil || !s.right[i](r) {
			return fmt.Errorf("%s, request %d of %d: %w", s.names[i], k, n, errors.Join(r.Err, errResult))
		}
	}
	return nil
}

var errResult = errors.New("the result differs from the CPU's")

// Smoke runs each kind of request once. It is for tests that open many devices.
func Smoke(t *testing.T, d gpu.Device) {
	t.Helper()
	s := newSamples(d, 40_000)
	for i := range s.request {
		if err := s.run(d, i, 2); err != nil {
			t.Error(err)
		}
	}
}

// Try runs two requests of a kind in one batch: "encode", "decode", "match" or "fused", of blocks
// of size bytes with many frequency tables. It returns the error of Run, or one that says that a
// result is wrong.
func Try(d gpu.Device, kind string, size int) error {
	s := samplesOf(d, append(corpus.ByName("text").Make(size/2), changing(size-size/2)...))
	i := slices.Index(s.names, kind)
	if i < 0 {
		return fmt.Errorf("gputest: the device does not support %q", kind)
	}
	return s.run(d, i, 2)
}

// testBatches runs batches of all small sizes, and of some large ones up to the limit.
func testBatches(t *testing.T, d gpu.Device, amount amount) {
	s := newSamples(d, 20_000)
	for i := range s.request {
		limit := d.Info().Ops[s.request[i]().Op].Batch
		for n := 1; n <= limit; n++ {
			if n < limit-1 && (n > 16 && n%8 != 0 || n > 3 && amount < all) || amount == few && n > 2 {
				continue
			}
			if err := s.run(d, i, n); err != nil {
				t.Error(err)
			}
		}
	}
}

var errLost = errors.New("test: lost")

// testLost simulates the loss of the device before each submission of a batch.
func testLost(t *testing.T, open Open, n amount) {
	var left atomic.Int64
	d := open.device(t, Config{Fault: func() error {
		if left.Add(-1) < 0 {
			return errLost
		}
		return nil
	}})
	defer d.Close()
	s := newSamples(d, [...]int{few: 17_000, some: 40_000, all: 40_000}[n])
	for i := range s.request {
		submissions := int64(0)
		for ; ; submissions++ {
			left.Store(submissions)
			err := s.run(d, i, 2)
			if err == nil {
				break
			}
			if !errors.Is(err, errLost) || submissions > 100 {
				t.Fatalf("%s, loss after %d submissions: error %v", s.names[i], submissions, err)
			}
			// The device still works.
			left.Store(1000)
			for range d.Info().Concurrent + 1 {
				if err := s.run(d, i, 1); err != nil {
					t.Error(err)
				}
			}
		}
		t.Logf("%s: %d submissions", s.names[i], submissions)
		if submissions == 0 {
			t.Errorf("%s: Run succeeds although the device is lost", s.names[i])
		}
	}
}

// testManyAtOnce runs more batches at the same time than Info().Concurrent, and then closes the
// device while batches are in flight.
func testManyAtOnce(t *testing.T, open Open, amount amount) {
	d := open.device(t, Config{})
	defer d.Close()
	s := newSamples(d, [...]int{few: 17_000, some: 50_000, all: 50_000}[amount])
	n := d.Info().Concurrent + 1
	var wg sync.WaitGroup
	for k := range n {
		wg.Go(func() {
			for i := range 6 {
				if err := s.run(d, (i+k)%len(s.request), 1+i%2); err != nil {
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
				if err := s.run(d, (i+k)%len(s.request), 1); err != nil {
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
	if err := d.Run(gpu.StageN, []*gpu.Request{s.request[0]()}); err == nil {
		t.Error("Run succeeds after Close")
	}
}

// Tracer is a device that measures where the time of a batch goes.
type Tracer interface {
	gpu.Device
	Trace(op gpu.Op, batch []*gpu.Request) (*host.Trace, error)
}

// Times checks that the device has a clock, and that its times are parts of the time of a
// submission.
func Times(t *testing.T, open Open) {
	d := open.device(t, Config{})
	defer d.Close()
	s := newSamples(d, 100_000)
	for i := range s.request {
		for range 2 {
			r := s.request[i]()
			x, err := d.(Tracer).Trace(r.Op, []*gpu.Request{r})
			if err != nil || r.Err != nil || !s.right[i](r) {
				t.Fatalf("%s: error %v, %v, or a wrong result", s.names[i], err, r.Err)
			}
			kernels := time.Duration(0)
			for _, k := range x.Kernels {
				kernels += k.Time
				if k.Time < 0 || k.Groups < 1 || k.Dispatches < 1 {
					t.Errorf("%s: %+v", s.names[i], k)
				}
			}
			if !x.Clock || kernels <= 0 || x.Up+kernels+x.Down > x.Away+x.Away/10 {
				t.Errorf("%s: %+v: kernels take %v", s.names[i], *x, kernels)
			}
		}
	}
}

// Holder is a device that counts the objects of the system that it holds, mostly buffers.
type Holder interface{ Held() int }

// testRelease checks that a closed device leaves no goroutine and holds no objects.
func testRelease(t *testing.T, open Open) {
	open.device(t, Config{}).Close() // a driver may keep what it starts once
	base := runtime.NumGoroutine()
	for i := range 3 {
		d := open.device(t, Config{})
		h, counts := d.(Holder)
		if i > 0 {
			s := newSamples(d, 20_000)
			for k := range s.request {
				if err := s.run(d, k, 1); err != nil {
					t.Error(err)
				}
			}
			if counts && h.Held() == 0 {
				t.Error("Held is 0 for a device that has run requests")
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if err := d.Close(); err != nil {
			t.Errorf("second Close: error %v", err)
		}
		if counts && !soon(t, func() bool { return h.Held() == 0 }) {
			t.Errorf("%d objects are held after Close", h.Held())
		}
	}
	if !soon(t, func() bool { return runtime.NumGoroutine() <= base }) {
		buf := make([]byte, 1<<16)
		t.Fatalf("%d goroutines, %d before\n%s",
			runtime.NumGoroutine(), base, buf[:runtime.Stack(buf, true)])
	}
}

// soon reports whether a condition becomes true within five seconds, or less if the test's deadline
// is near.
func soon(t *testing.T, cond func() bool) bool {
	wait := 5 * time.Second
	if end, ok := t.Deadline(); ok {
		wait = min(wait, time.Until(end)/30)
	}
	for end := time.Now().Add(wait); !cond(); {
		if time.Now().After(end) {
			return false
		}
		time.Sleep(time.Millisecond)
	}
	return true
}

// Allocs checks that a large batch allocates no more than a small one once memory has grown.
func Allocs(t *testing.T, open Open) {
	testenv.Measures(t)
	d := open.device(t, Config{})
	defer d.Close()
	text := corpus.ByName("text").Make(60_000)
	c := literals("", text)
	for name, request := range map[string]func() *gpu.Request{
		"encode": c.encode, "decode": c.decode,
		"match": func() *gpu.Request { return matchRequest(text[:20_000], 0, 5, lzseq.Repeat.Limits) },
		"fused": func() *gpu.Request { return fusedRequest(text[:20_000], 6, lzseq.Repeat) },
	} {
		limit := d.Info().Ops[request().Op].Batch
		if limit == 0 {
			continue
		}
		limit = min(limit, 9)
		var batch []*gpu.Request
		for range limit {
			r := request()
			r.Seqs, r.Dst = make([]lz77.Sequence, 0, len(text)), make([]byte, 0, 2*len(text))
			batch = append(batch, r)
		}
		count := func(n int) float64 {
			slots := d.Info().Concurrent
			return testing.AllocsPerRun(3, func() {
				for range slots { // so that each slot runs a batch
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
		// One for each block, and entries of a table of the binding.
		if many > few+few/8+8 {
			t.Errorf("%s: %.0f allocations for 1 block, %.0f for %d", name, few, many, limit)
		}
	}
}

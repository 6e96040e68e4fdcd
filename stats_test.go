package compress

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/internal/testenv"
)

// TestStats checks that statistics of Writers, Readers and the Scheduler add up.
func TestStats(t *testing.T) {
	content := mixedBytes(20*testBlock + 5)
	s := NewScheduler(2)
	run := func() (*Writer, *Reader) {
		var b bytes.Buffer
		w := newWriter(t, &b, WithScheduler(s), WithBlockSize(testBlock))
		w.Write(content)
		w.Close()
		r := newReader(t, &b, WithScheduler(s))
		io.Copy(io.Discard, r)
		return w, r
	}
	w, r := run()
	if st := s.Stats(); st.Runs != 0 || w.Stats().Runs != 0 || r.Stats().Compute != 0 {
		t.Errorf("statistics off: %+v", st)
	}
	s.EnableStats(true)
	w, r = run()
	ws, rs, total := w.Stats(), r.Stats(), s.Stats()
	sum := ws
	sum.Stages = slices.Clone(ws.Stages)
	sum.Add(&rs)
	if total.Runs != 2 || total.Compute != sum.Compute || total.Overhead() != sum.Overhead() ||
		total.Total != sum.Total {
		t.Errorf("Scheduler: %+v; sum of its runs: %+v", total, sum)
	}
	for _, st := range []SchedulerStats{ws, rs} {
		check := st.Stages[len(st.Stages)-1]
		if check.Stage != "check" || check.Blocks != 21 || check.Bytes != int64(len(content)) {
			t.Errorf("%+v", check)
		}
		stages := time.Duration(0)
		for _, x := range st.Stages {
			stages += x.Time
		}
		if stages != st.Compute || unmeasured(st.Compute) || st.Compute > 2*st.Total ||
			unmeasured(st.QueueAdmin) || unmeasured(st.QueueWait) {
			t.Errorf("%+v", st)
		}
	}
	// Statistics of a Writer go on after Reset. They begin and end with a stream.
	w.Reset(io.Discard)
	w.Write(content)
	w.Close()
	if st := w.Stats(); st.Runs != 2 || st.Stages[len(st.Stages)-1].Blocks != 42 {
		t.Errorf("after Reset: %+v", st)
	}
	s.EnableStats(false)
	w.Reset(io.Discard)
	w.Write(content)
	w.Close()
	if st := w.Stats(); st.Runs != 2 {
		t.Errorf("statistics off again: %+v", st)
	}
	if st := s.Stats(); st.Runs != 3 {
		t.Errorf("%+v", st)
	}
	s.ResetStats()
	if st := s.Stats(); st.Runs != 0 || st.Stages != nil {
		t.Errorf("after ResetStats: %+v", st)
	}
}

// unmeasured reports whether d is no time, although the clock measures what d is the time of.
func unmeasured(d time.Duration) bool { return d < 0 || d == 0 && !testenv.CoarseClock }

// TestStatsOfRuns checks the statistics of runs that fail or end early, of a device and of a
// ReaderAt.
func TestStatsOfRuns(t *testing.T) {
	content := mixedBytes(20*testBlock + 5)
	s := NewScheduler(2)
	s.EnableStats(true)
	file := encode(t, content, WithBlockSize(testBlock))
	bad := slices.Clone(file)
	bad[len(bad)/2] ^= 1
	r := newReader(t, bytes.NewReader(bad), WithScheduler(s))
	if _, err := io.Copy(io.Discard, r); err == nil {
		t.Error("a damaged file gives no error")
	}
	r.Close()
	r = newReader(t, bytes.NewReader(file), WithScheduler(s))
	io.CopyN(io.Discard, r, 10)
	r.Close()
	if st := s.Stats(); st.Runs != 2 {
		t.Errorf("%d runs, want 2", st.Runs)
	}
	s.SetDevice(NewSoftDevice(gpu.SoftConfig{}))
	if st := func() SchedulerStats {
		w := newWriter(t, io.Discard, WithScheduler(s), WithBackend(BackendGPU, BackendGPU))
		w.Write(content)
		w.Close()
		return w.Stats()
	}(); unmeasured(st.Handoff) {
		t.Errorf("with a device: %+v", st)
	}
	at := openAt(t, file, WithScheduler(s))
	io.Copy(io.Discard, at)
	before := at.Stats()
	at.Close()
	if st := at.Stats(); unmeasured(st.Compute) || st.Compute != before.Compute || st.Runs != before.Runs {
		t.Errorf("ReaderAt: %+v before Close, %+v after", before, st)
	}
}

// TestTrace checks that each stage of each block gives one event.
func TestTrace(t *testing.T) {
	content := textBytes(20*testBlock, 1)
	for _, backend := range []Backend{BackendCPU, BackendGPU, BackendFused} {
		var mu sync.Mutex
		seen := map[string]int{}
		workers := map[int]bool{}
		s := deviceScheduler(t, 3, gpu.SoftConfig{Batch: 3})
		trace := func(e StageEvent) {
			mu.Lock()
			defer mu.Unlock()
			seen[e.Stage+" "+e.Backend.String()]++
			// Close codes the last block itself if the workers have done all others by then.
			if e.Worker != -2 || e.Block != 19 || backend != BackendCPU {
				workers[e.Worker] = true
			}
			if e.Took < 0 || time.Since(e.Start) < e.Took {
				t.Errorf("times of %+v", e)
			}
			if e.Bytes != testBlock || e.Block >= 20 || e.Batch < 1 || e.Batch > 3 {
				t.Errorf("sizes of %+v", e)
			}
		}
		encode(t, content, WithScheduler(s), WithBackend(backend, backend),
			WithBlockSize(testBlock), WithTrace(trace))
		want := map[string]int{"lz77 cpu": 20, "lzseq cpu": 20, "rans cpu": 20, "check cpu": 40}
		switch backend {
		case BackendGPU:
			want = map[string]int{
				"lz77 gpu":   20,
				"lzseq cpu":  20,
				"rans gpu":   20,
				"verify cpu": 40,
				"check cpu":  40,
			}
		case BackendFused:
			want = map[string]int{"fused gpu": 20, "verify cpu": 20, "check cpu": 40}
		}
		if len(seen) != len(want) {
			t.Errorf("%v: %v", backend, seen)
		}
		for k, n := range want {
			if seen[k] != n {
				t.Errorf("%v: %s: %d, want %d", backend, k, seen[k], n)
			}
		}
		for w := range workers {
			if w < -1 || w > 2 || w == -1 && backend == BackendCPU {
				t.Errorf("worker %d", w)
			}
		}
	}
}

// TestTraceNumbers checks that events number blocks within their stream.
func TestTraceNumbers(t *testing.T) {
	const blocks = 5
	content := textBytes(blocks*testBlock, 1)
	var mu sync.Mutex
	seen := map[int64]int{}
	opts := []Option{WithBlockSize(testBlock), WithConcurrency(2), WithTrace(func(e StageEvent) {
		if e.Stage == "lzseq" {
			mu.Lock()
			seen[e.Block]++
			mu.Unlock()
		}
	})}
	var file bytes.Buffer
	w := newWriter(t, &file, opts...)
	for range 2 { // two streams in one file
		w.Write(content)
		w.Close()
		w.Reset(&file)
	}
	r := newReader(t, bytes.NewReader(file.Bytes()), opts...)
	io.Copy(io.Discard, r)
	r.Reset(bytes.NewReader(file.Bytes()))
	io.Copy(io.Discard, r)
	io.Copy(io.Discard, openAt(t, file.Bytes(), opts...))
	if len(seen) != blocks {
		t.Errorf("block numbers: %v, want %d of them", seen, blocks)
	}
	for i := range int64(blocks) {
		if seen[i] != 2+4+2 {
			t.Errorf("block %d: %d events, want 8", i, seen[i])
		}
	}
}

// TestProgress checks the calls of a progress function.
func TestProgress(t *testing.T) {
	content := mixedBytes(9*testBlock + 1)
	for _, total := range []int64{-1, int64(len(content))} {
		var last Progress
		check := WithProgress(func(p Progress) {
			if p.Blocks != last.Blocks+1 || p.Content <= last.Content ||
				p.Compressed <= last.Compressed ||
				p.Total != total {
				t.Errorf("%+v after %+v", p, last)
			}
			last = p
		})
		file := encode(t, content, check, WithContentSize(total), WithBlockSize(testBlock))
		want := Progress{int64(len(content)), int64(len(file)) - pzfile.TailSize(10), total, 10}
		if last != want {
			t.Errorf("Writer: %+v, want %+v", last, want)
		}
		last = Progress{}
		if _, err := decode(file, check); err != nil {
			t.Error(err)
		}
		if last != want {
			t.Errorf("Reader: %+v, want %+v", last, want)
		}
		last, total = Progress{}, int64(len(content))
		want.Total = total
		openAt(t, file, check).WriteTo(io.Discard)
		if last != want {
			t.Errorf("ReaderAt: %+v, want %+v", last, want)
		}
	}
}

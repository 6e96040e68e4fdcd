package devices

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/pipeline"
)

// TestStats checks that statistics of Writers, Readers and the Scheduler add up.
func TestStats(t *testing.T) {
	content := bbtest.MixedBytes(20*bbtest.BlockSize + 5)
	s := compress.NewScheduler(2)
	run := func() (*compress.Writer, *compress.Reader) {
		var b bytes.Buffer
		w := bbtest.NewWriter(t, &b, compress.WithScheduler(s), compress.WithBlockSize(bbtest.BlockSize))
		w.Write(content)
		w.Close()
		r := bbtest.NewReader(t, &b, compress.WithScheduler(s))
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
	for _, st := range []compress.Stats{ws, rs} {
		check := st.Stages[len(st.Stages)-1]
		if check.Name != "check" || check.Blocks != 21 || check.Bytes != int64(len(content)) {
			t.Errorf("%+v", check)
		}
		stages := time.Duration(0)
		for _, x := range st.Stages {
			stages += x.Time
		}
		if stages != st.Compute || bbtest.Unmeasured(st.Compute) || st.Compute > 2*st.Total ||
			bbtest.Unmeasured(st.QueueAdmin) || bbtest.Unmeasured(st.QueueWait) {
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

// TestStatsOfRuns checks the statistics of runs that fail or end early, of a device and of a
// ReaderAt.
func TestStatsOfRuns(t *testing.T) {
	content := bbtest.MixedBytes(20*bbtest.BlockSize + 5)
	s := compress.NewScheduler(2)
	s.EnableStats(true)
	file := bbtest.Encode(t, content, compress.WithBlockSize(bbtest.BlockSize))
	bad := slices.Clone(file)
	bad[len(bad)/2] ^= 1
	r := bbtest.NewReader(t, bytes.NewReader(bad), compress.WithScheduler(s))
	if _, err := io.Copy(io.Discard, r); err == nil {
		t.Error("a damaged file gives no error")
	}
	r.Close()
	r = bbtest.NewReader(t, bytes.NewReader(file), compress.WithScheduler(s))
	io.CopyN(io.Discard, r, 10)
	r.Close()
	if st := s.Stats(); st.Runs != 2 {
		t.Errorf("%d runs, want 2", st.Runs)
	}
	d := gpu.NewSoft(pipeline.Host, gpu.SoftConfig{})
	if st := func() compress.Stats {
		w := bbtest.NewWriter(t, io.Discard, compress.WithScheduler(s),
			compress.WithDevice(d, gpu.BackendGPU, gpu.BackendGPU))
		w.Write(content)
		w.Close()
		return w.Stats()
	}(); bbtest.Unmeasured(st.Handoff) {
		t.Errorf("with a device: %+v", st)
	}
	at := bbtest.OpenAt(t, file, compress.WithScheduler(s))
	io.Copy(io.Discard, at)
	before := at.Stats()
	at.Close()
	if st := at.Stats(); bbtest.Unmeasured(st.Compute) || st.Compute != before.Compute ||
		st.Runs != before.Runs {
		t.Errorf("ReaderAt: %+v before Close, %+v after", before, st)
	}
}

// TestTrace checks that each stage of each block gives one event.
func TestTrace(t *testing.T) {
	content := bbtest.TextBytes(20*bbtest.BlockSize, 1)
	for _, backend := range []gpu.Backend{gpu.BackendCPU, gpu.BackendGPU,
		gpu.BackendFused} {
		var mu sync.Mutex
		seen := map[string]int{}
		workers := map[int]bool{}
		s, d := bbtest.DeviceScheduler(t, 3, gpu.SoftConfig{Batch: 3})
		trace := func(e compress.Stage) {
			mu.Lock()
			defer mu.Unlock()
			seen[e.Name+" "+e.Backend.String()]++
			// Close codes the last block itself if the workers have done all others by then.
			if e.Worker != -2 || e.Block != 19 || backend != gpu.BackendCPU {
				workers[e.Worker] = true
			}
			if e.Time < 0 || time.Since(e.Start) < e.Time {
				t.Errorf("times of %+v", e)
			}
			if e.Bytes != bbtest.BlockSize || e.Block >= 20 || e.Batch < 1 || e.Batch > 3 {
				t.Errorf("sizes of %+v", e)
			}
		}
		bbtest.Encode(t, content, compress.WithScheduler(s), compress.WithDevice(d, backend, backend),
			compress.WithBlockSize(bbtest.BlockSize), compress.WithTrace(trace))
		want := map[string]int{"lz77 cpu": 20, "lzseq cpu": 20, "rans cpu": 20, "check cpu": 40}
		switch backend {
		case gpu.BackendGPU:
			want = map[string]int{
				"lz77 gpu":   20,
				"lzseq cpu":  20,
				"rans gpu":   20,
				"verify cpu": 40,
				"check cpu":  40,
			}
		case gpu.BackendFused:
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
			if w < -1 || w > 2 || w == -1 && backend == gpu.BackendCPU {
				t.Errorf("worker %d", w)
			}
		}
	}
}

// TestTraceNumbers checks that events number blocks within their stream.
func TestTraceNumbers(t *testing.T) {
	const blocks = 5
	content := bbtest.TextBytes(blocks*bbtest.BlockSize, 1)
	var mu sync.Mutex
	seen := map[int64]int{}
	both := []compress.Option{
		compress.WithConcurrency(2),
		compress.WithTrace(func(e compress.Stage) {
			if e.Name == "lzseq" {
				mu.Lock()
				seen[e.Block]++
				mu.Unlock()
			}
		}),
	}
	reading := bbtest.ForReader(both...)
	var file bytes.Buffer
	w := bbtest.NewWriter(t, &file,
		append(bbtest.ForWriter(both...), compress.WithBlockSize(bbtest.BlockSize))...)
	for range 2 { // two streams in one file
		w.Write(content)
		w.Close()
		w.Reset(&file)
	}
	r := bbtest.NewReader(t, bytes.NewReader(file.Bytes()), reading...)
	io.Copy(io.Discard, r)
	r.Reset(bytes.NewReader(file.Bytes()))
	io.Copy(io.Discard, r)
	io.Copy(io.Discard, bbtest.OpenAt(t, file.Bytes(), reading...))
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
	content := bbtest.MixedBytes(9*bbtest.BlockSize + 1)
	for _, total := range []int64{-1, int64(len(content))} {
		var last compress.Progress
		check := compress.WithProgress(func(p compress.Progress) {
			if p.Blocks != last.Blocks+1 || p.Content <= last.Content ||
				p.Compressed <= last.Compressed ||
				p.Total != total {
				t.Errorf("%+v after %+v", p, last)
			}
			last = p
		})
		file := bbtest.Encode(t, content, check, compress.WithContentSize(total),
			compress.WithBlockSize(bbtest.BlockSize))
		want := compress.Progress{
			Content: int64(len(content)), Compressed: int64(len(file)) - pzfile.TailSize(10),
			Total: total, Blocks: 10,
		}
		if last != want {
			t.Errorf("Writer: %+v, want %+v", last, want)
		}
		last = compress.Progress{}
		if _, err := bbtest.Decode(file, check); err != nil {
			t.Error(err)
		}
		if last != want {
			t.Errorf("Reader: %+v, want %+v", last, want)
		}
		last, total = compress.Progress{}, int64(len(content))
		want.Total = total
		bbtest.OpenAt(t, file, check).WriteTo(io.Discard)
		if last != want {
			t.Errorf("ReaderAt: %+v, want %+v", last, want)
		}
	}
}

// tuneContent returns blocks of kinds for which tuning departs from the level's settings, and mixed
// blocks.
func tuneContent() (content []byte) {
	for _, kind := range []string{"dna", "image", "exe", "text", "json", "random", "zeros"} {
		content = append(content, corpus.ByName(kind).Make(2*bbtest.BlockSize)...)
	}
	return append(content, bbtest.MixedBytes(3*bbtest.BlockSize+77)...)
}

// tunedAtOnce checks that AppendEncode compresses content as a Writer with the same options did.
func tunedAtOnce(
	t *testing.T, f compress.Format, content, want []byte, opts []compress.WriterOption, what string,
) {
	t.Helper()
	got, err := compress.AppendEncode(nil, content, append(opts[:4:4], compress.WithContentSize(-1))...)
	if err != nil {
		t.Fatal(err)
	}
	if f != compress.PZ {
		return
	}
	back, err := compress.AppendDecode(nil, got)
	if err != nil || !bytes.Equal(back, content) {
		t.Errorf("%s, AppendEncode: %v", what, err)
	}
	// The header may hold the size.
	if n := len(got) - len(want); n < -16 || n > 16 {
		t.Errorf("%s, AppendEncode: %d bytes, Writer: %d", what, len(got), len(want))
	}
}

// TestTuning checks that tuning depends on a block's content alone: output is the same with any
// number of workers, on a device and through every function that compresses.
func TestTuning(t *testing.T) {
	content := tuneContent()
	levels := []int{1, 5}
	if testenv.All() {
		levels = []int{1, 4, 5, 6, 9}
	}
	tunings := map[string]compress.WriterOption{
		"auto":     compress.WithTuning(compress.TuneAuto),
		"trial":    compress.WithTuning(compress.TuneTrial),
		"literals": bridge.Literals(),
	}
	backends := []gpu.Backend{gpu.BackendAuto, gpu.BackendGPU, gpu.BackendFused}
	for _, p := range bridge.Pipelines() {
		for _, level := range levels {
			// Devices have no context-coded streams, and no finder of level 9.
			onDevice := p.Format == compress.PZ && (level < 6 || level < 9 && p.Name == "lzr")
			fixed := bbtest.Encode(t, content, bridge.Pipeline(p.Name), compress.WithLevel(level),
				compress.WithBlockSize(bbtest.BlockSize))
			for name, tuning := range tunings {
				what := fmt.Sprintf("%s, level %d, %s", p.Name, level, name)
				opts := []compress.WriterOption{
					bridge.Pipeline(p.Name),
					compress.WithLevel(level),
					compress.WithBlockSize(bbtest.BlockSize),
					tuning,
				}
				want := bbtest.Encode(t, content, opts...)
				// Hash chains have no variants. From level 6 on lzseqr tries literals alone for any
				// block as small as these.
				gains := level < 4 || p.Format != compress.Gzip &&
					(level < 6 || level < 9 && p.Name != "lzseqr")
				if gains && name != "literals" && len(want) >= len(fixed) {
					t.Errorf("%s: %d bytes, not fewer than %d without tuning", what, len(want),
						len(fixed))
				}
				if p.Format != compress.PZ {
					t.Run(what, func(t *testing.T) {
						bbtest.Equal(t, bbtest.DecodeReference(t, p.Name, want), content, what)
					})
				}
				if got, err := bbtest.Decode(want); err != nil || !bytes.Equal(got, content) {
					t.Errorf("%s: %v", what, err)
				}
				// The calls alternate, so that pooled state has the other tuning.
				tunedAtOnce(t, p.Format, content, want, opts, what)
				untuned := append(opts[:3:3], compress.WithTuning(compress.TuneFixed))
				tunedAtOnce(t, p.Format, content, fixed, untuned, what)
				for _, workers := range []int{1, 3} {
					got := bbtest.Encode(t, content, append(opts, compress.WithConcurrency(workers))...)
					bbtest.Equal(t, got, want, what)
					s, d := bbtest.DeviceScheduler(t, workers, gpu.SoftConfig{Batch: 3})
					for _, b := range backends {
						if b.Strict() && !onDevice {
							continue
						}
						opts := append(opts, compress.WithScheduler(s), compress.WithDevice(d, b, b))
						bbtest.Equal(t, bbtest.Encode(t, content, opts...), want, what+" on a device")
					}
					// Only strict backends run on the device for sure.
					if onDevice && name != "literals" &&
						bbtest.RanOn(s.Stats(), gpu.BackendGPU) == 0 {
						t.Errorf("%s: no block ran on the device", what)
					}
				}
			}
		}
	}
}

// TestTuningOption checks the range of WithTuning and the memory of trials.
func TestTuningOption(t *testing.T) {
	if _, err := compress.NewWriter(
		nil, compress.WithTuning(compress.TuneTrial+1),
	); !errors.Is(err, compress.ErrOption) {
		t.Errorf("error %v, want ErrOption", err)
	}
	fixed, err1 := compress.WriterMemory(compress.WithLevel(5))
	trial, err2 := compress.WriterMemory(compress.WithLevel(5), compress.WithTuning(compress.TuneTrial))
	if err1 != nil || err2 != nil || trial <= fixed {
		t.Errorf("memory: %d with trial, %d without; %v, %v", trial, fixed, err1, err2)
	}
}

package compress

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// blockWorkers makes all workers of a new scheduler wait in a stage until the test ends.
func blockWorkers(t *testing.T) *Scheduler {
	const workers = 2
	s := NewScheduler(workers)
	begun, hold, done := make(chan int, workers), make(chan int), make(chan int, workers)
	for range workers {
		go func() {
			defer func() { done <- 1 }()
			content := textBytes(smallContent, 1)
			AppendEncode(nil, content, WithScheduler(s), WithTrace(func(e StageEvent) {
				if e.Stage == "lz77" {
					begun <- 1
					<-hold
				}
			}))
		}()
		<-begun
	}
	t.Cleanup(func() {
		close(hold)
		for range workers {
			<-done
		}
	})
	return s
}

// TestSmallContentWaitsForNoWorker codes small content in every way that smallContent lists while
// all workers are busy.
func TestSmallContentWaitsForNoWorker(t *testing.T) {
	busy := WithScheduler(blockWorkers(t))
	content := textBytes(smallContent-1, 2)
	for _, f := range []Format{PZ, Gzip, Zstd} {
		for _, opts := range [][]Option{
			{WithFormat(f), busy},
			{WithFormat(f), busy, WithBlockSize(testBlock), WithLevel(7)},
		} {
			name := fmt.Sprintf("%v, %d options", f, len(opts))
			var file []byte
			mustFinish(t, name+", AppendEncode", func() { file, _ = AppendEncode(nil, content, opts...) })
			mustFinish(t, name+", AppendDecode", func() {
				got, err := AppendDecode(nil, file, opts...)
				if err != nil || !bytes.Equal(got, content) {
					t.Errorf("%s: %d bytes, %v", name, len(got), err)
				}
			})
			for _, src := range []io.Reader{bytes.NewReader(file), onlyReader{bytes.NewReader(file)}} {
				r := newReader(t, src, opts...)
				mustFinish(t, name+", Reader", func() {
					if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, content) {
						t.Errorf("%s: %d bytes, %v", name, len(got), err)
					}
				})
			}
		}
		// Parts that a Writer flushes, more than smallContent together.
		var b bytes.Buffer
		w := newWriter(t, &b, WithFormat(f), busy)
		r := newReader(t, onlyReader{&b}, busy)
		got := make([]byte, 10_000)
		for i := 0; i < 3*smallContent; i += len(got) {
			part := textBytes(len(got), uint64(i))
			mustFinish(t, fmt.Sprintf("%v, Flush", f), func() {
				w.Write(part)
				if err := w.Flush(); err != nil {
					t.Error(err)
				}
			})
			mustFinish(t, fmt.Sprintf("%v, Read", f), func() {
				if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got, part) {
					t.Errorf("%v, byte %d: wrong content, %v", f, i, err)
				}
			})
		}
		mustFinish(t, fmt.Sprintf("%v, Close", f), func() { w.Close() })
	}
}

// TestSmallBlocksUseWorkers checks that a stream of many small blocks goes to the workers. Close codes
// the last block itself if the workers have done all others by then.
func TestSmallBlocksUseWorkers(t *testing.T) {
	const blocks = 1000
	content := textBytes(blocks*testBlock, 1)
	for _, f := range []Format{PZ, Gzip, Zstd} {
		s := NewScheduler(2)
		s.EnableStats(true)
		inline, last, all := 0, 0, 0
		count := func(e StageEvent) {
			all++
			if e.Worker < 0 {
				inline++
				if e.Block == blocks-1 {
					last++
				}
			}
		}
		events := make(chan StageEvent, 10*blocks)
		opts := []Option{
			WithFormat(f), WithBlockSize(testBlock), WithScheduler(s),
			WithTrace(func(e StageEvent) { events <- e }),
		}
		drain := func() {
			for inline, last, all = 0, 0, 0; len(events) > 0; {
				count(<-events)
			}
		}
		file := encode(t, content, opts...)
		drain()
		if inline > last || all < blocks {
			t.Errorf("%v: the caller compressed in %d of %d stages", f, inline, all)
		}
		if _, err := AppendDecode(nil, file, opts...); err != nil {
			t.Fatal(err)
		}
		drain()
		if all < 10 || float64(inline) > float64(all)*smallContent/float64(len(content)) {
			t.Errorf("%v: the caller decompressed in %d of %d stages", f, inline, all)
		}
	}
}

// TestSmallAllocations checks that calls for small content allocate nothing in the steady state,
// and that their options may alternate.
func TestSmallAllocations(t *testing.T) {
	testenv.Measures(t)
	content := textBytes(1000, 1)
	dst := make([]byte, 0, 4096)
	var lists [][]Option
	for _, f := range []Format{PZ, Gzip, Zstd} {
		for _, level := range []int{1, 4, 6, 9} {
			lists = append(lists, []Option{WithFormat(f), WithLevel(level)})
		}
	}
	lists = append(lists,
		[]Option{WithConcurrency(1)}, []Option{WithScheduler(NewScheduler(1))},
		[]Option{WithContext(context.Background())}, []Option{WithMaxMemory(1 << 30)},
		[]Option{WithBlockSize(1 << 20)}, []Option{WithTuning(TuneTrial)})
	var files [][]byte
	for _, opts := range lists {
		file, err := AppendEncode(nil, content, opts...)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	for name, f := range map[string]func(){
		"AppendEncode": func() {
			for _, opts := range lists {
				AppendEncode(dst, content, opts...)
			}
		},
		"AppendDecode": func() {
			for i, opts := range lists {
				if file := files[i]; file[0] != 0x1f { // a buffer of .gz does not survive other formats
					AppendDecode(dst, file, opts...)
				}
			}
		},
		"AppendDecode of .gz": func() {
			for i, opts := range lists {
				if file := files[i]; file[0] == 0x1f {
					AppendDecode(dst, file, opts...)
				}
			}
		},
	} {
		f()
		if n := testing.AllocsPerRun(30, f); n > 0 {
			t.Errorf("%s: %v allocations in %d calls", name, n, len(lists))
		}
	}
	src := bytes.NewReader(nil)
	for i, opts := range lists {
		w, r := newWriter(t, io.Discard, opts...), newReader(t, nil, opts...)
		for name, f := range map[string]func(){
			"Writer": func() {
				w.Reset(io.Discard)
				w.Write(content)
				w.Flush()
				w.Write(content)
				w.Close()
			},
			"Reader": func() {
				src.Reset(files[i])
				r.Reset(src)
				r.WriteTo(io.Discard)
			},
		} {
			f()
			if n := testing.AllocsPerRun(30, f); n > 0 {
				t.Errorf("%s, options %d: %v allocations a stream", name, i, n)
			}
		}
	}
}

// TestAlternatingOptions checks that a call does not depend on the options of the calls before it.
func TestAlternatingOptions(t *testing.T) {
	type call struct {
		content []byte
		opts    []Option
		file    []byte
	}
	var calls []call
	for _, size := range []int{0, 1, 1000, 20_000, 2 * smallContent} {
		content := textBytes(size, uint64(size))
		for _, opts := range [][]Option{
			{}, {WithFormat(Gzip)}, {WithFormat(Zstd), WithLevel(2)}, {WithLevel(6), WithConcurrency(3)},
			{WithBlockSize(testBlock), WithChecksum(false)}, {WithContext(t.Context())},
		} {
			calls = append(calls, call{content, opts, encode(t, content,
				append(slices.Clone(opts), WithContentSize(int64(size)))...)})
		}
	}
	for i := range 2 * len(calls) {
		c := calls[i*7%len(calls)]
		file, err := AppendEncode(nil, c.content, c.opts...)
		if err != nil || !bytes.Equal(file, c.file) {
			t.Fatalf("call %d: %d bytes, want %d, %v", i, len(file), len(c.file), err)
		}
		if got, err := AppendDecode(nil, file, c.opts...); err != nil || !bytes.Equal(got, c.content) {
			t.Fatalf("call %d: %d bytes of content, %v", i, len(got), err)
		}
	}
}

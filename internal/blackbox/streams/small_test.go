package streams

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/pzfile"
	"github.com/gopz/compress/internal/testenv"
)

// blockWorkers makes all workers of a new scheduler wait in a stage until the test ends.
func blockWorkers(t *testing.T) *compress.Scheduler {
	const workers = 2
	s := compress.NewScheduler(workers)
	begun, hold, done := make(chan int, workers), make(chan int), make(chan int, workers)
	for range workers {
		go func() {
			defer func() { done <- 1 }()
			content := bbtest.TextBytes(bbtest.SmallContent, 1)
			compress.AppendEncode(nil, content, compress.WithScheduler(s),
				compress.WithTrace(func(e compress.Stage) {
					if e.Name == "lz77" {
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

// TestSmallContentWaitsForNoWorker codes small content in every way that smallContent of package
// compress lists, while all workers are busy.
func TestSmallContentWaitsForNoWorker(t *testing.T) {
	busy := compress.WithScheduler(blockWorkers(t))
	content := bbtest.TextBytes(bbtest.SmallContent-1, 2)
	for _, f := range []compress.Format{compress.PZ, compress.Gzip, compress.Zstd} {
		for _, opts := range [][]compress.WriterOption{
			{compress.WithFormat(f), busy},
			{compress.WithFormat(f), busy, compress.WithBlockSize(bbtest.BlockSize), compress.WithLevel(7)},
		} {
			name := fmt.Sprintf("%v, %d options", f, len(opts))
			var file []byte
			bbtest.MustFinish(t, name+", AppendEncode",
				func() { file, _ = compress.AppendEncode(nil, content, opts...) })
			bbtest.MustFinish(t, name+", AppendDecode", func() {
				got, err := compress.AppendDecode(nil, file, busy)
				if err != nil || !bytes.Equal(got, content) {
					t.Errorf("%s: %d bytes, %v", name, len(got), err)
				}
			})
			for _, src := range []io.Reader{bytes.NewReader(file),
				bbtest.OnlyReader{Reader: bytes.NewReader(file)}} {
				r := bbtest.NewReader(t, src, busy)
				bbtest.MustFinish(t, name+", Reader", func() {
					if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, content) {
						t.Errorf("%s: %d bytes, %v", name, len(got), err)
					}
				})
			}
		}
		// Parts that a Writer flushes, more than bbtest.SmallContent together.
		var b bytes.Buffer
		w := bbtest.NewWriter(t, &b, compress.WithFormat(f), busy)
		r := bbtest.NewReader(t, bbtest.OnlyReader{Reader: &b}, busy)
		got := make([]byte, 10_000)
		for i := 0; i < 3*bbtest.SmallContent; i += len(got) {
			part := bbtest.TextBytes(len(got), uint64(i))
			bbtest.MustFinish(t, fmt.Sprintf("%v, Flush", f), func() {
				w.Write(part)
				if err := w.Flush(); err != nil {
					t.Error(err)
				}
			})
			bbtest.MustFinish(t, fmt.Sprintf("%v, Read", f), func() {
				if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got, part) {
					t.Errorf("%v, byte %d: wrong content, %v", f, i, err)
				}
			})
		}
		bbtest.MustFinish(t, fmt.Sprintf("%v, Close", f), func() { w.Close() })
	}
}

// TestSmallBlocksUseWorkers checks that a stream of many small blocks goes to the workers. Close
// codes the last block itself if the workers have done all others by then.
func TestSmallBlocksUseWorkers(t *testing.T) {
	const blocks = 1000
	content := bbtest.TextBytes(blocks*bbtest.BlockSize, 1)
	for _, f := range []compress.Format{compress.PZ, compress.Gzip, compress.Zstd} {
		s := compress.NewScheduler(2)
		s.EnableStats(true)
		inline, last, all := 0, 0, 0
		count := func(e compress.Stage) {
			all++
			if e.Worker < 0 {
				inline++
				if e.Block == blocks-1 {
					last++
				}
			}
		}
		events := make(chan compress.Stage, 10*blocks)
		both := []compress.Option{
			compress.WithScheduler(s), compress.WithTrace(func(e compress.Stage) { events <- e }),
		}
		drain := func() {
			for inline, last, all = 0, 0, 0; len(events) > 0; {
				count(<-events)
			}
		}
		file := bbtest.Encode(t, content, append(bbtest.ForWriter(both...), compress.WithFormat(f),
			compress.WithBlockSize(bbtest.BlockSize))...)
		drain()
		if inline > last || all < blocks {
			t.Errorf("%v: the caller compressed in %d of %d stages", f, inline, all)
		}
		if _, err := compress.AppendDecode(nil, file, bbtest.ForReader(both...)...); err != nil {
			t.Fatal(err)
		}
		drain()
		if all < 10 || float64(inline) > float64(all)*bbtest.SmallContent/float64(len(content)) {
			t.Errorf("%v: the caller decompressed in %d of %d stages", f, inline, all)
		}
	}
}

// An optionList has the options of a Writer and of a Reader of its files.
type optionList struct {
	writer []compress.WriterOption
	reader []compress.ReaderOption
}

// optionLists returns options of all formats and kinds.
func optionLists() (lists []optionList) {
	for _, f := range []compress.Format{compress.PZ, compress.Gzip, compress.Zstd} {
		for _, level := range []int{1, 4, 6, 9} {
			lists = append(lists, optionList{
				writer: []compress.WriterOption{compress.WithFormat(f), compress.WithLevel(level)},
			})
		}
	}
	for _, opt := range []compress.Option{
		compress.WithConcurrency(1), compress.WithScheduler(compress.NewScheduler(1)),
		compress.WithContext(context.Background()), compress.WithMaxMemory(1 << 30),
	} {
		lists = append(lists, optionList{bbtest.ForWriter(opt), bbtest.ForReader(opt)})
	}
	for _, opt := range []compress.WriterOption{
		compress.WithBlockSize(1 << 20), compress.WithTuning(compress.TuneTrial),
	} {
		lists = append(lists, optionList{writer: []compress.WriterOption{opt}})
	}
	return lists
}

// TestSmallAllocations checks that calls for small content allocate nothing in the steady state,
// and that their options may alternate.
func TestSmallAllocations(t *testing.T) {
	testenv.Measures(t)
	content := bbtest.TextBytes(1000, 1)
	dst := make([]byte, 0, 4096)
	lists := optionLists()
	var files [][]byte
	for _, opts := range lists {
		file, err := compress.AppendEncode(nil, content, opts.writer...)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	for name, f := range map[string]func(){
		"AppendEncode": func() {
			for _, opts := range lists {
				compress.AppendEncode(dst, content, opts.writer...)
			}
		},
		"AppendDecode": func() {
			for i, opts := range lists {
				if file := files[i]; file[0] != 0x1f { // a buffer of .gz does not survive other formats
					compress.AppendDecode(dst, file, opts.reader...)
				}
			}
		},
		"AppendDecode of .gz": func() {
			for i, opts := range lists {
				if file := files[i]; file[0] == 0x1f {
					compress.AppendDecode(dst, file, opts.reader...)
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
		w := bbtest.NewWriter(t, io.Discard, opts.writer...)
		r := bbtest.NewReader(t, nil, opts.reader...)
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
		opts    []compress.WriterOption
		reading []compress.ReaderOption
		file    []byte
	}
	var calls []call
	for _, size := range []int{0, 1, 1000, 20_000, 2 * bbtest.SmallContent} {
		content := bbtest.TextBytes(size, uint64(size))
		for _, c := range []struct {
			writer []compress.WriterOption
			both   []compress.Option
		}{
			{},
			{writer: []compress.WriterOption{compress.WithFormat(compress.Gzip)}},
			{writer: []compress.WriterOption{compress.WithFormat(compress.Zstd), compress.WithLevel(2)}},
			{
				[]compress.WriterOption{compress.WithLevel(6)},
				[]compress.Option{compress.WithConcurrency(3)},
			},
			{
				[]compress.WriterOption{compress.WithBlockSize(bbtest.BlockSize)},
				[]compress.Option{compress.WithChecksum(false)},
			},
			{both: []compress.Option{compress.WithContext(t.Context())}},
		} {
			opts := append(c.writer, bbtest.ForWriter(c.both...)...)
			file := bbtest.Encode(t, content,
				append(slices.Clone(opts), compress.WithContentSize(int64(size)))...)
			calls = append(calls, call{content, opts, bbtest.ForReader(c.both...), file})
		}
	}
	for i := range 2 * len(calls) {
		c := calls[i*7%len(calls)]
		file, err := compress.AppendEncode(nil, c.content, c.opts...)
		if err != nil || !bytes.Equal(file, c.file) {
			t.Fatalf("call %d: %d bytes, want %d, %v", i, len(file), len(c.file), err)
		}
		if got, err := compress.AppendDecode(
			nil, file, c.reading...,
		); err != nil || !bytes.Equal(got, c.content) {
			t.Fatalf("call %d: %d bytes of content, %v", i, len(got), err)
		}
	}
}

// isSmallStream reports whether a .pz file begins with a small stream.
func isSmallStream(file []byte) bool { return file[4]&0x80 != 0 }

// TestSmallStream writes content around the limit of a small stream in all ways. All must give the
// same bytes, and what has the form of a small stream depends on the content alone.
func TestSmallStream(t *testing.T) {
	for _, n := range []int{
		0, 1, 2, 100, bbtest.BlockSize, bbtest.BlockSize + 1, pzfile.MaxSmall, pzfile.MaxSmall + 1,
		bbtest.SmallContent,
	} {
		for _, more := range [][]compress.WriterOption{
			nil, {compress.WithBlockSize(bbtest.BlockSize)}, {
				compress.WithChecksum(false), bridge.Pipeline("lzr"),
			},
			{compress.WithRsyncable(true)}, {compress.WithConcurrency(3), compress.WithLevel(7)},
			{compress.WithLongDistance(compress.MinWindow), compress.WithBlockSize(1 << 20)},
		} {
			content := bbtest.TextBytes(n, uint64(n))
			what := fmt.Sprintf("%d bytes, %d options", n, len(more))
			want := bbtest.Encode(t, content, more...)
			blocks := len(slices.Collect(bbtest.OpenAt(t, want).Blocks()))
			small := n <= pzfile.MaxSmall && blocks <= 1
			if isSmallStream(want) != small {
				t.Fatalf("%s, %d blocks: small %v", what, blocks, !small)
			}
			if small {
				st := bbtest.OpenAt(t, want).Info().Streams[0]
				if st.Content != int64(n) || st.Size != int64(len(want)) {
					t.Errorf("%s: %+v", what, st)
				}
			}
			bbtest.CheckAllReaders(t, want, content)
			if !small {
				continue
			}
			sized := append(slices.Clone(more), compress.WithContentSize(int64(n)))
			bbtest.Equal(t, bbtest.Encode(t, content, sized...), want, what+", announced")
			got, err := compress.AppendEncode(nil, content, more...)
			if err != nil {
				t.Fatal(err)
			}
			bbtest.Equal(t, got, want, what+", AppendEncode")
			if plan, err := compress.NewPlan(int64(n), more...); err == nil {
				bbtest.Equal(t, bbtest.EncodePlanned(t, content, bbtest.PieceEnds(plan.Blocks(), 1),
					more...), want, what+", Plan")
			}
			var b bytes.Buffer
			w := bbtest.NewWriter(t, &b, more...)
			for _, size := range []int{1, 77, 30_000} {
				w.Reset(&b)
				for p := range slices.Chunk(content, size) {
					w.Write(p)
				}
				if b.Len() > 0 {
					t.Errorf("%s: %d bytes before Close", what, b.Len())
				}
				w.Close()
				bbtest.Equal(t, b.Bytes(), want, fmt.Sprint(what, ", Writes of ", size))
				b.Reset()
			}
			w.Reset(&b)
			w.ReadFrom(bbtest.OnlyReader{Reader: bytes.NewReader(content)})
			w.Close()
			bbtest.Equal(t, b.Bytes(), want, what+", ReadFrom")
		}
	}
}

// TestSmallStreamSize checks what a small stream adds to its payload.
func TestSmallStreamSize(t *testing.T) {
	for _, c := range []struct{ content, most int }{{0, 16}, {1, 17}, {10, 26}, {16, 32}} {
		if file := bbtest.Encode(t, bbtest.RandomBytes(c.content, 1)); len(file) > c.most {
			t.Errorf("%d bytes become %d, want at most %d", c.content, len(file), c.most)
		}
	}
}

// TestFlushIsNotSmall checks that a flush writes the header of a stream that is not small, and that
// a Reader returns the content before it waits.
func TestFlushIsNotSmall(t *testing.T) {
	r, w := io.Pipe()
	var file bytes.Buffer
	go func() {
		z, _ := compress.NewWriter(io.MultiWriter(w, &file))
		for _, s := range []string{"a", "bc"} {
			io.WriteString(z, s)
			z.Flush()
		}
		z.Close()
		w.Close()
	}()
	z := bbtest.NewReader(t, r)
	for _, want := range []string{"a", "bc"} {
		got := make([]byte, len(want))
		if _, err := io.ReadFull(z, got); err != nil || string(got) != want {
			t.Fatalf("%q, %v, want %q", got, err, want)
		}
	}
	if rest, err := io.ReadAll(z); err != nil || len(rest) > 0 {
		t.Errorf("%d more bytes, %v", len(rest), err)
	}
	if isSmallStream(file.Bytes()) {
		t.Error("a stream with a flush is small")
	}
}

// smallFile returns small streams of all kinds, their content, and the ends of the streams.
func smallFile(t testing.TB) (file, content []byte, ends []int) {
	for i, p := range [][]byte{
		bbtest.TextBytes(300, 1), bbtest.TextBytes(20, 2), make([]byte, 700), {7}, nil,
		bbtest.TextBytes(200, 3), nil,
	} {
		file = append(file, bbtest.Encode(t, p, bridge.Pipeline([]string{"lzr", "lzseqr"}[i%2]))...)
		content = append(content, p...)
		ends = append(ends, len(file))
	}
	return file, content, ends
}

// TestSmallDamage flips each bit of small streams, and cuts them everywhere. All readers must see
// it. Those that read from the front agree on where it is.
func TestSmallDamage(t *testing.T) {
	file, content, ends := smallFile(t)
	r := bbtest.NewReader(t, nil, compress.WithConcurrency(2))
	for bit := range 8 * len(file) {
		bad := slices.Clone(file)
		bad[bit/8] ^= 1 << (bit % 8)
		stream := slices.IndexFunc(ends, func(end int) bool { return bit/8 < end })
		start := 0
		if stream > 0 {
			start = ends[stream-1]
		}
		r.Reset(bytes.NewReader(bad))
		got, err := io.ReadAll(r)
		var e *compress.Error
		if !bbtest.IsDamage(err) || !errors.As(err, &e) || e.Stream != stream || e.Offset < int64(start) ||
			e.Offset >= int64(ends[stream]) && !errors.Is(err, compress.ErrTruncated) {
			t.Fatalf("bit %d of stream %d: %v", bit, stream, err)
		}
		if !bytes.HasPrefix(content, got) {
			t.Fatalf("bit %d: wrong content", bit)
		}
		same, serr := compress.AppendDecode(nil, bad)
		if serr == nil || serr.Error() != err.Error() || !bytes.Equal(same, got) {
			t.Fatalf("bit %d: AppendDecode: %d bytes, %v; Reader: %d bytes, %v",
				bit, len(same), serr, len(got), err)
		}
		if at, err := bbtest.OpenFile(bad); err == nil {
			p := make([]byte, len(content))
			n, err := at.ReadAt(p, 0)
			if !bbtest.IsDamage(err) || !bytes.HasPrefix(content, p[:n]) {
				t.Fatalf("bit %d: ReadAt: %d bytes, %v", bit, n, err)
			}
			at.Close()
		} else if !bbtest.IsDamage(err) {
			t.Fatalf("bit %d: NewReaderAt: %v", bit, err)
		}
	}
	for n := range file {
		got, err := bbtest.Decode(file[:n])
		whole := slices.Contains(ends, n)
		if whole != (err == nil) || !whole && !errors.Is(err, compress.ErrTruncated) {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if !bytes.HasPrefix(content, got) {
			t.Fatalf("%d bytes: wrong content", n)
		}
	}
}

// TestRecoverSmall damages each byte of each of some small streams, with others around it. Recover
// must save all others, and this one if only its footer is damaged.
func TestRecoverSmall(t *testing.T) {
	var file, content []byte
	var ends, at []int
	for i := range uint64(6) {
		p := bbtest.TextBytes(40+int(i)*90, i)
		if i == 3 { // a stream that is not small
			p = bbtest.TextBytes(3*bbtest.BlockSize, i)
		}
		file = append(file, bbtest.Encode(t, p, compress.WithBlockSize(bbtest.BlockSize))...)
		content = append(content, p...)
		ends, at = append(ends, len(file)), append(at, len(content))
	}
	for _, s := range []int{1, 2, 4} {
		without := slices.Concat(content[:at[s-1]], content[at[s]:])
		for i := ends[s-1]; i < ends[s]; i++ {
			for _, deleted := range []int{0, 1, 5} {
				bad := slices.Clone(file)
				if deleted > 0 {
					bad = slices.Delete(bad, i, min(i+deleted, ends[s]))
				} else {
					bad[i] ^= 0x41
				}
				want := without
				if i >= ends[s]-3 {
					want = content
				}
				got, list := bbtest.RecoverAll(t, bad)
				bbtest.Equal(t, got, want, fmt.Sprintf("stream %d, byte %d, %d deleted", s,
					i-ends[s-1], deleted))
				if len(list) == 0 || list[0].Stream != s {
					t.Fatalf("stream %d, byte %d: %+v", s, i-ends[s-1], list)
				}
			}
		}
	}
	for n := 15; n < len(file); n++ { // the first header is whole
		if n > ends[2] && n < ends[3] {
			continue // TestRecoverCut has such streams
		}
		saved := 0
		for i, end := range ends {
			if n >= end-3 && i != 3 || n >= end {
				saved = at[i]
			}
		}
		got, list := bbtest.RecoverAll(t, file[:n])
		bbtest.Equal(t, got, content[:saved], fmt.Sprint("cut at ", n))
		if len(list) == 0 && !slices.Contains(ends, n) {
			t.Errorf("cut at %d: no damage reported", n)
		}
	}
}

// TestManySmallStreams opens many small streams. The index takes as much memory as it says.
func TestManySmallStreams(t *testing.T) {
	one := bbtest.Encode(t, []byte("x"))
	const n = 100_000
	file := bytes.Repeat(one, n)
	if _, err := bbtest.OpenFile(file, compress.WithMaxMemory(160*n)); !errors.Is(err, compress.ErrMemory) {
		t.Errorf("with the memory of the index: %v", err)
	}
	r := bbtest.OpenAt(t, file, compress.WithMaxMemory(160*n+8<<20))
	p := make([]byte, n)
	if _, err := r.ReadAt(p, 0); err != nil || !bytes.Equal(p, bytes.Repeat([]byte("x"), n)) {
		t.Errorf("wrong content, %v", err)
	}
	if got, err := bbtest.Decode(file); err != nil || !bytes.Equal(got, p) {
		t.Errorf("Reader: %d bytes, %v", len(got), err)
	}
}

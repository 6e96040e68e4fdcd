package output

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/bridge"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/cut"
	"github.com/gopz/compress/internal/testenv"
)

// cutBlock is the block size of these tests, in bytes.
const cutBlock = 16 << 10

// withCuts returns options for files with cuts of a pipeline.
func withCuts(pipeline string, opts ...compress.WriterOption) []compress.WriterOption {
	return append([]compress.WriterOption{
		bridge.Pipeline(pipeline), compress.WithRsyncable(true), compress.WithBlockSize(cutBlock),
	}, opts...)
}

// missing returns how many bytes of b are not in a, for a program that looks for blocks of a in b.
func missing(a, b []byte) (n int) {
	const size = 256
	known := map[string]bool{}
	for at := 0; at+size <= len(a); at += size {
		known[string(a[at:at+size])] = true
	}
	for at := 0; at < len(b); {
		if at+size <= len(b) && known[string(b[at:at+size])] {
			at += size
			continue
		}
		at++
		n++
	}
	return n
}

// edits returns the content with changes at a place.
func edits(content []byte, at int) map[string][]byte {
	random := bbtest.RandomBytes(30_000, uint64(at))
	return map[string][]byte{
		"byte inserted":          slices.Concat(content[:at], random[:1], content[at:]),
		"byte deleted":           slices.Concat(content[:at], content[at+1:]),
		"byte changed":           slices.Concat(content[:at], []byte{content[at] ^ 1}, content[at+1:]),
		"several bytes inserted": slices.Concat(content[:at], random[:100], content[at:]),
		"several bytes deleted":  slices.Concat(content[:at], content[at+1000:]),
		"long insertion":         slices.Concat(content[:at], random, content[at:]),
		"long deletion":          slices.Concat(content[:at], content[at+30_000:]),
	}
}

// TestRsyncable edits content and compares the files. What differs must not grow with the content.
func TestRsyncable(t *testing.T) {
	if testenv.Race {
		t.Skip("TestRsyncableSameBytes has the goroutines")
	}
	content := slices.Concat(corpus.ByName("json").Make(300_000), corpus.ByName("exe").Make(200_000),
		corpus.ByName("text").Make(300_000))
	levels := []int{1, 6}
	if !testenv.All() {
		levels = []int{4}
	}
	for _, p := range bridge.Pipelines() {
		for _, level := range levels {
			opts := withCuts(p.Name, compress.WithLevel(level))
			file := bbtest.Encode(t, content, opts...)
			plain := bbtest.Encode(t, content, bridge.Pipeline(p.Name), bridge.Frames(),
				compress.WithLevel(level), compress.WithBlockSize(cutBlock))
			half := bbtest.Encode(t, content, bridge.Pipeline(p.Name), compress.WithLevel(level),
				compress.WithBlockSize(cutBlock/2), bridge.Frames())
			if len(file) > len(half)*101/100 {
				t.Errorf("%s, level %d: %d bytes, without cuts %d", p.Name, level, len(file), len(half))
			}
			worst := 0
			for _, at := range []int{0, 300_077, len(content) - 30_000} {
				for name, edited := range edits(content, at) {
					what := fmt.Sprintf("%s, level %d, %s at %d", p.Name, level, name, at)
					again := bbtest.Encode(t, edited, opts...)
					n := missing(file, again)
					// The blocks around the edit, up to one that ends where it did, and the index.
					limit := 4*cutBlock + len(file)/200
					if strings.HasPrefix(name, "long ins") {
						limit += 30_000
					}
					if p.Format == compress.PZ {
						limit += 300 * 4 * len(content) / cutBlock // the numbers of all blocks
					}
					worst = max(worst, n)
					if n > limit {
						t.Errorf("%s: %d of %d bytes are new, limit %d", what, n, len(again), limit)
					}
				}
			}
			t.Logf("%s, level %d: up to %d of %d bytes are new", p.Name, level, worst, len(file))
			edited := edits(content, 100_000)["byte inserted"]
			without := bbtest.Encode(t, edited, bridge.Pipeline(p.Name), bridge.Frames(),
				compress.WithLevel(level), compress.WithBlockSize(cutBlock))
			if n := missing(plain, without); n < len(plain)/3 {
				t.Errorf("%s, level %d: without cuts only %d of %d bytes are new",
					p.Name, level, n, len(plain))
			}
		}
	}
}

// TestRsyncableFlush is TestRsyncable for content with a flush behind each line.
func TestRsyncableFlush(t *testing.T) {
	testenv.Slow(t)
	lines := bbtest.LogLines(4000)
	for _, p := range bridge.Pipelines() {
		opts := withCuts(p.Name)
		file, _ := bbtest.FlushPieces(t, lines, 1000, opts...)
		for _, at := range []int{0, 2001} {
			edited := slices.Concat(lines[:at], [][]byte{[]byte("a new line\n")}, lines[at+2:])
			again, _ := bbtest.FlushPieces(t, edited, 1000, opts...)
			limit := 4*cutBlock + len(file)/200
			if p.Format == compress.PZ {
				continue // each line is a block with a number
			}
			if n := missing(file, again); n > limit {
				t.Errorf("%s, edit of line %d: %d of %d bytes are new, limit %d",
					p.Name, at, n, len(again), limit)
			}
		}
		content := slices.Concat(lines...)
		bbtest.Equal(t, bbtest.DecodeAll(t, file), content, p.Name)
		bbtest.CheckTools(t, p.Name, file, content, p.Name)
	}
}

// TestRsyncableSameBytes checks that a file with cuts does not depend on workers, the sizes of
// writes, and the kind of call.
func TestRsyncableSameBytes(t *testing.T) {
	for name, content := range map[string][]byte{
		"mixed": bbtest.MixedBytes(150_000), "zeros": make([]byte, 60_000), "empty": nil,
		"least": bbtest.TextBytes(cutBlock/4, 1), "block": bbtest.TextBytes(cutBlock, 2),
	} {
		for _, p := range bridge.Pipelines() {
			what := p.Name + ", " + name
			want := bbtest.Encode(t, content, withCuts(p.Name, compress.WithConcurrency(1))...)
			for _, workers := range bbtest.WorkerCounts {
				opts := withCuts(p.Name, compress.WithConcurrency(workers))
				for _, size := range []int{101, cutBlock + 1} {
					bbtest.Equal(t, encodePieces(t, content, size, opts...), want,
						fmt.Sprint(what, " in ", size))
				}
				checkReadFrom(t, content, want, what, opts...)
				got, err := compress.AppendEncode([]byte("before"), content, opts...)
				if err != nil {
					t.Fatal(err)
				}
				sized := bbtest.Encode(t, content,
					append(opts, compress.WithContentSize(int64(len(content))))...)
				bbtest.Equal(t, got, append([]byte("before"), sized...), what+", AppendEncode")
			}
			bbtest.CheckAllReaders(t, want, content)
			if !testing.Short() {
				bbtest.CheckTools(t, p.Name, want, content, what)
			}
		}
	}
}

// TestRsyncableRandomFlush flushes files with cuts at random places, also at cuts.
func TestRsyncableRandomFlush(t *testing.T) {
	content := bbtest.MixedBytes(10 * cutBlock)
	for _, p := range bridge.Pipelines() {
		for seed := range uint64(3) {
			pieces := bbtest.SplitAtRandom(content, rand.New(rand.NewPCG(seed, 2)))
			if seed == 2 { // at every second cut
				pieces = nil
				var cutter cut.Cutter
				cutter.Reset(cutBlock)
				for begin, end := 0, 0; end < len(content); begin = end {
					for range 2 {
						n, _ := cutter.Next(content[end:])
						end += n
					}
					pieces = append(pieces, content[begin:end])
				}
			}
			opts := withCuts(p.Name)
			file, _ := bbtest.FlushPieces(t, pieces, len(content), opts...)
			bbtest.Equal(t, bbtest.DecodeAll(t, file), content, p.Name)
			bbtest.CheckTools(t, p.Name, file, content, p.Name)
			again, _ := bbtest.FlushPieces(t, pieces, 777, append(opts, compress.WithConcurrency(3))...)
			bbtest.Equal(t, again, file, p.Name+", small writes")
		}
	}
}

// TestRsyncableReset checks that a Writer begins the next file anew.
func TestRsyncableReset(t *testing.T) {
	content := bbtest.MixedBytes(5*cutBlock + 1000)
	for _, p := range bridge.Pipelines() {
		want := bbtest.Encode(t, content, withCuts(p.Name)...)
		var b bytes.Buffer
		w := bbtest.NewWriter(t, &b, withCuts(p.Name)...)
		w.Write(content[:cutBlock+10])
		w.Reset(&b)
		b.Reset()
		w.Write(content)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		bbtest.Equal(t, b.Bytes(), want, p.Name)
	}
}

// TestRsyncableRecover damages blocks of a .pz file with cuts: only they are lost.
func TestRsyncableRecover(t *testing.T) {
	content := bbtest.MixedBytes(20 * cutBlock)
	file := bbtest.Encode(t, content, withCuts("lzseqr")...)
	sizes := map[int64]bool{}
	for b := range bbtest.OpenAt(t, file).Blocks() {
		sizes[b.Content] = true
		without := slices.Concat(content[:b.ContentOffset], content[b.ContentOffset+b.Content:])
		for _, end := range []int{len(file), len(file) - 1} { // with and without the index
			bad := bytes.Clone(file[:end])
			bad[b.Offset+b.Size/2] ^= 4
			got, list := bbtest.RecoverAll(t, bad)
			bbtest.Equal(t, got, without, fmt.Sprintf("block at %d", b.ContentOffset))
			if len(list) == 0 {
				t.Errorf("block at %d: no damage reported", b.ContentOffset)
			}
		}
	}
	if len(sizes) < 10 {
		t.Errorf("blocks of %d sizes", len(sizes))
	}
}

// atomicSource counts what is read.
type atomicSource struct {
	r io.Reader
	n atomic.Int64
}

func (c *atomicSource) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// TestRsyncableReadAhead checks that a Reader reads on while a worker decodes a block, although
// blocks have different sizes and the input could block.
func TestRsyncableReadAhead(t *testing.T) {
	content := bbtest.RandomBytes(20*cutBlock, 3)
	for _, p := range []string{"lzseqr", "lzf"} {
		const busy = 10 // a block that the caller's goroutine does not decode itself
		file := bbtest.Encode(t, content, withCuts(p)...)
		var ends []int64
		for b := range bbtest.OpenAt(t, file).Blocks() {
			ends = append(ends, b.Offset+b.Size)
		}
		src := &atomicSource{r: bytes.NewReader(file)}
		var once sync.Once
		trace := func(e compress.Stage) {
			if e.Block != busy {
				return
			}
			once.Do(func() {
				end := time.Now().Add(10 * time.Second)
				for src.n.Load() < ends[busy+3] {
					time.Sleep(time.Millisecond)
					if time.Now().After(end) {
						t.Errorf("%s: %d bytes read while a worker decodes up to byte %d",
							p, src.n.Load(), ends[busy])
						return
					}
				}
			})
		}
		got, err := io.ReadAll(bbtest.NewReader(t, src, compress.WithConcurrency(4),
			compress.WithTrace(trace)))
		if err != nil {
			t.Fatal(err)
		}
		bbtest.Equal(t, got, content, p)
		once.Do(func() { t.Errorf("%s: block %d was not decoded", p, busy) })
	}
}

// TestRsyncableOptions checks the block sizes, and what excludes one another.
func TestRsyncableOptions(t *testing.T) {
	for _, c := range []struct {
		opts []compress.WriterOption
		want int
	}{
		{nil, 1 << 20},
		{[]compress.WriterOption{compress.WithLevel(9)}, 1 << 20},
		{[]compress.WriterOption{compress.WithBlockSize(1 << 16)}, 1 << 16},
		{[]compress.WriterOption{compress.WithContentSize(70_000)}, 1 << 20},
		{[]compress.WriterOption{compress.WithRsyncable(false)}, 2 << 20},
	} {
		opts := []compress.WriterOption{compress.WithLevel(4), compress.WithRsyncable(true)}
		opts = append(opts, c.opts...)
		if info, err := bbtest.FileInfo(bbtest.Encode(t, make([]byte, 70_000), opts...)); err != nil ||
			info.Streams[0].BlockSize != c.want {
			t.Errorf("blocks of %+v, want %d; %v", info.Streams, c.want, err)
		}
	}
	for size, want := range map[int]bool{cutBlock: true, compress.MinBlockSize: true,
		compress.MaxBlockSize: true} {
		_, err := compress.NewWriter(nil, compress.WithRsyncable(true), compress.WithBlockSize(size))
		if (err == nil) != want {
			t.Errorf("blocks of %d: %v", size, err)
		}
	}
	if _, err := compress.NewPlan(1<<20, compress.WithRsyncable(true)); err == nil {
		t.Error("a Plan with cuts")
	}
}

package pipeline

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os/exec"
	"testing"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/internal/zstfile"
)

// windowOf returns the window of blocks in bytes, where blocks of .zst are frames.
func windowOf(p *Pipeline) int {
	if p.Format == container.Gzip {
		return p.Reach(MaxLevel, 1<<20)
	}
	return 0
}

// codedPieces compresses src in blocks whose windows are the bytes before them.
func codedPieces(
	t testing.TB, s *Scheduler, p *Pipeline, level, blockSize int, src []byte, assign Assignment,
) (out []encoded) {
	t.Helper()
	r := s.Start(Config{Pipeline: p, Op: Compress, Level: level, Checks: true, Assign: assign})
	defer r.Close()
	for at := 0; at < len(src) || r.Pending() > 0; {
		if b := r.Get(); b != nil && at < len(src) {
			b.Window = min(at, windowOf(p))
			end := min(len(src), at+blockSize)
			b.Src = src[at-b.Window : end]
			at = end
			r.Submit(b)
			continue
		}
		b := next(t, r)
		if b.Err != nil {
			t.Fatal(b.Err)
		}
		out = append(out, encoded{bytes.Clone(b.Out()), b.Raw, b.Kind, b.Sum})
		b.Src = nil
		r.Put(b)
	}
	return out
}

// reread decodes the pieces with compress/flate or the zstd program.
func reread(t *testing.T, p *Pipeline, in []encoded) ([]byte, error) {
	var file []byte
	for _, e := range in {
		if p.Format == container.Zstd {
			n := int64(e.raw)
			h := zstfile.Header{ContentSize: n, Window: n, SingleSegment: true, Checksum: true}
			file = h.Append(file)
		}
		file = append(file, e.payload...)
		if p.Format == container.Zstd {
			file = binary.LittleEndian.AppendUint32(file, e.sum)
		}
	}
	if p.Format == container.Gzip {
		return io.ReadAll(flate.NewReader(bytes.NewReader(append(file, 3, 0))))
	}
	// The window is the one that every decoder should support.
	cmd := exec.Command(testenv.Tool(t, "zstd"), "-dc", "-M8MB")
	cmd.Stdin = bytes.NewReader(file)
	return cmd.Output()
}

func forEachStandard(t *testing.T, f func(t *testing.T, p *Pipeline)) {
	for i := range table {
		if table[i].Format != container.PZ {
			t.Run(table[i].Name, func(t *testing.T) { f(t, &table[i]) })
		}
	}
}

// TestStandardFormats: other projects' decoders give the content, and the sums are those of the
// format.
func TestStandardFormats(t *testing.T) {
	oneGoroutine(t)
	size := 150_000
	if brief() {
		size = 60_000
	}
	forEachStandard(t, func(t *testing.T, p *Pipeline) {
		for _, k := range corpus.Kinds() {
			all := k.Make(size)
			for _, level := range levels(1, 4, 7) {
				src, size := all, size
				if p.levels[level].Optimal() {
					size = min(size, 100_000) // still two blocks, or two pieces of one
					src = all[:size]
				}
				for _, block := range []int{1 << 12, 50_000, 1 << 20} {
					coded := codedPieces(t, NewScheduler(2), p, level, block, src, Assignment{})
					got, err := reread(t, p, coded)
					if err != nil || !bytes.Equal(got, src) {
						t.Fatalf("%s, level %d, blocks of %d: %v, %d bytes of %d",
							k.Name, level, block, err, len(got), len(src))
					}
					rest, total := src, 0
					for _, e := range coded {
						want := crc32.ChecksumIEEE(rest[:e.raw])
						if p.Format == container.Zstd {
							want = zstfile.Checksum(rest[:e.raw])
						}
						if e.sum != want {
							t.Fatalf("%s: sum %08x, want %08x", k.Name, e.sum, want)
						}
						rest, total = rest[e.raw:], total+len(e.payload)
					}
					if limit := size + size/100 + 40*len(coded); total > limit {
						t.Errorf("%s, level %d: %d bytes became %d", k.Name, level, size, total)
					}
				}
			}
		}
	})
}

// TestStandardSizes: blocks may have any size, also 0.
func TestStandardSizes(t *testing.T) {
	src := corpus.ByName("text").Make(3000)
	forEachStandard(t, func(t *testing.T, p *Pipeline) {
		for _, block := range []int{1, 2, 15, 16, 17, 100, 2999, 3000} {
			got, err := reread(t, p, codedPieces(t, NewScheduler(1), p, 5, block, src, Assignment{}))
			if err != nil || !bytes.Equal(got, src) {
				t.Errorf("blocks of %d: %v, %d bytes", block, err, len(got))
			}
		}
		r := NewScheduler(1).Start(Config{Pipeline: p, Op: Compress, Level: 5, Checks: true})
		defer r.Close()
		r.Submit(r.Get())
		b := next(t, r)
		got, err := reread(t, p, []encoded{{payload: b.Out(), sum: b.Sum}})
		if b.Err != nil || err != nil || len(got) != 0 {
			t.Errorf("empty block: %v, %v, %d bytes", b.Err, err, len(got))
		}
	})
}

// TestStandardSameBytes: output depends neither on workers nor on a device.
func TestStandardSameBytes(t *testing.T) {
	src := corpus.ByName("mixed").Make(200_000)
	forEachStandard(t, func(t *testing.T, p *Pipeline) {
		for _, level := range []int{2, 5} {
			want := fmt.Sprint(codedPieces(t, NewScheduler(1), p, level, 10_000, src, Assignment{}))
			for _, workers := range forWorkers {
				got := codedPieces(t, NewScheduler(workers), p, level, 10_000, src, Assignment{})
				if fmt.Sprint(got) != want {
					t.Errorf("level %d, %d workers: other bytes", level, workers)
				}
				s := withSoft(t, workers, gpu.SoftConfig{Batch: 2})
				if fmt.Sprint(codedPieces(t, s, p, level, 10_000, src, Assignment{Match: GPU})) != want {
					t.Errorf("level %d, device: other bytes", level)
				}
				if onBackend(s.Stats(), GPU) == 0 {
					t.Error("nothing ran on the device")
				}
			}
		}
	})
}

// TestStandardAllocs: once buffers have grown, a block allocates nothing.
func TestStandardAllocs(t *testing.T) {
	src := corpus.ByName("text").Make(40_000)
	forEachStandard(t, func(t *testing.T, p *Pipeline) {
		r := NewScheduler(1).Start(Config{Pipeline: p, Op: Compress, Level: 4, Checks: true, InFlight: 1})
		defer r.Close()
		cycle := func() {
			b := r.Get()
			b.Src, b.Window = src, min(windowOf(p), 5000)
			r.Submit(b)
			if b := next(t, r); b.Err != nil {
				t.Fatal(b.Err)
			}
			r.Put(b)
		}
		for range 3 {
			cycle()
		}
		if n := testing.AllocsPerRun(10, cycle); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

// TestFrameInto decodes frames, also damaged ones, into memory of the caller's. Bytes behind the
// content must stay.
func TestFrameInto(t *testing.T) {
	const guard = 200
	p := Default(container.Zstd)
	r := NewScheduler(1).Start(Config{Pipeline: p, Op: Decompress})
	defer r.Close()
	b := r.Get()
	for _, name := range []string{"text", "runs", "zeros", "random"} {
		src := corpus.ByName(name).Make(20_000)
		coded, err := compressAll(NewScheduler(1), p, 5, len(src), src)
		if err != nil {
			t.Fatal(err)
		}
		n := int64(len(src))
		h := zstfile.Header{ContentSize: n, Window: n, SingleSegment: true, Checksum: true}
		frame := append(h.Append(nil), coded[0].payload...)
		frame = binary.LittleEndian.AppendUint32(frame, coded[0].sum)
		for bad := range 30 {
			b.Src = bytes.Clone(frame)
			if bad > 0 {
				b.Src[bad*len(frame)/30] ^= 4
			}
			into := bytes.Repeat([]byte{0xa5}, len(src)+guard)
			b.Raw, b.Kind, b.Sum, b.Into = len(src), codedKind, 1, into
			r.Submit(b)
			b, _ = r.Next(true)
			out := b.Out()
			if bad == 0 && (b.Err != nil || !bytes.Equal(out, src) || &out[0] != &into[0]) {
				t.Errorf("%s: %d bytes, %v", name, len(out), b.Err)
			}
			if bytes.Count(into[len(src):], []byte{0xa5}) != guard {
				t.Errorf("%s, damage %d: bytes behind the content changed", name, bad)
			}
		}
	}
}

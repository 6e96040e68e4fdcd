package pipeline

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/gopz/compress/internal/container"
)

// through sends src in blocks through a pipeline and back, and returns the compressed size.
func through(t testing.TB, s *Scheduler, p *Pipeline, level, blockSize int, src []byte) (size int) {
	t.Helper()
	enc := s.Start(Config{Pipeline: p, Op: Compress, Level: level, Checks: true})
	dec := s.Start(Config{Pipeline: p, Op: Decompress, Checks: true})
	defer enc.Close()
	defer dec.Close()
	for len(src) > 0 {
		n := min(len(src), blockSize)
		b := enc.Get()
		copy(b.Grow(n), src)
		enc.Submit(b)
		b, _ = enc.Next(true)
		if b.Err != nil {
			t.Fatal(b.Err)
		}
		size += len(b.Out())
		d := dec.Get()
		copy(d.Grow(len(b.Out())), b.Out())
		d.Raw, d.Kind, d.Sum = b.Raw, b.Kind, b.Sum
		enc.Put(b)
		dec.Submit(d)
		d, _ = dec.Next(true)
		if d.Err != nil {
			t.Fatal(d.Err)
		}
		if !bytes.Equal(d.Out(), src[:n]) {
			t.Fatal("content differs")
		}
		dec.Put(d)
		src = src[n:]
	}
	return size
}

func benchFile(b *testing.B) []byte {
	p, err := os.ReadFile(os.Getenv("PZ_BENCH_FILE"))
	if err != nil {
		b.Skip("set PZ_BENCH_FILE")
	}
	return p
}

func BenchmarkLevels(b *testing.B) {
	src := benchFile(b)
	for i := range table {
		p := &table[i]
		for level := 1; level <= 9; level++ {
			s := NewScheduler(1)
			var blocks []*Block
			size := 0
			b.Run(fmt.Sprintf("%s/%d/encode", p.Name, level), func(b *testing.B) {
				b.SetBytes(int64(len(src)))
				for b.Loop() {
					cfg := Config{Pipeline: p, Op: Compress, Level: level, Checks: true, InFlight: 1 << 20}
					r := s.Start(cfg)
					blocks, size = nil, 0
					for q := src; len(q) > 0; {
						n := min(len(q), benchBlock())
						x := r.Get()
						x.Src = q[:n]
						q = q[n:]
						r.Submit(x)
						x, _ = r.Next(true)
						size += len(x.Out())
						blocks = append(blocks, x)
					}
					r.Close()
				}
				b.ReportMetric(float64(len(src))/float64(size), "ratio")
			})
			if p.Format == container.Gzip {
				continue // its blocks cannot be decoded one by one
			}
			b.Run(fmt.Sprintf("%s/%d/decode", p.Name, level), func(b *testing.B) {
				b.SetBytes(int64(len(src)))
				r := s.Start(Config{Pipeline: p, Op: Decompress, Checks: true, InFlight: 1})
				defer r.Close()
				for b.Loop() {
					for _, e := range blocks {
						x := r.Get()
						x.Src, x.Raw, x.Kind, x.Sum = e.Out(), e.Raw, e.Kind, e.Sum
						r.Submit(x)
						x, _ = r.Next(true)
						if x.Err != nil {
							b.Fatal(x.Err)
						}
						r.Put(x)
					}
				}
			})
		}
	}
}

// benchBlock returns the block size of the benchmarks: PZ_BENCH_BLOCK bytes, or 1 MiB.
func benchBlock() int {
	if n, err := strconv.Atoi(os.Getenv("PZ_BENCH_BLOCK")); err == nil {
		return n
	}
	return 1 << 20
}

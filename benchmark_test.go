package compress_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/blackbox/bbtest"
	"github.com/gopz/compress/internal/corpus"
)

// benchContent returns the content of the benchmarks.
func benchContent() []byte { return bbtest.MixedBytes(8 << 20) }

func BenchmarkWriter(b *testing.B) {
	content := benchContent()
	w := bbtest.NewWriter(b, io.Discard, compress.WithBlockSize(64<<10))
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		w.Reset(io.Discard)
		w.Write(content)
		w.Close()
	}
}

func BenchmarkReader(b *testing.B) {
	content := benchContent()
	file := bbtest.Encode(b, content, compress.WithBlockSize(64<<10))
	src := bytes.NewReader(nil)
	r := bbtest.NewReader(b, nil)
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		src.Reset(file)
		r.Reset(src)
		r.WriteTo(io.Discard)
	}
}

func BenchmarkReadAt(b *testing.B) {
	content := benchContent()
	file := bbtest.Encode(b, content, compress.WithBlockSize(64<<10))
	open := func(b *testing.B, cache int64) *compress.ReaderAt {
		r, err := bbtest.OpenFile(file, compress.WithCache(compress.NewCache(cache)))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { r.Close() })
		b.ReportAllocs()
		return r
	}
	b.Run("whole", func(b *testing.B) {
		r, p := open(b, 0), make([]byte, len(content))
		b.SetBytes(int64(len(p)))
		for b.Loop() {
			r.ReadAt(p, 0)
		}
	})
	b.Run("sequential", func(b *testing.B) {
		r, p := open(b, 1<<20), make([]byte, 4096)
		b.SetBytes(int64(len(content)))
		for b.Loop() {
			for off := 0; off < len(content); off += len(p) {
				r.ReadAt(p, int64(off))
			}
		}
	})
	for _, mib := range []int64{1, 64} {
		b.Run(fmt.Sprintf("random/cache=%dMiB", mib), func(b *testing.B) {
			r := open(b, mib<<20)
			b.RunParallel(func(pb *testing.PB) {
				rnd, p := rand.New(rand.NewPCG(1, rand.Uint64())), make([]byte, 4096)
				for pb.Next() {
					r.ReadAt(p, rnd.Int64N(int64(len(content)-len(p))))
				}
			})
		})
	}
}

func BenchmarkSmall(b *testing.B) {
	content := bbtest.TextBytes(1000, 1)
	file, err := compress.AppendEncode(nil, content)
	if err != nil {
		b.Fatal(err)
	}
	dst := make([]byte, 0, 4096)
	b.Run("AppendEncode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			compress.AppendEncode(dst, content)
		}
	})
	b.Run("AppendDecode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			compress.AppendDecode(dst, file)
		}
	})
}

// BenchmarkBusyLatency measures calls of AppendEncode while another goroutine keeps all workers of
// the process-wide scheduler busy. It reports the median, the 99th percentile and the longest call,
// in milliseconds.
func BenchmarkBusyLatency(b *testing.B) {
	other := corpus.ByName("text").Make(32 << 20)
	for _, level := range []int{6, 8, 9} {
		for _, size := range []int{1 << 10, 100 << 10} {
			b.Run(fmt.Sprintf("level%d/%dKiB", level, size>>10), func(b *testing.B) {
				ctx, cancel := context.WithCancel(b.Context())
				done := make(chan struct{})
				go func() {
					defer close(done)
					for ctx.Err() == nil {
						compress.AppendEncode(nil, other, compress.WithLevel(level),
							compress.WithContext(ctx))
					}
				}()
				time.Sleep(200 * time.Millisecond) // until the workers have begun
				content, dst := other[:size], make([]byte, 0, size+1024)
				var took []time.Duration
				for b.Loop() {
					start := time.Now()
					compress.AppendEncode(dst, content)
					took = append(took, time.Since(start))
				}
				cancel()
				<-done
				slices.Sort(took)
				ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
				b.ReportMetric(ms(took[len(took)/2]), "p50-ms")
				b.ReportMetric(ms(took[len(took)*99/100]), "p99-ms")
				b.ReportMetric(ms(took[len(took)-1]), "max-ms")
			})
		}
	}
}

// BenchmarkDictionary compresses and decompresses small files with a dictionary.
func BenchmarkDictionary(b *testing.B) {
	d := bbtest.NewDictionary(b, bbtest.TestDictionaries(b)["trained"])
	var files [][]byte
	for i := range 100 {
		files = append(files, corpus.Document(uint64(i)))
	}
	out := make([]byte, 0, 8<<10)
	for _, level := range []int{1, 4, 6, 9} {
		opts := []compress.WriterOption{
			compress.WithFormat(compress.Zstd), compress.WithDictionary(d), compress.WithLevel(level),
		}
		b.Run(fmt.Sprintf("encode/level=%d", level), func(b *testing.B) {
			b.SetBytes(int64(len(files[0])))
			for i := range b.N {
				compress.AppendEncode(out, files[i%len(files)], opts...)
			}
		})
	}
	dictionary := compress.WithDictionary(d)
	for i, p := range files {
		files[i], _ = compress.AppendEncode(nil, p, compress.WithFormat(compress.Zstd), dictionary)
	}
	reading := []compress.ReaderOption{dictionary}
	b.Run("decode", func(b *testing.B) {
		for i := range b.N {
			compress.AppendDecode(out, files[i%len(files)], reading...)
		}
	})
}

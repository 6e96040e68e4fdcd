package peertest_test

import (
	"bytes"
	stdgzip "compress/gzip"
	"io"
	"runtime"
	"slices"
	"testing"
	"time"

	kgzip "github.com/klauspost/compress/gzip"

	"github.com/gopz/compress/gzip"
	"github.com/gopz/compress/internal/corpus"
)

// BenchmarkGzip compares package gzip with compress/gzip and the peer, at their default levels, for
// JSON of 1 KiB and 1 MiB. It does so with Writers and Readers that a Reset makes ready, and with
// new ones. All take turns within an iteration. Metrics are the median time of a call in ns, the
// median of its ratio to that of compress/gzip in the same round, bytes of allocations per call,
// and bytes of the file.
func BenchmarkGzip(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20} {
		name := map[int]string{1 << 10: "1KiB", 1 << 20: "1MiB"}[size]
		p := corpus.ByName("json").Make(size)
		for _, fresh := range []bool{false, true} {
			kind := map[bool]string{false: "/reset", true: "/new"}[fresh]
			b.Run(name+kind+"/encode", func(b *testing.B) { compareGzip(b, p, true, fresh) })
			b.Run(name+kind+"/decode", func(b *testing.B) { compareGzip(b, p, false, fresh) })
		}
	}
}

type gzipWriter interface {
	io.WriteCloser
	Reset(io.Writer)
}

type gzipReader interface {
	io.Reader
	Reset(io.Reader) error
}

func compareGzip(b *testing.B, p []byte, encode, fresh bool) {
	codecs := []struct {
		name   string
		writer func() gzipWriter
		reader func() gzipReader
	}{
		{"std", func() gzipWriter { return stdgzip.NewWriter(nil) },
			func() gzipReader { return new(stdgzip.Reader) }},
		{"peer", func() gzipWriter { return kgzip.NewWriter(nil) },
			func() gzipReader { return new(kgzip.Reader) }},
		{"ours", func() gzipWriter { return gzip.NewWriter(nil) },
			func() gzipReader { return new(gzip.Reader) }},
	}
	calls := max(1, 1<<18/len(p))
	times, bytesOf, sizes := map[string][]float64{}, map[string]uint64{}, map[string]int{}
	content := make([]byte, len(p)+1)
	rounds := uint64(0)
	var file bytes.Buffer
	file.Grow(2 * len(p))
	ws, rs, files := map[string]gzipWriter{}, map[string]gzipReader{}, map[string][]byte{}
	for _, c := range codecs {
		ws[c.name], rs[c.name] = c.writer(), c.reader()
		file.Reset()
		ws[c.name].Reset(&file)
		ws[c.name].Write(p)
		ws[c.name].Close()
		files[c.name], sizes[c.name] = bytes.Clone(file.Bytes()), file.Len()
	}
	var before, after runtime.MemStats
	for b.Loop() {
		rounds++
		for _, c := range codecs {
			runtime.ReadMemStats(&before)
			start := time.Now()
			for range calls {
				w, r := ws[c.name], rs[c.name]
				if fresh && encode {
					w = c.writer()
				} else if fresh {
					r = c.reader()
				}
				if encode {
					file.Reset()
					w.Reset(&file)
					w.Write(p)
					w.Close()
					continue
				}
				if err := r.Reset(bytes.NewReader(files[c.name])); err != nil {
					b.Fatal(err)
				}
				if n, err := io.ReadFull(r, content); n != len(p) || err != io.ErrUnexpectedEOF {
					b.Fatal(n, err)
				}
			}
			times[c.name] = append(times[c.name], float64(time.Since(start))/float64(calls))
			runtime.ReadMemStats(&after)
			bytesOf[c.name] += after.TotalAlloc - before.TotalAlloc
		}
	}
	b.ReportMetric(0, "ns/op") // of a round; means nothing
	for _, c := range codecs {
		var ratios []float64
		for i, t := range times[c.name] {
			ratios = append(ratios, t/times["std"][i])
		}
		slices.Sort(ratios)
		b.ReportMetric(slices.Sorted(slices.Values(times[c.name]))[len(ratios)/2], c.name+"-ns")
		b.ReportMetric(float64(bytesOf[c.name])/float64(rounds*uint64(calls)), c.name+"-B")
		b.ReportMetric(float64(sizes[c.name]), c.name+"-file")
		if c.name != "std" {
			b.ReportMetric(ratios[len(ratios)/2], c.name+"/std")
		}
	}
}

package peertest_test

import (
	"bytes"
	stdgzip "compress/gzip"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	kgzip "github.com/klauspost/compress/gzip"
	kzstd "github.com/klauspost/compress/zstd"

	"github.com/gopz/compress"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/zstd"
)

// BenchmarkSmall compares calls of 8 goroutines for JSON messages of 1 and 16 KiB with the peer and
// the standard library. An iteration is a round of all codecs in turn, so that other load on the
// machine is the same for all. For each codec the benchmark reports the median time of a call of
// one goroutine in ns, and the median of its time over that of its peer in the same round. All have
// their default levels.
func BenchmarkSmall(b *testing.B) {
	for _, size := range []int{1 << 10, 16 << 10} {
		messages := smallMessages(size)
		name := map[int]string{1 << 10: "1KiB", 16 << 10: "16KiB"}[size]
		b.Run(name+"/encode", func(b *testing.B) { compareSmall(b, messages, true) })
		b.Run(name+"/decode", func(b *testing.B) { compareSmall(b, messages, false) })
	}
}

// smallMessages cuts JSON records into messages.
func smallMessages(size int) (list [][]byte) {
	all := corpus.ByName("json").Make(64 * size)
	for i := 0; i < len(all); i += size {
		list = append(list, all[i:i+size])
	}
	return list
}

// A smallCodec is one way to code messages. Its functions are safe for concurrent use, and append
// to dst.
type smallCodec struct {
	name           string
	peer           string // what it is compared with
	encode, decode func(dst, src []byte) ([]byte, error)
}

func smallCodecs() []smallCodec {
	ours := func(name, peer string, f compress.Format, workers int) smallCodec {
		concurrency := compress.WithConcurrency(workers)
		writing := []compress.WriterOption{compress.WithFormat(f), concurrency}
		reading := []compress.ReaderOption{concurrency}
		return smallCodec{
			name: name, peer: peer,
			encode: func(dst, src []byte) ([]byte, error) {
				return compress.AppendEncode(dst, src, writing...)
			},
			decode: func(dst, src []byte) ([]byte, error) {
				return compress.AppendDecode(dst, src, reading...)
			},
		}
	}
	e, err := kzstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	d := mustDecoder(kzstd.WithDecoderConcurrency(0))
	ze, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	zd, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0))
	if err != nil {
		panic(err)
	}
	return []smallCodec{
		{
			name: "peer.zst", peer: "peer.zst",
			encode: func(dst, src []byte) ([]byte, error) { return e.EncodeAll(src, dst), nil },
			decode: func(dst, src []byte) ([]byte, error) { return d.DecodeAll(src, dst) },
		},
		ours("zst", "peer.zst", compress.Zstd, 0),
		{
			name: "package.zst", peer: "peer.zst",
			encode: func(dst, src []byte) ([]byte, error) { return ze.EncodeAll(src, dst), nil },
			decode: func(dst, src []byte) ([]byte, error) { return zd.DecodeAll(src, dst) },
		},
		pooled("peer.gz", func() io.WriteCloser { return kgzip.NewWriter(nil) },
			func() io.Reader { return new(kgzip.Reader) }),
		pooled("std.gz", func() io.WriteCloser { return stdgzip.NewWriter(nil) },
			func() io.Reader { return new(stdgzip.Reader) }),
		ours("gz", "peer.gz", compress.Gzip, 0),
		ours("pz", "peer.zst", compress.PZ, 0),
		ours("pz.private", "peer.zst", compress.PZ, 1),
	}
}

// pooled makes a codec of a Writer and a Reader of .gz that have a Reset method.
func pooled(name string, newWriter func() io.WriteCloser, newReader func() io.Reader) smallCodec {
	type state struct {
		out bytes.Buffer
		in  bytes.Reader
		w   io.WriteCloser
		r   io.Reader
	}
	pool := sync.Pool{New: func() any { return &state{w: newWriter(), r: newReader()} }}
	return smallCodec{
		name: name, peer: "peer.gz",
		encode: func(dst, src []byte) ([]byte, error) {
			s := pool.Get().(*state)
			defer pool.Put(s)
			s.out = *bytes.NewBuffer(dst)
			s.w.(interface{ Reset(io.Writer) }).Reset(&s.out)
			if _, err := s.w.Write(src); err != nil {
				return dst, err
			}
			err := s.w.Close()
			return s.out.Bytes(), err
		},
		decode: func(dst, src []byte) ([]byte, error) {
			s := pool.Get().(*state)
			defer pool.Put(s)
			s.in.Reset(src)
			if err := s.r.(interface{ Reset(io.Reader) error }).Reset(&s.in); err != nil {
				return dst, err
			}
			for {
				n, err := s.r.Read(dst[len(dst):cap(dst)])
				dst = dst[:len(dst)+n]
				if err == io.EOF {
					return dst, nil
				} else if err != nil {
					return dst, err
				}
			}
		},
	}
}

func compareSmall(b *testing.B, messages [][]byte, encode bool) {
	codecs := smallCodecs()
	files, sizes := map[string][][]byte{}, map[string]int{}
	for _, c := range codecs {
		for _, m := range messages {
			p, err := c.encode(nil, m)
			if err != nil {
				b.Fatal(err)
			}
			got, err := c.decode(make([]byte, 0, 2*len(m)), p)
			if err != nil || !bytes.Equal(got, m) {
				b.Fatalf("%s: %d bytes of %d, %v", c.name, len(got), len(m), err)
			}
			files[c.name] = append(files[c.name], p)
			sizes[c.name] += len(p)
		}
	}
	times := map[string][]float64{}
	for b.Loop() {
		for _, c := range codecs {
			f, in := c.encode, messages
			if !encode {
				f, in = c.decode, files[c.name]
			}
			times[c.name] = append(times[c.name], smallRound(b, f, in, 2*len(messages[0])))
		}
	}
	b.ReportMetric(0, "ns/op") // of a round; means nothing
	median := func(list []float64) float64 {
		list = slices.Sorted(slices.Values(list))
		return list[len(list)/2]
	}
	for _, c := range codecs {
		var ratios []float64
		for i, t := range times[c.name] {
			ratios = append(ratios, t/times[c.peer][i])
		}
		b.ReportMetric(median(times[c.name]), c.name+"-ns")
		if c.name != c.peer {
			b.ReportMetric(median(ratios), c.name+"/"+c.peer)
		}
		if encode {
			b.ReportMetric(float64(sizes[c.name])/float64(len(messages)), c.name+"-bytes")
		}
	}
}

// smallRound has 8 goroutines code messages, and returns the time of a call of one of them in ns.
func smallRound(b *testing.B, f func(dst, src []byte) ([]byte, error), in [][]byte, room int) float64 {
	const goroutines, calls = 8, 64
	var group sync.WaitGroup
	start := time.Now()
	for g := range goroutines {
		group.Go(func() {
			dst := make([]byte, 0, room)
			for i := range calls {
				if _, err := f(dst, in[(g+i)%len(in)]); err != nil {
					b.Error(err)
				}
			}
		})
	}
	group.Wait()
	return float64(time.Since(start)) / calls
}

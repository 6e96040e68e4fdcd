package compress

import (
	"bytes"
	"io"
	"testing"
)

// benchContent returns the content of the benchmarks.
func benchContent() []byte { return mixedBytes(8 << 20) }

func BenchmarkWriter(b *testing.B) {
	content := benchContent()
	w := newWriter(b, io.Discard, WithBlockSize(64<<10))
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
	file := encode(b, content, WithBlockSize(64<<10))
	src := bytes.NewReader(nil)
	r := newReader(b, nil)
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
	file := encode(b, content, WithBlockSize(64<<10))
	r, err := openFile(file)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	p := make([]byte, len(content))
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		r.ReadAt(p, 0)
	}
}

func BenchmarkSmall(b *testing.B) {
	content := textBytes(1000, 1)
	file, err := AppendEncode(nil, content)
	if err != nil {
		b.Fatal(err)
	}
	dst := make([]byte, 0, 4096)
	b.Run("AppendEncode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			AppendEncode(dst, content)
		}
	})
	b.Run("AppendDecode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			AppendDecode(dst, file)
		}
	})
}

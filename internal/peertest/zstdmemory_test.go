package peertest_test

import (
	"bytes"
	"io"
	"runtime"
	"testing"

	kzstd "github.com/klauspost/compress/zstd"

	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
	"github.com/gopz/compress/zstd"
)

// TestZstdPackageMemory compares the memory of many open Encoders and Decoders with that of
// klauspost/compress, at the default options. 1 MB of content has gone through each, and it is in
// the middle of a frame. It logs a table in KiB each.
func TestZstdPackageMemory(t *testing.T) {
	testenv.Long(t)
	testenv.Measures(t)
	all := corpus.ByName("mixed").MakeSeed(2_000_000, 3)
	const through = 1_000_000
	frame := framesOf(t, oursAt(t, zstd.SpeedDefault), all)[2] // does not state its size
	encoder := func(e frameEncoder, err error) any {
		if err != nil {
			t.Fatal(err)
		}
		for p := all[:through]; len(p) > 0; p = p[min(len(p), 10_000):] {
			e.Write(p[:min(len(p), 10_000)])
		}
		return e
	}
	decoder := func(d io.Reader, err error) any {
		if err == nil {
			_, err = io.CopyN(io.Discard, struct{ io.Reader }{d}, through)
		}
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	source := func() io.Reader { return plainReader{bytes.NewReader(frame)} }
	t.Log("| | ours | klauspost/compress |")
	t.Log("|---|---|---|")
	for _, c := range []struct {
		name         string
		ours, theirs func() any
	}{
		{"Encoder",
			func() any { return encoder(zstd.NewWriter(io.Discard)) },
			func() any { return encoder(kzstd.NewWriter(io.Discard)) }},
		{"Encoder, concurrency 1",
			func() any { return encoder(zstd.NewWriter(io.Discard, zstd.WithEncoderConcurrency(1))) },
			func() any { return encoder(kzstd.NewWriter(io.Discard, kzstd.WithEncoderConcurrency(1))) }},
		{"Decoder",
			func() any { return decoder(zstd.NewReader(source())) },
			func() any { return decoder(kzstd.NewReader(source())) }},
		{"Decoder, concurrency 1",
			func() any { return decoder(zstd.NewReader(source(), zstd.WithDecoderConcurrency(1))) },
			func() any { return decoder(kzstd.NewReader(source(), kzstd.WithDecoderConcurrency(1))) }},
	} {
		ours, theirs := memoryOf(c.ours), memoryOf(c.theirs)
		t.Logf("| %s | %d | %d |", c.name, ours, theirs)
		if ours > 2*theirs {
			t.Errorf("%s: more than twice as much", c.name)
		}
	}
}

// memoryOf returns the memory of an open stream in KiB, stacks of its goroutines included. It opens
// many.
func memoryOf(open func() any) int64 {
	const count = 200
	used := func() int64 {
		var m runtime.MemStats
		for range 3 { // pools drop their memory in the second
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc + m.StackInuse)
	}
	before := used()
	var list [count]any
	for i := range list {
		list[i] = open()
	}
	each := (used() - before) / count >> 10
	for _, s := range list {
		switch s := s.(type) {
		case io.Closer:
			s.Close()
		case *kzstd.Decoder:
			s.Close()
		}
	}
	return each
}

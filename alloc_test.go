package compress

import (
	"bytes"
	"io"
	"runtime"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// TestAllocationsPerBlock checks that a block allocates nothing in the steady state, which begins
// once as many blocks have passed as can be in flight.
func TestAllocationsPerBlock(t *testing.T) {
	if testenv.Race {
		t.Skip("the race detector makes pools forget, those of payloads too")
	}
	const blocks = 400
	content := mixedBytes(blocks * testBlock)
	opts := []Option{WithBlockSize(testBlock), WithConcurrency(2)}
	file := encode(t, content, opts...)
	// Goroutines, growing workspaces and the index allocate now and then, but not for each block.
	const most = blocks / 4

	w := newWriter(t, io.Discard, opts...)
	r := newReader(t, nil, opts...)
	src := bytes.NewReader(nil)
	for name, f := range map[string]func(){
		"Write": func() {
			w.Reset(io.Discard)
			w.Write(content)
			w.Close()
		},
		"ReadFrom": func() {
			w.Reset(io.Discard)
			src.Reset(content)
			w.ReadFrom(src)
			w.Close()
		},
		"WriteTo": func() {
			src.Reset(file)
			r.Reset(src)
			r.WriteTo(io.Discard)
		},
	} {
		for range 3 {
			f()
		}
		if n := allocations(f); n > most {
			t.Errorf("%s: %d allocations for %d blocks", name, n, blocks)
		}
	}
	ra := openAt(t, file, opts...)
	p := make([]byte, len(content))
	for range 3 {
		ra.ReadAt(p, 0)
	}
	if n := allocations(func() { ra.ReadAt(p, 0) }); n > most {
		t.Errorf("ReadAt: %d allocations for %d blocks", n, blocks)
	}
	if n := allocations(func() {
		for i := range 1000 {
			ra.ReadAt(p[:100], int64(i%(len(p)-100)))
		}
	}); n > 10 {
		t.Errorf("ReadAt of cached blocks: %d allocations for 1000 calls", n)
	}
	ra = openAt(t, file, append(opts, WithCache(NewCache(10*testBlock)))...)
	ra.ReadAt(p, 0)
	if n := allocations(func() { ra.ReadAt(p, 0) }); n > blocks+most { // one for what the cache knows of it
		t.Errorf("ReadAt with eviction: %d allocations for %d blocks", n, blocks)
	}
}

// Frames and pieces cost no allocations once it runs.
func TestStandardAllocations(t *testing.T) {
	if testenv.Race {
		t.Skip("the race detector makes pools forget, those of the decoders as well")
	}
	const blocks = 300
	content := mixedBytes(blocks * testBlock)
	var members []byte
	for i := 0; i < len(content); i += testBlock {
		members = append(members, gzipMember(t, content[i:i+testBlock])...)
	}
	src := bytes.NewReader(nil)
	for name, file := range map[string][]byte{
		"frames":  encode(t, content, WithPipeline("lzf"), WithBlockSize(testBlock)),
		"members": members,
		"stream":  zstdStream(t, content, testBlock),
	} {
		r := newReader(t, nil, WithConcurrency(2))
		run := func() {
			src.Reset(file)
			r.Reset(src)
			if n, err := r.WriteTo(io.Discard); n != int64(len(content)) || err != nil {
				t.Fatal(name, n, err)
			}
		}
		for range 3 {
			run()
		}
		runtime.GC() // empties the pools of the decoders
		run()
		if n := allocations(run); n > blocks/4 {
			t.Errorf("%s: %d allocations for %d blocks", name, n, blocks)
		}
	}
	file := encode(t, content, WithPipeline("lzf"), WithBlockSize(testBlock))
	ra := openAt(t, file, WithConcurrency(2))
	p := make([]byte, len(content))
	for range 3 {
		ra.ReadAt(p, 0)
	}
	if n := allocations(func() { ra.ReadAt(p, 0) }); n > blocks/4 {
		t.Errorf("ReadAt: %d allocations for %d blocks", n, blocks)
	}
}

package zstd

import (
	"bytes"
	"io"
	"runtime"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// TestMemory bounds the memory of many Encoders and Decoders that are open at the same time.
func TestMemory(t *testing.T) {
	if testenv.Race {
		t.Skip("the race detector takes memory of its own")
	}
	const count = 200
	all := mixed(300 << 10)
	p := newEncoder(t, nil, WithWindowSize(64<<10)).EncodeAll(all, nil)
	var list []any
	for _, c := range []struct {
		name string
		most int // KiB of each
		open func() any
	}{
		{"new Encoder", 2, func() any { return newEncoder(t, io.Discard) }},
		{"Encoder with 1 KiB", 32, func() any {
			e := newEncoder(t, io.Discard)
			e.Write(all[:1<<10])
			return e
		}},
		{"Encoder with 300 KiB", 1000, func() any {
			e := newEncoder(t, io.Discard)
			e.Write(all)
			return e
		}},
		{"new Decoder", 2, func() any { return newDecoder(t, bytes.NewReader(p)) }},
		{"Decoder in a frame", 400, func() any {
			d := newDecoder(t, struct{ io.Reader }{bytes.NewReader(p)})
			if _, err := io.CopyN(io.Discard, d, 200<<10); err != nil {
				t.Fatal(err)
			}
			return d
		}},
	} {
		used := func() int64 {
			var m runtime.MemStats
			for range 3 { // pools drop their memory in the second
				runtime.GC()
			}
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc)
		}
		before := used()
		for range count {
			list = append(list, c.open())
		}
		each := (used() - before) / count >> 10
		t.Logf("%s: %d KiB", c.name, each)
		if each > int64(c.most) {
			t.Errorf("%s: %d KiB, more than %d", c.name, each, c.most)
		}
		runtime.KeepAlive(list)
		list = list[:0]
		clear(list[:cap(list)])
	}
}

package zstd

import (
	"bytes"
	"io"
	"testing"

	"github.com/gopz/compress/internal/testenv"
)

// TestAllocs checks that calls with small content allocate nothing in the steady state.
func TestAllocs(t *testing.T) {
	if testenv.Race {
		t.Skip("the race detector makes pools drop memory")
	}
	all := mixed(64 << 10)
	dict := WithEncoderDictRaw(5, all[:4000])
	for name, opts := range map[string][]EOption{
		"default": nil, "dictionary": {dict}, "one": {WithEncoderConcurrency(1)},
		"window": {WithWindowSize(1 << 10), WithSingleSegment(false)},
	} {
		for _, n := range []int{100, 1 << 10, 16 << 10} {
			if name == "window" && n > 1<<10 {
				continue // several blocks
			}
			e := newEncoder(t, nil, opts...)
			d := newDecoder(t, nil, WithDecoderDictRaw(5, all[:4000]))
			p := make([]byte, 0, 128<<10)
			dst := make([]byte, 0, 128<<10)
			var err error
			run := func() {
				p = e.EncodeAll(all[4000:4000+n], p[:0])
				dst, err = d.DecodeAll(p, dst[:0])
				if err != nil {
					t.Fatal(err)
				}
			}
			if got := testing.AllocsPerRun(100, run); got >= 1 {
				t.Errorf("%s, %d bytes: %v allocations", name, n, got)
			}
		}
	}
	// So do calls for frames that do not state their size.
	unsized, whole := flushed(t, newEncoder(t, nil), all), make([]byte, 0, len(all))
	one := newDecoder(t, nil)
	if got := testing.AllocsPerRun(100, func() { one.DecodeAll(unsized, whole) }); got >= 1 {
		t.Errorf("no size stated: %v allocations", got)
	}
	// Streams allocate nothing once they have their memory.
	e, d := newEncoder(t, nil), newDecoder(t, nil)
	var b bytes.Buffer
	var r bytes.Reader
	buf := make([]byte, 4096)
	run := func() {
		b.Reset()
		e.Reset(&b)
		e.Write(all[:1000])
		e.Close()
		r.Reset(b.Bytes())
		d.Reset(&r)
		for {
			if _, err := d.Read(buf); err == io.EOF {
				return
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := testing.AllocsPerRun(100, run); got >= 1 {
		t.Errorf("streams: %v allocations", got)
	}
}

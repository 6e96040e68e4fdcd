//go:build webgpu && cgo

package webgpu

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/gpu/internal/host"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
	"github.com/gopz/compress/rans"
)

func TestSteps(t *testing.T) {
	d, err := open(nth(0), host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, k := range corpus.Kinds() {
		for _, l := range []*lzseq.Layout{lzseq.Repeat, lzseq.Plain} {
			for level := 5; level <= 7; level++ {
				if os.Getenv("ONE") != "" && k.Name != os.Getenv("ONE") {
					continue
				}
				src := k.Make(30000)
				start := time.Now()
				r := &gpu.Request{Op: gpu.Fused, Size: len(src), Src: src, Params: &lz77.Levels[level], Limits: l.Limits, Layout: l}
				got, err := d.Streams(r)
				took := time.Since(start)
				name := fmt.Sprint(k.Name, " ", l.ID, " ", level)
				if err != nil {
					t.Error(name, err, r.Err)
					continue
				}
				var m lz77.Matcher
				want := new(lzseq.Streams)
				want.Encode(l, src, m.Parse(nil, src, r.Params, l.Limits))
				a := want.All()
				var streams [6][]byte
				for i, p := range got.All() {
					streams[i] = *a[i]
					if !bytes.Equal(*p, *a[i]) {
						n := 0
						for n < min(len(*p), len(*a[i])) && (*p)[n] == (*a[i])[n] {
							n++
						}
						t.Errorf("%s: stream %d: %d bytes, want %d; first difference at %d", name, i, len(*p), len(*a[i]), n)
					}
				}
				if os.Getenv("DUMP") != "" {
					var q []lz77.Sequence
					got.Sequences(l, len(src), func(s []lz77.Sequence) error { q = append(q, s...); return nil })
					w := m.Parse(nil, src, r.Params, l.Limits)
					at := 0
					for i := range min(len(q), len(w)) {
						if q[i] != w[i] {
							t.Log(name, i, at, q[i:i+3], w[i:i+3])
							break
						}
						at += int(q[i].LitLen + q[i].MatchLen)
					}
				}
				var e rans.Encoder
				pay := e.Append([]byte{l.ID}, l.Stored, streams[:]...)
				if !bytes.Equal(pay, r.Dst) {
					n := 0
					for n < min(len(pay), len(r.Dst)) && pay[n] == r.Dst[n] {
						n++
					}
					t.Errorf("%s: payload of %d, want %d; difference at %d; %v", name, len(r.Dst), len(pay), n, r.Err)
				}
				t.Log(name, took)
			}
		}
	}
}

package pipeline

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/internal/testenv"
)

// gapBlock returns a block of content for op, with the settings that runAlone needs.
func gapBlock(t testing.TB, p *Pipeline, op Op, level int, src []byte) *Block {
	t.Helper()
	cfg := Config{Pipeline: p, Level: level, Tuning: TuneAuto, Checks: true}
	b := &Block{run: &Run{cfg: cfg, stages: p.stages(Compress)}, Src: src}
	if op == Compress {
		return b
	}
	if err := runAlone(new(workspace), b); err != nil {
		t.Fatal(err)
	}
	cfg.Op = Decompress
	b = &Block{
		run: &Run{cfg: cfg, stages: p.stages(Decompress)},
		Src: bytes.Clone(b.Out()), Raw: len(src), Kind: b.Kind, Sum: b.Sum,
	}
	if p.Format == container.Zstd {
		b.Src = appendFrame(nil, b.Src, len(src))
	}
	return b
}

// appendFrame appends a zstd frame of the given blocks: a single segment with its size in four
// bytes (RFC 8878, section 3.1.1.1).
func appendFrame(dst, blocks []byte, size int) []byte {
	dst = append(dst, 0x28, 0xb5, 0x2f, 0xfd, 0xa0)
	return append(binary.LittleEndian.AppendUint32(dst, uint32(size)), blocks...)
}

// eachGapBlock calls f for pipelines, levels and directions.
func eachGapBlock(f func(name string, p *Pipeline, op Op, level int)) {
	for i := range table {
		for _, level := range []int{1, 5, 8} {
			for _, op := range []Op{Compress, Decompress} {
				if p := &table[i]; op == Compress || p.Format != container.Gzip {
					f(fmt.Sprintf("%s -%d, op %d", p.Name, level, op), p, op, level)
				}
			}
		}
	}
}

// TestCheckpointCalls: a block of any kind has a checkpoint for every 2 MiB at least.
func TestCheckpointCalls(t *testing.T) {
	testenv.Slow(t)
	const size = 4 << 20
	kinds := map[string][]byte{
		"zeros":  make([]byte, size),
		"random": corpus.ByName("random").Make(size),
		"period": append(bytes.Repeat([]byte("0123456789abcdefghijk"), size/21), "end"...),
	}
	eachGapBlock(func(name string, p *Pipeline, op Op, level int) {
		for kind, src := range kinds {
			b, calls := gapBlock(t, p, op, level, src), 0
			ws := new(workspace)
			ws.setCheckpoint(func() { calls++ })
			if err := runAlone(ws, b); err != nil {
				t.Fatalf("%s, %s: %v", name, kind, err)
			}
			if calls < size/(2<<20) {
				t.Errorf("%s, %s: %d calls for %d bytes", name, kind, calls, size)
			}
		}
	})
}

// TestCheckpointPanics: a workspace whose block was abandoned at any checkpoint does the next block
// as a new one does.
func TestCheckpointPanics(t *testing.T) {
	testenv.Slow(t)
	times := 3
	if testenv.All() {
		times = 100
	}
	r := rand.New(rand.NewPCG(7, 8))
	src, next := corpus.ByName("mixed").Make(300_000), corpus.ByName("text").Make(50_000)
	eachGapBlock(func(name string, p *Pipeline, op Op, level int) {
		nextBlock := gapBlock(t, p, op, level, next)
		if err := runAlone(new(workspace), nextBlock); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := bytes.Clone(nextBlock.Out())
		b, calls := gapBlock(t, p, op, level, src), 0
		ws := new(workspace)
		ws.setCheckpoint(func() { calls++ })
		if err := runAlone(ws, b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		stops := 0
		for range times {
			at := r.IntN(calls)
			left := at
			ws.setCheckpoint(func() {
				left--
				if left < 0 {
					panic(stopped{})
				}
			})
			func() {
				defer func() {
					switch v := recover(); v {
					case stopped{}:
						stops++
					case nil: // a workspace that has its tables calls less often than a new one
					default:
						t.Fatalf("%s: panic with %v at call %d", name, v, at)
					}
				}()
				runAlone(ws, b)
			}()
			ws.setCheckpoint(nil)
			if err := runAlone(ws, nextBlock); err != nil || !bytes.Equal(nextBlock.Out(), want) {
				t.Fatalf("%s: after a panic at call %d of %d: %v, or the next block differs",
					name, at, calls, err)
			}
		}
		if stops < times/2 {
			t.Errorf("%s: %d stops in %d blocks", name, stops, times)
		}
	})
}

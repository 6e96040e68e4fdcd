package pipeline

import (
	"testing"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/corpus"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
)

// TestHostOfWorkersWorkspace checks that Host does not call the checkpoints of the worker that had
// the workspace before.
func TestHostOfWorkersWorkspace(t *testing.T) {
	src := corpus.ByName("mixed").Make(100_000)
	for _, op := range []gpu.Op{gpu.Stage0, gpu.Fused} {
		for range 100 { // the pool may return another workspace
			ws := &workspace{payload: new(payload)}
			ws.setCheckpoint(func() { t.Fatalf("Host calls a checkpoint of a worker for %v", op) })
			ws.streams(ws.payload)
			spare.Put(ws)
			r := &gpu.Request{Op: op, Size: len(src), Src: src, Params: &lz77.Levels[5],
				Limits: lzseq.Repeat.Limits, Layout: lzseq.Repeat}
			if err := Host(r); err != nil {
				t.Fatal(err)
			}
			if ws.check == nil {
				break // Host had it
			}
		}
	}
}

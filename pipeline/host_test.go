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
	src := corpus.ByName("mixed").Make(1 << 20)
	for range 100 { // the pool may return another workspace
		ws := new(workspace)
		ws.setCheckpoint(func() { t.Fatal("Host calls a checkpoint of a worker") })
		spare.Put(ws)
		r := &gpu.Request{Op: gpu.Stage0, Size: len(src), Src: src, Params: &lz77.Levels[5],
			Limits: lzseq.Repeat.Limits}
		if err := Host(r); err != nil {
			t.Fatal(err)
		}
		if ws.check == nil {
			return // Host had it
		}
	}
}

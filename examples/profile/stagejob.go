package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/pipeline"
)

// stageJob is a job of one stage of a pipeline. Every block is prepared once: the stages before
// have run, and each iteration repeats the stage.
type stageJob struct {
	ctx     context.Context
	stage   string
	op      pipeline.Op
	rec     *recorder // nil if nobody wants events
	runners []*pipeline.StageRunner
	blocks  []*pipeline.StageBlock
	size    int64 // compressed size of all blocks in bytes
}

// stageNames returns the stages of a pipeline that --stage accepts.
func stageNames(name string, decompress bool) []string {
	op := pipeline.Compress
	if decompress {
		op = pipeline.Decompress
	}
	return pipeline.ByName(name).StageNames(op)
}

func newStageJob(ctx context.Context, c *config, content []byte, rec *recorder) (*stageJob, error) {
	p := pipeline.ByName(c.pipeline)
	j := &stageJob{ctx: ctx, stage: c.stage}
	if c.decompress {
		j.op = pipeline.Decompress
	}
	if c.traced() {
		j.rec = rec
	}
	size := int(c.blockSize)
	if size == 0 {
		size = p.BlockSize(c.level)
	}
	for range c.threads {
		j.runners = append(j.runners, pipeline.NewStageRunner(p, j.op, c.level))
	}
	j.blocks = make([]*pipeline.StageBlock, (len(content)+size-1)/size)
	var sum atomic.Int64
	err := j.each(func(r *pipeline.StageRunner, _, i int) (err error) {
		at := i * size
		window := min(at, p.Window)
		src := content[at-window : min(at+size, len(content))]
		j.blocks[i], err = r.Prepare(src, window, c.stage)
		if err == nil {
			sum.Add(int64(j.blocks[i].Compressed()))
		}
		return err
	})
	j.size = sum.Load()
	return j, err
}

// each calls f for every block, on all workers.
func (j *stageJob) each(f func(r *pipeline.StageRunner, worker, i int) error) error {
	var next atomic.Int64
	var wait sync.WaitGroup
	errs := make([]error, len(j.runners))
	for k, r := range j.runners {
		wait.Go(func() {
			for errs[k] == nil {
				i := int(next.Add(1)) - 1
				if i >= len(j.blocks) {
					return
				}
				if errs[k] = context.Cause(j.ctx); errs[k] == nil {
					errs[k] = f(r, k, i)
				}
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (j *stageJob) iterate() (compressed int64, err error) {
	var mu sync.Mutex
	var p compress.Progress
	return j.size, j.each(func(r *pipeline.StageRunner, worker, i int) error {
		b := j.blocks[i]
		start := time.Now()
		err := r.Run(b)
		if j.rec == nil || err != nil {
			return err
		}
		j.rec.event(compress.Stage{Op: j.op.String(), Block: int64(i), Bytes: int64(b.Size()), Name: j.stage,
			Backend: gpu.BackendCPU, Worker: worker, Batch: 1, Start: start, Time: time.Since(start)})
		mu.Lock()
		p.Content += int64(b.Size())
		p.Compressed += int64(b.Compressed())
		j.rec.pass(int64(i), p, compress.Stats{})
		mu.Unlock()
		return nil
	})
}

func (j *stageJob) enableStats() {}

func (j *stageJob) stats() compress.Stats { return compress.Stats{} }

func (j *stageJob) plannedMemory() int64 { return 0 }

func (j *stageJob) device() (time.Duration, gpu.Status) {
	return 0, gpu.Status{}
}

func (j *stageJob) close() error { return nil }

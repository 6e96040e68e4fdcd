package pipeline

import (
	"bytes"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/optimal"
	"github.com/gopz/compress/pipeline/internal/offload"
)

const (
	stressSize   = 1000 // Raw of most blocks; the device refuses larger ones
	stressBlocks = 30   // most blocks of a run

	// A stage has a checkpoint after each piece, and so has a helper. A stage that has just started
	// a helper waits for a piece of it before it ends.
	stagePiece  = 5 * time.Millisecond
	helperPiece = 3 * time.Millisecond
	stressPiece = stagePiece + helperPiece
)

// stressJob is what one block has to do. It belongs to the block's owner.
type stressJob struct {
	rng     *rand.Rand
	content []byte
	stage   int // that is next
	fault   any // error of a stage, or value of its panic or of that of its helper
}

// stressDecoder sees the serial blocks that are in the ordered stage, which is its number.
type stressDecoder struct {
	Serial
	ordered int
	busy    atomic.Bool
	last    int64 // Index of the last block; unguarded: the race detector sees turns that overlap
}

// turn is called when a serial block enters the ordered stage. The block leaves it with the
// function that turn returns.
func (r *stressRun) turn(b *Block) func() {
	d := &r.serial
	if d.busy.Swap(true) {
		r.errorf("two serial blocks in the ordered stage")
	}
	if b.Index < d.last {
		r.errorf("serial block %d comes behind block %d", b.Index, d.last)
	}
	d.last = b.Index
	return func() { d.busy.Store(false) }
}

// pipeline returns a pipeline of three stages that copies Src. The second one is the device's too.
func (r *stressRun) pipeline() *Pipeline {
	p := &Pipeline{Name: "stress", check: func(_ *workspace, b *Block) uint32 { return b.Sum }}
	for i, name := range []string{"first", "second", "third"} {
		run := func(ws *workspace, b *Block) error { return r.stage(i, ws, b) }
		p.decode = append(p.decode, stage{name: name, run: run, ordered: i == r.serial.ordered})
	}
	p.decode[1].device = &deviceOp{
		op:      gpu.StageN,
		prepare: func(b *Block, q *gpu.Request) { q.Decode, q.Dst = true, b.dst[:0] },
		accept:  r.accept,
	}
	return p
}

// stage runs a stage of a block.
func (r *stressRun) stage(i int, ws *workspace, b *Block) error {
	defer r.hold(ws, b)()
	j := &r.jobs[b.Index]
	if j.stage != i {
		r.errorf("block %d: stage %d, want %d", b.Index, i, j.stage)
	}
	j.stage = i + 1
	if b.isSerial() && i == r.serial.ordered && !b.passed {
		defer r.turn(b)()
	}
	switch {
	case i == 1:
		b.dst = append(b.dst[:0], b.Src...)
	case i == 2 && !bytes.Equal(b.dst, j.content):
		if !b.hasResults || r.fault != "wrong" {
			r.errorf("block %d: content %x, want %x", b.Index, b.dst, j.content)
		}
		j.stage = 0 // the worker starts again without the device
		return ErrPayload
	}
	if r.short {
		r.work(upTo(j.rng, time.Millisecond))
		return nil
	}
	return r.toil(ws, j, !b.hasResults) // a stage that fails on a device's results is a device's fault
}

// accept takes over a result of the device. It misses half of the wrong ones; the last stage finds
// them.
func (r *stressRun) accept(ws *workspace, b *Block, q *gpu.Request) error {
	defer r.hold(ws, b)()
	j := &r.jobs[b.Index]
	r.work(upTo(j.rng, time.Millisecond))
	ws.checkpoint()
	if j.stage != 1 {
		r.errorf("block %d: the device did stage 1, want %d", b.Index, j.stage)
	}
	if !bytes.Equal(q.Dst, j.content) && j.rng.IntN(2) == 0 {
		if r.fault != "wrong" {
			r.errorf("block %d: the device returned %x, want %x", b.Index, q.Dst, j.content)
		}
		return offload.ErrWrong
	}
	b.dst, j.stage = q.Dst, 2
	return nil
}

// hold notes that a block has a workspace, until the function that it returns is called.
func (r *stressRun) hold(ws *workspace, b *Block) (release func()) {
	n := int64(0)
	if ws.matcher.Helper != nil { // else the caller runs the stage, in Do
		n = 1
	}
	if in := r.inside.Add(n); in > int64(r.pool.workers) {
		r.errorf("%d blocks of a run have begun, with %d workers", in, r.pool.workers)
	}
	r.mu.Lock()
	if r.held[ws] {
		r.errorf("the workspace of block %d has another block, or its stage panicked", b.Index)
	}
	r.held[ws] = true
	r.mu.Unlock()
	return func() {
		v := recover()
		if v == nil || b.run.panicError(b, v) == ErrCanceled {
			r.mu.Lock()
			delete(r.held, ws)
			r.mu.Unlock()
		}
		r.inside.Add(-n)
		if v != nil {
			panic(v)
		}
	}
}

// work takes some time of a worker or helper.
func (r *stressRun) work(d time.Duration) {
	if n := r.pool.atWork.Add(1); n > int64(r.pool.workers) {
		r.errorf("%d goroutines are at work, with %d workers", n, r.pool.workers)
	}
	time.Sleep(d)
	r.pool.atWork.Add(-1)
	r.worked.Add(int64(d))
}

// toil does pieces of a stage, some of them beside a helper.
func (r *stressRun) toil(ws *workspace, j *stressJob, mayFail bool) error {
	helper, helped := ws.matcher.Helper, false
	await := func() {
		if helped {
			helped = false
			helper.Wait()
		}
	}
	defer await()
	for range j.rng.IntN(12) {
		d := upTo(j.rng, stagePiece)
		if helper != nil {
			r.work(d)
		} else {
			time.Sleep(d)
		}
		await()
		if mayFail && j.rng.IntN(400) == 0 {
			j.fault = ErrPayload
			if j.rng.IntN(2) == 0 {
				j.fault = "stage"
				panic(j.fault)
			}
			return ErrPayload
		}
		if helper != nil && j.rng.IntN(3) == 0 {
			helped = r.help(helper, j)
		}
		ws.checkpoint()
	}
	return nil
}

// help starts a helper.
func (r *stressRun) help(helper optimal.Helper, j *stressJob) bool {
	d, fails := upTo(j.rng, helperPiece), j.rng.IntN(100) == 0
	started := helper.Help(func(checkpoint func()) int {
		for range 2 {
			r.work(d)
			checkpoint()
			if fails {
				panic("helper")
			}
		}
		return 1
	})
	if started && fails {
		j.fault = "helper"
	}
	return started
}

package pipeline

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"
)

// upTo returns a random time below d.
func upTo(rng *rand.Rand, d time.Duration) time.Duration {
	return time.Duration(rng.Int64N(int64(d)))
}

// stressRun is a run between Start or Reset and its end or the next Reset. Most fields are the
// client's.
type stressRun struct {
	*stress
	pool    *stressPool
	run     *Run
	ctx     context.Context
	cancel  context.CancelFunc
	jobs    []stressJob
	sent    int             // jobs that were submitted
	taken   int             // jobs that Next has returned
	blocks  map[*Block]bool // of the run
	dropped bool            // without Close
	short   bool            // short blocks, one at a time, on workers

	inside atomic.Int64  // blocks in a stage, at work or paused, without those of Do
	worked atomic.Int64  // ns that workers and helpers were at work
	serial stressDecoder // of serial blocks
}

// stressClient is a goroutine that has one run after the other.
type stressClient struct {
	*stress
	rng  *rand.Rand
	kept *stressRun // without blocks out, for Reset
}

func (c *stressClient) main() {
	for range 5 {
		if c.errors.Load() > 0 {
			break
		}
		r := c.begin()
		if r.short {
			c.sprint(r)
		} else {
			c.feed(r)
		}
		c.end(r)
	}
	if c.kept != nil {
		c.kept.close()
	}
	c.clients.Add(-1)
}

// begin starts a run, or resets the one that was kept.
func (c *stressClient) begin() *stressRun {
	rng := c.rng
	r := &stressRun{
		stress: c.stress, pool: c.pools[rng.IntN(3)/2], jobs: make([]stressJob, stressBlocks),
		ctx: context.Background(), cancel: func() {}, blocks: map[*Block]bool{},
	}
	r.serial.ordered = 2 * rng.IntN(2)
	cfg := Config{
		Pipeline: r.pipeline(), Op: Decompress, Checks: true,
		InFlight: 1 + rng.IntN(12), Grow: rng.IntN(2) == 0,
	}
	switch r.short = c.kept == nil && rng.IntN(4) == 0; {
	case r.short:
		cfg.InFlight, cfg.Assign = 1, Assignment{CPU, CPU}
	case rng.IntN(3) == 0:
		cfg.Assign = Assignment{GPU, GPU}
	}
	if rng.IntN(2) == 0 {
		r.ctx, r.cancel = context.WithCancel(context.Background())
		cfg.Context = r.ctx
		if rng.IntN(2) == 0 {
			time.AfterFunc(upTo(rng, 300*time.Millisecond), r.cancel)
		}
	}
	r.pool.EnableStats(rng.IntN(2) == 0)
	if kept := c.kept; kept != nil {
		if rng.IntN(2) == 0 {
			kept.run.Release()
		}
		r.run, r.blocks, c.kept = kept.run, kept.blocks, nil
		if !r.run.Reset(r.pool.Scheduler, cfg) {
			c.errorf("no Reset with %d blocks taken", r.run.Taken())
		}
	} else {
		r.run = r.pool.Start(cfg)
	}
	c.mu.Lock()
	c.runs = append(c.runs, r)
	c.mu.Unlock()
	return r
}

// feed submits some blocks, and takes results whenever no block is free.
func (c *stressClient) feed(r *stressRun) {
	serial, blocks := c.rng.IntN(4) == 0, c.rng.IntN(stressBlocks+1)
	for r.sent < blocks {
		b := r.run.Get()
		if b == nil {
			if b = r.take(c.rng.IntN(4) > 0); b == nil {
				if r.ctx.Err() != nil {
					return
				}
				time.Sleep(upTo(c.rng, 10*time.Millisecond))
				continue
			}
			if b.SrcRetired() || c.rng.IntN(2) == 0 {
				r.run.Put(b)
				continue
			}
		}
		r.fill(b, c.rng)
		if serial && c.rng.IntN(5) > 0 {
			b.Serial = &r.serial
		}
		if r.run.Pending() == 0 && c.rng.IntN(3) == 0 {
			r.run.Do(b)
		} else {
			r.run.Submit(b)
		}
		if c.rng.IntN(10) == 0 {
			time.Sleep(upTo(c.rng, 30*time.Millisecond))
		}
	}
}

// sprint submits one short block after the other and checks how long each takes.
func (c *stressClient) sprint(r *stressRun) {
	for r.sent < stressBlocks {
		before, began := r.workOfOthers(), time.Now()
		b := r.run.Get()
		r.fill(b, c.rng)
		r.run.Submit(b)
		if b = r.take(true); b == nil {
			return // the context has ended
		}
		took, turns := time.Since(began), time.Duration(0)
		for other, worked := range r.workOfOthers() {
			if worked > before[other] {
				turns++
			}
		}
		turn := quantum/time.Duration(r.pool.workers) + stressPiece
		if most := turns*turn + 3*stressPiece; took > most {
			c.errorf("a short block beside %d runs on %d workers took %v, at most %v",
				turns, r.pool.workers, took, most)
		}
		r.run.Put(b)
		time.Sleep(upTo(c.rng, 20*time.Millisecond))
	}
}

// end drops the run, keeps it for Reset, or closes it, with blocks out or without.
func (c *stressClient) end(r *stressRun) {
	defer r.cancel()
	switch c.rng.IntN(4) {
	case 0:
		r.dropped = true
		return
	case 1, 2:
		for b := r.take(true); b != nil; b = r.take(true) {
			r.run.Put(b)
		}
		if r.run.Pending() > 0 { // the context has ended
			break
		}
		r.checkAtRest()
		if c.rng.IntN(2) == 0 {
			r.run.ReleaseScratch()
		}
		c.kept = r
		return
	}
	r.close()
}

// fill makes a block one for the next job.
func (r *stressRun) fill(b *Block, rng *rand.Rand) {
	j := &r.jobs[r.sent]
	j.rng = rand.New(rand.NewPCG(rng.Uint64(), 0))
	j.content = binary.BigEndian.AppendUint64(nil, rng.Uint64())
	b.Src = append(b.Grow(0), j.content...)
	b.Kind, b.Raw, b.CallerOwned = codedKind, stressSize, rng.IntN(3) == 0
	b.Serial = nil
	if rng.IntN(10) == 0 {
		b.Raw = 3 * stressSize
	}
	r.blocks[b] = true
	r.sent++
}

// take returns the oldest block, or nil if there is none or the context has ended. Without wait it
// returns nil as well if the block is not done.
func (r *stressRun) take(wait bool) *Block {
	pending := r.run.Pending()
	b, err := r.run.Next(wait)
	if err != nil && (r.ctx.Err() == nil || !errors.Is(err, context.Canceled)) {
		r.errorf("Next: %v", err)
	}
	if b == nil {
		if err == nil && wait && pending > 0 {
			r.errorf("Next returns no block of %d", pending)
		}
		return nil
	}
	j := &r.jobs[r.taken]
	if b.Index != int64(r.taken) {
		r.errorf("Next returns block %d, want %d", b.Index, r.taken)
	}
	r.taken++
	var got any = b.Err
	if p := (*PanicError)(nil); errors.As(b.Err, &p) {
		got = p.Value
	}
	switch {
	case got == ErrCanceled:
		if r.ctx.Err() == nil {
			r.errorf("block %d is canceled, but not its run", b.Index)
		}
	case got != j.fault:
		r.errorf("block %d: error %v, want %v", b.Index, got, j.fault)
	case got == nil && (j.stage != len(r.run.stages) || !bytes.Equal(b.dst, j.content)):
		r.errorf("block %d: %d stages, content %x, want %x", b.Index, j.stage, b.dst, j.content)
	}
	return b
}

// close closes the run and changes memory that is the caller's again.
func (r *stressRun) close() {
	began := time.Now()
	r.run.Close()
	if took := time.Since(began); took > stressPiece {
		r.errorf("Close took %v, at most %v", took, stressPiece)
	}
	r.checkAtRest()
	for b := range r.blocks {
		if b.CallerOwned {
			clear(b.Src)
		}
	}
}

// checkAtRest checks that all blocks of the run have ended.
func (r *stressRun) checkAtRest() {
	rest := []blockState{stateFree, stateDone, stateDelivered}
	for b := range r.blocks {
		if !slices.Contains(rest, b.state) {
			r.errorf("block %d is %v, want done", b.Index, b.state)
		}
	}
	if n := r.inside.Load(); n != 0 {
		r.errorf("%d blocks are in a stage", n)
	}
}

// workOfOthers returns how long workers were at work for each of the other runs of the scheduler.
func (r *stressRun) workOfOthers() map[*stressRun]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := map[*stressRun]int64{}
	for _, other := range r.runs {
		if other != r && other.pool == r.pool {
			m[other] = other.worked.Load()
		}
	}
	return m
}

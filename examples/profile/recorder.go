package main

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/pipeline"
)

// recorder collects what happens to blocks. What it keeps does not grow with the run: sums, the blocks in flight, and the slowest
// ones. Every block and the timeline go to files as they come. All methods may be called from any goroutine.
type recorder struct {
	mu        sync.Mutex
	on        bool // off while what happens is not to be counted
	start     time.Time
	iteration int

	stages map[stageKey]*stageSum
	flight map[int64]*block // begun and not passed, by index
	spare  []*block
	order  hist // from the end of a block's last stage to its turn
	passed int64
	bytes  int64
	top    slowest
	live   compress.SchedulerStats // as of the last block that passed

	full     *blockFile // nil: not wanted
	timeline *timeline  // nil: not wanted
	err      error      // the first one of the files
}

// stageKey names what is summed up on its own.
type stageKey struct {
	op      pipeline.Op
	stage   string
	backend compress.Backend
}

type stageSum struct {
	stageKey
	bytes int64
	times hist // for a device, a block's share of its batch
}

// block is what is known of one block.
type block struct {
	iteration int
	index     int64
	op        pipeline.Op
	bytes     int
	first     time.Time     // its first stage began
	last      time.Time     // its last stage so far ended
	compute   time.Duration // in stages
	turn      time.Time     // when it was passed on in order
	parts     []part
}

// part is a stage of a block, or several parts of one in a row that somebody else did.
type part struct {
	stage   string
	backend compress.Backend
	worker  int
	took    time.Duration
}

func (p *part) same(x *part) bool {
	return p.stage == x.stage && p.backend == x.backend && p.worker == x.worker
}

func newRecorder(top int) *recorder {
	return &recorder{stages: map[stageKey]*stageSum{}, flight: map[int64]*block{}, top: slowest{limit: top}}
}

// begin starts to count.
func (r *recorder) begin(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.on, r.start = true, now
	if r.timeline != nil {
		r.timeline.start = now
	}
}

// event takes a stage that ran.
func (r *recorder) event(e compress.StageEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.on {
		return
	}
	took := e.Took / time.Duration(max(1, e.Batch))
	key := stageKey{e.Op, e.Stage, e.Backend}
	s := r.stages[key]
	if s == nil {
		s = &stageSum{stageKey: key}
		r.stages[key] = s
	}
	s.bytes += int64(e.Bytes)
	s.times.add(took)

	b := r.flight[e.Block]
	if b == nil {
		b = r.newBlock()
		b.iteration, b.index, b.op, b.bytes, b.first = r.iteration, e.Block, e.Op, e.Bytes, e.Start
		r.flight[e.Block] = b
	}
	b.bytes = max(b.bytes, e.Bytes)
	if end := e.Start.Add(e.Took); end.After(b.last) {
		b.last = end
	}
	if e.Stage != "ahead" { // which goes on beside another stage
		b.compute += took
	}
	x := part{e.Stage, e.Backend, e.Worker, took}
	if n := len(b.parts); n > 0 && e.Stage == "ahead" && b.parts[n-1].same(&x) { // there may be a thousand of them
		b.parts[n-1].took += took
	} else {
		b.parts = append(b.parts, x)
	}
	if r.timeline != nil {
		r.note(r.timeline.stage(&e))
	}
}

func (r *recorder) newBlock() *block {
	if n := len(r.spare); n > 0 {
		b := r.spare[n-1]
		r.spare = r.spare[:n-1]
		*b = block{parts: b.parts[:0]}
		return b
	}
	return new(block)
}

// pass notes that it was a block's turn: all blocks before it are done as well.
func (r *recorder) pass(index int64, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.flight[index]
	if b == nil {
		return
	}
	delete(r.flight, index)
	b.turn = now
	r.passed++
	r.bytes += int64(b.bytes)
	r.order.add(max(0, now.Sub(b.last)))
	if r.full != nil {
		r.note(r.full.write(b, r.start))
	}
	if r.timeline != nil {
		r.note(r.timeline.turn(b))
	}
	if old := r.top.offer(b); old != nil {
		r.spare = append(r.spare, old)
	}
}

// note keeps the first error, which ends the writing of files but not the run.
func (r *recorder) note(err error) {
	if err != nil && r.err == nil {
		r.err = err
		r.full, r.timeline = nil, nil
	}
}

func (r *recorder) setIteration(n int) {
	r.mu.Lock()
	r.iteration = n
	r.mu.Unlock()
}

func (r *recorder) publish(s compress.SchedulerStats) {
	r.mu.Lock()
	r.live = s
	r.mu.Unlock()
}

// fail notes an error that has to do with the recording.
func (r *recorder) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note(err)
}

// stats returns the scheduler's statistics as of the last block that passed.
func (r *recorder) stats() compress.SchedulerStats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.live
}

// picture is a copy of all that the recorder knows at one time.
type picture struct {
	start     time.Time
	elapsed   time.Duration
	iteration int
	stages    []stageSum
	inFlight  int
	order     hist
	passed    int64
	bytes     int64
	slowest   []block
}

// take makes a picture. Only the final one needs the slowest blocks.
func (r *recorder) take(now time.Time, final bool) *picture {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &picture{
		start: r.start, elapsed: now.Sub(r.start), iteration: r.iteration, inFlight: len(r.flight), order: r.order,
		passed: r.passed, bytes: r.bytes,
	}
	for _, s := range r.stages {
		p.stages = append(p.stages, *s)
	}
	sortStages(p.stages)
	if final {
		p.slowest = r.top.sorted()
	}
	return p
}

// sortStages puts the stages into the order of a block's way, which is alphabetical only by chance.
func sortStages(s []stageSum) {
	rank := func(k stageKey) int {
		order := []string{"fused", "lz77", "ahead", "lzseq", "rans", "verify"}
		if k.op == pipeline.Decompress {
			order = []string{"rans", "verify", "lzseq"}
		}
		if i := slices.Index(order, k.stage); i >= 0 {
			return i
		}
		if k.stage == "check" {
			return 100
		}
		return len(order)
	}
	slices.SortFunc(s, func(a, b stageSum) int {
		return cmp.Or(cmp.Compare(a.op, b.op), cmp.Compare(rank(a.stageKey), rank(b.stageKey)),
			cmp.Compare(a.stage, b.stage), cmp.Compare(a.backend, b.backend))
	})
}

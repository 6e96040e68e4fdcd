package main

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/gopz/compress"
	"github.com/gopz/compress/gpu"
)

// recorder collects what happens to blocks. Its memory does not grow with the run: it keeps sums,
// the blocks in flight, and the slowest blocks. Its methods may be called from any goroutine.
type recorder struct {
	mu        sync.Mutex
	on        bool // events count
	start     time.Time
	iteration int

	stages   map[stageKey]*stageSum
	inFlight map[int64]*block // begun and not passed, by index
	spare    []*block
	order    hist // from the end of a block's last stage to its turn
	passed   int64
	largest  int
	base     compress.Progress // of the iterations before
	now      compress.Progress // of this iteration
	slowest  slowest
	stats    compress.Stats // as of the last block that passed

	blocks   *blockFile // nil: not wanted
	timeline *timeline  // nil: not wanted
	err      error      // first error of a file
}

// stageKey names a row of the table of stages.
type stageKey struct {
	op      string
	stage   string
	backend gpu.Backend
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
	op        string
	bytes     int
	first     time.Time     // start of its first stage
	last      time.Time     // end of its last stage so far
	compute   time.Duration // in stages
	turn      time.Time     // when it passed in order
	parts     []part
}

// span returns the time from the start of the block's first stage to the end of its last one.
func (b *block) span() time.Duration { return b.last.Sub(b.first) }

// part is a stage of a block, or what one helper did for it.
type part struct {
	stage   string
	backend gpu.Backend
	worker  int
	took    time.Duration
}

// aheadStage is the stage of helpers. It runs beside the stage that they help.
const aheadStage = "ahead"

func newRecorder(top int) *recorder {
	return &recorder{stages: map[stageKey]*stageSum{}, inFlight: map[int64]*block{},
		slowest: slowest{limit: top}}
}

// beginCounting starts to count.
func (r *recorder) beginCounting(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.on, r.start = true, now
	if r.timeline != nil {
		r.timeline.start = now
	}
}

// beginIteration notes that the work begins again.
func (r *recorder) beginIteration(i int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.iteration = i
	r.base.Content += r.now.Content
	r.base.Compressed += r.now.Compressed
	r.now = compress.Progress{}
}

// endCounting stops counting and takes the final statistics of the scheduler.
func (r *recorder) endCounting(s compress.Stats) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.on, r.stats = false, s
}

// event counts a stage that ran.
func (r *recorder) event(e compress.Stage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.on {
		return
	}
	took := e.Time / time.Duration(max(1, e.Batch))
	key := stageKey{e.Op, e.Name, e.Backend}
	s := r.stages[key]
	if s == nil {
		s = &stageSum{stageKey: key}
		r.stages[key] = s
	}
	s.bytes += e.Bytes
	s.times.addDuration(took)

	b := r.inFlight[e.Block]
	if b == nil {
		b = r.newBlock()
		b.iteration, b.index, b.op, b.first = r.iteration, e.Block, e.Op, e.Start
		r.inFlight[e.Block] = b
	}
	b.bytes = max(b.bytes, int(e.Bytes))
	r.largest = max(r.largest, int(e.Bytes))
	if end := e.Start.Add(e.Time); end.After(b.last) {
		b.last = end
	}
	x := part{e.Name, e.Backend, e.Worker, took}
	if e.Name != aheadStage {
		b.compute += took
		b.parts = append(b.parts, x)
	} else {
		b.addAhead(x)
	}
	if r.timeline != nil {
		r.note(r.timeline.stage(&e))
	}
}

// addAhead adds to the part of a helper's worker. A block may have a thousand pieces.
func (b *block) addAhead(x part) {
	for i := range b.parts {
		if p := &b.parts[i]; p.stage == x.stage && p.worker == x.worker {
			p.took += x.took
			return
		}
	}
	b.parts = append(b.parts, x)
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

// pass notes that a block has passed on in order. s has the scheduler's statistics.
func (r *recorder) pass(index int64, p compress.Progress, s compress.Stats) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.on {
		return
	}
	r.now, r.stats = p, s
	r.passed++
	b := r.inFlight[index]
	if b == nil {
		return // it had no stages: a piece that a Scanner decoded
	}
	delete(r.inFlight, index)
	b.turn = now
	r.order.addDuration(max(0, now.Sub(b.last)))
	if r.blocks != nil {
		r.note(r.blocks.write(b, r.start))
	}
	if r.timeline != nil {
		r.note(r.timeline.turn(b))
	}
	if old := r.slowest.offer(b); old != nil {
		r.spare = append(r.spare, old)
	}
}

// note keeps the first error. It ends the writing of files but not the run.
func (r *recorder) note(err error) {
	if err != nil && r.err == nil {
		r.err = err
		r.blocks = nil
		if r.timeline != nil {
			r.timeline.broken = true
			r.timeline = nil
		}
	}
}

// fail notes an error of a file.
func (r *recorder) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note(err)
}

// failure returns the first error of a file.
func (r *recorder) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// flush writes what blocks.csv and the timeline have in memory.
func (r *recorder) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.blocks != nil {
		r.note(r.blocks.flush())
	}
	if r.timeline != nil {
		r.note(r.timeline.flush())
	}
}

// state is a copy of all that the recorder knows at one time.
type state struct {
	start      time.Time
	elapsed    time.Duration
	iteration  int
	stages     []stageSum
	inFlight   int
	order      hist
	passed     int64
	largest    int
	content    int64
	compressed int64
	slowest    []block
	stats      compress.Stats
}

// state returns a copy of what is known.
func (r *recorder) state(now time.Time) *state {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &state{
		start: r.start, elapsed: now.Sub(r.start), iteration: r.iteration, inFlight: len(r.inFlight),
		order: r.order, passed: r.passed, largest: r.largest, content: r.base.Content + r.now.Content,
		compressed: r.base.Compressed + r.now.Compressed, slowest: r.slowest.sorted(), stats: r.stats,
	}
	for _, x := range r.stages {
		s.stages = append(s.stages, *x)
	}
	sortStages(s.stages)
	return s
}

// sortStages sorts stages as a block passes them, with "check" last.
func sortStages(s []stageSum) {
	order := map[string][]string{
		"compress": {"fused", "tune", "lz77", aheadStage, "lzseq", "deflate", "rans", "zstd",
			"verify"},
		"decompress": {"rans", "zstd", "speculate", "inflate", "resolve", "verify", "lzseq"},
	}
	rank := func(k stageKey) int {
		i := slices.Index(order[k.op], k.stage)
		switch {
		case k.stage == "check":
			return 101
		case i < 0:
			return 100
		}
		return i
	}
	slices.SortFunc(s, func(a, b stageSum) int {
		return cmp.Or(cmp.Compare(a.op, b.op), cmp.Compare(rank(a.stageKey), rank(b.stageKey)),
			cmp.Compare(a.stage, b.stage), cmp.Compare(a.backend, b.backend))
	})
}

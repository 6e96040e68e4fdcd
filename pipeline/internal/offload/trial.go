package offload

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/lzseq"
)

// Trial. Backend Auto must never cost much, whatever the device. So a device proves its pace in
// each process, for each kind of work, before blocks of Auto go to it:
//
//  1. A device that starts late starts once the workers have spent startAfter on work that it could
//     have done. The start takes some 100 ms of processor time.
//  2. A worker that would offer a block copies a piece of it into a probe, and does the block
//     itself. The device does the probe twice, beside the workers. The first time compiles kernels.
//     The second time counts.
//  3. If the device does the probe at the pace of one worker, or nearly, batches of one block of
//     Auto follow. Each full batch in time doubles the blocks of the next.
//  4. A device that takes longer than one worker for maxStrikes batches in a row is too slow, and
//     gets nothing more from Auto.
//
// A software adapter fails at step 2.

const (
	// startAfter is the time of workers after which a device starts. Start and trial of a software
	// adapter take 0.2 s of processor time. So they cost less than a tenth, whenever the work ends,
	// also if other programs have most of the processors and workers wait for them.
	startAfter = 8 * time.Second
	// probeSize is the least content of a probe in bytes. Small probes are cheap on a slow device.
	probeSize = 64 << 10
	// warmSize is the content of the run that compiles kernels.
	warmSize = 4 << 10
	// latency is what a probe or a small batch may take in addition to the time of a worker. It
	// covers the waits for a processor while workers have all of them: the runtime takes 10 ms to
	// preempt a worker, and a batch waits two or three times.
	latency = 40 * time.Millisecond
	// maxStrikes is the number of late batches in a row that end the use of a device. One can be
	// late by chance.
	maxStrikes = 2
)

// work is a kind of work that has a pace of its own: an Op, or decoding.
type work uint8

const (
	decodeWork work = gpu.NumOps // StageN of decompression
	numWork         = gpu.NumOps + 1
)

func workOf(q *gpu.Request) work { return kindOf(q.Op, q.Decode) }

func kindOf(op gpu.Op, decode bool) work {
	if decode && op == gpu.StageN {
		return decodeWork
	}
	return work(op)
}

// op returns the operation of a kind of work.
func (w work) op() gpu.Op {
	if w == decodeWork {
		return gpu.StageN
	}
	return gpu.Op(w)
}

// trialState is how far a device has proven its pace.
type trialState uint32

const (
	untried trialState = iota
	trying             // a probe is under way
	proven             // Auto uses the device
	tooSlow            // Auto does not use it any more
)

// trial is the state of one kind of work.
type trial struct {
	state atomic.Uint32 // trialState

	// Only the coordinator's goroutine uses these.
	window  int // most requests of Auto in a batch
	strikes int // late batches in a row
}

func (t *trial) inState(s trialState) bool { return trialState(t.state.Load()) == s }
func (t *trial) setState(s trialState)     { t.state.Store(uint32(s)) }

// mostRequests returns the most requests of Auto in a batch.
func (t *trial) mostRequests() int {
	if t.window == 0 || !t.inState(proven) {
		return maxWindow
	}
	return t.window
}

// maxWindow stands for no limit.
const maxWindow = 1 << 30

// probe is a trial under way. The results of its requests are discarded.
type probe struct {
	work     work
	requests [2]gpu.Request // the first compiles kernels, the second counts
	step     int
}

// newProbe copies a piece of a request's block.
func newProbe(q *gpu.Request, limits *gpu.Limits) *probe {
	p := &probe{work: workOf(q)}
	for i, size := range [...]int{warmSize, probeSize} {
		r := &p.requests[i]
		*r = gpu.Request{
			Op: q.Op, Decode: q.Decode, Block: q.Block, Size: q.Size,
			Params: q.Params, Limits: q.Limits, Layout: q.Layout,
		}
		switch {
		case q.Op != gpu.StageN: // a prefix of the content is a block too
			content := q.Src[q.Window:]
			r.Size = min(max(size, limits.MinSize), len(content))
			r.Src = slices.Clone(content[:r.Size])
		case q.Decode:
			r.Src, r.Streams = slices.Clone(q.Src), new(lzseq.Streams)
		default:
			r.Streams = new(lzseq.Streams)
			r.Streams.Copy(q.Streams)
		}
	}
	return p
}

// admits reports whether Auto gives a request to a device that accepts it, or not. It starts the
// device and the trial when their time has come.
func (c *Coordinator) admits(q *gpu.Request, accepts bool) bool {
	w := workOf(q)
	t := &c.trials[w]
	switch cpu := c.workerTime(w, q.Size); {
	case c.starter != nil && !accepts && c.missed.Load() < int64(startAfter):
		if c.missed.Add(int64(cpu)) >= int64(startAfter) {
			c.starter.Start()
		}
	case !accepts:
	case t.inState(proven):
		return true
	case cpu > 0 && t.state.CompareAndSwap(uint32(untried), uint32(trying)):
		c.addProbe(newProbe(q, &c.info.Ops[q.Op]))
	}
	return false
}

// addProbe queues a probe for the device.
func (c *Coordinator) addProbe(p *probe) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.probes = append(c.probes, p)
	c.serve()
}

// nextProbe returns a batch of the next step of a probe, nil if there is none. Only one probe is on
// the device at a time, so that its own time counts.
func (c *Coordinator) nextProbe() *batch {
	if slices.ContainsFunc(c.active, func(x *batch) bool { return x.probe != nil }) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.probes) == 0 || c.lost.Load() != nil {
		c.probes = nil
		return nil
	}
	p := c.probes[0]
	c.probes = c.probes[1:]
	x := c.newBatch(p.work.op())
	r := &p.requests[p.step]
	x.probe, x.kind = p, p.work
	x.work = append(x.work, r)
	x.size, x.start = r.Size, time.Now()
	x.setTurns()
	return x
}

// judge looks at the time that the device took for a batch. The clock of a batch that waited for
// another one in the device starts at the end of that one.
func (c *Coordinator) judge(x *batch, lastEnd time.Time) {
	start := x.start
	if lastEnd.After(start) {
		start = lastEnd
	}
	took, cpu := time.Since(start), c.workerTime(x.kind, x.size)
	switch {
	case c.info.NoTrial || x.err != nil || c.lost.Load() != nil:
	case x.probe != nil:
		c.judgeProbe(x.probe, took, cpu)
	case x.autos > 0 && !x.mixed:
		c.judgeBatch(x, took, cpu)
	}
}

func (c *Coordinator) judgeProbe(p *probe, took, cpu time.Duration) {
	r, t := &p.requests[p.step], &c.trials[p.work]
	r.FreeCandidates()
	switch {
	case r.Err != nil:
		t.setState(tooSlow)
	case p.step == 0:
		p.step++
		c.addProbe(p)
	case took > 2*cpu+latency:
		t.setState(tooSlow)
	default:
		t.window, t.strikes = 1, 0
		t.setState(proven)
	}
}

// judgeBatch judges a batch of blocks. A batch that could have been larger gets the benefit of the
// doubt: its latency counts less in a larger one.
func (c *Coordinator) judgeBatch(x *batch, took, cpu time.Duration) {
	t, most := &c.trials[x.kind], max(1, c.info.Ops[x.op].Batch)
	full := x.autos >= t.window
	allowed := cpu
	if full && t.window < most {
		allowed += latency
	}
	if took <= allowed {
		t.strikes = 0
		if full {
			t.window = min(2*t.window, most)
		}
		return
	}
	t.strikes++
	if t.strikes >= maxStrikes {
		t.setState(tooSlow)
		c.decline(x.kind)
	}
}

// decline gives the requests of Auto for one kind of work back to the workers.
func (c *Coordinator) decline(w work) {
	c.mu.Lock()
	own := c.drainQueue(w.op(), func(r *Request) bool { return workOf(r.GPU) == w })
	c.mu.Unlock()
	for _, r := range own {
		c.sched.Complete(r, Declined)
	}
}

// TooSlow returns the kinds of work for which the device turned out to be slower than a worker.
func (c *Coordinator) TooSlow() (list []string) {
	for w := range work(numWork) {
		if c.trials[w].inState(tooSlow) {
			list = append(list, w.String())
		}
	}
	return list
}

func (w work) String() string {
	if w == decodeWork {
		return "decode"
	}
	return [...]string{"encode", "fused", "match"}[w]
}

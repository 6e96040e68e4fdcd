package pipeline

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/lz77"
)

// Backend says where a stage runs.
type Backend uint8

const (
	Auto  Backend = iota // on the device, if that pays and as long as it keeps up
	CPU                  // never on the device
	GPU                  // on the device, however long the blocks have to wait; only those it cannot do, or fails at, are the CPU's
	Fused                // so, and a whole block in one request where device and level allow it; for both stages together
)

var backendNames = [...]string{"auto", "cpu", "gpu", "fused"}

func (b Backend) String() string {
	if int(b) < len(backendNames) {
		return backendNames[b]
	}
	return fmt.Sprintf("Backend(%d)", uint8(b))
}

// Strict reports whether it insists on a device.
func (b Backend) Strict() bool { return b == GPU || b == Fused }

// Assignment says where the stages of a run's blocks run: Match stands for stage 0 of compression, match and parse, Entropy for entropy
// coding and decoding. Everything else is always the CPU's. Fused for one of them alone means GPU.
type Assignment struct {
	Match, Entropy Backend
}

// Strict reports whether it insists on a device.
func (a Assignment) Strict() bool { return a.Match.Strict() || a.Entropy.Strict() }

// backend is Auto, CPU or GPU: the assignment for what a device does as op.
func (a Assignment) backend(op gpu.Op) Backend {
	b := a.Match
	switch op {
	case gpu.StageN:
		b = a.Entropy
	case gpu.Fused: // only for those who have chosen it, or leave everything open
		if b == GPU || a.Entropy != b {
			return CPU
		}
	}
	if b == Fused {
		return GPU
	}
	return b
}

// Errors of Check.
var (
	ErrNoDevice = errors.New("no device to run on")
	errCannot   = errors.New("the device does not do this")
)

// Check reports whether a run could have what its assignment insists on, with blocks of that size. Fused insists on what GPU does, which is both stages: whether
// the device can do them in one request makes no difference.
func (s *Scheduler) Check(cfg Config, size int) error {
	r := &Run{cfg: cfg, stages: cfg.Pipeline.encode}
	if cfg.Op == Decompress {
		r.stages = cfg.Pipeline.decode
	}
	for i := range r.stages {
		way := r.stages[i].remote
		if way == nil || cfg.Assign.backend(way.op) != GPU {
			continue
		}
		c := s.device.Load()
		if c == nil {
			return ErrNoDevice
		}
		b := &Block{run: r, payload: new(payload)}
		q := &gpu.Request{Op: way.op, Size: size}
		way.ask(b, q)
		if way.fits != nil && !way.fits(b) {
			return fmt.Errorf("%w: %s at level %d", errCannot, r.stages[i].name, cfg.Level)
		}
		if !r.verifiable() {
			return fmt.Errorf("%w: without checks nobody would see that it decodes wrong", errCannot)
		}
		if limits := c.info.Ops[way.op]; limits.Batch <= 0 || size < limits.MinSize || size > limits.MaxSize || !finds(&limits, q) || !c.accepts(q) {
			return fmt.Errorf("%w: %s of blocks of %d bytes on %s", errCannot, r.stages[i].name, size, c.info.Name)
		}
	}
	return nil
}

// maxAway bounds the blocks in flight for a device's sake, and with them the memory.
const maxAway = 64

// InFlight is how many blocks of that size a run should have in flight, 0 being any size: two for each worker, so that one is ready when another is done, and besides
// as many as a device works on and as wait for it, if it may get any.
func (s *Scheduler) InFlight(cfg Config, size int) int {
	n := 2 * s.workers
	c := s.device.Load()
	if c == nil {
		return n
	}
	r := &Run{cfg: cfg, stages: cfg.Pipeline.encode}
	if cfg.Op == Decompress {
		r.stages = cfg.Pipeline.decode
	}
	b, batch := &Block{run: r, payload: new(payload)}, 0
	consider := func(way *remote) {
		if way == nil {
			return
		}
		limits, raw := &c.info.Ops[way.op], size
		if raw == 0 {
			raw = limits.MaxSize
		}
		if q := (gpu.Request{Op: way.op, Size: raw}); b.suits(way, limits, raw) {
			if way.ask(b, &q); finds(limits, &q) {
				batch = max(batch, limits.Batch)
			}
		}
	}
	consider(r.fused(0))
	for i := range r.stages {
		consider(r.stages[i].remote)
	}
	if batch > 0 {
		n += min(batch*c.info.Concurrent+cap(c.reqs[0]), maxAway) + s.workers
	}
	return n
}

// suits reports whether a device with these limits may be asked to do the block that way, with so many bytes of content.
func (b *Block) suits(way *remote, limits *gpu.Limits, raw int) bool {
	backend := b.run.backend(way.op)
	return backend != CPU && (way.fits == nil || way.fits(b)) && limits.Batch > 0 && raw >= limits.MinSize && raw <= limits.MaxSize &&
		(backend != Auto || raw >= pays(limits, b.run.cfg.Op, way.op))
}

// finds reports whether a device with these limits does what a request says of finding matches, if anything.
func finds(limits *gpu.Limits, q *gpu.Request) bool {
	return !limits.Recent || q.Params == nil || q.Params.Finder == lz77.RowHash
}

// backend is where the run has a device's kind of work done.
func (r *Run) backend(op gpu.Op) Backend { return r.cfg.Assign.backend(op) }

// hand offers the block's next stage to the device. If it reports true, the block is gone.
func (w *worker) hand(b *Block) bool {
	c := b.run.device
	if c == nil || b.use == useNone || !b.run.verifiable() {
		return false
	}
	t := b.run.offerBegins()
	way := b.way(c, w.ws)
	if way == nil {
		return false
	}
	return c.offer(b, way.op, b.run.cfg.Assign.backend(way.op) == GPU, t)
}

// way chooses how the device is to do the block's next stage, and prepares the request. It is nil if the CPU is to do it.
func (b *Block) way(c *coordinator, ws *workspace) *remote {
	r := b.run
	for _, way := range [...]*remote{r.fused(b.stage), r.stages[b.stage].remote} {
		if way == nil || b.plain {
			continue
		}
		limits := &c.info.Ops[way.op]
		if r.backend(way.op) == Auto && b.use == useStrict || !b.suits(way, limits, b.Raw) {
			continue
		}
		if b.payload == nil {
			b.payload, ws.payload = ws.own(), nil
		}
		if b.request == nil {
			b.request = new(gpu.Request)
		}
		*b.request = gpu.Request{Op: way.op, Block: b.Index, Size: b.Raw, Src: b.Src, Window: b.Window}
		way.ask(b, b.request)
		if finds(limits, b.request) && c.accepts(b.request) {
			b.away = way
			return way
		}
	}
	return nil
}

// pays is the least block, in bytes, that Auto has a device do in a run of that kind.
func pays(l *gpu.Limits, op Op, what gpu.Op) int {
	switch {
	case op == Compress:
		return l.Pays
	case what == gpu.StageN:
		return l.PaysDecode
	}
	return math.MaxInt
}

// verifiable reports whether results of a device can be told from wrong ones. What it decodes is compared with the checks.
func (r *Run) verifiable() bool { return r.cfg.Op == Compress || r.cfg.Checks }

// accepts is Device.Accepts; a device that panics there is lost. One that is lost is not asked: offer says no.
func (c *coordinator) accepts(q *gpu.Request) (ok bool) {
	if c.lost.Load() != nil {
		return true
	}
	defer func() {
		if v := recover(); v != nil {
			c.lose(&PanicError{Stage: "device " + c.info.Name, Value: v, Stack: debug.Stack()})
			ok = false
		}
	}()
	return c.dev.Accepts(q)
}

// fused is how a device does all that is left at a stage.
func (r *Run) fused(stage int) *remote {
	if stage == 0 && r.cfg.Op == Compress {
		return r.cfg.Pipeline.fused
	}
	return nil
}

// crowded reports whether a new block of the run is better off with the CPU where the assignment is Auto.
func (r *Run) crowded() bool {
	return r.device != nil && r.device.crowded()
}

// abandon leaves to the device whatever it may still touch: the block goes on without. Src, which it only reads, goes with Put.
func (b *Block) abandon() {
	b.request, b.dst, b.srcRetired = nil, nil, true
	old := b.payload
	b.payload = new(payload)
	if b.away.op == gpu.StageN && b.run.cfg.Op == Compress { // it reads the streams, and so will the CPU
		b.payload.streams.Copy(&old.streams)
	}
}

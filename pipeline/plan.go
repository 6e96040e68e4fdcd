package pipeline

import "github.com/gopz/compress/gpu"

// Plan says how many blocks a run should have in flight, and what memory they take.
type Plan struct {
	// InFlight is the most blocks that the run gains from.
	InFlight int

	cfg     Config
	workers int
	// candidates says that the device may find matches. The results of a block take 4 bytes for
	// each byte of content until a worker accepts them.
	candidates bool
	// payloads says that the device may do a stage in the middle of a block, which then holds the
	// data between its stages. Without that only blocks with a worker hold some.
	payloads bool
	// verify says that workers decode what the device has coded.
	verify bool
}

// Plan returns the plan of a run. Blocks in flight are two for each worker, so that one is ready
// when another is done. A device adds those that it works on, and one for each worker that waits
// for it.
func (s *Scheduler) Plan(cfg Config) Plan {
	p := Plan{InFlight: 2 * s.workers, cfg: cfg, workers: s.workers}
	c := s.deviceFor(cfg.Assign)
	if c == nil || c.Err() != nil {
		return p
	}
	r := &Run{cfg: cfg, stages: cfg.Pipeline.stages(cfg.Op)}
	b, away := &Block{run: r, work: work{payload: new(payload)}}, 0
	consider := func(op *deviceOp) {
		if op == nil {
			return
		}
		raw := cfg.BlockSize
		if raw == 0 {
			raw = c.Limits(op.op).MaxSize
		}
		q := gpu.Request{Op: op.op, Size: raw + cfg.Reach}
		if !b.suits(op, c, raw) {
			return
		}
		op.prepare(b, &q)
		if c.Finds(&q) {
			away = max(away, c.Away(op.op, raw, r.demand(op.op)))
			p.candidates = p.candidates || op.op == gpu.Stage0
			p.payloads = p.payloads || op.op == gpu.StageN
			p.verify = p.verify || op.op != gpu.Stage0 && cfg.Op == Compress
		}
	}
	consider(r.fused(0))
	for i := range r.stages {
		consider(r.stages[i].device)
	}
	p.InFlight += away
	return p
}

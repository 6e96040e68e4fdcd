package pipeline

import "github.com/gopz/compress/gpu"

// Plan says how many blocks a run should have in flight, and what they hold while a device has them.
// Memory is planned by it.
type Plan struct {
	InFlight int
	// Candidates says that the device may find matches. The results of a block take 4 bytes for each
	// byte of content until a worker accepts them.
	Candidates bool
	// Payloads says that the device may do a stage in the middle of a block, which then holds the
	// data between its stages. Without that only blocks with a worker hold some.
	Payloads bool
	// Verify says that workers decode what the device has coded.
	Verify bool
}

// Plan returns the plan of a run with blocks of size bytes; size 0 is any. Blocks in flight are two
// for each worker, so that one is ready when another is done. A device adds those that it works on,
// and one for each worker that waits for it.
func (s *Scheduler) Plan(cfg Config, size int) Plan {
	p := Plan{InFlight: 2 * s.workers}
	c := s.deviceFor(cfg.Assign)
	if c == nil || c.Err() != nil {
		return p
	}
	r := &Run{cfg: cfg, stages: cfg.Pipeline.stages(cfg.Op)}
	b, away := &Block{run: r, payload: new(payload)}, 0
	consider := func(op *deviceOp) {
		if op == nil {
			return
		}
		raw := size
		if raw == 0 {
			raw = c.Limits(op.op).MaxSize
		}
		q := gpu.Request{Op: op.op, Size: raw}
		if !b.suits(op, c, raw) {
			return
		}
		op.prepare(b, &q)
		if c.Finds(&q) {
			away = max(away, c.Away(op.op, raw, r.demand(op.op)))
			p.Candidates = p.Candidates || op.op == gpu.Stage0
			p.Payloads = p.Payloads || op.op == gpu.StageN
			p.Verify = p.Verify || op.op != gpu.Stage0 && cfg.Op == Compress
		}
	}
	consider(r.fused(0))
	for i := range r.stages {
		consider(r.stages[i].device)
	}
	p.InFlight += away
	return p
}

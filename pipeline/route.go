package pipeline

import (
	"errors"
	"fmt"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/pipeline/internal/offload"
)

// Assignment says where the stages of a run's blocks run. Match is for stage 0 of compression,
// match and parse; Entropy is for entropy coding and decoding. All else runs on the CPU. Fused for
// one of them alone means GPU.
type Assignment struct {
	Match, Entropy gpu.Backend
}

// Strict reports whether a insists on a device.
func (a Assignment) Strict() bool { return a.Match.Strict() || a.Entropy.Strict() }

// onCPU reports whether a leaves all stages to the CPU.
func (a Assignment) onCPU() bool { return a.Match == gpu.BackendCPU && a.Entropy == gpu.BackendCPU }

// demand returns how much a run with this assignment wants a device to do an operation.
func (a Assignment) demand(op gpu.Op) offload.Demand {
	b := a.Match
	switch op {
	case gpu.StageN:
		b = a.Entropy
	case gpu.Fused: // only if both are Fused, or both Auto
		if b == gpu.BackendGPU || a.Entropy != b {
			return offload.Never
		}
	}
	switch b {
	case gpu.BackendCPU:
		return offload.Never
	case gpu.BackendAuto:
		return offload.IfPays
	}
	return offload.Always
}

// demand returns how much the run wants a device to do an operation.
func (r *Run) demand(op gpu.Op) offload.Demand { return r.cfg.Assign.demand(op) }

var errCannot = errors.New("the device does not do this")

// Check returns an error if a run cannot have what its assignment insists on, with blocks of
// Config.BlockSize. Fused insists on both stages like GPU; whether the device does them in one
// request makes no difference.
func (s *Scheduler) Check(cfg Config) error {
	if !cfg.Assign.Strict() {
		return nil
	}
	r, size := &Run{cfg: cfg, stages: cfg.Pipeline.stages(cfg.Op)}, cfg.BlockSize
	for i := range r.stages {
		op, name := r.stages[i].device, r.stages[i].name
		if op == nil || r.demand(op.op) != offload.Always {
			continue
		}
		c := s.device.Load()
		if c == nil {
			return errNoDevice
		}
		b := &Block{run: r, work: work{payload: new(payload)}}
		q := &gpu.Request{Op: op.op, Size: size + cfg.Reach}
		op.prepare(b, q)
		if op.can != nil && !op.can(b) {
			return fmt.Errorf("%w: %s at level %d", errCannot, name, cfg.Level)
		}
		if !r.verifiable() {
			return fmt.Errorf("%w: nothing verifies what it decodes without checks", errCannot)
		}
		if !c.Wants(op.op, cfg.Op == Decompress, size, offload.Always) || !c.Accepts(q, offload.Always) {
			return fmt.Errorf("%w: %s of blocks of %d bytes on %s", errCannot, name, size, c.Name())
		}
	}
	return nil
}

// suits reports whether the device may be asked for op, on so many bytes of content.
func (b *Block) suits(op *deviceOp, c *offload.Coordinator, raw int) bool {
	return b.History == nil && (op.can == nil || op.can(b)) &&
		c.Wants(op.op, b.run.cfg.Op == Decompress, raw, b.run.demand(op.op))
}

// offerBlock offers the block's next stage to the device. If it returns true, the device has the
// block.
func (w *worker) offerBlock(b *Block) bool {
	c := b.run.device
	if c == nil || b.use == useNone || !b.run.verifiable() {
		return false
	}
	r := &b.request
	var start time.Time
	r.Counters = nil
	if b.run.core.counters != nil {
		r.Counters, start = &b.run.core.counters.offers, time.Now()
	}
	op := b.prepareRequest(c, w.ws)
	if op == nil {
		return false
	}
	if b.CallerOwned { // nothing may read it after the run was closed, and a device may hang
		b.copied = append(b.copied[:0], b.src...)
		r.GPU.Src = b.copied
	}
	b.op = op
	run := b.run // after a successful offer the block belongs to the coordinator
	r.Block, r.Strict = b, run.demand(op.op) == offload.Always
	if !c.Offer(r, start) {
		return false
	}
	run.grown.Store(true)
	return true
}

// prepareRequest chooses how the device does the block's next stage and fills in the request. It
// returns nil if the CPU is to do the stage.
func (b *Block) prepareRequest(c *offload.Coordinator, ws *workspace) *deviceOp {
	r := b.run
	for _, op := range [...]*deviceOp{r.fused(b.stage), r.stages[b.stage].device} {
		if op == nil || b.noMatches || !b.suits(op, c, b.raw) {
			continue
		}
		if b.use == useStrict && r.demand(op.op) != offload.Always {
			continue
		}
		if op.op == gpu.StageN { // its streams are in the payload
			ws.equipBlock(b)
		}
		if b.request.GPU == nil {
			b.request.GPU = new(gpu.Request)
		}
		q := b.request.GPU
		*q = gpu.Request{Op: op.op, Block: b.Index, Size: b.raw, Src: b.src, Window: b.Window}
		op.prepare(b, q)
		if c.Accepts(q, r.demand(op.op)) {
			return op
		}
	}
	return nil
}

// verifiable reports whether wrong results of a device can be told from right ones. The checks of
// the run verify what a device decodes.
func (r *Run) verifiable() bool { return r.cfg.Op == Compress || r.cfg.Checks }

// fused returns how a device does all stages from the given one on, nil if it does not.
func (r *Run) fused(stage int) *deviceOp {
	if stage == r.coding.from && r.cfg.Op == Compress {
		return r.cfg.Pipeline.fused
	}
	return nil
}

// crowded reports whether a new block of the run should stay away from the device where that is
// Auto.
func (r *Run) crowded() bool { return r.device != nil && r.device.Crowded() }

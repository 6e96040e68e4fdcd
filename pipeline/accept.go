package pipeline

import (
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/lzseq"
	"github.com/gopz/compress/pipeline/internal/offload"
)

// acceptResults verifies what the device made of a block and takes it over.
func (w *worker) acceptResults(b *Block) {
	r := b.run
	err := b.request.GPU.Err
	if err == nil {
		w.ws.equipBlock(b)
		t := r.beginTimer(w, b, verifyStep)
		err = b.op.accept(w.ws, b, b.request.GPU)
		t.endTimer()
		if err != nil {
			r.device.Distrust(b.deviceStage(), b.Index)
		}
	}
	if err != nil {
		b.use = useNone
		r.countReturned(err)
		return
	}
	r.countDevice(b)
	b.hasResults = true
	if b.op.op == gpu.Fused {
		b.stage = len(r.stages)
	} else {
		b.stage++
	}
}

// recheckBlock does a failed block again on the CPU, without the results of the device. If that
// succeeds, the device was wrong, and is lost. If not, the input is damaged.
func (w *worker) recheckBlock(b *Block) outcome {
	b.use, b.hasResults, b.stage, b.Err = useNone, false, b.run.coding.from, nil
	out := w.runStages(b, false)
	if b.Err == nil {
		b.run.device.Distrust(b.deviceStage(), b.Index)
		b.run.countReturned(offload.ErrWrong)
	}
	return out
}

// deviceStage returns the name of the stage that the device does, or did last.
func (b *Block) deviceStage() string {
	if b.op.op == gpu.Fused {
		return "fused"
	}
	for i := range b.run.stages {
		if b.run.stages[i].device == b.op {
			return b.run.stages[i].name
		}
	}
	return b.op.op.String()
}

// learnStage tells the coordinator how long the CPU has taken for a stage that the device can do.
func (r *Run) learnStage(b *Block, took time.Duration) {
	if op := r.stages[b.stage].device; r.device != nil && op != nil {
		r.device.Learn(op.op, r.cfg.Op == Decompress, b.raw, took)
	}
}

// DecodePayload implements offload.Decoder.
func (ws *workspace) DecodePayload(
	s *lzseq.Streams, payload []byte, size int,
) (l *lzseq.Layout, filtered bool, err error) {
	l, ranges, err := ws.decodePayload(payload, size, s)
	return l, ranges != nil, err
}

// acceptSequences takes over the result of Stage0. If the device has only found candidates, the
// worker parses them.
func acceptSequences(ws *workspace, b *Block, r *gpu.Request) error {
	limits, parsed := b.form().Limits, true
	if r.Candidates != nil {
		m, seqs := &ws.matcher, b.payload.seqs[:0]
		r.Seqs, parsed = m.ParseCandidates(seqs, b.src, b.Window, r.Params, limits, r.Candidates)
		r.FreeCandidates()
	}
	b.payload.seqs, b.payload.ranges = r.Seqs, nil
	if !parsed {
		return offload.ErrWrong
	}
	return ws.verifier.Sequences(r.Seqs, b.src, b.Window, limits)
}

// acceptStreams takes over a payload that decodes to the streams that it was made from.
func acceptStreams(ws *workspace, b *Block, r *gpu.Request) error {
	b.dst = r.Dst
	return ws.verifier.Streams(ws, r, b.raw, &b.payload.streams)
}

// acceptContent takes over a payload that decodes to the content.
func acceptContent(ws *workspace, b *Block, r *gpu.Request) error {
	b.dst = r.Dst
	return ws.verifier.Content(ws, r, b.content())
}

// acceptDecoded takes over decoded streams.
func acceptDecoded(ws *workspace, b *Block, r *gpu.Request) error {
	b.payload.layout, b.payload.ranges = r.Layout, nil
	return ws.verifier.Decoded(r, b.src, b.raw, &b.payload.streams)
}

package pipeline

import (
	"fmt"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/lz77"
)

// Host does a device's request on the CPU, with the code of the stages. It is what a software device is made of, and is
// safe for concurrent use.
func Host(r *gpu.Request) error {
	ws := spare.Get().(*workspace)
	if err := ws.host(r); err != nil {
		spare.Put(ws)
		return err
	}
	spare.Put(ws) // not after a panic
	return nil
}

func (ws *workspace) host(r *gpu.Request) (err error) {
	switch {
	case r.Op == gpu.Stage0 && r.Params.CandidatesFit(len(r.Src)):
		r.Candidates = gpu.NewCandidates(max(0, len(r.Src)-lz77.CandidateTail))
		ws.matcher.FindCandidates(r.Candidates, r.Src, r.Params, r.Limits)
	case r.Op == gpu.Stage0:
		r.Candidates = nil
		r.Seqs = ws.matcher.ParseFrom(r.Seqs[:0], r.Src, r.Window, r.Params, r.Limits)
	case r.Op == gpu.StageN && r.Decode:
		var ranges []byte
		if r.Layout, ranges, err = ws.takeApart(r.Src, r.Size, r.Streams); err == nil && ranges != nil {
			err = fmt.Errorf("pipeline: %v of filtered content", r.Op) // nothing in a request says so
		}
	case r.Op == gpu.StageN:
		r.Dst = ws.code(r.Dst[:0], r.Layout, r.Streams)
	case r.Op == gpu.Fused:
		p := ws.own()
		p.seqs = ws.matcher.Parse(p.seqs[:0], r.Src, r.Params, r.Limits)
		p.streams.Encode(r.Layout, r.Src, p.seqs)
		r.Dst = ws.code(r.Dst[:0], r.Layout, &p.streams)
	default:
		err = fmt.Errorf("pipeline: %v is not known", r.Op)
	}
	return err
}

package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
	"github.com/gopz/compress/rans"
)

// What a device has made counts only after a worker has found it right: a wrong payload would be a file that nobody can read. Whatever a
// device gets wrong the CPU does again, and the device is not asked any more.

// errWrong is for results that are not what was asked for.
var errWrong = errors.New("wrong result")

// trip is what a block's way through the device was like.
type trip struct {
	batch int       // blocks in the batch
	given time.Time // to the device
	took  time.Duration
}

// takeOver takes over what the device has made of a block.
func (w *worker) takeOver(b *Block) {
	r, done := b.run, b.trip
	err := b.request.Err
	if err == nil {
		t := r.begin(w, b, verifyStage)
		err = b.away.take(w.ws, b, b.request)
		t.end()
		if err != nil {
			r.device.distrust(b.stageName(), b.Index)
		}
	}
	if err != nil {
		b.use = useNone
		r.returned(err)
		return
	}
	r.deviceDid(b, done)
	b.hasResults = true
	if b.away.op == gpu.Fused {
		b.stage = len(r.stages)
	} else {
		b.stage++
	}
}

// acquit does a block again that failed after the device had it, on the CPU alone. If it fails once more, it is the input that is wrong.
func (w *worker) acquit(b *Block) outcome {
	b.use, b.hasResults, b.stage, b.Err = useNone, false, 0, nil
	out := w.carryOn(b, false)
	if b.Err == nil {
		b.run.device.distrust(b.stageName(), b.Index)
		b.run.returned(errWrong)
	}
	return out
}

// distrust gives up a device that is wrong.
func (c *coordinator) distrust(stage string, block int64) {
	c.lose(fmt.Errorf("device %s: %w: %s of block %d", c.info.Name, errWrong, stage, block))
}

// stageName is the name of what the device does, or has done last, with the block.
func (b *Block) stageName() string {
	if b.away.op == gpu.Fused {
		return "fused"
	}
	for i := range b.run.stages {
		if b.run.stages[i].remote == b.away {
			return b.run.stages[i].name
		}
	}
	return b.away.op.String()
}

// takeStreams takes a payload over if it decodes to the streams it was made from.
func takeStreams(ws *workspace, b *Block, r *gpu.Request) error {
	b.dst = r.Dst
	l, ranges, err := ws.takeApart(r.Dst, b.Raw, &ws.verify.streams)
	if err != nil || l != r.Layout || ranges != nil {
		return errWrong
	}
	want := b.payload.streams.All()
	for i, s := range ws.verify.streams.All() {
		if !bytes.Equal(*s, *want[i]) {
			return errWrong
		}
	}
	return nil
}

// takeContent takes a payload over if it decodes to the content.
func takeContent(ws *workspace, b *Block, r *gpu.Request) error {
	b.dst = r.Dst
	v := &ws.verify
	l, ranges, err := ws.takeApart(r.Dst, b.Raw, &v.streams)
	if err != nil || l != r.Layout || ranges != nil {
		return errWrong
	}
	v.content = resize(v.content, b.Raw+lz77.Slack)[:b.Raw]
	if v.streams.Decode(l, v.content) != nil || !bytes.Equal(v.content, b.content()) {
		return errWrong
	}
	return nil
}

// takeDecoded takes streams over that were decoded. Only their bounds are compared here: whether they are right is seen from
// the content, which is why a device decodes for runs with checks only.
func takeDecoded(_ *workspace, b *Block, r *gpu.Request) error {
	if b.payload.layout, b.payload.ranges = r.Layout, nil; r.Layout == nil || len(b.Src) == 0 || r.Layout != lzseq.LayoutByID(b.Src[0]) {
		return errWrong
	}
	limits := r.Layout.MaxSizes(b.Raw)
	for i, s := range b.payload.streams.All() {
		if len(*s) > limits[i] || cap(*s) < len(*s)+rans.Slack {
			return errWrong
		}
	}
	return nil
}

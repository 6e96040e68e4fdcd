package pipeline

import (
	"github.com/cespare/xxhash/v2"

	"github.com/gopz/compress/internal/codec/deflate"
	"github.com/gopz/compress/internal/codec/rans"
	"github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/match"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
	"github.com/gopz/compress/pipeline/internal/offload"
)

// workspace is the scratch memory of one worker. It grows to what the blocks need and is then
// reused.
type workspace struct {
	merged  []lz77.Sequence // memory of mergeRepeats
	payload *payload        // for the next block; nil while the device has it with a block
	matcher match.Matcher
	// prefixed is the content of dictionary, if that is not nil, and that of a block.
	prefixed   []byte
	dictionary *Dictionary
	rans       struct {
		enc rans.Encoder
		dec rans.Decoder
	}
	dense    dense
	deflate  deflate.Encoder
	zstd     zstd.Encoder
	frames   frames
	seen     fingerprints
	tuner    tuner
	verifier offload.Verifier
	digest   xxhash.Digest
	check    func() // see worker.checkpoint; nil for none
}

// setCheckpoint sets the function that stages call between pieces of their work, on the worker's
// goroutine. The time between two calls stays below about 5 ms, whatever the level, the block size
// and the content are. f may block. It may panic to abandon the block: the workspace can then be
// used for another block. Nil stands for none.
func (ws *workspace) setCheckpoint(f func()) {
	ws.check = f
	ws.matcher.Checkpoint = f
	ws.rans.enc.Checkpoint, ws.rans.dec.Checkpoint = f, f
	ws.dense.enc.Checkpoint, ws.dense.dec.Checkpoint = f, f
	ws.dense.choice.Checkpoint = f
	ws.deflate.Checkpoint, ws.zstd.Checkpoint, ws.frames.checkpoint = f, f, f
	ws.verifier.Checkpoint = f
}

// streams returns the streams of p for use with the checkpoint of ws.
func (ws *workspace) streams(p *payload) *lzseq.Streams {
	p.streams.Checkpoint = ws.check
	return &p.streams
}

// forDevice returns the streams of p for a device, which must not call a worker's checkpoint.
func forDevice(p *payload) *lzseq.Streams {
	p.streams.Checkpoint = nil
	return &p.streams
}

// checkpoint calls the function that setCheckpoint has set.
func (ws *workspace) checkpoint() {
	if ws.check != nil {
		ws.check()
	}
}

// payload is what one stage leaves for the next. When compressing these are sequences, then
// streams. When decompressing they are streams.
type payload struct {
	seqs    []lz77.Sequence
	layout  *lzseq.Layout
	streams lzseq.Streams
	ranges  []byte // of filtered content, as x86.Encode takes them; nil if there are none
	encoded bool   // streams and output of the block are final: parse trials have made them
}

// equipBlock gives b the workspace's payload, unless it has one.
func (ws *workspace) equipBlock(b *Block) {
	if b.payload == nil {
		b.payload, ws.payload = ws.takePayload(), nil
	}
}

// takePayload returns the workspace's payload for another block.
func (ws *workspace) takePayload() *payload {
	if ws.payload == nil {
		ws.payload = new(payload)
	}
	ws.payload.encoded = false
	return ws.payload
}

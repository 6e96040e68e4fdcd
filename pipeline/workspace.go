package pipeline

import (
	"github.com/gopz/compress/deflate"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
	"github.com/gopz/compress/rans"
	"github.com/gopz/compress/zstd"
)

// workspace is all the scratch memory of one worker. It grows to what the blocks need and is then reused.
type workspace struct {
	payload *payload // for the next block; nil after one has been handed over with its block
	matcher lz77.Matcher
	rans    struct {
		enc rans.Encoder
		dec rans.Decoder
	}
	dense   dense
	deflate deflate.Encoder
	zstd    zstd.Encoder
	frames  frames
	seen    fingerprints
	tuner   tuner
	verify  struct { // of what a device has made
		streams lzseq.Streams
		content []byte
	}
}

// payload is what one stage leaves for the next: sequences, then streams, when compressing; streams when decompressing.
type payload struct {
	seqs    []lz77.Sequence
	layout  *lzseq.Layout
	streams lzseq.Streams
	ranges  []byte // of content that is filtered, which is what all this is about: see x86.Encode; nil for none
	coded   bool   // the streams and the block's output are there already, made to compare sizes
}

// own returns the workspace's payload, for another block.
func (ws *workspace) own() *payload {
	if ws.payload == nil {
		ws.payload = new(payload)
	}
	ws.payload.coded = false
	return ws.payload
}

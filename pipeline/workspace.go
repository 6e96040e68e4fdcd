package pipeline

import (
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
	"github.com/gopz/compress/rans"
)

// workspace is all the scratch memory of one worker. It grows to what the blocks need and is then reused.
type workspace struct {
	payload payload
	matcher lz77.Matcher
	rans    struct {
		enc rans.Encoder
		dec rans.Decoder
	}
	seen fingerprints
}

// payload is what one stage leaves for the next: sequences from stage 0 of compression, streams from stage 0 of decompression.
type payload struct {
	seqs    []lz77.Sequence
	layout  *lzseq.Layout
	streams lzseq.Streams
}

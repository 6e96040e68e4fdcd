package pipeline

import (
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/lzseq"
)

// Pipeline is one way to compress: a row of the table below. To add one, add a row and its stages.
type Pipeline struct {
	Name string
	ID   uint8  // in the .pz header; never reused
	Doc  string // one line for people

	encode []stage
	decode []stage
	fused  *remote // all stages of encode in one request; nil if no device does that
}

// stage is one step of a block's way. It reads Block.Src or the payload that the stage before left, and leaves a payload
// or, as the last one, the block's result.
type stage struct {
	name   string
	run    func(ws *workspace, b *Block) error
	remote *remote // how a device does it; nil if only the CPU does
}

// remote is a stage, or several, in the hands of a device.
type remote struct {
	op gpu.Op
	// ask fills in a request. It does not change the block.
	ask func(b *Block, r *gpu.Request)
	// take takes the results over. It believes nothing: an error sends the block back to the CPU.
	take func(b *Block, r *gpu.Request) error
}

var table = [...]Pipeline{
	{Name: "lzr", ID: 1, Doc: "LZ77 with plain tokens, rANS: the fast tier",
		encode: []stage{matchStage(lzseq.Plain), streamStage(lzseq.Plain), codeStage(lzseq.Plain)},
		decode: []stage{decodeStage, copyStage},
		fused:  fusedStages(lzseq.Plain)},
	{Name: "lzseqr", ID: 2, Doc: "LZ77 with repeat offsets, rANS: best of ratio and decoding speed",
		encode: []stage{matchStage(lzseq.Repeat), streamStage(lzseq.Repeat), codeStage(lzseq.Repeat)},
		decode: []stage{decodeStage, copyStage},
		fused:  fusedStages(lzseq.Repeat)},
}

// Pipelines returns the table. The caller must not change it.
func Pipelines() []Pipeline { return table[:] }

// ByName returns the pipeline of that name, nil if there is none.
func ByName(name string) *Pipeline {
	for i := range table {
		if table[i].Name == name {
			return &table[i]
		}
	}
	return nil
}

// ByID returns the pipeline with that number, nil if there is none.
func ByID(id uint8) *Pipeline {
	for i := range table {
		if table[i].ID == id {
			return &table[i]
		}
	}
	return nil
}

package pipeline

import (
	"math"

	"github.com/gopz/compress/deflate"
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
	"github.com/gopz/compress/zstd"
)

// Pipeline is one way to compress: a row of the table below. To add one, add a row and its stages.
type Pipeline struct {
	Name string
	ID   uint8  // in the .pz header, never reused; 0 for other formats
	Doc  string // one line for people

	// Format is the container that the payloads of blocks are made for.
	Format Format
	// Window is how many bytes in front of a block its matches may reach back into; with 0 blocks are independent.
	Window int
	// MaxBlock is the largest block in bytes; 0 is for any.
	MaxBlock int

	// dense is the level from which on blocks have layout Dense; 0 is none.
	dense int
	// coarse is the level from which on a block may have it by choice.
	coarse int
	limits *lz77.Limits // of sequences
	levels *[MaxLevel + 1]lz77.Params
	// variants are what a block may have in place of its level's.
	variants *variants
	blocks   *[MaxLevel + 1]uint8 // log2 of the default block size
	encode   []stage
	decode   []stage // nil if blocks cannot be decoded one by one
	fused    *remote // all stages of encode in one request; nil if no device does that
	check    func(b *Block) uint32
}

// Format is a container format.
type Format uint8

const (
	PZ  Format = iota // .pz: blocks have a Kind
	GZ                // .gz: payloads are pieces of one Deflate stream, each ending on a byte boundary, none of them the last
	ZST               // .zst: payloads are all the blocks of a frame
)

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
	// fits says whether a device may be asked at all; nil is always.
	fits func(b *Block) bool
	// ask fills in a request. It does not change the block.
	ask func(b *Block, r *gpu.Request)
	// take takes the results over. It believes nothing: with an error the block is the CPU's, and the device is lost.
	take func(ws *workspace, b *Block, r *gpu.Request) error
}

var lz77Variants = variantsOf(&lz77.Levels, math.MaxInt)

var table = [...]Pipeline{
	{Name: "lzr", ID: 1, Doc: "LZ77 with plain tokens, rANS: restored fastest, but larger",
		encode: []stage{matchStage, streamStage(lzseq.Plain), codeStage(lzseq.Plain)},
		decode: []stage{decodeStage, copyStage},
		fused:  fusedStages(lzseq.Plain), levels: &lz77.Levels, variants: lz77Variants, limits: &lzseq.Plain.Limits, blocks: &pzBlocks, check: payloadSum},
	{Name: "lzseqr", ID: 2, Doc: "LZ77 with repeat offsets, rANS: smaller, and restored nearly as fast",
		encode: []stage{matchStage, streamStage(lzseq.Repeat), codeStage(lzseq.Repeat)},
		decode: []stage{decodeStage, copyStage},
		fused:  fusedStages(lzseq.Repeat), dense: 7, coarse: 5, levels: &lz77.Levels, variants: lz77Variants, limits: &lzseq.Repeat.Limits, blocks: &pzBlocks, check: payloadSum},
	{Name: "deflate", Doc: "gzip files, for every tool there is", Format: GZ, Window: deflate.MaxOffset,
		encode: []stage{matchStage, deflateStage},
		levels: &deflateLevels, variants: variantsOf(&deflateLevels, deflate.MaxOffset), limits: &deflateLimits, blocks: &deflateBlocks, check: gzipSum},
	{Name: "lzf", Doc: "seekable zstd files", Format: ZST, MaxBlock: zstdMaxBlock,
		encode: []stage{matchStage, zstdStage},
		decode: []stage{frameStage},
		levels: &zstdLevels, variants: variantsOf(&zstdLevels, math.MaxInt), limits: &zstd.Limits, blocks: &zstdBlocks, check: zstdSum},
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
		if table[i].ID == id && id != 0 {
			return &table[i]
		}
	}
	return nil
}

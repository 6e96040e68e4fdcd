package pipeline

import (
	"slices"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/lzprice"
	"github.com/gopz/compress/internal/match"
	"github.com/gopz/compress/internal/optimal"
	"github.com/gopz/compress/lzseq"
)

// Pipeline is one way to compress: a row of the table below. To add one, add a row and its stages.
type Pipeline struct {
	Name string
	ID   uint8  // in the .pz header, never reused; 0 for other formats
	Doc  string // one line for people

	// Format is the container that the payloads of blocks are made for.
	Format Format
	// MaxBlock is the largest block in bytes; 0 means any.
	MaxBlock int
	// DefaultLevel is the level of runs that ask for none.
	DefaultLevel int

	// dense is the lowest level whose blocks have layout Dense; 0 means none.
	dense int
	// choosesDense is the lowest level at which tuning may give a block layout Dense.
	choosesDense   int
	form           *optimal.Form // of sequences
	levels         *[MaxLevel + 1]match.Params
	variants       func() *variants           // settings that tuning may choose in place of the level's
	blocks         *[MaxLevel + 1]uint8       // log2 of the default block size
	short          *optimal.IncrementalParams // for short blocks with a History; nil if blocks have none
	encode         []stage
	decode         []stage
	withReferences referenceStages // of .pz only
	fused          *deviceOp       // all stages of encode in one request; nil if no device does that
	check          func(ws *workspace, b *Block) uint32
}

// stages returns the stages of a direction.
func (p *Pipeline) stages(op Op) []stage {
	if op == Decompress {
		return p.decode
	}
	return p.encode
}

// StageNames returns the names of the stages for op, in order, as Event.Stage has them.
func (p *Pipeline) StageNames(op Op) (names []string) {
	for _, s := range p.stages(op) {
		names = append(names, s.name)
	}
	return names
}

// Format is a file format: compress.PZ, compress.Gzip or compress.Zstd. Its String method returns
// the file name extension. The payload of a block is
//
//   - in .pz coded as the block's Kind says;
//   - in .gz a part of a Deflate stream that ends on a byte boundary, and is final if Block.Last
//     says so; to decompress, whatever Block.Serial takes;
//   - in .zst all blocks of one frame, or of a part of one with Config.Reach; to decompress, the
//     whole frame, or whatever Block.Serial takes.
type Format = container.Format

// Default levels, of .gz and of other formats.
const (
	defaultLevel     = 4
	defaultGzipLevel = 6
)

// stage is one step of a block. It reads Block.Src or the payload that the stage before left. It
// leaves a payload or, as the last stage, the block's result.
type stage struct {
	name    string
	run     func(ws *workspace, b *Block) error
	device  *deviceOp // how a device does it; nil if only the CPU does
	ordered bool      // serial blocks of a run pass through it one after the other
}

// deviceOp is how a device does a stage, or several.
type deviceOp struct {
	op gpu.Op
	// can reports whether a device may be asked for this block; nil means always.
	can func(b *Block) bool
	// prepare fills in a request. It does not change the block.
	prepare func(b *Block, r *gpu.Request)
	// accept verifies the results and stores them in the block. After an error the CPU does the
	// stage again, and the device is lost.
	accept func(ws *workspace, b *Block, r *gpu.Request) error
}

// plainLevels is match.Levels with one exception: in the small window of lzr a hash of 5 bytes
// finds more than one of 6.
var plainLevels = func() [MaxLevel + 1]match.Params {
	l := match.Levels
	l[6].HashBytes, l[7].HashBytes = 5, 5
	return l
}()

var table = [...]Pipeline{
	{
		Name: "lzr", ID: 1, Doc: "LZ77 with plain tokens, rANS: restored fastest, but larger",
		DefaultLevel: defaultLevel, form: &lzprice.Plain,
		levels: &plainLevels, variants: variantsOf(&plainLevels), blocks: &pzBlocks,
		encode: []stage{matchStage, streamStage(lzseq.Plain), codeStage(lzseq.Plain)},
		decode: []stage{decodeStage, copyStage},
		fused:  fusedStages(lzseq.Plain),
		check:  payloadSum,
	},
	{
		Name: "lzseqr", ID: 2,
		Doc:          "LZ77 with repeat offsets, rANS: smaller, and restored nearly as fast",
		DefaultLevel: defaultLevel, dense: 6, choosesDense: 5,
		form:   &lzprice.Repeat,
		levels: &match.Levels, variants: variantsOf(&match.Levels), blocks: &pzBlocks,
		encode: []stage{matchStage, streamStage(lzseq.Repeat), codeStage(lzseq.Repeat)},
		decode: []stage{decodeStage, copyStage},
		fused:  fusedStages(lzseq.Repeat),
		check:  payloadSum,
	},
	{
		Name: "deflate", Doc: "gzip files, which every tool reads",
		Format: container.Gzip, DefaultLevel: defaultGzipLevel,
		form: &deflateForm, levels: &deflateLevels, blocks: &deflateBlocks,
		variants: variantsOf(&deflateLevels),
		short:    &deflateShort,
		encode:   []stage{matchStage, deflateStage},
		decode:   serialStages("speculate", "inflate", "resolve"),
		check:    gzipSum,
	},
	{
		Name: "lzf", Doc: "zstd files, which every zstd reads",
		Format: container.Zstd, MaxBlock: zstdMaxBlock,
		DefaultLevel: defaultLevel, form: &zstdForm, levels: &zstdLevels, blocks: &zstdBlocks,
		variants: variantsOf(&zstdLevels),
		short:    &zstdShort,
		encode:   []stage{matchStage, zstdStage},
		decode:   frameStages,
		check:    zstdSum,
	},
}

func init() {
	for i := range table {
		switch p := &table[i]; p.Format {
		case container.PZ:
			p.withReferences = newReferenceStages(p)
		case container.Zstd:
			p.withReferences.encode = slices.Concat([]stage{sampleStage, repeatStage}, p.encode)
		}
	}
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

// Default returns the default pipeline of a format, nil if there is no such format.
func Default(f Format) *Pipeline {
	switch f {
	case container.PZ:
		return ByName("lzseqr")
	case container.Gzip:
		return ByName("deflate")
	case container.Zstd:
		return ByName("lzf")
	}
	return nil
}

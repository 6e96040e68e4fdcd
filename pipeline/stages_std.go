package pipeline

import (
	"github.com/gopz/compress/internal/codec/deflate"
	"github.com/gopz/compress/internal/codec/zstd"
	"github.com/gopz/compress/internal/match"
	"github.com/gopz/compress/internal/optimal"
	"github.com/gopz/compress/lz77"
)

// Stages of the pipelines that write standard formats. The container adds headers and checks.

// deflateForm is that of the format. Only HashChain and BinaryTree find matches of 3 bytes, which
// cost more than literals at most distances.
var deflateForm = optimal.Form{
	Limits: lz77.Limits{MinMatch: deflate.MinMatch, MinOffset: 1, MaxOffset: deflate.MaxOffset},
	Model:  deflate.Model,
}

// deflateLevels suits a window of 32 KiB: no table of the finders has many more entries than the
// window has positions, since a block has to fill them anew. Level 3 is lazy: files are 1.9% larger
// without. From level 4 on hash chains, which fit the window, take less time than rows. Each level
// from 4 to 7 takes 1.3 to 1.5 times as long as the one before. Level 6 is the default: no file of
// those measured is larger than with gzip -6. Level 7 is smaller than libdeflate -9 in less time.
// Level 8 parses once. docs/notes/match-finding.md has the tables.
var deflateLevels = [MaxLevel + 1]match.Params{
	1: {Params: lz77.Params{Finder: lz77.SingleHash, HashLog: 13, HashBytes: 6, SkipLog: 5}},
	2: {Params: lz77.Params{
		Finder: lz77.DoubleHash, HashLog: 13, LongHashLog: 14, HashBytes: 5, SkipLog: 8,
	}},
	3: {Params: lz77.Params{
		Finder: lz77.DoubleHash, HashLog: 14, LongHashLog: 15, HashBytes: 5, SkipLog: 9, Nice: 24, Lazy: 1,
	}},
	4: {Params: lz77.Params{Finder: lz77.HashChain, HashLog: 16, Depth: 6, Nice: 64, Lazy: 1}},
	5: {Params: lz77.Params{Finder: lz77.HashChain, HashLog: 16, Depth: 24, Nice: 128, Lazy: 1}},
	6: {Params: lz77.Params{Finder: lz77.HashChain, HashLog: 16, Depth: 64, Nice: 128, Lazy: 2}},
	7: {Params: lz77.Params{Finder: lz77.HashChain, HashLog: 16, Depth: 300, Nice: 258, Lazy: 2}},
	8: {Priced: optimal.Params{Finder: optimal.BinaryTree, HashLog: 16, Depth: 32, Nice: 96, Passes: 0}},
	9: {Priced: optimal.Params{Finder: optimal.BinaryTree, HashLog: 16, Depth: 128, Nice: 258, Passes: 1}},
}

// deflateStage encodes a block as a part of a Deflate stream.
var deflateStage = stage{name: "deflate", run: func(ws *workspace, b *Block) error {
	content := b.content()
	if b.isShort() {
		b.dst = ws.deflate.AppendShort(b.dst[:0], content, b.payload.seqs, b.Last)
	} else {
		b.dst = ws.deflate.Append(b.dst[:0], content, b.payload.seqs, b.Last)
	}
	return nil
}}

// deflateShort are the settings of short blocks, without Depth.
var deflateShort = optimal.IncrementalParams{
	HashLog: 15, ChainLog: 15, Nice: 64, Prices: deflate.IncrementalPrices(),
}

// zstdMaxBlock is the window that every decoder of zstd should support (RFC 8878, section
// 3.1.1.1.2), and so the largest content of a frame: its window is its content.
const zstdMaxBlock = 8 << 20

// zstdForm is that of the format.
var zstdForm = optimal.Form{Limits: zstd.Limits, Model: zstd.Model}

// zstdLevels is match.Levels with exceptions. Sizes are those of the mixed file, without the
// exception.
//
//   - 1: with HashLog 15 it is 2.3% larger at 1.05 times the speed. With SkipLog 6 as well it is
//     2.0% larger at 1.03. On other kinds both are larger than level 1 of klauspost/compress.
//   - 3: with a hash of 6 bytes, in a table of twice the size, it is 0.4% larger at the same speed,
//     and larger than zstd -3.
//   - 4: with HashLog 17 it is 0.3% larger at the same speed, and larger than zstd -5.
//   - 6 and 7: with a hash of 6 bytes they are 0.3% smaller on average of all kinds, and 2 to 4%
//     larger on programs. Literals without contexts cannot make up for that.
//   - 8 also finds matches of 3 bytes.
var zstdLevels = func() [MaxLevel + 1]match.Params {
	l := match.Levels
	l[1].HashLog = 16
	l[3].HashLog, l[3].HashBytes = 15, 5
	l[4].HashLog = 18
	l[6].HashBytes, l[7].HashBytes = 5, 5
	l[8].Priced.MinMatch = 0
	return l
}()

// thorough reports whether the block gets codes that take more time: Huffman codes of .zst, and
// context-coded streams of .pz.
func (b *Block) thorough() bool { return b.run.cfg.Level >= thoroughFrom }

// thoroughFrom is the level from which finding sequences takes longer than thorough codes.
const thoroughFrom = 7

// zstdStage encodes a block as the blocks of a frame, or of a part of one.
var zstdStage = stage{name: "zstd", run: func(ws *workspace, b *Block) error {
	if len(b.repeats) > 0 {
		b.payload.seqs = ws.mergeRepeats(b.payload.seqs, b.repeats)
	}
	last := (b.Last || b.run.cfg.Reach == 0) && !b.Flushed
	if b.History != nil {
		b.dst = b.History.appendBlock(b.dst[:0], b, last, ws.check)
		return nil
	}
	ws.zstd.Thorough, ws.zstd.Dictionary = b.thorough(), b.run.cfg.Dictionary.zstd()
	ws.zstd.BeginPart(b.Window == 0)
	b.dst = ws.zstd.AppendPart(b.dst[:0], b.content(), b.payload.seqs, last)
	return nil
}}

// zstdShort are the settings of short blocks, without Depth. A window of 512 KiB takes too much of
// the memory of a Writer.
var zstdShort = optimal.IncrementalParams{
	HashLog: 16, ChainLog: 18, Nice: 64, Repeats: true,
}

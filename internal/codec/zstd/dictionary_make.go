package zstd

import (
	"encoding/binary"
	"math/bits"

	"github.com/gopz/compress/fse"
	"github.com/gopz/compress/internal/codec/huffman"
	"github.com/gopz/compress/lz77"
)

// Statistics counts the symbols of the blocks that a dictionary is for. The zero value is empty.
type Statistics struct {
	sum    stats
	blocks [kinds]uint32 // those with sequences
}

// Count adds a short first block of a frame with content src. The sequences are as for Append.
func (e *Encoder) Count(s *Statistics, src []byte, seqs []lz77.Sequence) {
	e.BeginFrame()
	e.in = newInput(src, seqs)
	e.body.truncate()
	e.nextUnit = stats{}
	for len(e.in.src) > 0 {
		e.takeUnit(MaxBlock)
	}
	s.sum.addStats(&e.nextUnit)
	if len(seqs) > 0 {
		for k := range s.blocks {
			s.blocks[k]++
		}
	}
	e.in = input{}
}

// AppendDictionary appends a formatted dictionary to dst: tables that suit the blocks of s, and
// content, which must have at least 8 bytes.
func AppendDictionary(dst []byte, id uint32, content []byte, s *Statistics) []byte {
	if len(content) < int(initialRepeats[2]) {
		panic("zstd: the content of a dictionary is too short")
	}
	dst = binary.LittleEndian.AppendUint32(dst, DictionaryMagic)
	dst = binary.LittleEndian.AppendUint32(dst, id)
	dst = appendCode(dst, &s.sum.lits)
	for _, k := range dictionaryKinds {
		top := codeCounts[k] - 1
		if k == offsets {
			top = bits.Len(uint(len(content)+MaxBlock)) - 1
		}
		dst = appendTable(dst, kindOf[k], s.sum.codes[k], top, s.blocks[k])
	}
	for _, r := range initialRepeats {
		dst = binary.LittleEndian.AppendUint32(dst, r)
	}
	return append(dst, content...)
}

// rareShare is how often a symbol that occurs in no sample is taken to occur, as log2 of a part of
// a symbol that occurs once.
const rareShare = 3

// appendCode appends the description of a Huffman code that all bytes have.
func appendCode(dst []byte, counts *[256]uint32) []byte {
	var b huffman.Builder
	var t huffman.Table
	var sum [256]uint32
	for i, n := range counts {
		sum[i] = n<<rareShare + 1
	}
	for {
		if tree, _, ok := b.AppendBest(dst, &t, &sum, false); ok {
			return tree
		}
		sum[' '] = 2*sum[' '] + 1 // a code with lengths that are all the same has no description
	}
}

// appendTable appends the table of a kind that all codes up to top have, at least.
func appendTable(dst []byte, k *kind, counts [codeSpace]uint32, top int, blocks uint32) []byte {
	seqs := uint32(0)
	var sum [codeSpace]uint32
	for i, n := range counts {
		seqs += n
		if n > 0 {
			top = max(top, i)
		}
	}
	for i := range sum[:top+1] {
		sum[i] = counts[i]<<rareShare + 1
	}
	var best, d fse.Distribution
	least := uint64(0)
	for log := bits.Len(uint(top)); log <= k.maxLog; log++ {
		d.Normalize(sum[:], log, true)
		if cost, ok := sharedCost(&d, &counts, seqs, blocks); best.Len == 0 || ok && cost < least {
			best, least = d, cost
		}
	}
	return best.Append(dst)
}

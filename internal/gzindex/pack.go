package gzindex

import (
	"bytes"
	"encoding/binary"
	"hash/adler32"

	"github.com/gopz/compress/internal/codec/deflate"
	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/simd"
)

// PackerMemory is the memory of a Packer in bytes: that of the encoder, sequences, the hash table,
// and a compressed window.
const PackerMemory = 400 << 10

// A Packer makes windows. The zero value is ready to use, by one goroutine at a time.
type Packer struct {
	encoder deflate.Encoder
	seqs    []lz77.Sequence
	table   [1 << hashBits]uint16 // the last position of four bytes, by their hash
	buf     []byte
}

// zlibHead is the header of a zlib stream (RFC 1950): Deflate with a window of 32 KiB.
const zlibHead = "\x78\x01"

// Pack compresses content, of which the last WindowSize bytes count.
func (p *Packer) Pack(content []byte) Window {
	if len(content) == 0 {
		return Window{}
	}
	content = content[max(0, len(content)-WindowSize):]
	p.match(content)
	p.buf = append(p.buf[:0], zlibHead...)
	p.buf = p.encoder.Append(p.buf, content, p.seqs, true)
	p.buf = binary.BigEndian.AppendUint32(p.buf, adler32.Checksum(content))
	return Window{bytes.Clone(p.buf)}
}

const (
	// hashBits is the logarithm of the size of the hash table. Twice as many entries make windows
	// 1% smaller and take more time to clear.
	hashBits = 12
	// multiplier spreads four bytes over the bits of a hash.
	multiplier = 0x9e3779b1
	// leastMatch is the length of the shortest match, in bytes.
	leastMatch = 4
	// patience is after how many bytes without a match the search skips a byte more at a time.
	patience = 64
)

// match finds matches in content: rows of zeros, and what the hash table has. The bytes that
// nothing refers to are zero in most windows, and most of the content.
func (p *Packer) match(content []byte) {
	clear(p.table[:])
	p.seqs = p.seqs[:0]
	done := 0 // end of the last match
	for at := 1; at+leastMatch <= len(content); {
		bytes := binary.LittleEndian.Uint32(content[at:])
		from := at - 1
		if bytes != 0 || content[from] != 0 {
			entry := &p.table[bytes*multiplier>>(32-hashBits)]
			from = int(*entry)
			*entry = uint16(at)
			if binary.LittleEndian.Uint32(content[from:]) != bytes {
				at += 1 + (at-done)/patience
				continue
			}
		}
		n := leastMatch + simd.MatchLen(content[at+leastMatch:], content[from+leastMatch:])
		p.seqs = append(p.seqs, lz77.Sequence{
			LitLen: uint32(at - done), MatchLen: uint32(n), Offset: uint32(at - from),
		})
		at += n
		done = at
	}
}

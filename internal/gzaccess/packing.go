package gzaccess

import (
	"encoding/binary"
	"io"

	"github.com/gopz/compress/internal/codec/inflate"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/gzindex"
)

// A Packing is a checkpoint whose window is to be packed. It is a pipeline.Serial without content.
type Packing struct {
	point  gzindex.Checkpoint
	size   int64  // bytes of content since the Packing before
	sum    uint32 // of that
	window []byte // content before the checkpoint
	input  []byte // of the file, from the byte that has the first bit of the checkpoint

	used     [1 << 16]byte // 0xff for symbols in use
	symbols  []uint16
	inflater inflate.Decoder
	packer   gzindex.Packer
}

const (
	// packingInput is how much of the file is read from a checkpoint on, in bytes, to find out
	// which bytes of the window are in use.
	packingInput = windowSize + 4<<10

	// packShare is the part of the memory limit that Packings may take, if more than one fits.
	packShare = 16

	// packingMemory is the memory of a Packing in bytes.
	packingMemory = windowSize + packingInput + symbolsMemory + tablesMemory + gzindex.PackerMemory
	symbolsMemory = 1<<16 + 2*(2*windowSize+slack)
	tablesMemory  = 64 << 10

	// scanMemory is the least memory of a Scanner in bytes.
	scanMemory = 832 << 10
	// makerMemory is the least memory limit in bytes that Make works with.
	makerMemory = (scanMemory + packingMemory) * pointsShare / (pointsShare - 1)
)

// PackWidth returns how many Packings n workers need, within limits. Packing takes about a quarter
// of the time of decoding. Some windows wait until a worker is free.
func PackWidth(limits *container.Limits, n int) int {
	most := limits.Memory() / (packShare * packingMemory)
	return int(max(1, min(most, int64(n)/2+3)))
}

// Prepare implements pipeline.Serial. It packs the window.
func (p *Packing) Prepare([]byte, func()) { p.pack() }

// Decode implements pipeline.Serial.
func (p *Packing) Decode([]byte, func()) {}

// Finish implements pipeline.Serial.
func (p *Packing) Finish([]byte, func()) {}

// Content implements pipeline.Serial.
func (p *Packing) Content() []byte { return nil }

// Offset returns where the checkpoint is in the file, in bytes.
func (p *Packing) Offset() int64 { return p.point.Bit >> 3 }

// pack packs the window. Bytes that no block refers to become zero. Blocks can refer to the window
// from the first 32 KiB of content only. If packingInput bytes have less content, the window is
// packed as it is.
func (p *Packing) pack() {
	p.point.Window = gzindex.Window{}
	if len(p.window) == 0 {
		return
	}
	if p.symbols == nil {
		p.symbols = make([]uint16, 2*windowSize+slack)
		inflate.UnknownWindow(p.symbols)
	}
	in := p.input
	if skip := uint(p.point.Bit & 7); skip > 0 {
		p.inflater.ResetAt(in[0], skip)
		in = in[1:]
	} else {
		p.inflater.Reset()
	}
	n, _, err := p.inflater.DecodeSymbols(p.symbols, windowSize, in)
	if n < windowSize && err != io.EOF {
		p.point.Window = p.packer.Pack(p.window)
		return
	}
	clear(p.used[:])
	for _, s := range p.symbols[windowSize : windowSize+min(n, windowSize)] {
		p.used[s] = 0xff
	}
	mask(p.window, p.used[unknown+windowSize-len(p.window):])
	p.point.Window = p.packer.Pack(p.window)
}

// mask makes the bytes of p zero that are zero in used.
func mask(p, used []byte) {
	for len(p) >= 8 && len(used) >= 8 {
		bits := binary.LittleEndian.Uint64(p) & binary.LittleEndian.Uint64(used)
		binary.LittleEndian.PutUint64(p, bits)
		p, used = p[8:], used[8:]
	}
	for i := range p {
		p[i] &= used[i]
	}
}

// unknown is the first symbol that is a byte of the window; see inflate.DecodeSymbols.
const unknown = 256

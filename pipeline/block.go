package pipeline

import (
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/pipeline/internal/offload"
)

// Kind says how a block's content is stored. Package container documents the kinds.
type Kind = container.Kind

const (
	Stored = container.Stored
	Fill   = container.Fill
	Coded  = container.Coded
)

// Block is one unit of work: bytes in, bytes out. A Run makes blocks and recycles them with their
// buffers. From Submit until Next returns it, a block belongs to the scheduler and must not be
// touched.
type Block struct {
	// Src is the input: content when compressing, payload when decompressing. The scheduler never
	// changes it.
	Src []byte
	// CallerOwned says that Src is memory of the caller's that nothing may read after Run.Close. A
	// device gets a copy.
	CallerOwned bool
	// Window is the number of bytes at the front of Src that come before the content of the block.
	// For compression by pipelines that have a window.
	Window int
	// Continuation is for blocks before and behind a flush, and for the last one.
	Continuation
	// Raw is the size of the content in bytes. It is a result when compressing. When decompressing
	// the caller sets it, and the result has exactly this size.
	Raw int
	// Kind is the form of the payload: result when compressing, input when decompressing.
	Kind Kind
	// Sum is the check that the pipeline's format has, 0 if the run has no checks. For .pz it is
	// the CRC32C of the payload, continued for Coded blocks over the content. Result when
	// compressing, input when decompressing.
	Sum uint32
	// Index counts the blocks submitted to the run, from 0 or the number given to Run.Number.
	Index int64
	// Into is memory of the caller's for the content, of at least Raw bytes, or nil. For
	// decompression only. It belongs to the scheduler as the block does. Bytes after the first Raw
	// are not touched. Out returns it if it was used.
	Into []byte
	// Err is why the block failed, nil if it did not.
	Err error
	// Decoded is how many bytes of content Out begins with although the block failed. No checksum
	// confirms them. Only frames of zstd have any.
	Decoded int
	// Serial makes the block a serial one if it has a Decoder: workers decode such blocks of a run
	// one after the other, in the order of Submit. For decompression only. Decoding sets Raw.
	Serial container.Serial
	// Tag is for the caller.
	Tag int64

	run   *Run
	done  chan struct{} // receives once the block is in stateDone; holds one
	state blockState

	dst     []byte // output, unless it is Src or Into
	inInto  bool   // the output is in Into
	stage   int    // index of the stage that is next
	payload *payload
	counted int // bytes in Config.Position
	serialTurn
	choice

	references
	withDevice
}

// serialTurn is the turn of a serial block.
type serialTurn struct {
	turn   int64 // how many blocks came before it
	passed bool  // the turn is over
}

// withDevice is what a block keeps of its requests to the device.
type withDevice struct {
	use     deviceUse
	op      *deviceOp // what the device does, or did last
	request offload.Request
	copied  []byte // what the device reads of a block that is CallerOwned
	// hasResults says that results of the device are in the block.
	hasResults bool
	// srcRetired says that a device that was given up may still read Src.
	srcRetired bool
}

// Out returns the result: payload when compressing, content when decompressing. It is valid until
// the block returns to its Run with Put. For a stored block without Into it is Src itself.
func (b *Block) Out() []byte {
	if b.inInto {
		return b.Into[:b.Raw]
	}
	switch {
	case b.Serial.Decoder != nil:
		return b.Serial.Content()
	case b.own != nil:
		return b.own.P
	case b.Kind == Stored:
		return b.Src
	}
	return b.dst
}

// SrcRetired reports whether a device that was given up may still read Src. That memory must not be
// written to again.
func (b *Block) SrcRetired() bool { return b.srcRetired }

// content returns Src without the window.
func (b *Block) content() []byte { return b.Src[b.Window:] }

// Grow returns b.Src with length n, reusing its memory if that suffices. The contents are
// undefined.
func (b *Block) Grow(n int) []byte {
	b.Src = resize(b.Src, n)
	return b.Src
}

func resize(p []byte, n int) []byte {
	if cap(p) < n {
		return make([]byte, n)
	}
	return p[:n]
}

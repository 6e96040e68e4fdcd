package pipeline

import (
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/pipeline/internal/offload"
)

// Block is one unit of work: bytes in, bytes out. A Run makes blocks and recycles them with their
// buffers. From Submit until Next returns it, a block belongs to the scheduler and must not be
// touched.
//
// Src to Into are the input of a block, Index to Decoded its results. Raw, Kind and Sum are results
// of compression and input of decompression: keep them with the payload.
type Block struct {
	// Src is the content when compressing, the payload when decompressing. The scheduler never
	// changes it.
	Src []byte
	// CallerOwned says that Src is memory of the caller's that nothing may read after Run.Close. A
	// device gets a copy.
	CallerOwned bool
	// Window is the number of bytes at the front of Src that come before the content of the block.
	// For compression, by runs with Config.Reach and of blocks with a History.
	Window int
	// History is not nil in blocks of .gz and .zst files that end with a flush, and in those that
	// continue a frame. All blocks of a file have the same one.
	History *History
	// Flushed says that a flush ends the block. A frame of .zst goes on behind it.
	Flushed bool
	// Last says that no content follows. A .gz block then ends the Deflate stream, and a .zst block
	// its frame.
	Last bool
	// Offset is the offset of the content in the file's, in bytes. Blocks with a History need it.
	Offset int64
	// Raw is the size of the content in bytes. When decompressing, the result has exactly this
	// size.
	Raw int
	// Kind is the form of the payload, by the numbers of the .pz format: 1 is the content itself, 2
	// is one byte that the content repeats, 3 is coded as the pipeline says. Payloads of .gz and
	// .zst are coded.
	Kind uint8
	// Sum is the check that the pipeline's format has, 0 if the run has no checks. For .pz it is
	// the CRC32C of the payload, continued for coded blocks over the content.
	Sum uint32
	// Into is memory of the caller's for the content, of at least Raw bytes, or nil. For
	// decompression only. It belongs to the scheduler as the block does. Bytes after the first Raw
	// are not touched. Out returns it if it was used.
	Into []byte
	// Serial decodes the block, if it is not nil, in the order of Submit: see there. For
	// decompression by the pipelines of .gz and .zst. Decoding sets Raw.
	Serial Serial
	// Tag is for the caller.
	Tag int64

	// Index counts the blocks submitted to the run, from 0 or the number given to Run.Number.
	Index int64
	// Err is why the block failed, nil if it did not.
	Err error
	// Decoded is how many bytes of content Out begins with although the block failed. No checksum
	// confirms them. Only frames of zstd have any.
	Decoded int

	run   *Run
	done  chan struct{} // receives once the block is in stateDone; holds one
	state blockState

	work
	serialTurn
	choice
	references
	withDevice
}

// work is a block as its stages see it.
type work struct {
	src  []byte         // input of the stages: Src, or what references leave of it
	raw  int            // bytes of content that the stages make of it, or made it of
	kind container.Kind // form of the payload that src is, or becomes

	stage    int  // index of the stage that is next
	prepared bool // the step in front of the stages that code has run
	payload  *payload
	dst      []byte // memory for the result
	out      []byte // the result; also in Src, Into, or own content
	counted  int    // bytes in Config.Position
}

// beginWork begins the work on a block of a run for op. It keeps the memory for the result.
func (b *Block) beginWork(op Op) {
	if op == Compress {
		b.Raw = len(b.Src) - b.Window
	}
	b.work = work{src: b.Src, raw: b.Raw, kind: container.Kind(b.Kind), dst: b.dst}
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
	// srcRetired says that a device that was given up may still read the input of the stages.
	srcRetired bool
}

// Out returns the result: payload when compressing, content when decompressing. It is valid until
// the block returns to its Run with Put. For a stored block without Into it is Src itself.
func (b *Block) Out() []byte { return b.out }

// SrcRetired reports whether a device that was given up may still read Src. That memory must not be
// written to again.
func (b *Block) SrcRetired() bool { return b.srcRetired }

// content returns Src without the window, or what references leave of it.
func (b *Block) content() []byte { return b.src[b.Window:] }

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

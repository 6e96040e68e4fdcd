package pipeline

import "github.com/gopz/compress/gpu"

// Kind says how a block's payload stands for its content. The numbers are those of the .pz format.
type Kind uint8

const (
	Stored Kind = 1 // the content itself
	Fill   Kind = 2 // one byte that the content repeats
	Coded  Kind = 3 // what the pipeline's stages made of it
)

// Block is one unit of work: bytes in, bytes out. A Run makes and recycles blocks with their buffers.
// Between Submit and the return from Next a block belongs to the scheduler and must not be touched.
type Block struct {
	// Src is the input: content when compressing, payload when decompressing. The run never changes its bytes.
	Src []byte
	// Lent says that Src is the caller's own memory and must not be read any more when the run is closed: a device that is not lost is waited for.
	Lent bool
	// Window is how many bytes at the front of Src are not content of the block, but what comes before it. For pipelines that have
	// a window, when compressing.
	Window int
	// Raw is the size of the content in bytes. Set by the caller when decompressing; the result has exactly this size.
	Raw int
	// Kind is the form of the payload: result when compressing, input when decompressing.
	Kind Kind
	// Sum is the CRC32C of the payload, continued for Coded blocks over the content; 0 if the run has no checks.
	// Result when compressing, input when decompressing.
	Sum uint32
	// Index counts the blocks submitted to the run, from 0 or what Run.Number said.
	Index int64
	// Into is memory of the caller's for the content, of Raw bytes or more, or nil; decompressing only. It belongs to the scheduler as the block does. Out says
	// whether it was used. Nothing behind the Raw bytes is touched.
	Into []byte
	// Err is why the block failed, nil if it did not.
	Err error
	// Tag is the caller's own.
	Tag int64

	dst     []byte
	placed  bool     // the result is in Into
	stage   int      // next to run
	payload *payload // from the first stage to the last
	choice           // what is not as the level has it
	state   blockState
	use     deviceUse // what the device may still do

	away    *remote // how the device does it
	request *gpu.Request
	trip    trip // on the device, for statistics
	// hasResults says that results of the device are in the block.
	hasResults bool
	// srcRetired says that a device that was given up may still read Src.
	srcRetired bool

	run  *Run
	done chan struct{}
}

// Out is the result: payload when compressing, content when decompressing. It is valid until the block goes back with Put.
// For a stored block without Into it is Src itself.
func (b *Block) Out() []byte {
	if b.placed {
		return b.Into[:b.Raw]
	}
	if b.Kind == Stored {
		return b.Src
	}
	return b.dst
}

// Left reports whether a device that was given up may still read Src: its memory must not be filled again.
func (b *Block) Left() bool { return b.srcRetired }

// content is the block's own part of Src.
func (b *Block) content() []byte { return b.Src[b.Window:] }

// Grow returns b.Src with length n, reusing its memory if there is enough. Old contents are not kept.
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

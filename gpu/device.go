// Package gpu opens the devices that stages of blocks can run on, such as GPUs, and is the contract
// between such a device and the scheduler. It is a building block of package compress: a minor
// release may change it.
//
// [Open] opens a device, and compress.WithDevice gives it to a Writer or Reader, with a [Backend]
// for matching and one for entropy coding. [Adapters] lists the GPUs of the machine. A program
// links their drivers in by a blank import of gpu/webgpu or gpu/opengl and their build tags.
//
// A [Request] is the work of one block for a device, its inputs and its results. A [Device]
// computes exactly the values and bytes that the CPU stages compute. It knows nothing of order,
// files or queues. [Soft] is a device in plain Go.
package gpu

import (
	"time"

	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
)

// Op is a kind of request. The coordinator serves waiting requests in the order of the constants,
// so that requests that finish blocks come first. A request that several batches have passed over
// comes before that order.
type Op uint8

const (
	StageN Op = iota // entropy coding, or entropy decoding for decompression
	Fused            // all stages of a block in one submission
	Stage0           // find matches

	NumOps = 3
)

func (op Op) String() string {
	return [...]string{"StageN", "Fused", "Stage0"}[op]
}

// Request is the work of one block. The device reads Src in place: it is the memory of the block,
// or a copy if that memory belongs to the caller of the library. The device writes the fields
// marked result and reuses their memory if it suffices. All other fields are read-only. The device
// must not access a request after the call of Run has returned.
type Request struct {
	Op     Op
	Decode bool  // StageN: entropy decoding
	Block  int64 // number of the block in its run, for messages
	Size   int   // bytes of content of the block

	Src    []byte        // content of the block behind its window; if Decode is set, the payload
	Window int           // bytes at the front of Src that precede the block; matches may reach them
	Params *lz77.Params  // Stage0, Fused
	Limits lz77.Limits   // Stage0, Fused
	Layout *lzseq.Layout // result if Decode is set

	// Candidates is a result of Stage0: for each position of Src but the last 16 the best
	// candidate, as lz77.Matcher.FindCandidates defines them. The worker that accepts the result
	// parses them. The device takes the memory from NewCandidates.
	Candidates []uint32
	// Seqs is the result of Stage0 if Candidates is nil.
	Seqs    []lz77.Sequence
	Streams *lzseq.Streams // StageN; result if Decode is set
	Dst     []byte         // result of Fused, and of StageN unless Decode is set: the payload

	// Err is a result: the reason why the device could not run this request. The CPU then does the
	// work. A payload that does not decode is such an error, too; the CPU then finds out what is
	// wrong with it.
	Err error
}

// Limits describes what a device accepts of one Op.
type Limits struct {
	Batch int // most requests in one call of Run; 0 if the device does not support the Op
	// Bytes is the most content of one call of Run with several requests, in bytes. 0 means no
	// limit but Batch and MaxSize.
	Bytes int
	// MinSize and MaxSize bound the content of a block, in bytes.
	MinSize, MaxSize int
	// RowHashOnly restricts Stage0 and Fused to the finder lz77.RowHash.
	RowHashOnly bool
	// MinAuto is the least block in bytes that the backend Auto gives to the device. MinAutoDecode
	// is the same for entropy decoding.
	MinAuto, MinAutoDecode int
}

// Info describes a device.
type Info struct {
	Name       string // for people
	Ops        [NumOps]Limits
	Concurrent int // calls of Run that may be in flight at the same time, at least 1
	// Timeout bounds one call of Run by itself. The coordinator gives up a device that exceeds it,
	// and the CPU does its blocks. With several calls in flight the device may run them one after
	// the other, so the clock restarts when one returns, up to Concurrent times Timeout in all. For
	// a device that interleaves calls, Timeout covers Concurrent calls together. 0 stands for
	// DefaultTimeout.
	Timeout time.Duration
	// NoTrial lets backend Auto use the device without a trial of its pace. It is for devices whose
	// pace is known.
	NoTrial bool
}

// DefaultTimeout is the Timeout of a device that sets none. A working device takes far less for any
// batch.
const DefaultTimeout = 30 * time.Second

// Device runs batches of requests. Values of its type are comparable, as pointers are.
type Device interface {
	// Info describes the device. Only the name may change, when a device starts late.
	Info() Info
	// Accepts reports whether the device can run a request. It looks at all fields but contents and
	// results, and is fast.
	Accepts(r *Request) bool
	// Run runs a batch of requests of one Op. It sets the Err of each and returns when all are
	// done. An error of Run means that the device is lost: all results of the batch are void, and
	// the device is not used again. Up to Info().Concurrent calls may be in flight, from any
	// goroutines.
	Run(op Op, batch []*Request) error
	// Close makes calls of Run in flight return soon, and frees all resources. It returns within
	// 50 ms: what the hardware still uses by then is freed in the background. Close may be called
	// twice, from any goroutines. A program that ends need not call it.
	Close() error
}

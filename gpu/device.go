// Package gpu is the contract between the scheduler and a device: what a device is asked to do, what it is given, and what
// it owes. A device gives exactly the values and bytes that the CPU stages give; it knows nothing of order, files or
// queues. [Soft] is a device in plain Go.
package gpu

import (
	"time"

	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/lzseq"
)

// Op is what a device can be asked to do, in the order in which waiting requests are served: what finishes blocks comes
// first. Requests that have been passed over by a number of batches go before that.
type Op uint8

const (
	StageN Op = iota // a later stage: entropy coding, or, for decompression, entropy decoding
	Fused            // all stages of a block in one submission
	Stage0           // match and parse

	NumOps = 3
)

func (op Op) String() string {
	return [...]string{"StageN", "Fused", "Stage0"}[op]
}

// Request is one block's work. The device reads the block where it is: nothing is copied for it. What is marked as a
// result is the device's to write, with its memory reused if it suffices; all else it must not change, and, except in
// a call of Run that has not returned, must not read.
type Request struct {
	Op     Op
	Decode bool  // StageN: entropy decoding
	Block  int64 // number of the block in its run, for messages
	Size   int   // bytes of content of the block

	Src    []byte        // the block's content; its payload if Decode is set
	Window int           // bytes at the front of Src that are not the block's, but may be matched
	Params *lz77.Params  // Stage0, Fused
	Limits lz77.Limits   // Stage0, Fused
	Layout *lzseq.Layout // result if Decode is set

	// Candidates is a result of Stage0: for each position of Src but the last lz77.CandidateTail the best
	// candidate, as lz77.Matcher.ParseCandidates takes them. The worker that accepts the result parses
	// them. The device takes the memory from NewCandidates.
	Candidates []uint32
	// Seqs is the result of Stage0 if Candidates is nil.
	Seqs    []lz77.Sequence
	Streams *lzseq.Streams // StageN; result if Decode is set
	Dst     []byte         // result of Fused, and of StageN unless Decode is set: the payload

	// Err is a result: why the device could not do this request. The CPU does it then. Input that does not decode is
	// such an error as well: what is wrong with it is for the CPU to say.
	Err error
}

// Limits is what a device takes of one Op.
type Limits struct {
	Batch int // most requests in one call of Run; 0 if the device does not do this
	// Bytes is the most content of a call of Run with several requests, in bytes; 0: as much as Batch and MaxSize allow.
	Bytes int
	// MinSize and MaxSize are the least and the greatest block, in bytes of content.
	MinSize, MaxSize int
	// RowHashOnly says that of what finds matches the device does lz77.RowHash alone.
	RowHashOnly bool
	// MinAuto is the least block, in bytes, that is better off on the device than on a processor: Auto keeps smaller ones away. MinAutoDecode is the same for entropy decoding, which StageN
	// is as well.
	MinAuto, MinAutoDecode int
}

// Info describes a device.
type Info struct {
	Name       string // for people
	Ops        [NumOps]Limits
	Concurrent int // calls of Run that may be under way at the same time, at least 1
	// Timeout is how long one call of Run may take by itself. If others are under way the device may do them one after the other, in any order: the time counts from when one has ended, but
	// to no more than Concurrent times Timeout in all. A device that takes longer is given up, and its blocks go back to the CPU. Of one that does
	// some of each by turns, so that none ends before all have almost ended, it is what Concurrent calls take together. 0 stands for DefaultTimeout.
	Timeout time.Duration
}

// DefaultTimeout is far above what any batch takes that has not failed, and short enough to wait for.
const DefaultTimeout = 30 * time.Second

// Device runs batches of requests.
type Device interface {
	// Info says what the device is and takes. It does not change, but for the name of one that starts later.
	Info() Info
	// Accepts reports whether the device can do a request at all. It looks at everything but contents and results, and is fast.
	Accepts(r *Request) bool
	// Run does a batch of requests of one Op, each with its own Err, and returns when all are done. An error of Run means
	// that the device is lost: none of its results count, and it is not used again. Up to Info().Concurrent calls may be under way at the
	// same time, from any goroutines.
	Run(op Op, batch []*Request) error
	// Close frees what the device holds; it may be called twice. A call of Run that is still under way, with requests that nobody waits for any more, ends soon.
	Close() error
}

package compress

import (
	"fmt"

	"github.com/gopz/compress/pipeline"
)

// blockMemory is what the two buffers of a block in flight may take, content and payload. A payload may
// outgrow its content by a quarter before the block is stored instead.
func blockMemory(blockSize int) int64 { return 2*int64(blockSize) + 5*int64(blockSize)/16 + 4096 }

// plan is how much may be in flight, and the memory it takes.
type plan struct {
	inFlight int
	memory   int64 // bytes, at most
}

// newPlan fits the blocks in flight, want of them at best, into the limit, 0 being none.
func (o *options) newPlan(p *pipeline.Pipeline, op pipeline.Op, level, blockSize, want int, limit int64) (plan, error) {
	workers, device := o.workerCount(), o.device() != nil
	memory := func(n int) int64 {
		payloads := 0
		if device {
			payloads = n
		}
		return int64(n)*(blockMemory(blockSize)+int64(p.Window)) + p.Memory(op, level, o.tuning, blockSize, min(n, workers), payloads)
	}
	n := want
	for n > 1 && limit > 0 && memory(n) > limit {
		n--
	}
	m := memory(n)
	if limit > 0 && m > limit {
		return plan{}, &Error{Kind: ErrMemory, Block: -1, Offset: -1, Memory: m,
			Detail: fmt.Sprintf("blocks of %d bytes take %d bytes of memory, more than the limit of %d", blockSize, m, limit)}
	}
	return plan{n, m}, nil
}

// inFlight is how many blocks of a pipeline are in flight if memory allows it.
func (o *options) inFlight(p *pipeline.Pipeline, op pipeline.Op, blockSize int) int {
	return o.scheduler().InFlight(o.config(op, p, true, 0), blockSize)
}

func (o *options) writerPlan() (plan, error) {
	return o.newPlan(o.pipe, pipeline.Compress, o.level, o.blockSize, o.inFlight(o.pipe, pipeline.Compress, o.blockSize), o.maxMemory)
}

func (o *options) readerLimit() int64 {
	if o.maxMemory == 0 {
		return DefaultReaderMemory
	}
	return o.maxMemory
}

func (o *options) readerPlan(p *pipeline.Pipeline, blockSize int) (plan, error) {
	return o.newPlan(p, pipeline.Decompress, 0, blockSize, o.inFlight(p, pipeline.Decompress, blockSize), o.readerLimit())
}

// WriterMemory returns the memory in bytes that a Writer with these options takes at most: the buffers of all blocks in
// flight and the scratch of the workers. Not counted are what a device takes, what the Go runtime keeps as reserve, and the index, which
// takes up to 18 bytes for each block written to a .pz file, and 27 to a .zst file: that is 8 or 12 bytes, with room to grow, twice while it grows and while it is written.
func WriterMemory(opts ...Option) (int64, error) {
	o, err := newWriterOptions(opts)
	if err != nil {
		return 0, err
	}
	p, err := o.writerPlan()
	return p.memory, err
}

// ReaderMemory returns the memory in bytes that a Reader with these options takes at most for what the pipeline of [WithPipeline] writes with
// that block size, 0 being the level's own. What other programs have written in the same format may take more.
func ReaderMemory(blockSize int, opts ...Option) (int64, error) {
	o, err := newOptions(append(opts[:len(opts):len(opts)], WithBlockSize(blockSize)))
	if err != nil {
		return 0, err
	}
	var p plan
	switch o.pipe.Format {
	case pipeline.GZ:
		p, err = o.foreignPlan(gzNeed(o.pipe))
	case pipeline.ZST:
		p, err = o.foreignPlan(frameNeed(o.pipe, o.blockSize))
		if err != nil {
			// Frames are decoded in order then.
			p, err = o.foreignPlan(&need{pipe: o.pipe, size: pieceSize, extra: windowMemory(int64(o.blockSize)), serial: true})
		}
	default:
		p, err = o.readerPlan(o.pipe, o.blockSize)
	}
	return p.memory, err
}

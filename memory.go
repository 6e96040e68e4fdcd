package compress

import (
	"math"

	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/pipeline"
)

// blockMemory returns the bytes that the two buffers of a block in flight may take, content and
// payload. A payload may outgrow its content by a quarter before the block is stored instead.
func blockMemory(blockSize int) int64 { return 2*int64(blockSize) + 5*int64(blockSize)/16 + 4096 }

// A budget says how many blocks may be in flight, and the memory in bytes that they take at most.
type budget struct {
	inFlight int
	memory   int64
}

// fit returns a budget of at most want blocks whose memory stays within limit. If one block alone
// takes more, fit returns that block's budget and false.
func fit(want int, limit int64, memory func(n int) int64) (budget, bool) {
	n := want
	for n > 1 && memory(n) > limit {
		n--
	}
	m := memory(n)
	return budget{n, m}, m <= limit
}

// budget returns a budget of at most want blocks of a pipeline, within limit.
func (o *options) budget(
	p *pipeline.Pipeline, op pipeline.Op, level, blockSize, want int, limit int64,
) (budget, error) {
	workers, device := o.workerCount(), o.device() != nil
	b, ok := fit(want, limit, func(n int) int64 {
		payloads := 0
		if device {
			payloads = n
		}
		return int64(n)*(blockMemory(blockSize)+int64(p.Window)) +
			p.Memory(op, level, o.tuning, blockSize, min(n, workers), payloads)
	})
	if !ok {
		return budget{}, errs.OutOfMemory(b.memory,
			"blocks of %d bytes take %d bytes of memory, more than the limit of %d", blockSize, b.memory, limit)
	}
	return b, nil
}

// inFlight returns how many blocks of a pipeline are in flight if memory allows.
func (o *options) inFlight(p *pipeline.Pipeline, op pipeline.Op, blockSize int) int {
	return o.scheduler().InFlight(o.config(op, p, true, 0), blockSize)
}

// writerBudget returns the budget of a Writer.
func (o *options) writerBudget() (budget, error) {
	limit := o.limits.MaxMemory
	if limit == 0 {
		limit = math.MaxInt64
	}
	want := o.inFlight(o.pipe, pipeline.Compress, o.blockSize)
	return o.budget(o.pipe, pipeline.Compress, o.level, o.blockSize, want, limit)
}

// readerBudget returns the budget of a Reader of a .pz file.
func (o *options) readerBudget(p *pipeline.Pipeline, blockSize int) (budget, error) {
	want := o.inFlight(p, pipeline.Decompress, blockSize)
	return o.budget(p, pipeline.Decompress, 0, blockSize, want, o.limits.Memory())
}

// standardBudget returns the budget of a Reader of a .gz or .zst file.
func (o *options) standardBudget(p *pipeline.Pipeline, s container.Spec) (budget, error) {
	want, workers, limit := o.inFlight(p, pipeline.Decompress, s.BlockSize), o.workerCount(), o.limits.Memory()
	if s.InOrder {
		want = 2 // the caller's piece, and the next one
	}
	b, ok := fit(want, limit, func(n int) int64 { return s.Memory(n, workers) })
	if !ok {
		return budget{}, errs.OutOfMemory(b.memory,
			"decoding takes %d bytes of memory, more than the limit of %d", b.memory, limit)
	}
	return b, nil
}

// WriterMemory returns the memory in bytes that a Writer with these options takes at most: the
// buffers of all blocks in flight and the scratch of the workers. Not counted are a device, the
// reserve of the Go runtime, and the index. The index takes up to 18 bytes for each block of a .pz
// file and up to 27 for each of a .zst file, including its growth.
func WriterMemory(opts ...Option) (int64, error) {
	o, err := newWriterOptions(opts)
	if err != nil {
		return 0, err
	}
	b, err := o.writerBudget()
	return b.memory, err
}

// ReaderMemory returns the memory in bytes that a Reader with these options takes at most for
// files that a Writer writes with the format or pipeline in opts and the given block size, 0 being
// the level's own. Files of other programs may take more.
func ReaderMemory(blockSize int, opts ...Option) (int64, error) {
	o, err := newOptions(append(opts[:len(opts):len(opts)], WithBlockSize(blockSize)))
	if err != nil {
		return 0, err
	}
	var b budget
	switch o.pipe.Format {
	case Gzip:
		b, err = o.standardBudget(o.pipe, gzfile.Spec())
	case Zstd:
		if b, err = o.standardBudget(o.pipe, zstfile.FrameSpec(o.blockSize)); err != nil {
			// Then frames are decoded in order.
			b, err = o.standardBudget(o.pipe, zstfile.OrderedSpec(int64(o.blockSize)))
		}
	default:
		b, err = o.readerBudget(o.pipe, o.blockSize)
	}
	return b.memory, err
}

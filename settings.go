package compress

import (
	"errors"
	"math"
	"math/bits"
	"strings"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/blockcache"
	"github.com/gopz/compress/internal/container"
	"github.com/gopz/compress/internal/errs"
	"github.com/gopz/compress/internal/gzaccess"
	"github.com/gopz/compress/internal/gzfile"
	"github.com/gopz/compress/internal/index"
	"github.com/gopz/compress/internal/zstfile"
	"github.com/gopz/compress/pipeline"
)

// smallBlock is how far a known content size lowers the block size, in bytes. Below it the memory
// saved is not worth a different header.
const smallBlock = 64 << 10

// newOptions applies opts to the defaults, for a kind of reader.
func newOptions(kind readerKind, opts []ReaderOption) (o options, err error) {
	err = o.set(kind, opts)
	return o, err
}

// newWriterOptions is newOptions for compression: it also fixes the block size.
func newWriterOptions(opts []WriterOption) (o options, err error) {
	err = o.setWriter(opts, -1)
	return o, err
}

// reset makes o the defaults. It keeps the private scheduler.
func (o *options) reset() {
	*o = options{contentSize: -1, private: o.private, assign: onCPU}
	o.limits.MaxDecoded, o.limits.Checks = -1, true
}

// onCPU is the assignment without a device.
var onCPU = pipeline.Assignment{Match: gpu.BackendCPU, Entropy: gpu.BackendCPU}

// A readerKind is what decompresses.
type readerKind uint8

const (
	forReader   readerKind = 1 << iota // Reader
	forDecode                          // AppendDecode
	forReaderAt                        // ReaderAt, its method Recover included
	forRecover                         // the function Recover
	forInfo                            // ReadInfo
)

// String returns the names of the functions, for messages.
func (k readerKind) String() string {
	var list []string
	for i, name := range [...]string{"NewReader", "AppendDecode", "NewReaderAt", "Recover", "ReadInfo"} {
		if k&(1<<i) != 0 {
			list = append(list, name)
		}
	}
	return strings.Join(list, ", ")
}

// readerOptions says which kinds of reader know the options that not all of them know.
var readerOptions = []struct {
	name  string
	given func(o *options) bool
	kinds readerKind
}{
	{"WithIndex", func(o *options) bool { return o.index != nil }, forReaderAt | forInfo},
	{"WithCache", func(o *options) bool { return o.cache != nil }, forReaderAt},
	{"WithZeroFill", func(o *options) bool { return o.zeroFill }, forReaderAt | forRecover},
	{"WithReadAhead", func(o *options) bool { return o.readAhead > 0 }, forReader},
	{"WithProgress", func(o *options) bool { return o.progress != nil }, forReader | forDecode | forReaderAt},
}

// set makes o the defaults with opts applied, for a kind of reader.
func (o *options) set(kind readerKind, opts []ReaderOption) error {
	o.reset()
	for _, opt := range opts {
		if opt == nil {
			continue
		}
		if err := opt.setReader(o); err != nil {
			return err
		}
	}
	for i := range readerOptions {
		r := &readerOptions[i]
		if r.kinds&kind == 0 && r.given(o) {
			return errs.BadOption("%s has no effect here, only for %v", r.name, r.kinds)
		}
	}
	return o.setDevice()
}

// setDevice checks the options about workers, and gives the scheduler the device of WithDevice.
func (o *options) setDevice() error {
	switch {
	case o.workers > 0 && o.sched != nil:
		return errs.BadOption("WithConcurrency and WithScheduler exclude each other")
	case o.assign == onCPU:
		o.dev = nil
	case o.dev != nil:
		if err := o.scheduler().SetDevice(o.dev); err != nil {
			return errs.Wrap(errs.Device, err)
		}
	case o.assign.Strict():
		return errs.New(errs.Device, "WithDevice insists on a device and gives none")
	default:
		o.assign = onCPU
	}
	return nil
}

// A trait is something that a Writer's options ask for.
type trait uint16

const (
	isPZ trait = 1 << iota
	isGzip
	isZstd
	isFast
	isNamed
	isUnchecked
	isRsyncable
	isSeekable
	isPlan
	hasFrames
	hasDictionary
	hasWindow
	hasStreams
)

// traits returns what the options ask for.
func (o *options) traits() (t trait) {
	t = isPZ << o.pipe.Format
	for _, x := range [...]struct {
		given bool
		trait trait
	}{
		{o.fast, isFast},
		{o.name != "" || o.modTime != 0, isNamed},
		{!o.limits.Checks, isUnchecked},
		{o.rsyncable, isRsyncable},
		{o.seekable, isSeekable},
		{o.frames, hasFrames},
		{o.planned, isPlan},
		{o.dict != nil, hasDictionary},
		{o.window > 0, hasWindow},
		{o.streamSize > 0, hasStreams},
	} {
		if x.given {
			t |= x.trait
		}
	}
	return t
}

// conflicts lists the traits that a Writer cannot have together, and why.
var conflicts = []struct {
	traits trait
	why    string
}{
	{isGzip | isFast, "WithFastDecoding is for .pz"},
	{isZstd | isFast, "WithFastDecoding is for .pz"},
	{isPZ | isNamed, "WithName: a .pz file stores no name"},
	{isZstd | isNamed, "WithName: a .zst file stores no name"},
	{isGzip | isUnchecked, "WithChecksum: a .gz file always has a checksum"},
	{isGzip | hasDictionary, ".gz files have no dictionary; .pz and .zst files do"},
	{isGzip | hasStreams, "a .gz file has one member"},
	{isGzip | isSeekable, "WithSeekable: a .gz file has no blocks that can be read alone"},
	{isGzip | hasWindow, "WithLongDistance: matches of a .gz file reach back 32 KiB at most"},
	{isZstd | hasFrames | hasWindow, "WithLongDistance: frames of .zst, as of WithSeekable and in " +
		"archives, repeat nothing of each other"},
	{isRsyncable | hasWindow, "WithRsyncable and WithLongDistance exclude each other: " +
		"an edit would change all that repeats it"},
	{hasDictionary | hasWindow, "WithDictionary and WithLongDistance exclude each other: " +
		"the one is for small files"},
	{hasStreams | hasWindow, "repeats cannot reach into another stream"},
	{isPlan | isRsyncable, "WithRsyncable makes blocks of unknown sizes: a Plan has equal ones"},
	{isPlan | hasWindow, "blocks with WithLongDistance depend on those before them: " +
		"a Plan has independent ones"},
	{isPlan | hasStreams, "a Plan has one stream"},
}

// setWriter is set for compression: it also fixes the block size. The content has size bytes, −1 if
// that is unknown, unless opts say otherwise.
func (o *options) setWriter(opts []WriterOption, size int64) error {
	o.reset()
	for _, opt := range opts {
		if opt == nil {
			continue
		}
		if err := opt.setWriter(o); err != nil {
			return err
		}
	}
	o.setPipeline()
	traits := o.traits()
	for i := range conflicts {
		c := &conflicts[i]
		if traits&c.traits == c.traits {
			return errs.BadOption("%s", c.why)
		}
	}
	if o.contentSize < 0 {
		o.contentSize = size
	}
	if err := o.setBlockSize(); err != nil {
		return err
	}
	if err := o.setWindow(); err != nil {
		return err
	}
	return o.setDevice()
}

// fastPipeline is the pipeline of WithFastDecoding.
const fastPipeline = "lzr"

// setPipeline chooses the pipeline and the level.
func (o *options) setPipeline() {
	switch {
	case o.pipe != nil: // bridge.Pipeline
	case o.fast && o.format == PZ:
		o.pipe = pipeline.ByName(fastPipeline)
	default:
		o.pipe = pipeline.Default(o.format)
	}
	if o.level == 0 {
		o.level = o.pipe.DefaultLevel
	}
}

// setBlockSize fixes the block size.
func (o *options) setBlockSize() error {
	if o.frameWindow > 0 {
		o.setFrameBlocks()
		return nil
	}
	if o.blockSize == 0 {
		o.blockSize = o.pipe.BlockSize(o.level)
		if o.rsyncable {
			o.blockSize = rsyncBlock(o.pipe.Format)
		}
	}
	if most := o.pipe.MaxBlock; most > 0 && o.blockSize > most {
		return errs.BadOption(".%v blocks have at most %d MiB, not %d",
			o.pipe.Format, most>>20, o.blockSize>>20)
	}
	if !o.rsyncable && o.contentSize >= 0 && o.contentSize < int64(o.blockSize) {
		// With WithRsyncable, where blocks end must not depend on the size of the content.
		o.blockSize = min(o.blockSize, max(smallBlock, container.CeilPow2(int(o.contentSize))))
	}
	return nil
}

// setFrameBlocks fixes the block size of a frame with a window of its own. Content that is no
// larger than the window is one block. Other blocks are half a window, and their reach is no
// larger, so that no match reaches further than the window.
func (o *options) setFrameBlocks() {
	o.blockSize = o.frameWindow / 2
	if o.contentSize >= 0 && o.contentSize <= int64(o.frameWindow) {
		o.blockSize = max(smallBlock, container.CeilPow2(int(o.contentSize)))
	}
}

// setWindow checks the window of WithLongDistance, and lowers it to what the content needs.
func (o *options) setWindow() error {
	switch {
	case o.window == 0:
		return nil
	case o.window < int64(o.blockSize):
		return errs.BadOption("window of %d bytes is smaller than a block of %d", o.window, o.blockSize)
	}
	if size := o.contentSize; size >= 0 && size <= int64(o.blockSize) {
		o.window = 0 // a single block
	} else if size >= 0 && size < o.window {
		o.window = max(MinWindow, int64(o.blockSize), 1<<bits.Len64(uint64(size-1)))
	}
	return nil
}

// rsyncBlock returns the default block size with WithRsyncable, in bytes. docs/notes/rsyncable.md
// has the reasons.
func rsyncBlock(f Format) int {
	if f == Gzip {
		return 128 << 10 // matches reach into the block before, so that small blocks cost little
	}
	return 1 << 20
}

// scheduler returns the scheduler that the options ask for. If it is to be private, the first call
// makes it.
func (o *options) scheduler() *pipeline.Scheduler {
	switch {
	case o.sched != nil && o.sched.s != nil:
		return o.sched.s
	case o.workers > 0:
		if o.private == nil || o.private.Workers() != o.workers {
			o.private = pipeline.NewScheduler(o.workers)
		}
		return o.private
	}
	return sharedScheduler()
}

// config returns the configuration of a run in one direction, with blocks of at most blockSize
// bytes.
func (o *options) config(
	op pipeline.Op, p *pipeline.Pipeline, checks bool, blockSize int,
) pipeline.Config {
	return pipeline.Config{
		Pipeline: p, Op: op, Level: o.level, Tuning: o.tuning, BlockSize: blockSize, Grow: true,
		Checks: checks, Context: o.limits.Context, Assign: o.assign, Trace: o.tracer(), Dictionary: o.dict,
	}
}

// writerConfig returns the configuration of a Writer's run.
func (o *options) writerConfig() pipeline.Config {
	cfg := o.config(pipeline.Compress, o.pipe, o.limits.Checks, o.blockSize)
	cfg.Window, cfg.Position, cfg.Reach = o.window, o.position, o.reach()
	cfg.Checks = cfg.Checks && !o.isOneFrame() // the Framer adds up the check of the frame
	return cfg
}

// readerConfig returns the configuration of a Reader's run.
func (o *options) readerConfig(p *pipeline.Pipeline, s *container.Spec) pipeline.Config {
	cfg := o.config(pipeline.Decompress, p, s.Checks, s.BlockSize)
	cfg.Window, cfg.Sources = s.Window, s.Sources
	if p.Format == PZ && s.Dictionary == 0 {
		cfg.Dictionary = nil
	}
	return cfg
}

// checkBackend reports whether s can do what [WithDevice] demands of a run.
func (o *options) checkBackend(s *pipeline.Scheduler, cfg pipeline.Config) error {
	if cfg.Pipeline == nil || !o.assign.Strict() {
		return nil
	}
	if err := s.Check(cfg); err != nil {
		return errs.Wrap(errs.Device, err)
	}
	return nil
}

// canceled returns an error if the context has ended.
func (o *options) canceled() error { return o.limits.Canceled() }

// blockMemory returns the bytes that the two buffers of a block in flight may take, content and
// payload. A payload may outgrow its content by a quarter before the block is stored instead.
func blockMemory(blockSize int) int64 { return 2*int64(blockSize) + 5*int64(blockSize)/16 + 4096 }

// A budget says how many blocks may be in flight, and the memory in bytes that they take at most.
type budget struct {
	inFlight int
	memory   int64
}

// fit returns a budget of at most want blocks whose memory stays within limit and the target, and
// true. If one block alone takes more than the target, the budget is that block. If it takes more
// than limit, fit returns false.
func (o *options) fit(want int, limit int64, memory func(n int) int64) (budget, bool) {
	n, within := want, o.limits.Within(limit)
	for n > 1 && memory(n) > within {
		n--
	}
	m := memory(n)
	return budget{n, m}, m <= limit
}

// budget returns a budget of at most the blocks that plan has, of a run, within limit. extra is
// other memory that n blocks take; nil is for none.
func (o *options) budget(
	cfg *pipeline.Config, plan *pipeline.Plan, limit int64, extra func(n int) int64,
) (budget, error) {
	b, ok := o.fit(plan.InFlight, limit, func(n int) int64 {
		m := int64(n)*(blockMemory(cfg.BlockSize)+int64(cfg.Reach)) + plan.Memory(n)
		if extra != nil {
			m += extra(n)
		}
		return m
	})
	if !ok {
		return budget{}, errs.OutOfMemory(b.memory,
			"blocks of %d bytes take %d bytes of memory, more than the limit of %d",
			cfg.BlockSize, b.memory, limit)
	}
	return b, nil
}

// plan returns how many blocks of a pipeline are in flight if memory allows, and what they hold.
func (o *options) plan(p *pipeline.Pipeline, op pipeline.Op, blockSize int) pipeline.Plan {
	return o.scheduler().Plan(o.config(op, p, true, blockSize))
}

// writerBudget returns the budget of a Writer. With alone set there is one block, which no device
// gets; then the budget has no memory if there is no limit.
func (o *options) writerBudget(alone bool) (budget, error) {
	limit := o.limits.MaxMemory
	switch {
	case limit > 0:
	case alone:
		return budget{inFlight: 1}, nil
	default:
		limit = math.MaxInt64
	}
	cfg := o.writerConfig()
	if alone {
		cfg.Assign = onCPU
	}
	plan := o.scheduler().Plan(cfg)
	if alone {
		plan.InFlight = 1
	}
	window := func(int) int64 { return int64(cfg.Reach) } // in front of the next block
	return o.budget(&cfg, &plan, limit, window)
}

// readerBudget returns the budget of a Reader of a .pz file.
func (o *options) readerBudget(cfg pipeline.Config) (budget, error) {
	plan := o.scheduler().Plan(cfg)
	return o.budget(&cfg, &plan, o.limits.Memory(), nil)
}

// standardBudget returns the budget of a Reader of a .gz or .zst file.
func (o *options) standardBudget(p *pipeline.Pipeline, s container.Spec) (budget, error) {
	want, workers := o.plan(p, pipeline.Decompress, s.BlockSize).InFlight, o.scheduler().Workers()
	limit := o.limits.Memory()
	switch {
	case s.InFlight > 0:
		want = s.InFlight
	case s.InOrder:
		want = 3 // the caller's piece, the one that a worker decodes, and the next one
	}
	b, ok := o.fit(want, limit, func(n int) int64 { return s.Memory(n, workers) })
	if !ok {
		return budget{}, errs.OutOfMemory(b.memory,
			"decoding takes %d bytes of memory, more than the limit of %d", b.memory, limit)
	}
	return b, nil
}

// WriterMemory returns the memory in bytes that a Writer with these options takes at most: the
// buffers of all blocks in flight and the scratch of the workers. Not counted are a device, the
// reserve of the Go runtime, the index, 64 KiB of [WithRsyncable], and what [Writer.Flush] keeps,
// 0.5 MB in .gz and 2.8 MB in .zst. The index takes up to 18 bytes for each block of a .pz file and
// up to 27 for each frame of a .zst file, including its growth.
func WriterMemory(opts ...WriterOption) (int64, error) {
	o, err := newWriterOptions(opts)
	if err != nil {
		return 0, err
	}
	b, err := o.writerBudget(false)
	return b.memory, err
}

// ReaderMemory returns the memory in bytes that a Reader with opts takes at most for a file of a
// Writer with the options file. Files of other programs may take more.
func ReaderMemory(file []WriterOption, opts ...ReaderOption) (int64, error) {
	w, err := newWriterOptions(file)
	if err != nil {
		return 0, err
	}
	o, err := newOptions(forReader, opts)
	if err != nil {
		return 0, err
	}
	o.dict = w.dict
	var b budget
	switch w.pipe.Format {
	case Gzip:
		spec := gzfile.Spec(o.scheduler().Workers(), o.limits.Within(o.limits.Memory()), false)
		b, err = o.standardBudget(w.pipe, spec)
	case Zstd:
		// The first frame may be decoded in order, and frames with a flush or too large for the
		// memory.
		spec, _ := zstfile.OrderedSpec(int64(w.blockSize+w.reach()), o.scheduler().Workers(),
			o.limits.Within(o.limits.Memory()))
		b, err = o.standardBudget(w.pipe, spec)
		if w.reach() > 0 {
			break // one frame of several blocks
		}
		if whole, wholeErr := o.standardBudget(w.pipe, zstfile.FrameSpec(w.blockSize)); wholeErr == nil {
			b.memory, err = max(b.memory, whole.memory), nil
		}
	default:
		b, err = o.readerBudget(o.readerConfig(w.pipe, &container.Spec{
			BlockSize: w.blockSize, Window: w.window, Dictionary: o.dict.Number(),
		}))
	}
	return b.memory + o.readAhead, err
}

// minLoads lets a few callers at different places of the file work at the same time, and without
// decompressing the same blocks again and again if there is no memory for a Cache.
const minLoads = 4

// cacheBudget returns how many blocks may be loading, and how many bytes of content a Cache may
// have besides them. If memory cannot hold twice the blocks that load, bytes is 0: the content
// stays where it was loaded.
func (o *options) cacheBudget(x *index.File) (loads int, bytes int64, err error) {
	used := x.Memory(int64(len(x.Blocks))) + blockcache.BlockMemory*int64(len(x.Blocks))
	limit := max(1, o.limits.Memory()-used)
	n := minLoads
	for i := range x.Streams {
		st := &x.Streams[i]
		p := pipelineOf(x.Format, st.Pipeline)
		n = max(n, o.plan(p, pipeline.Decompress, st.BlockSize).InFlight+st.Sources)
	}
	n = min(n, max(1, len(x.Blocks)))
	var worst *Error
	var largest int64 // content of a block
	for i := range x.Streams {
		b, err := o.streamBudget(x, &x.Streams[i], n, limit)
		largest = max(largest, roomMemory(&x.Streams[i]))
		var e *Error
		switch {
		case err == nil:
			n, bytes = b.inFlight, max(bytes, b.memory)
		case !errors.As(err, &e):
			return 0, 0, err
		case worst == nil || e.Memory > worst.Memory:
			worst = e
		}
	}
	if worst != nil {
		if worst.Memory > 0 {
			worst.Memory += used
		}
		return 0, 0, worst
	}
	again := int64(n) * largest
	if bytes = min(max(defaultCache, again), o.limits.Within(limit)-bytes); bytes < again {
		bytes = 0
	}
	return n, bytes, nil
}

// streamBudget returns a budget of at most want blocks of a stream, within limit.
func (o *options) streamBudget(x *index.File, st *index.Stream, want int, limit int64) (budget, error) {
	if x.Format == PZ {
		p := pipelineOf(PZ, st.Pipeline)
		cfg := o.readerConfig(p, &container.Spec{BlockSize: st.BlockSize, Dictionary: st.Dictionary})
		plan := o.scheduler().Plan(cfg)
		plan.InFlight = want
		extra := func(n int) (memory int64) {
			if st.Sources > 0 {
				// The content besides the own content, and a source that no slot loads.
				memory = int64(n)*int64(st.BlockSize) + blockMemory(st.BlockSize)
			}
			return memory
		}
		return o.budget(&cfg, &plan, limit, extra)
	}
	workers := o.scheduler().Workers()
	b, ok := o.fit(want, limit, func(n int) int64 {
		if x.Format == Gzip {
			return gzaccess.Memory(n, x.MaxFrame, st.BlockSize)
		}
		return container.FrameMemory(n, workers, int64(x.MaxFrame), int64(st.BlockSize))
	})
	if !ok {
		return budget{}, errs.OutOfMemory(b.memory,
			"a block of %d bytes takes %d bytes of memory, more than the limit of %d",
			st.BlockSize, b.memory, limit)
	}
	return b, nil
}

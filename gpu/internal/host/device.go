package host

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/lz77"
)

const (
	// concurrent is how many batches are under way at a time: the host packs or unpacks one while the kernels run on the other.
	concurrent = 2

	// Batches of entropy coding want many groups of lanes, of which a block of 1 MiB has few, and a GPU room for thousands.
	entropyBatch = 64
	// A batch of matching is done in pieces of maxPositions, and its blocks are parsed by the CPU before any of them goes on. One block alone has
	// as many positions as a GPU has room for; the batch spares submissions.
	matchBatch = 8

	// The least block sizes, in bytes, that Auto gives to a device. How much one can spare a processor, however fast it is, is the time that the processor takes without it, over what it still does itself: it packs and
	// unpacks, makes tables, parses, and sees that the result is right. Any machine can measure that (column host MB/s of scripts/gpu-bench.sh; the table is in docs/exec-plans/active/webgpu.md):
	//
	//   - Matching: 1.9 to 2.3 times with blocks of 64 KiB at level 5, alone and in batches, 2.5 to 3.7 times at level 6; 4.4 and 8.9 times with a block of 4 MB.
	//   - Decoding: 1.0 times with a block of 512 KiB alone and 1.3 to 1.4 in batches, 1.4 to 1.7 with 1 MiB, 1.9 with 4 MB.
	//   - Coding: 0.5 to 1.0 times at any size, since a worker decodes each payload again to see that it is right. It never pays.
	//
	// Whether the device keeps up is not in it: that is for the scheduler to see. There is no least batch: one is what waits when a slot is free, and while a small one is under way the next one gathers.
	matchMinAuto  = 64 << 10
	encodeMinAuto = math.MaxInt
	decodeMinAuto = 1 << 20

	// The greatest block sizes, in bytes. Candidates have 24 bits for an offset. The coded symbols of a block are fewer than its bytes.
	maxMatch   = 1 << lz77.CandidateOffsetBits
	maxEntropy = 64 << 20

	// maxPositions bounds the positions in one submission, and so the memory of a queue: 25 bytes for each.
	maxPositions = 1 << 24

	// softwarePatience is what a batch may take on a software adapter, for those who insist on one: it does 1 MB/s at high levels.
	softwarePatience = 10 * time.Minute

	// softwareLoops is how often the loops of a kernel may turn, all together, on a software adapter: Mesa's llvmpipe leaves them after 65,535 times, and
	// says nothing. The kernels of matching stay below 35,000 with the greatest depth and Nice; groups of lanes that do not are the CPU's.
	softwareLoops = 60000

	// MinBinding is the least Driver.Binding with which a device is of use: a block of 4 MiB with its keys.
	MinBuffer = 16 << 20
)

// Config says what a device is like.
type Config struct {
	Name string
	Kind gpu.Kind
	// Fault, if set, is asked before every submission; an error plays the loss of the device. For tests.
	Fault func() error
	// AllLoops has loops of any length run on software adapters too. For tests.
	UnlimitedLoops bool
}

// BaseInfo is what a device may be counted on to be, for [gpu.Lazy].
func BaseInfo(name string) gpu.Info {
	info := gpu.Info{Name: name, Concurrent: concurrent}
	info.Ops[gpu.StageN] = gpu.Limits{Batch: entropyBatch, MaxSize: maxEntropy, MinAuto: encodeMinAuto, MinAutoDecode: decodeMinAuto}
	info.Ops[gpu.Fused] = gpu.Limits{Batch: fusedBatch, Bytes: fusedBytes, MinSize: minFused, MaxSize: maxFused, RowHashOnly: true, MinAuto: fusedMinAuto}
	info.Ops[gpu.Stage0] = gpu.Limits{Batch: matchBatch, MaxSize: maxMatch, RowHashOnly: true, MinAuto: matchMinAuto}
	return info
}

// Device is a gpu.Device on a driver.
type Device struct {
	info      gpu.Info
	driver    Driver
	maxBuffer uint64 // Driver.Binding
	maxLoops  int    // how often the loops of a kernel may turn together; 0: without end
	fault     func() error

	slots  chan *slot
	all    []*slot
	closed atomic.Bool
	once   sync.Once

	// again is how many times more than once kernels are dispatched; see Again.
	again map[string]int
	away  atomic.Int64 // nanoseconds; see Away
}

// ErrClosed is what remains of calls when a device is closed.
var ErrClosed = errors.New("gpu: device closed")

// ErrTooLarge is why a device does not do a request that is too large for it.
var ErrTooLarge = errors.New("gpu: too large for the device")

// New returns a device on a driver, which the device closes, at once if there is an error.
func New(driver Driver, c Config) (*Device, error) {
	d := &Device{info: BaseInfo(c.Name), driver: driver, maxBuffer: driver.MaxBuffer(), fault: c.Fault, slots: make(chan *slot, concurrent)}
	if c.Kind == gpu.Software {
		if d.info.Timeout = softwarePatience; !c.UnlimitedLoops {
			d.maxLoops = softwareLoops
		}
	}
	fused := &d.info.Ops[gpu.Fused]
	fused.Bytes = int(min(uint64(fused.Bytes), d.maxBuffer/fusedExpansion))
	err := error(nil)
	if d.maxBuffer < MinBuffer {
		err = fmt.Errorf("its buffers are too small: %d bytes", d.maxBuffer)
	}
	for range concurrent {
		var q Queue
		if err == nil {
			q, err = driver.Queue()
		}
		if err != nil {
			d.Close()
			return nil, err
		}
		s := &slot{d: d, q: q}
		d.all = append(d.all, s)
		d.slots <- s
	}
	return d, nil
}

// Info says what the device is and takes.
func (d *Device) Info() gpu.Info { return d.info }

// Held is how many objects of the system the device holds.
func (d *Device) Held() int { return d.driver.Held() }

// Accepts reports whether the device can do a request at all.
func (d *Device) Accepts(r *gpu.Request) bool {
	switch r.Op {
	case gpu.StageN:
		return true
	case gpu.Fused:
		return d.acceptsFused(r)
	case gpu.Stage0:
		return r.Params != nil && r.Params.CandidatesFit(len(r.Src)) && r.Params.Depth <= 64 &&
			matchSize(max(len(r.Src), r.Size)) <= d.maxBuffer
	}
	return false
}

// Run does a batch. It fails with the first submission that does.
func (d *Device) Run(op gpu.Op, batch []*gpu.Request) error {
	s, ok := <-d.slots
	if !ok || d.closed.Load() {
		if ok {
			d.slots <- s
		}
		return ErrClosed
	}
	defer func() { d.slots <- s }()
	switch op {
	case gpu.StageN:
		return s.runCode(batch)
	case gpu.Fused:
		return s.runFused(batch)
	case gpu.Stage0:
		return s.runMatch(batch)
	}
	return fmt.Errorf("gpu: %v is not done here", op)
}

// Close frees everything. A call of Run that is still under way ends soon, with an error.
func (d *Device) Close() error {
	d.once.Do(func() {
		d.closed.Store(true)
		d.driver.Stop()
		for range d.all {
			s := <-d.slots
			s.q.Close()
		}
		close(d.slots) // for those who come later
		d.driver.Close()
	})
	return nil
}

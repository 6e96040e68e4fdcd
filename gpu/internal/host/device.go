package host

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/internal/finder"
)

const (
	// concurrent is the number of batches in flight: the host packs or unpacks one while the
	// kernels run on the other.
	concurrent = 2

	// entropyBatch is the most blocks in a batch of StageN. A GPU has room for thousands of lane
	// groups, and a block of 1 MiB has only a few.
	entropyBatch = 64
	// matchBatch is the most blocks in a batch of Stage0. One block has as many positions as a GPU
	// works on at a time; the batch saves submissions.
	matchBatch = 8

	// Least block sizes in bytes that Auto gives to a device. They compare the CPU's time for a
	// block with the time that the host still spends on it for a device: packing, parsing,
	// verifying. See docs/notes/gpu.md. The scheduler notices by itself whether a device keeps up.
	matchMinAuto  = 64 << 10    // the host needs half of the CPU's time at level 5
	decodeMinAuto = 1 << 20     // the host needs 0.6 of the CPU's time
	encodeMinAuto = math.MaxInt // never: to verify a payload takes as long as coding it

	// Greatest block sizes in bytes. A candidate has 24 bits for its offset. A block has fewer
	// coded symbols than bytes.
	maxMatch   = 1 << finder.CandidateOffsetBits
	maxEntropy = 64 << 20

	// leastContent is the most content in one submission of Stage0 or Fused, in bytes, on a device
	// whose memory is unknown or small: 4 blocks of 4 MiB. Larger memory allows up to mostContent.
	leastContent = 16 << 20
	mostContent  = 256 << 20
	// contentMemory is the memory that a queue takes for each byte of content. All queues together
	// may take a part of the device's memory, 1/memoryPart. Other programs may use the rest.
	contentMemory = 26
	memoryPart    = 4
	// defaultBuffer bounds the buffers of a submission in bytes, unless SetContent needs larger
	// ones.
	defaultBuffer = 128 << 20

	// softwareTimeout is the timeout of a software adapter, which finds candidates at 1 MB/s.
	softwareTimeout = 10 * time.Minute

	// softwareLoops bounds the iterations of all loops of an invocation on a software adapter.
	// Mesa's llvmpipe leaves loops after 65,535 iterations without an error. Kernels of matching
	// stay below 35,000, and those of lane groups too: 8,192 rounds, and 400 iterations for each
	// of up to 65 tables.
	softwareLoops = 60000

	// MinBuffer is the least Driver.MaxBuffer of a usable device, in bytes: the keys of a block of
	// 4 MiB.
	MinBuffer = 16 << 20
	// LargestBuffer bounds Driver.MaxBuffer, in bytes.
	LargestBuffer = 1<<31 - 256
)

// Config describes a device to New.
type Config struct {
	Name  string
	Kind  gpu.Kind
	Begin time.Time // when the driver began to start, for StartTime
	// Memory is the device's memory in bytes, or 0 if it is unknown.
	Memory uint64
}

// content returns the most content of a submission by the device's memory, in bytes. Other kinds
// than a discrete GPU get the least: they run too few invocations at a time to gain from more, and
// might exceed the time that a driver gives to a submission.
func (c *Config) content() int {
	if c.Kind != gpu.Discrete {
		return leastContent
	}
	n := c.Memory / memoryPart / (concurrent * contentMemory) / maxFused * maxFused
	return int(min(max(n, leastContent), mostContent))
}

// BaseInfo returns what every device of this package supports, see [gpu.Driver].
func BaseInfo(name string) gpu.Info {
	info := gpu.Info{Name: name, Concurrent: concurrent}
	info.Ops[gpu.StageN] = gpu.Limits{
		Batch: entropyBatch, MaxSize: maxEntropy,
		MinAuto: encodeMinAuto, MinAutoDecode: decodeMinAuto,
	}
	info.Ops[gpu.Fused] = gpu.Limits{
		Batch: fusedBatch, Bytes: fusedBytes, MinSize: minFused, MaxSize: maxFused,
		RowHashOnly: true, MinAuto: fusedMinAuto,
	}
	info.Ops[gpu.Stage0] = gpu.Limits{
		Batch: matchBatch, MaxSize: maxMatch,
		RowHashOnly: true, MinAuto: matchMinAuto,
	}
	return info
}

// Device is a gpu.Device that runs kernels through a driver.
type Device struct {
	info      gpu.Info
	startTime time.Duration
	driver    Driver
	content   atomic.Int64 // most bytes of content in a submission of Stage0 or Fused
	maxBuffer uint64       // most bytes of a buffer in a submission
	maxLoops  int          // most iterations of all loops of an invocation; 0 means no limit
	fault     func() error

	slots    chan *slot
	closed   atomic.Bool
	once     sync.Once
	released chan struct{} // closed when all resources are free
	queues   int           // as many as there are slots

	again map[string]int // extra dispatches by kernel; see Again
	trace *Trace         // of the call of Trace in progress
}

// ErrClosed is the error of calls that Close interrupts, and of later ones.
var ErrClosed = errors.New("gpu: device closed")

// ErrTooLarge is the error of a request that exceeds the device's buffers.
var ErrTooLarge = errors.New("gpu: too large for the device")

// ErrMemory is the error of a submission for whose buffers the device has too little memory.
var ErrMemory = errors.New("gpu: the device is out of memory")

// New returns a device on a driver. The device closes the driver; New closes it if it returns an
// error.
func New(driver Driver, c Config) (*Device, error) {
	d := &Device{
		info:     BaseInfo(c.Name),
		driver:   driver,
		slots:    make(chan *slot, concurrent),
		released: make(chan struct{}),
	}
	if c.Kind == gpu.Software {
		d.info.Timeout, d.maxLoops = softwareTimeout, softwareLoops
	}
	d.SetContent(c.content())
	err := error(nil)
	if d.maxBuffer < MinBuffer {
		err = fmt.Errorf("its buffers are limited to %d bytes; %d are needed", d.maxBuffer, MinBuffer)
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
		d.slots <- &slot{d: d, q: q}
		d.queues++
	}
	d.startTime = time.Since(c.Begin)
	return d, nil
}

// Info describes the device.
func (d *Device) Info() gpu.Info { return d.info }

// SetContent sets the most content of a submission of Stage0 or Fused, in bytes. The device has
// larger buffers for more content, as far as the driver allows. If its memory runs out, Run lowers
// the value. For measurements and tests. No Run may be in flight.
func (d *Device) SetContent(n int) {
	n = min(n, max(leastContent, d.MaxContent()))
	d.content.Store(int64(n))
	d.maxBuffer = min(max(defaultBuffer, fusedExpansion*uint64(n)), d.driver.MaxBuffer())
	d.info.Ops[gpu.Fused].Bytes = min(n, contentOf(d.maxBuffer))
}

// Content returns the most content of a submission, in bytes. It falls when the device's memory
// runs out.
func (d *Device) Content() int { return int(d.content.Load()) }

// MaxContent returns the most content for SetContent that the driver's buffers allow, in bytes.
func (d *Device) MaxContent() int { return contentOf(d.driver.MaxBuffer()) }

// contentOf returns the most content for buffers of a size. LargestBuffer counts as 2 GiB.
// Submissions are split by what they need, so the content need not be exact.
func contentOf(buffer uint64) int { return int((buffer + 256) / fusedExpansion) }

// SetFault makes the device call f before every submission. An error of f becomes the error of Run.
// For tests. No Run may be in flight.
func (d *Device) SetFault(f func() error) { d.fault = f }

// StartTime returns how long the start of the driver and the device took.
func (d *Device) StartTime() time.Duration { return d.startTime }

// StartError returns nil: what has not started is no Device.
func (d *Device) StartError() error { return nil }

// Held returns how many objects of the system the device holds.
func (d *Device) Held() int { return d.driver.Held() }

// Accepts reports whether the device can run a request.
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

// Run runs a batch. It returns the error of the first submission that fails.
func (d *Device) Run(op gpu.Op, batch []*gpu.Request) error {
	s, ok := <-d.slots
	if !ok || d.closed.Load() {
		if ok {
			d.slots <- s
		}
		return ErrClosed
	}
	defer func() { d.slots <- s }()
	for tried := false; ; tried = true {
		if n := d.Content(); n < s.sized { // the memory may be needed elsewhere
			if err := s.shrink(); err != nil {
				return err
			}
		}
		s.sized = d.Content()
		err := s.run(op, batch)
		if !errors.Is(err, ErrMemory) {
			return err
		}
		if err := d.shrinkAll(s); err != nil {
			return err
		}
		if lower := op != gpu.StageN && d.lower(s.content); tried && !lower {
			return err
		}
	}
}

// shrinkAll frees the buffers of a slot, and of one that is idle.
func (d *Device) shrinkAll(s *slot) error {
	err := s.shrink()
	select {
	case idle := <-d.slots:
		err = errors.Join(err, idle.shrink())
		d.slots <- idle
	default:
	}
	return err
}

// lower lowers the most content of a submission, after one with n bytes has found too little
// memory. It reports whether smaller submissions are possible. Another call of Run may have lowered
// it already.
func (d *Device) lower(n int) bool {
	if n <= leastContent {
		return false
	}
	for half := int64(max(leastContent, n/2)); ; {
		now := d.content.Load()
		if now <= half || d.content.CompareAndSwap(now, half) {
			return true
		}
	}
}

// run runs a batch.
func (s *slot) run(op gpu.Op, batch []*gpu.Request) error {
	switch op {
	case gpu.StageN:
		return s.runCode(batch)
	case gpu.Fused:
		return s.runFused(batch)
	case gpu.Stage0:
		return s.runMatch(batch)
	}
	return fmt.Errorf("gpu: unknown request kind %d", op)
}

// closeWait is how long Close waits for the driver to free its resources. A software adapter that
// does nothing takes 15 ms.
const closeWait = 30 * time.Millisecond

// Close makes calls of Run in flight return with an error, and frees all resources. A driver must
// not free memory that kernels still use, and nothing stops a kernel. So the driver waits for the
// kernels in the background if that takes longer than closeWait.
func (d *Device) Close() error {
	d.once.Do(func() {
		d.closed.Store(true)
		d.driver.Stop()
		go d.release()
	})
	late := time.NewTimer(closeWait)
	defer late.Stop()
	select {
	case <-d.released:
	case <-late.C:
	}
	return nil
}

// release waits for all calls of Run, and frees all resources.
func (d *Device) release() {
	for range d.queues {
		<-d.slots
	}
	close(d.slots) // for later calls of Run
	d.driver.Close()
	close(d.released)
}

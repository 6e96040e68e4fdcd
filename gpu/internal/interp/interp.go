// Package interp runs the GPU kernels in software and checks them. It interprets their WGSL, so it
// needs no GPU, no driver and no cgo.
//
// Every index is checked, and every access to memory that another invocation can write. The
// invocations of a workgroup run in a random order that follows from a seed and can change between
// any two instructions; the workgroups of a dispatch run one after the other, in a random order. An
// error is a *[Fault].
//
// The checks find conflicts that did not change a result, whatever the order was: see cell. Only
// barriers order invocations. Atomics order nothing, so their results, too, must not depend on the
// order. A buffer that grows has random content, so results cannot depend on old content.
//
// Reads of workgroup memory that nothing has written are counted but are no faults: WGSL defines
// them as 0, and kernels use that for counters.
//
// With Options.Lockstep the invocations of a warp run together, and the driver fills [Counters].
package interp

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/gopz/compress/gpu/internal/host"
	"github.com/gopz/compress/gpu/internal/kernels"
)

// Options configures a driver.
type Options struct {
	Seed     uint64 // of the order of invocations
	Lockstep bool   // run warps in lockstep and count
	MaxSteps int64  // most instructions of a workgroup in a dispatch; 0 means 1 << 36
	// Source returns the WGSL of a kernel. nil means kernels.Source. Tests plant faults with it.
	Source func(kernel string) string
}

// Driver is a host.Driver that interprets kernels.
type Driver struct {
	options  Options
	stopped  atomic.Bool
	held     atomic.Int64
	mu       sync.Mutex
	programs map[string]*program
	counters map[string]Counters
	queues   []*queue
}

// New returns a driver.
func New(o Options) *Driver {
	if o.MaxSteps == 0 {
		o.MaxSteps = 1 << 36
	}
	if o.Source == nil {
		o.Source = kernels.Source
	}
	return &Driver{options: o, programs: map[string]*program{}, counters: map[string]Counters{}}
}

// MaxBuffer returns 128 MiB, which is what WebGPU guarantees.
func (d *Driver) MaxBuffer() uint64 { return 128 << 20 }

// Held returns how many buffers the driver's queues have.
func (d *Driver) Held() int { return int(d.held.Load()) }

// Stop makes calls in flight return soon.
func (d *Driver) Stop() { d.stopped.Store(true) }

// Close frees all buffers.
func (d *Driver) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range d.queues {
		q.release()
	}
}

// Queue returns a new queue.
func (d *Driver) Queue() (host.Queue, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	q := &queue{d: d, groups: map[string]*group{}, seed: d.options.Seed + uint64(len(d.queues))<<32}
	d.queues = append(d.queues, q)
	return q, nil
}

// Counters returns the counts of all kernels that have run, by name.
func (d *Driver) Counters() map[string]Counters {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.counters)
}

// program returns a compiled kernel. The first call for a name compiles it.
func (d *Driver) program(name string) (*program, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.programs[name]; p != nil {
		return p, nil
	}
	p, err := compile(name, d.options.Source(name))
	if err != nil {
		return nil, err
	}
	d.programs[name] = p
	return p, nil
}

// tally adds the counts of a dispatch.
func (d *Driver) tally(kernel string, c *Counters) {
	d.mu.Lock()
	defer d.mu.Unlock()
	sum := d.counters[kernel]
	sum.AddCounters(c)
	d.counters[kernel] = sum
}

var errSize = errors.New("interp: a buffer is too large")

// check returns the error of a size of a buffer.
func (d *Driver) check(n uint64) error {
	if n > d.MaxBuffer() {
		return fmt.Errorf("%w: %d bytes, limit %d", errSize, n, d.MaxBuffer())
	}
	return nil
}

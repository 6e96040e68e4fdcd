//go:build webgpu && cgo

package webgpu

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cogentcore/webgpu/wgpu"

	"github.com/gopz/compress/gpu/internal/host"
	"github.com/gopz/compress/gpu/internal/kernels"
)

// driver is a host.Driver.
type driver struct {
	dev       *wgpu.Device
	queue     *wgpu.Queue
	maxBuffer uint64 // most bytes of a buffer and of its binding
	shifts    *wgpu.Buffer
	loss      loss
	broken    atomic.Bool // the library panicked: the device is lost, and its memory stays
	clock     *clock      // nil if the device has no timestamps
	stopped   atomic.Bool
	held      atomic.Int64 // buffers, kernels

	mu      sync.Mutex // guards calls that can fail, because error scopes belong to the device
	kernels map[string]*kernel
	queues  []*queue
}

// kernel is a compute pipeline.
type kernel struct {
	pipeline *wgpu.ComputePipeline
	layout   *wgpu.BindGroupLayout
}

// start returns a driver on an adapter.
func start(adapter *wgpu.Adapter) (_ *driver, err error) {
	d := &driver{kernels: map[string]*kernel{}}
	hasClock := false
	d.dev, d.loss, hasClock, err = requestDevice(adapter)
	if err != nil {
		return nil, err
	}
	if hasClock {
		d.clock = new(clock)
	}
	d.queue = d.dev.GetQueue()
	limits := d.dev.GetLimits().Limits
	d.maxBuffer = min(limits.MaxStorageBufferBindingSize, limits.MaxBufferSize) &^ 255
	shifts := host.ShiftBytes()
	err = d.locked(func() (err error) {
		d.shifts, err = d.buffer(wgpu.BufferUsageStorage|wgpu.BufferUsageCopyDst, uint64(len(shifts)), false)
		if err != nil {
			return err
		}
		return d.queue.WriteBuffer(d.shifts, 0, shifts)
	})
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// locked calls f under the lock. It returns the error of f, or any error that the device reports
// meanwhile.
func (d *driver) locked(f func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped.Load() {
		return host.ErrClosed
	}
	if err := d.check(); err != nil {
		return err
	}
	return d.scoped(f)
}

// buffer creates a buffer. The caller holds the lock.
func (d *driver) buffer(usage wgpu.BufferUsage, size uint64, mapped bool) (*wgpu.Buffer, error) {
	b, err := d.dev.CreateBuffer(&wgpu.BufferDescriptor{Usage: usage, Size: size, MappedAtCreation: mapped})
	if err != nil {
		// The size is within the limits. Most often the library takes a lack of memory for an
		// invalid call.
		return nil, fmt.Errorf("%w: %w", host.ErrMemory, err)
	}
	d.held.Add(1)
	return b, nil
}

// kernel returns a kernel. The first call for a name compiles it. The caller holds the lock.
func (d *driver) kernel(name string) (*kernel, error) {
	if k := d.kernels[name]; k != nil {
		return k, nil
	}
	module, err := d.dev.CreateShaderModule(&wgpu.ShaderModuleDescriptor{
		Label: name, WGSLDescriptor: &wgpu.ShaderModuleWGSLDescriptor{Code: kernels.Source(name)},
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer module.Release()
	p, err := d.dev.CreateComputePipeline(&wgpu.ComputePipelineDescriptor{
		Label: name, Compute: wgpu.ProgrammableStageDescriptor{Module: module, EntryPoint: "main"},
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	k := &kernel{p, p.GetBindGroupLayout(0)}
	d.kernels[name] = k
	d.held.Add(1)
	return k, nil
}

func (d *driver) MaxBuffer() uint64 { return d.maxBuffer }

func (d *driver) Held() int { return int(d.held.Load()) }

func (d *driver) Stop() { d.stopped.Store(true) }

// lostWait is how long drain waits for a lost device. It may never finish.
const lostWait = 5 * time.Second

// drain waits until the device has finished all submissions. It reports whether it has.
func (d *driver) drain() bool {
	end := time.Now().Add(lostWait)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		done, err := d.poll()
		if done || d.broken.Load() || err != nil && time.Now().After(end) {
			return done
		}
		time.Sleep(pause)
	}
}

// poll makes the device answer requests, and reports whether it has finished all submissions.
func (d *driver) poll() (done bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.pollDevice()
}

func (d *driver) Queue() (host.Queue, error) { return d.newQueue(), nil }

// Close waits for all submissions, and frees everything. The library frees memory of a device that
// is still at work after five seconds, and software adapters then crash the program. So nothing is
// freed of a lost device that does not finish, nor after a panic of the library.
func (d *driver) Close() {
	d.Stop()
	if !d.drain() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range d.queues {
		q.release()
	}
	d.queues = nil
	for _, k := range d.kernels {
		k.layout.Release()
		k.pipeline.Release()
		d.held.Add(-1)
	}
	d.kernels = nil
	d.clock.release(d)
	if d.shifts != nil {
		d.shifts.Release()
		d.held.Add(-1)
	}
	d.queue.Release()
	d.dev.Release()
}

//go:build webgpu && cgo

package webgpu

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cogentcore/webgpu/wgpu"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/gpu/kernels"
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

	// The least block sizes, in bytes, that are worth a trip. STILL TO BE MEASURED on a GPU, with scripts/gpu-bench.sh: on software Vulkan
	// nothing pays (docs/exec-plans/active/webgpu.md). Until then they are guesses: a full batch of such blocks is 4 to 8 MiB.
	entropyPays = 128 << 10
	matchPays   = 256 << 10

	// The greatest block sizes, in bytes. Candidates have 24 bits for an offset. The coded symbols of a block are fewer than its bytes.
	maxMatch   = 1 << lz77.CandidateBits
	maxEntropy = 64 << 20

	// maxPositions bounds the positions in one submission, and so the memory of a slot: 25 bytes for each.
	maxPositions = 1 << 24

	// softwarePatience is what a batch may take on a software adapter, for those who insist on one: it does 1 MB/s at high levels.
	softwarePatience = 10 * time.Minute

	// softwareLoops is how often the loops of a kernel may turn, all together, on a software adapter: Mesa's llvmpipe leaves them after 65,535 times, and
	// says nothing. The kernels of matching stay below 35,000 with the greatest depth and Nice; groups of lanes that do not are the CPU's.
	softwareLoops = 60000

	// minBinding is the least binding in bytes with which a device is of use: a block of 4 MiB with its keys.
	minBinding = 16 << 20
)

// Promise is what a device of this package may be counted on to be, for [gpu.Lazy].
func Promise() gpu.Info {
	info := gpu.Info{Name: "webgpu", Concurrent: concurrent}
	info.Ops[gpu.StageN] = gpu.Limits{Batch: entropyBatch, MaxSize: maxEntropy, Pays: entropyPays}
	info.Ops[gpu.Stage0] = gpu.Limits{Batch: matchBatch, MaxSize: maxMatch, Pays: matchPays}
	return info
}

// Device is a gpu.Device.
type Device struct {
	info    gpu.Info
	adapter Adapter
	dev     *wgpu.Device
	queue   *wgpu.Queue
	binding uint64 // most bytes of a buffer and of its binding
	shifts  *wgpu.Buffer
	loops   int // how often the loops of a kernel may turn together; 0: without end

	mu      sync.Mutex // for all calls that can fail: their errors go through scopes of the device
	kernels map[string]*kernel
	slots   chan *slot
	all     []*slot
	closed  atomic.Bool
	once    sync.Once

	// again is how many times more than once kernels are dispatched; see Again.
	again map[string]int
	// fault, if set, is asked before every submission; an error plays the loss of the device.
	fault func() error
}

var errClosed = errors.New("webgpu: device closed")

// kernel is a compute pipeline.
type kernel struct {
	pipeline *wgpu.ComputePipeline
	layout   *wgpu.BindGroupLayout
}

// start makes a device of an adapter.
func start(f found) (_ *Device, err error) {
	d := &Device{
		adapter: f.Adapter,
		kernels: map[string]*kernel{},
		slots:   make(chan *slot, concurrent),
	}
	d.info = Promise()
	d.info.Name = f.Name
	if f.Kind == Software {
		d.info.Patience, d.loops = softwarePatience, softwareLoops
	}
	// WebGPU's default limits, 128 MiB for a binding: enough to keep a GPU busy for milliseconds. The binding cannot ask for others without asking
	// for one that it leaves as it is in fresh memory.
	if d.dev, err = f.ref.RequestDevice(nil); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			d.Close()
		}
	}()
	d.queue = d.dev.GetQueue()
	limits := d.dev.GetLimits().Limits
	if d.binding = min(limits.MaxStorageBufferBindingSize, limits.MaxBufferSize) &^ 255; d.binding < minBinding {
		return nil, fmt.Errorf("its bindings are too small: %d bytes", d.binding)
	}
	err = d.locked(func() (err error) {
		d.shifts, err = d.makeShifts()
		return err
	})
	if err != nil {
		return nil, err
	}
	for range concurrent {
		s := newSlot(d)
		d.all = append(d.all, s)
		d.slots <- s
	}
	return d, nil
}

// locked calls f with the device to itself, and returns whatever went wrong.
func (d *Device) locked(f func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed.Load() {
		return errClosed
	}
	return scoped(d.dev, f)
}

// kernel returns a kernel, which is compiled the first time. The device is locked.
func (d *Device) kernel(name string) (*kernel, error) {
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
	return k, nil
}

// Info says what the device is and takes.
func (d *Device) Info() gpu.Info { return d.info }

// Adapter is what the device runs on.
func (d *Device) Adapter() Adapter { return d.adapter }

// Accepts reports whether the device can do a request at all.
func (d *Device) Accepts(r *gpu.Request) bool {
	switch r.Op {
	case gpu.StageN:
		return true
	case gpu.Stage0:
		return r.Params != nil && r.Params.Finder == lz77.Recent && r.Params.Nice <= lz77.MaxCandidateNice && r.Params.Depth <= 64 &&
			len(r.Src) <= maxMatch && matchSize(max(len(r.Src), r.Size)) <= d.binding
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
		return errClosed
	}
	defer func() { d.slots <- s }()
	switch op {
	case gpu.StageN:
		return s.code(batch)
	case gpu.Stage0:
		return s.match(batch)
	}
	return fmt.Errorf("webgpu: %v is not done here", op)
}

// Close frees everything. A call of Run that is still under way ends soon, with an error.
func (d *Device) Close() error {
	d.once.Do(func() {
		d.closed.Store(true)
		for range d.all {
			s := <-d.slots
			defer s.free()
		}
		close(d.slots) // for those who come later
		d.mu.Lock()
		defer d.mu.Unlock()
		for _, k := range d.kernels {
			k.layout.Release()
			k.pipeline.Release()
		}
		if d.shifts != nil {
			d.shifts.Release()
		}
		if d.queue != nil {
			d.queue.Release()
		}
		if d.dev != nil {
			defer d.dev.Release() // after the buffers of the slots
		}
	})
	return nil
}

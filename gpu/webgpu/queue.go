//go:build webgpu && cgo

package webgpu

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cogentcore/webgpu/wgpu"

	"github.com/gopz/compress/gpu/internal/host"
)

// queue is a host.Queue.
type queue struct {
	d     *driver
	up    buffer // mapped for writing between submissions
	down  buffer // mapped for reading after a submission
	work  [host.NumBuffers]buffer
	note  status
	total uint64 // bytes of all downloads of the last submission
	bind  []wgpu.BindGroupEntry
}

// buffer is a buffer of the device.
type buffer struct {
	ref    *wgpu.Buffer
	size   uint64
	usage  wgpu.BufferUsage
	mapped bool
}

// newQueue returns a new queue, which the driver frees.
func (d *driver) newQueue() *queue {
	q := &queue{d: d, note: newStatus()}
	q.up.usage = wgpu.BufferUsageMapWrite | wgpu.BufferUsageCopySrc
	q.down.usage = wgpu.BufferUsageMapRead | wgpu.BufferUsageCopyDst
	for i := range q.work {
		q.work[i].usage = wgpu.BufferUsageStorage | wgpu.BufferUsageCopySrc | wgpu.BufferUsageCopyDst
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queues = append(d.queues, q)
	return q
}

// release frees all resources. The device has finished all submissions.
func (q *queue) release() {
	q.releaseBuffers()
	q.note.release()
}

func (q *queue) releaseBuffers() {
	q.releaseBuffer(&q.up)
	q.releaseBuffer(&q.down)
	for i := range q.work {
		q.releaseBuffer(&q.work[i])
	}
}

// Shrink frees all buffers.
func (q *queue) Shrink() error {
	return q.d.locked(func() error {
		q.releaseBuffers()
		_, err := q.d.pollDevice() // frees what is no longer used
		return err
	})
}

func (q *queue) releaseBuffer(b *buffer) {
	if b.ref != nil {
		b.ref.Release()
		b.ref, b.size, b.mapped = nil, 0, false
		q.d.held.Add(-1)
	}
}

// reserve makes a buffer at least n bytes large. A buffer that grows loses its content. The caller
// holds the lock.
func (q *queue) reserve(b *buffer, n uint64) error {
	n = max(n, 256)
	if b.size >= n {
		return nil
	}
	if n > q.d.maxBuffer {
		return fmt.Errorf("webgpu: %d bytes do not fit into a buffer of %d", n, q.d.maxBuffer)
	}
	q.releaseBuffer(b)
	size := host.Grow(n, q.d.maxBuffer)
	writes := b.usage&wgpu.BufferUsageMapWrite != 0
	ref, err := q.d.buffer(b.usage, size, writes)
	if err != nil {
		return err
	}
	b.ref, b.size, b.mapped = ref, size, writes
	return nil
}

// Upload returns n bytes of mapped memory for the next submission.
func (q *queue) Upload(n uint64) ([]byte, error) {
	err := q.d.locked(func() error {
		if err := q.reserve(&q.up, n); err != nil {
			return err
		}
		if !q.up.mapped {
			q.note.requestMap(q.up.ref, wgpu.MapModeWrite, q.up.size)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !q.up.mapped {
		if err := q.wait(); err != nil {
			return nil, err
		}
		q.up.mapped = true
	}
	p, err := q.d.mappedRange(q.up.ref, q.up.size)
	if err != nil {
		return nil, err
	}
	return p[:n], nil
}

// down16 returns the bytes to map for downloads of n bytes: a positive multiple of 16.
func down16(n uint64) uint64 { return max((n+15)&^15, 16) }

// Submit runs a submission and waits for it.
func (q *queue) Submit(s *host.Submission) error {
	if q.times(s) {
		if err := q.calibrate(); err != nil {
			return err
		}
	}
	if err := q.run(s); err != nil {
		return err
	}
	if q.times(s) {
		return q.readTimes(s)
	}
	return nil
}

// run is Submit without reading the timestamps.
func (q *queue) run(s *host.Submission) error {
	q.total = s.DownloadSize()
	size := down16(q.total)
	if q.times(s) {
		size += 16 * uint64(passesOf(s))
	}
	err := q.d.locked(func() error {
		if err := q.reserve(&q.down, size); err != nil {
			return err
		}
		enc, err := q.d.dev.CreateCommandEncoder(nil)
		if err != nil {
			return err
		}
		defer q.d.releaseObject(enc)
		if err := q.record(s, enc); err != nil {
			return err
		}
		commands, err := enc.Finish(nil)
		if err != nil {
			return err
		}
		defer q.d.releaseObject(commands)
		if err := q.d.submit(commands); err != nil {
			return err
		}
		q.note.requestMap(q.down.ref, wgpu.MapModeRead, size)
		return nil
	})
	if err != nil {
		return err
	}
	return q.wait()
}

// record records a submission. The caller holds the lock.
func (q *queue) record(s *host.Submission, enc *wgpu.CommandEncoder) error {
	times := q.times(s)
	if times {
		if err := q.d.clock.open(q.d); err != nil {
			return err
		}
		if err := q.d.clock.mark(enc, 0); err != nil {
			return err
		}
	}
	if s.UploadSize > 0 {
		to := &q.work[s.UploadTo]
		if err := q.reserve(to, s.UploadSize); err != nil {
			return err
		}
		if err := q.up.ref.Unmap(); err != nil {
			return err
		}
		q.up.mapped = false
		recordCopy(enc, q.up.ref, 0, to.ref, 0, s.UploadSize)
	}
	for _, r := range s.Reserve {
		if err := q.reserve(&q.work[r.Buffer], r.Size); err != nil {
			return err
		}
	}
	if err := q.recordKernels(s, enc, times); err != nil {
		return err
	}
	at := uint64(0)
	for _, f := range s.Downloads {
		recordCopy(enc, q.work[f.Buffer].ref, f.From, q.down.ref, at, f.Size)
		at += f.Size
	}
	if times {
		return q.d.clock.recordEnd(enc, passesOf(s), q.down.ref, down16(q.total))
	}
	return nil
}

// recordKernels records the kernels of a submission in one pass, or in one pass each with
// timestamps.
func (q *queue) recordKernels(s *host.Submission, enc *wgpu.CommandEncoder, times bool) error {
	each := max(1, len(s.Kernels))
	if times {
		each = 1
	}
	n := uint32(0)
	for list := range slices.Chunk(s.Kernels, each) {
		p := pass{q: q}
		n++
		if times {
			var err error
			p.enc, err = q.d.clock.pass(enc, n)
			if err != nil {
				return err
			}
		} else {
			p.enc = enc.BeginComputePass(nil)
		}
		err := p.run(list)
		p.release()
		if err != nil {
			return err
		}
	}
	return nil
}

// Downloaded calls f with the downloads of the last submission.
func (q *queue) Downloaded(f func(p []byte)) error {
	p, err := q.d.mappedRange(q.down.ref, down16(q.total))
	if err != nil {
		return err
	}
	f(p[:q.total])
	return q.d.locked(q.down.ref.Unmap)
}

// wait waits until the requested buffer is mapped.
func (q *queue) wait() error {
	return host.Poll(func() (bool, error) {
		if q.d.stopped.Load() {
			return false, host.ErrClosed
		}
		_, lost := q.d.poll()
		ok, err := q.note.mapped()
		return ok, errors.Join(lost, err)
	})
}

// pass is a compute pass while it is recorded.
type pass struct {
	q      *queue
	enc    *wgpu.ComputePassEncoder
	groups []*wgpu.BindGroup
}

// run records dispatches and ends the pass.
func (p *pass) run(list []host.Dispatch) error {
	var err error
	for i := range list {
		if err = p.dispatch(&list[i]); err != nil {
			break
		}
	}
	e := p.enc.End()
	if err == nil {
		err = e
	}
	return err
}

func (p *pass) dispatch(s *host.Dispatch) error {
	q := p.q
	k, err := q.d.kernel(s.Kernel)
	if err != nil {
		return err
	}
	q.bind = q.bind[:0]
	for i, b := range s.Bind {
		e := wgpu.BindGroupEntry{Binding: uint32(i), Offset: b.Offset, Size: b.Size}
		if b.Buffer == host.Shifts {
			e.Buffer = q.d.shifts
		} else {
			e.Buffer = q.work[b.Buffer].ref
			if e.Size == 0 {
				e.Size = q.work[b.Buffer].size - b.Offset
			}
		}
		q.bind = append(q.bind, e)
	}
	g, err := q.d.dev.CreateBindGroup(&wgpu.BindGroupDescriptor{Layout: k.layout, Entries: q.bind})
	if err != nil {
		return fmt.Errorf("%s: %w", s.Kernel, err)
	}
	p.groups = append(p.groups, g)
	p.enc.SetPipeline(k.pipeline)
	p.enc.SetBindGroup(0, g, nil)
	x, y := s.Grid()
	for range s.Times {
		p.enc.DispatchWorkgroups(x, y, 1)
	}
	return nil
}

func (p *pass) release() {
	p.enc.Release()
	for _, g := range p.groups {
		g.Release()
	}
}

//go:build opengl && cgo && linux

package opengl

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/go-gl/gl/v4.3-core/gl"

	"github.com/gopz/compress/gpu/internal/host"
)

// queue is a host.Queue.
type queue struct {
	d    *driver
	up   buffer // mapped for writing between Upload and Submit
	down buffer // mapped for reading after a submission
	work [host.NumBuffers]buffer

	queries []uint32 // for timestamps
	marks   int      // timestamps that the current submission has taken
}

// buffer is a buffer of OpenGL.
type buffer struct {
	id     uint32
	size   uint64
	usage  uint32
	mapped []byte // nil if the buffer is not mapped
}

var errMap = errors.New("opengl: mapping a buffer failed")

func (d *driver) Queue() (host.Queue, error) {
	q := &queue{d: d}
	q.up.usage = gl.STREAM_DRAW
	q.down.usage = gl.STREAM_READ
	for i := range q.work {
		q.work[i].usage = gl.DYNAMIC_COPY
	}
	return q, d.do(func() error {
		d.queues = append(d.queues, q)
		return nil
	})
}

// Shrink frees all buffers.
func (q *queue) Shrink() error {
	return q.d.do(func() error {
		q.release()
		return nil
	})
}

// releaseBuffer frees a buffer.
func (q *queue) releaseBuffer(b *buffer) {
	q.d.deleteBuffer(&b.id)
	b.size, b.mapped = 0, nil
}

func (q *queue) release() {
	q.releaseBuffer(&q.up)
	q.releaseBuffer(&q.down)
	for i := range q.work {
		q.releaseBuffer(&q.work[i])
	}
	if n := len(q.queries); n > 0 {
		gl.DeleteQueries(int32(n), &q.queries[0])
		q.d.held.Add(-int64(n))
		q.queries = nil
	}
}

// mark takes a timestamp if s asks for times.
func (q *queue) mark(s *host.Submission) {
	if s.Times == nil {
		return
	}
	if q.marks == len(q.queries) {
		var id uint32
		gl.GenQueries(1, &id)
		q.queries = append(q.queries, id)
		q.d.held.Add(1)
	}
	gl.QueryCounter(q.queries[q.marks], gl.TIMESTAMP)
	q.marks++
}

// readTimes sets the times of a submission that has ended.
func (q *queue) readTimes(s *host.Submission) error {
	if s.Times == nil {
		return nil
	}
	return q.d.do(func() error {
		marks := make([]float64, q.marks)
		var first uint64
		for i := range marks {
			var t uint64
			gl.GetQueryObjectui64v(q.queries[i], gl.QUERY_RESULT, &t)
			if i == 0 {
				first = t
			}
			marks[i] = float64(t - first)
		}
		s.Times.SetMarks(marks)
		return q.d.check()
	})
}

// reserve makes a buffer at least n bytes large. A buffer that grows loses its content.
func (q *queue) reserve(b *buffer, n uint64) error {
	n = max(n, 256)
	if b.size >= n {
		return nil
	}
	if n > q.d.maxBuffer {
		return fmt.Errorf("opengl: %d bytes do not fit into a buffer of %d", n, q.d.maxBuffer)
	}
	q.releaseBuffer(b)
	size := host.Grow(n, q.d.maxBuffer)
	id, err := q.d.buffer(int(size), nil, b.usage)
	if err != nil {
		return err
	}
	b.id, b.size = id, size
	return nil
}

// mapRange maps the first n bytes of a buffer.
func (q *queue) mapRange(b *buffer, n uint64, access uint32) error {
	gl.BindBuffer(gl.COPY_WRITE_BUFFER, b.id)
	p := gl.MapBufferRange(gl.COPY_WRITE_BUFFER, 0, int(n), access)
	if err := q.d.check(); err != nil {
		return err
	}
	if p == nil {
		return errMap
	}
	b.mapped = unsafe.Slice((*byte)(p), n)
	return nil
}

// unmap ends the map of a buffer.
func (q *queue) unmap(b *buffer) error {
	if b.mapped == nil {
		return nil
	}
	b.mapped = nil
	gl.BindBuffer(gl.COPY_WRITE_BUFFER, b.id)
	if !gl.UnmapBuffer(gl.COPY_WRITE_BUFFER) {
		return errors.Join(errors.New("opengl: a buffer lost its content"), q.d.check())
	}
	return nil
}

// Upload returns n bytes of mapped memory for the next submission.
func (q *queue) Upload(n uint64) ([]byte, error) {
	var p []byte
	err := q.d.do(func() error {
		if err := q.unmap(&q.up); err != nil { // of an upload that was not submitted
			return err
		}
		if err := q.reserve(&q.up, n); err != nil {
			return err
		}
		err := q.mapRange(&q.up, n, gl.MAP_WRITE_BIT|gl.MAP_INVALIDATE_BUFFER_BIT)
		p = q.up.mapped
		return err
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Submit runs a submission and waits for it.
func (q *queue) Submit(s *host.Submission) error {
	total := s.DownloadSize()
	fence := uintptr(0)
	err := q.d.do(func() (err error) {
		fence, err = q.record(s, total)
		return err
	})
	if err != nil {
		return err
	}
	err = host.Poll(func() (bool, error) {
		ready := false
		err := q.d.do(func() (err error) {
			ready, err = q.ready(fence, total)
			return err
		})
		return ready && err == nil, err // after an error the thread may still set ready
	})
	if err != nil {
		return err
	}
	return q.readTimes(s)
}

// record hands a submission to the driver.
func (q *queue) record(s *host.Submission, total uint64) (fence uintptr, err error) {
	q.marks = 0
	if err := q.unmap(&q.down); err != nil { // if the last downloads were not read
		return 0, err
	}
	if err := q.reserve(&q.down, total); err != nil {
		return 0, err
	}
	q.mark(s)
	if s.UploadSize > 0 {
		to := &q.work[s.UploadTo]
		if err := q.reserve(to, s.UploadSize); err != nil {
			return 0, err
		}
		if err := q.unmap(&q.up); err != nil {
			return 0, err
		}
		copyBuffer(q.up.id, 0, to.id, 0, s.UploadSize)
	}
	for _, r := range s.Reserve {
		if err := q.reserve(&q.work[r.Buffer], r.Size); err != nil {
			return 0, err
		}
	}
	for i := range s.Kernels {
		q.mark(s)
		if err := q.dispatch(&s.Kernels[i]); err != nil {
			return 0, err
		}
		q.mark(s)
	}
	gl.MemoryBarrier(gl.BUFFER_UPDATE_BARRIER_BIT)
	at := uint64(0)
	for _, f := range s.Downloads {
		copyBuffer(q.work[f.Buffer].id, f.From, q.down.id, at, f.Size)
		at += f.Size
	}
	q.mark(s)
	fence = gl.FenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0)
	gl.Flush()
	if err := q.d.check(); err != nil {
		gl.DeleteSync(fence)
		return 0, err
	}
	return fence, nil
}

// copyBuffer copies n bytes from one buffer to another.
func copyBuffer(from uint32, at uint64, to uint32, toAt, n uint64) {
	gl.BindBuffer(gl.COPY_READ_BUFFER, from)
	gl.BindBuffer(gl.COPY_WRITE_BUFFER, to)
	gl.CopyBufferSubData(gl.COPY_READ_BUFFER, gl.COPY_WRITE_BUFFER, int(at), int(toAt), int(n))
}

// dispatch runs a kernel.
func (q *queue) dispatch(s *host.Dispatch) error {
	p, err := q.d.kernel(s.Kernel)
	if err != nil {
		return err
	}
	gl.UseProgram(p)
	for i, b := range s.Bind {
		id, size := q.d.shifts, b.Size
		if b.Buffer != host.Shifts {
			id = q.work[b.Buffer].id
			if size == 0 {
				size = q.work[b.Buffer].size - b.Offset
			}
		}
		gl.BindBufferRange(gl.SHADER_STORAGE_BUFFER, uint32(i), id, int(b.Offset), int(size))
	}
	x, y := s.Grid()
	for range s.Times {
		gl.DispatchCompute(x, y, 1)
		gl.MemoryBarrier(gl.SHADER_STORAGE_BARRIER_BIT)
	}
	return nil
}

// ready reports whether a submission is done, and then maps the downloads. It deletes the fence if
// the submission is done or failed.
func (q *queue) ready(fence uintptr, total uint64) (bool, error) {
	status := gl.ClientWaitSync(fence, 0, 0)
	if err := q.d.check(); err != nil || status == gl.WAIT_FAILED {
		gl.DeleteSync(fence)
		return false, errors.Join(errors.New("opengl: waiting for a submission failed"), err)
	}
	if status == gl.TIMEOUT_EXPIRED {
		return false, nil
	}
	gl.DeleteSync(fence)
	if total == 0 {
		return true, nil
	}
	return true, q.mapRange(&q.down, total, gl.MAP_READ_BIT)
}

// Downloaded calls f with the downloads of the last submission.
func (q *queue) Downloaded(f func(p []byte)) error {
	f(q.down.mapped)
	return q.d.do(func() error { return q.unmap(&q.down) })
}

//go:build opengl && cgo && linux

package opengl

import (
	"errors"
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"github.com/go-gl/gl/v4.3-core/gl"

	"github.com/gopz/compress/gpu/internal/host"
)

// queue is a host.Queue.
type queue struct {
	d    *driver
	up   buffer // filled by the host
	down buffer // where what is fetched can be read
	work [host.NumBuffers]buffer
}

// buffer is a buffer of OpenGL.
type buffer struct {
	id     uint32
	size   uint64
	usage  uint32
	mapped []byte // nil if it is not
}

var errMap = errors.New("opengl: a buffer could not be mapped")

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

// Close does nothing: the buffers go with the context, by free.
func (q *queue) Close() {}

func (q *queue) free() {
	q.d.free(&q.up.id)
	q.d.free(&q.down.id)
	for i := range q.work {
		q.d.free(&q.work[i].id)
	}
}

// room makes sure that a buffer has room for n bytes. What was in it is lost.
func (q *queue) room(b *buffer, n uint64) error {
	n = max(n, 256)
	if b.size >= n {
		return nil
	}
	if n > q.d.maxBuffer {
		return fmt.Errorf("opengl: %d bytes do not fit into a buffer", n)
	}
	q.d.free(&b.id)
	b.size, b.mapped = 0, nil
	size := host.Grow(n, q.d.maxBuffer)
	id, err := q.d.buffer(int(size), nil, b.usage)
	if err != nil {
		return err
	}
	b.id, b.size = id, size
	return nil
}

// open maps the first n bytes of a buffer.
func (q *queue) open(b *buffer, n uint64, access uint32) error {
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

// shut ends the map of a buffer.
func (q *queue) shut(b *buffer) error {
	if b.mapped == nil {
		return nil
	}
	b.mapped = nil
	gl.BindBuffer(gl.COPY_WRITE_BUFFER, b.id)
	if !gl.UnmapBuffer(gl.COPY_WRITE_BUFFER) {
		return errors.Join(errors.New("opengl: what was in a buffer is lost"), q.d.check())
	}
	return nil
}

// Upload returns n bytes of the host's memory that Submit sends.
func (q *queue) Upload(n uint64) ([]byte, error) {
	var p []byte
	err := q.d.do(func() error {
		if err := q.shut(&q.up); err != nil { // of a submission that did not come
			return err
		}
		if err := q.room(&q.up, n); err != nil {
			return err
		}
		err := q.open(&q.up, n, gl.MAP_WRITE_BIT|gl.MAP_INVALIDATE_BUFFER_BIT)
		p = q.up.mapped
		return err
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Submit does a submission.
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
	// The thread is asked again and again, since a wait there would hold up the submissions of others.
	for pause := time.Duration(0); ; {
		ready := false
		err := q.d.do(func() (err error) {
			ready, err = q.ready(fence, total)
			return err
		})
		if ready || err != nil {
			return err
		}
		if pause == 0 {
			runtime.Gosched()
			pause = 20 * time.Microsecond
			continue
		}
		time.Sleep(pause)
		pause = min(pause+pause/2, 300*time.Microsecond)
	}
}

// record gives the driver all of a submission.
func (q *queue) record(s *host.Submission, total uint64) (fence uintptr, err error) {
	if err := q.shut(&q.down); err != nil { // if nobody wanted the last one's
		return 0, err
	}
	if err := q.room(&q.down, total); err != nil {
		return 0, err
	}
	if s.UploadSize > 0 {
		to := &q.work[s.UploadTo]
		if err := q.room(to, s.UploadSize); err != nil {
			return 0, err
		}
		if err := q.shut(&q.up); err != nil {
			return 0, err
		}
		duplicate(q.up.id, 0, to.id, 0, s.UploadSize)
	}
	for _, r := range s.Reserve {
		if err := q.room(&q.work[r.Buffer], r.Size); err != nil {
			return 0, err
		}
	}
	for i := range s.Kernels {
		if err := q.dispatch(&s.Kernels[i]); err != nil {
			return 0, err
		}
	}
	gl.MemoryBarrier(gl.BUFFER_UPDATE_BARRIER_BIT)
	at := uint64(0)
	for _, f := range s.Downloads {
		duplicate(q.work[f.Buffer].id, f.From, q.down.id, at, f.Size)
		at += f.Size
	}
	fence = gl.FenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0)
	gl.Flush()
	if err := q.d.check(); err != nil {
		gl.DeleteSync(fence)
		return 0, err
	}
	return fence, nil
}

// duplicate copies n bytes from a buffer to another.
func duplicate(from uint32, at uint64, to uint32, toAt, n uint64) {
	gl.BindBuffer(gl.COPY_READ_BUFFER, from)
	gl.BindBuffer(gl.COPY_WRITE_BUFFER, to)
	gl.CopyBufferSubData(gl.COPY_READ_BUFFER, gl.COPY_WRITE_BUFFER, int(at), int(toAt), int(n))
}

// dispatch has a kernel run.
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

// ready looks whether a submission is done. If so, or if something is wrong, the fence is gone; and what was fetched is mapped.
func (q *queue) ready(fence uintptr, total uint64) (bool, error) {
	status := gl.ClientWaitSync(fence, 0, 0)
	if err := q.d.check(); err != nil || status == gl.WAIT_FAILED {
		gl.DeleteSync(fence)
		return false, errors.Join(errors.New("opengl: waiting failed"), err)
	}
	if status == gl.TIMEOUT_EXPIRED {
		return false, nil
	}
	gl.DeleteSync(fence)
	if total == 0 {
		return true, nil
	}
	return true, q.open(&q.down, total, gl.MAP_READ_BIT)
}

// Fetched calls f with what the last submission has fetched.
func (q *queue) Downloaded(f func(p []byte)) error {
	f(q.down.mapped)
	return q.d.do(func() error { return q.shut(&q.down) })
}

//go:build webgpu && cgo

package webgpu

/*
#include <stdint.h>

typedef struct { void *set; uint32_t begin, end; } pz_writes; // WGPUComputePassTimestampWrites
typedef struct { void const *next; char const *label; pz_writes const *writes; } pz_pass_description;

extern void wgpuDeviceReference(void *device);
extern void *wgpuCommandEncoderBeginComputePass(void *encoder, pz_pass_description const *);

// pz_pass begins a pass that writes timestamps first and first+1, as the binding begins a pass
// without.
static void *pz_pass(void *device, void *encoder, void *set, uint32_t first) {
	pz_writes w = { set, first, first + 1 };
	pz_pass_description d = { .writes = &w };
	void *pass = wgpuCommandEncoderBeginComputePass(encoder, &d);
	if (pass != 0) {
		wgpuDeviceReference(device);
	}
	return pass;
}
*/
import "C"

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
	"unsafe"

	"github.com/cogentcore/webgpu/wgpu"

	"github.com/gopz/compress/gpu/internal/host"
)

// maxMarks is the number of timestamps that a clock can take in one submission.
const maxMarks = 256

// clock takes timestamps on the device. One queue at a time uses it.
type clock struct {
	set      *wgpu.QuerySet
	resolved *wgpu.Buffer
	period   float64 // nanoseconds of a tick
}

// passesOf returns the passes of a submission with timestamps: an empty one, one for each dispatch,
// and an empty one.
func passesOf(s *host.Submission) uint32 { return uint32(len(s.Kernels)) + 2 }

// times reports whether the queue takes timestamps of a submission.
func (q *queue) times(s *host.Submission) bool {
	return s.Times != nil && q.d.clock != nil && 2*passesOf(s) <= maxMarks
}

// open creates the clock's objects, once. The caller holds the lock.
func (c *clock) open(d *driver) (err error) {
	if c.set != nil {
		return nil
	}
	set, err := d.dev.CreateQuerySet(&wgpu.QuerySetDescriptor{Type: wgpu.QueryTypeTimestamp, Count: maxMarks})
	if err != nil {
		return fmt.Errorf("timestamps: %w", err)
	}
	c.resolved, err = d.buffer(wgpu.BufferUsageQueryResolve|wgpu.BufferUsageCopySrc, 8*maxMarks, false)
	if err != nil {
		set.Release()
		return err
	}
	c.set = set
	return nil
}

// release frees the clock's objects.
func (c *clock) release(d *driver) {
	if c != nil && c.set != nil {
		c.set.Release()
		c.resolved.Release()
		d.held.Add(-1)
		c.set = nil
	}
}

// pass begins pass n of a submission, with timestamps.
func (c *clock) pass(enc *wgpu.CommandEncoder, n uint32) (*wgpu.ComputePassEncoder, error) {
	e, set := (*bindingEncoder)(unsafe.Pointer(enc)), (*bindingQuerySet)(unsafe.Pointer(c.set))
	ref := C.pz_pass(e.device, e.ref, set.ref, C.uint32_t(2*n))
	if ref == nil {
		return nil, errors.New("webgpu: no compute pass")
	}
	return (*wgpu.ComputePassEncoder)(unsafe.Pointer(&bindingEncoder{e.device, ref})), nil
}

// mark records pass n without work.
func (c *clock) mark(enc *wgpu.CommandEncoder, n uint32) error {
	p, err := c.pass(enc, n)
	if err != nil {
		return err
	}
	defer p.Release()
	return p.End()
}

// recordEnd records the last mark of n passes and the copy of all timestamps to a buffer.
func (c *clock) recordEnd(enc *wgpu.CommandEncoder, n uint32, to *wgpu.Buffer, at uint64) error {
	if err := c.mark(enc, n-1); err != nil {
		return err
	}
	if err := enc.ResolveQuerySet(c.set, 0, 2*n, c.resolved, 0); err != nil {
		return err
	}
	recordCopy(enc, c.resolved, 0, to, at, 16*uint64(n))
	return nil
}

// ticks returns the timestamps that the last submission of n passes has left in the download
// buffer.
func (q *queue) ticks(n uint32) ([]uint64, error) {
	at := down16(q.total)
	p, err := q.d.mappedRange(q.down.ref, at+16*uint64(n))
	if err != nil {
		return nil, err
	}
	list := make([]uint64, 2*n)
	for i := range list {
		list[i] = binary.LittleEndian.Uint64(p[at+8*uint64(i):])
	}
	return list, nil
}

// readTimes sets the times of a submission that has ended.
func (q *queue) readTimes(s *host.Submission) error {
	c, n := q.d.clock, passesOf(s)
	list, err := q.ticks(n)
	if err != nil || c.period == 0 {
		return err
	}
	marks := make([]float64, 0, len(list))
	for _, t := range list[1 : len(list)-1] {
		marks = append(marks, float64(t-list[0])*c.period)
	}
	s.Times.SetMarks(marks)
	return nil
}

// calibration is the time between two timestamps that measure the period of the clock.
const calibration = 100 * time.Millisecond

// calibrate measures the period of the clock, because the library does not tell it. It uses the
// queue for two submissions.
func (q *queue) calibrate() error {
	c := q.d.clock
	if c == nil || c.period != 0 {
		return nil
	}
	var at [2]time.Time
	var ticks [2]uint64
	for i := range at {
		if i > 0 {
			time.Sleep(calibration)
		}
		s := &host.Submission{Times: new(host.Times)}
		if err := q.run(s); err != nil {
			return err
		}
		at[i] = time.Now()
		list, err := q.ticks(passesOf(s))
		if err != nil {
			return err
		}
		ticks[i] = list[len(list)-1]
		if err := q.Downloaded(func([]byte) {}); err != nil {
			return err
		}
	}
	c.period = float64(at[1].Sub(at[0])) / float64(ticks[1]-ticks[0])
	if math.Abs(c.period-1) < 0.03 {
		c.period = 1 // the most frequent one; the rest is an error of measurement
	}
	return nil
}

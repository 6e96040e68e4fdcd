package interp

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/gopz/compress/gpu/internal/host"
)

// queue is a host.Queue.
type queue struct {
	d      *Driver
	up     []byte
	down   []byte
	work   [host.NumBuffers]buffer
	shifts []uint32
	groups map[string]*group
	seed   uint64 // of the next dispatch
	epoch  uint32 // of the last dispatch
	serial uint32 // number of the last workgroup
}

// buffer is a buffer in words. It is exactly as long as the host has asked for, so that an index
// behind that is a fault.
type buffer struct {
	data  []uint32
	cells []cell // as long as data, or nil if no kernel has written it
	touched
}

// Shrink frees all buffers.
func (q *queue) Shrink() error {
	q.release()
	q.groups = map[string]*group{}
	return nil
}

func (q *queue) release() {
	for i := range q.work {
		if q.work[i].data != nil {
			q.d.held.Add(-1)
		}
		q.work[i] = buffer{}
	}
	if q.up != nil {
		q.d.held.Add(-1)
	}
	q.up, q.down, q.groups = nil, nil, nil
}

// reserve makes a buffer n bytes long. If it grows, its content is random.
func (q *queue) reserve(b *buffer, n uint64) error {
	if err := q.d.check(n); err != nil {
		return err
	}
	size := int(n+3) / 4
	if b.data == nil {
		q.d.held.Add(1)
	}
	if size <= len(b.data) && b.data != nil {
		b.data = b.data[:size]
		return nil
	}
	if size > cap(b.data) || b.data == nil {
		b.data, b.cells = make([]uint32, size, max(size, 64)), nil
		b.touched = touched{}
	}
	b.data = b.data[:size]
	x := uint32(q.seed)*2 + 1
	for i := range b.data {
		x = x*1664525 + 1013904223
		b.data[i] = x
	}
	return nil
}

// Upload returns n bytes of memory for the next submission.
func (q *queue) Upload(n uint64) ([]byte, error) {
	if q.d.stopped.Load() {
		return nil, host.ErrClosed
	}
	if err := q.d.check(n); err != nil {
		return nil, err
	}
	if q.up == nil {
		q.d.held.Add(1)
	}
	if uint64(cap(q.up)) < n || q.up == nil {
		q.up = make([]byte, n)
		for i := range q.up {
			q.up[i] = byte(i*i>>3 + 85) // any content
		}
	}
	q.up = q.up[:n]
	return q.up, nil
}

// Submit runs a submission.
func (q *queue) Submit(s *host.Submission) error {
	if q.d.stopped.Load() {
		return host.ErrClosed
	}
	if s.UploadSize > 0 {
		to := &q.work[s.UploadTo]
		if err := q.reserve(to, s.UploadSize); err != nil {
			return err
		}
		for i := range int(s.UploadSize / 4) {
			to.data[i] = binary.LittleEndian.Uint32(q.up[4*i:])
		}
	}
	var sizes [host.NumBuffers]uint64 // a submission may reserve a buffer for several kernels
	for _, r := range s.Reserve {
		sizes[r.Buffer] = max(sizes[r.Buffer], r.Size)
	}
	for i, n := range sizes {
		if n > 0 {
			if err := q.reserve(&q.work[i], n); err != nil {
				return err
			}
		}
	}
	for i := range s.Kernels {
		for range s.Kernels[i].Times {
			if err := q.dispatch(&s.Kernels[i]); err != nil {
				return err
			}
		}
	}
	q.down = q.down[:0]
	for _, r := range s.Downloads {
		b := &q.work[r.Buffer]
		if r.From+r.Size > 4*uint64(len(b.data)) {
			return fmt.Errorf("interp: download of %d bytes from %d; buffer %d has %d",
				r.Size, r.From, r.Buffer, 4*len(b.data))
		}
		for _, v := range b.data[r.From/4:][:r.Size/4] {
			q.down = binary.LittleEndian.AppendUint32(q.down, v)
		}
	}
	return nil
}

// Downloaded calls f with the downloads of the last submission.
func (q *queue) Downloaded(f func(p []byte)) error {
	f(q.down)
	return nil
}

// dispatch runs a kernel once.
func (q *queue) dispatch(s *host.Dispatch) error {
	p, err := q.d.program(s.Kernel)
	if err != nil {
		return err
	}
	g := q.groups[s.Kernel]
	if g == nil {
		g = newGroup(p)
		q.groups[s.Kernel] = g
	}
	q.seed++
	g.seed, g.random = q.seed, rand.NewPCG(q.seed, 0)
	g.stop, g.maxSteps = q.d.stopped.Load, q.d.options.MaxSteps
	if q.epoch > 1<<28 {
		q.resetStamps()
	}
	g.epoch, g.base = q.epoch, q.epoch+1
	defer func() { q.epoch = g.epoch + uint32(p.size) }()
	if err := q.bind(g, s.Bind); err != nil {
		return err
	}
	count := &Counters{Dispatches: 1}
	g.unwritten = 0
	g.count = nil
	if q.d.options.Lockstep {
		g.count = count
	}
	g.first = q.serial + 1
	x, y := s.Grid()
	for _, n := range rand.New(g.random).Perm(int(x) * int(y)) {
		count.Workgroups++
		q.serial++
		g.serial = q.serial
		g.reset(uint32(n)%x, uint32(n)/x, [2]uint32{x, y})
		if g.count != nil {
			g.lockstep()
		} else {
			g.interleave()
		}
		if g.fault != nil {
			err := g.fault
			g.fault = nil
			return err
		}
		if q.d.stopped.Load() {
			return host.ErrClosed
		}
	}
	count.Unwritten = g.unwritten
	q.d.tally(s.Kernel, count)
	return nil
}

// resetStamps begins the stamps of cells again.
func (q *queue) resetStamps() {
	q.epoch = 0
	for i := range q.work {
		clear(q.work[i].cells)
	}
	for _, g := range q.groups {
		clear(g.cells)
	}
}

// bind sets the bindings of a kernel.
func (q *queue) bind(g *group, list []host.Binding) error {
	if len(list) != len(g.views) {
		return fmt.Errorf("interp: %s: %d bindings, want %d", g.p.name, len(list), len(g.views))
	}
	for i, b := range list {
		if b.Buffer == host.Shifts {
			g.views[i] = view{data: q.shiftWords()}
			if n := b.Size / 4; n > 0 {
				g.views[i].data = g.views[i].data[b.Offset/4:][:n]
			}
			continue
		}
		w := &q.work[b.Buffer]
		from, n := int(b.Offset/4), int(b.Size/4)
		if n == 0 {
			n = len(w.data) - from
		}
		if from+n > len(w.data) || n <= 0 {
			return fmt.Errorf("interp: %s: binding %d has %d words from %d; the buffer has %d",
				g.p.name, i, n, from, len(w.data))
		}
		g.views[i] = view{data: w.data[from:][:n]}
		if q.d.options.Lockstep {
			if w.loaded == nil {
				sectors := cap(w.data)/sector + 1
				w.touched = touched{make([]uint32, sectors), make([]uint32, sectors)}
			}
			g.views[i].touched = touched{w.loaded[from/sector:], w.stored[from/sector:]}
		}
		for k, o := range list[:i] {
			if o.Buffer == b.Buffer && (g.p.buffers[i].write || g.p.buffers[k].write) &&
				from < int(o.Offset/4)+len(g.views[k].data) && int(o.Offset/4) < from+n {
				return &Fault{
					Kind: Overlap, Kernel: g.p.name, Seed: g.seed,
					Text: fmt.Sprintf("bindings %d and %d", k, i),
				}
			}
		}
		if g.p.buffers[i].write {
			if w.cells == nil {
				w.cells = make([]cell, cap(w.data))
			}
			g.views[i].cells = w.cells[from:][:n]
		}
	}
	return nil
}

func (q *queue) shiftWords() []uint32 {
	if q.shifts == nil {
		p := host.ShiftBytes()
		for i := 0; i+4 <= len(p); i += 4 {
			q.shifts = append(q.shifts, binary.LittleEndian.Uint32(p[i:]))
		}
	}
	return q.shifts
}

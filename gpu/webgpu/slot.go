//go:build webgpu && cgo

package webgpu

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/cogentcore/webgpu/wgpu"

	"github.com/gopz/compress/lz77"
	"github.com/gopz/compress/rans"
)

// slot is what one batch has to itself: buffers, which are kept from batch to batch, and the host's scratch memory.
type slot struct {
	d    *Device
	up   buffer // filled by the host
	in   buffer // where up goes: the input of the kernels
	out  buffer // what they make
	down buffer // where it can be read
	sort [5]buffer
	note status

	decoders []rans.Decoder
	encoders []rans.Encoder
	matchers []lz77.Matcher
	jobs     []job
	blocks   []matchJob
	fetch    []stretch
	counts   []int
	best     [][]uint32
	hist     []uint16
}

// buffer is a buffer of the device.
type buffer struct {
	ref    *wgpu.Buffer
	size   uint64
	usage  wgpu.BufferUsage
	mapped bool
}

func newSlot(d *Device) *slot {
	const work = wgpu.BufferUsageStorage | wgpu.BufferUsageCopySrc | wgpu.BufferUsageCopyDst
	s := &slot{d: d, note: newStatus()}
	s.up.usage = wgpu.BufferUsageMapWrite | wgpu.BufferUsageCopySrc
	s.in.usage = work
	s.out.usage = work
	s.down.usage = wgpu.BufferUsageMapRead | wgpu.BufferUsageCopyDst
	for i := range s.sort {
		s.sort[i].usage = work
	}
	return s
}

func (s *slot) buffers() []*buffer {
	all := []*buffer{&s.up, &s.in, &s.out, &s.down}
	for i := range s.sort {
		all = append(all, &s.sort[i])
	}
	return all
}

func (s *slot) free() {
	for _, b := range s.buffers() {
		b.free()
	}
	s.note.free()
}

func (b *buffer) free() {
	if b.ref != nil {
		b.ref.Release()
		b.ref, b.size, b.mapped = nil, 0, false
	}
}

// room makes sure that a buffer has room for n bytes. What was in it is lost. The device is locked.
func (s *slot) room(b *buffer, n uint64) error {
	n = max(n, 256)
	if b.size >= n {
		return nil
	}
	if n > s.d.binding {
		return fmt.Errorf("webgpu: %d bytes do not fit into a buffer", n)
	}
	b.free()
	size := min((n+n/4+255)&^255, s.d.binding)
	writes := b.usage&wgpu.BufferUsageMapWrite != 0
	ref, err := s.d.dev.CreateBuffer(&wgpu.BufferDescriptor{Usage: b.usage, Size: size, MappedAtCreation: writes})
	if err != nil {
		return err
	}
	b.ref, b.size, b.mapped = ref, size, writes
	return nil
}

// upload returns n bytes of the host's memory that submit sends to the input of the kernels.
func (s *slot) upload(n uint64) ([]byte, error) {
	n = align(n)
	err := s.d.locked(func() error {
		if err := s.room(&s.up, n); err != nil {
			return err
		}
		if s.up.mapped {
			return nil
		}
		s.note.ask(s.up.ref, wgpu.MapModeWrite, s.up.size)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !s.up.mapped {
		if err := s.wait(); err != nil {
			return nil, err
		}
		s.up.mapped = true
	}
	return s.up.ref.GetMappedRange(0, uint(s.up.size))[:n], nil
}

// align rounds a size up so that it may be copied and mapped.
func align(n uint64) uint64 { return (n + 15) &^ 15 }

// stretch is a part of a buffer in bytes; all multiples of 4.
type stretch struct{ from, size uint64 }

// submit sends n bytes of upload to a buffer, records dispatches, and fetches stretches of the output one behind the other. They are read with fetched.
func (s *slot) submit(n uint64, to *buffer, kernels func(p *pass) error, fetch ...stretch) error {
	if f := s.d.fault; f != nil {
		if err := f(); err != nil {
			return err
		}
	}
	total := uint64(0)
	for _, f := range fetch {
		total += f.size
	}
	total = max(align(total), 16)
	err := s.d.locked(func() (err error) {
		d := s.d
		if err := s.room(&s.down, total); err != nil {
			return err
		}
		enc, err := d.dev.CreateCommandEncoder(nil)
		if err != nil {
			return err
		}
		defer enc.Release()
		if n > 0 {
			if err := s.room(to, align(n)); err != nil {
				return err
			}
			if err := s.up.ref.Unmap(); err != nil {
				return err
			}
			s.up.mapped = false
			record(enc, s.up.ref, 0, to.ref, 0, align(n))
		}
		if kernels != nil {
			p := &pass{s: s, enc: enc.BeginComputePass(nil)}
			err := kernels(p)
			if e := p.enc.End(); err == nil {
				err = e
			}
			p.enc.Release()
			defer p.release()
			if err != nil {
				return err
			}
		}
		at := uint64(0)
		for _, f := range fetch {
			if f.size > 0 {
				record(enc, s.out.ref, f.from, s.down.ref, at, f.size)
			}
			at += f.size
		}
		commands, err := enc.Finish(nil)
		if err != nil {
			return err
		}
		defer commands.Release()
		d.queue.Submit(commands)
		s.note.ask(s.down.ref, wgpu.MapModeRead, total)
		return nil
	})
	if err != nil {
		return err
	}
	return s.wait()
}

// fetched calls f with what the last submission has fetched.
func (s *slot) fetched(n uint64, f func(p []byte)) error {
	f(s.down.ref.GetMappedRange(0, uint(max(align(n), 16)))[:n])
	return s.d.locked(s.down.ref.Unmap)
}

// wait waits for the answer to a map. It asks again and again, since a wait inside of the binding would hold up the submissions of others.
func (s *slot) wait() error {
	for pause := time.Duration(0); ; {
		if s.d.closed.Load() {
			return errClosed
		}
		s.d.mu.Lock()
		s.d.dev.Poll(false, nil)
		s.d.mu.Unlock()
		if ok, err := s.note.answer(); ok || err != nil {
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

// pass is a compute pass that is being recorded.
type pass struct {
	s      *slot
	enc    *wgpu.ComputePassEncoder
	groups []*wgpu.BindGroup
}

// maxGroups is how many workgroups a dispatch has along x.
const maxGroups = 32768

// run records the dispatch of at least n workgroups. Bindings are numbered in order.
func (p *pass) run(name string, n int, bind ...wgpu.BindGroupEntry) error {
	if n > maxGroups*math.MaxUint16 {
		return fmt.Errorf("webgpu: %d workgroups", n)
	}
	k, err := p.s.d.kernel(name)
	if err != nil {
		return err
	}
	for i := range bind {
		bind[i].Binding = uint32(i)
	}
	g, err := p.s.d.dev.CreateBindGroup(&wgpu.BindGroupDescriptor{Layout: k.layout, Entries: bind})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	p.groups = append(p.groups, g)
	p.enc.SetPipeline(k.pipeline)
	p.enc.SetBindGroup(0, g, nil)
	x := min(n, maxGroups)
	for range 1 + p.s.d.again[name] {
		p.enc.DispatchWorkgroups(uint32(x), uint32((n+x-1)/x), 1)
	}
	return nil
}

func (p *pass) release() {
	for _, g := range p.groups {
		g.Release()
	}
}

// whole binds all of a buffer.
func whole(b *buffer) wgpu.BindGroupEntry {
	return wgpu.BindGroupEntry{Buffer: b.ref, Size: b.size}
}

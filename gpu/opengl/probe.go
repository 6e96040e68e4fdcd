//go:build opengl && cgo && linux

package opengl

import (
	"encoding/binary"
	"unsafe"

	"github.com/go-gl/gl/v4.3-core/gl"
)

// probeTurns exceeds the 65,535 iterations after which Mesa's software drivers leave a loop. A GPU
// takes a millisecond or two.
const probeTurns = 100_000

// probeKernel runs a loop that no compiler can replace by a formula.
const probeKernel = `#version 430
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { uint d[]; };
void main() {
	uint x = d[0];
	for (uint i = 0u; i < d[1]; i++) {
		x = (x ^ (x >> 7)) * 1664525u + 1013904223u;
	}
	d[2] = x;
}
`

// probe returns the right result of the kernel.
func probe(x uint32, turns int) uint32 {
	for range turns {
		x = (x^x>>7)*1664525 + 1013904223
	}
	return x
}

// longLoops reports whether the driver runs long loops to their end. The thread calls it.
func (d *driver) longLoops() (bool, error) {
	p, err := compile("probe", probeKernel)
	if err != nil {
		return false, err
	}
	defer gl.DeleteProgram(p)
	var data [12]byte
	binary.NativeEndian.PutUint32(data[4:], probeTurns)
	id, err := d.buffer(len(data), unsafe.Pointer(&data[0]), gl.STREAM_READ)
	if err != nil {
		return false, err
	}
	defer d.deleteBuffer(&id)
	gl.UseProgram(p)
	gl.BindBufferBase(gl.SHADER_STORAGE_BUFFER, 0, id)
	gl.DispatchCompute(1, 1, 1)
	gl.MemoryBarrier(gl.BUFFER_UPDATE_BARRIER_BIT)
	gl.BindBuffer(gl.COPY_READ_BUFFER, id)
	gl.GetBufferSubData(gl.COPY_READ_BUFFER, 0, len(data), unsafe.Pointer(&data[0]))
	return binary.NativeEndian.Uint32(data[8:]) == probe(0, probeTurns), d.check()
}

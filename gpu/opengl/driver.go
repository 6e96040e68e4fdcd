//go:build opengl && cgo && linux

package opengl

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/go-gl/gl/v4.3-core/gl"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/gpu/internal/host"
	"github.com/gopz/compress/gpu/internal/kernels"
)

const (
	// Limits that the kernels need, all guaranteed by OpenGL 4.3. Bindings begin at multiples of
	// offsetStep bytes.
	needBindings    = 7
	needShared      = 16 << 10
	needInvocations = 256
	needGroups      = 65535
	offsetStep      = 256
)

// driver is a host.Driver. Only its thread accesses fields that are not atomic.
type driver struct {
	*thread
	context   context
	adapter   gpu.Adapter
	maxBuffer uint64
	resets    func() uint32 // reset status; nil if the driver does not report resets
	lost      bool          // the context was reset, which the driver reports once
	held      atomic.Int64  // buffers, kernels
	shifts    uint32
	kernels   map[string]uint32
	queues    []*queue
}

// functions guards the search for OpenGL's functions. They are the same for all contexts.
var functions struct {
	sync.Mutex
	found bool
}

func findFunctions() error {
	functions.Lock()
	defer functions.Unlock()
	if functions.found {
		return nil
	}
	if err := gl.InitWithProcAddrFunc(procAddress); err != nil {
		return err
	}
	functions.found = true
	return nil
}

// start opens a context on a display. It waits at most timeout.
func start(disp display, timeout time.Duration) (*driver, error) {
	d := &driver{kernels: map[string]uint32{}}
	var err error
	d.thread, err = newThread(func() error {
		if err := d.context.open(disp); err != nil {
			return err
		}
		err := d.inspect()
		if err != nil {
			d.finally()
		}
		return err
	}, d.finally, timeout)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// inspect reads names and limits of the context. It returns an error if a limit is too low.
func (d *driver) inspect() error {
	if err := findFunctions(); err != nil {
		return fmt.Errorf("opengl: %w", err)
	}
	vendor, version := text(gl.VENDOR), text(gl.VERSION)
	d.adapter = gpu.Adapter{
		Name: text(gl.RENDERER), Kind: gpu.Other, Backend: "opengl",
		IDs: strings.TrimSpace(vendor + " " + version),
	}
	for _, need := range []struct {
		what      string
		has, need int64
	}{
		{"bindings", integer(gl.MAX_COMPUTE_SHADER_STORAGE_BLOCKS), needBindings},
		{"bindings in all", integer(gl.MAX_SHADER_STORAGE_BUFFER_BINDINGS), needBindings},
		{"bytes of workgroup memory", integer(gl.MAX_COMPUTE_SHARED_MEMORY_SIZE), needShared},
		{"invocations", integer(gl.MAX_COMPUTE_WORK_GROUP_INVOCATIONS), needInvocations},
		{"invocations along x", indexed(gl.MAX_COMPUTE_WORK_GROUP_SIZE, 0), needInvocations},
		{"workgroups along x", indexed(gl.MAX_COMPUTE_WORK_GROUP_COUNT, 0), needGroups},
		{"workgroups along y", indexed(gl.MAX_COMPUTE_WORK_GROUP_COUNT, 1), needGroups},
	} {
		if need.has < need.need {
			return fmt.Errorf("opengl: %s has %d %s; %d are needed",
				d.adapter.Name, need.has, need.what, need.need)
		}
	}
	if n := integer(gl.SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT); n > offsetStep {
		return fmt.Errorf("opengl: %s aligns bindings to %d bytes; at most %d are supported",
			d.adapter.Name, n, offsetStep)
	}
	d.maxBuffer = uint64(max(0, min(integer(gl.MAX_SHADER_STORAGE_BLOCK_SIZE), host.LargestBuffer))) &^ 255
	if d.context.robust {
		d.resets = resets()
	}
	shifts := host.ShiftBytes()
	var err error
	d.shifts, err = d.buffer(len(shifts), unsafe.Pointer(&shifts[0]), gl.STATIC_DRAW)
	if err != nil {
		return err
	}
	if isSoftware(d.adapter.Name) {
		d.adapter.Kind = gpu.Software
		return d.check()
	}
	// It may be software with an unknown name, or on another machine.
	all, err := d.longLoops()
	if err == nil && !all {
		d.adapter.Kind = gpu.Software
	}
	return err
}

// isSoftware reports whether a name is that of a driver that runs kernels on the CPU, directly or
// through another driver.
func isSoftware(name string) bool {
	name = strings.ToLower(name)
	for _, s := range []string{
		"llvmpipe", "softpipe", "swrast", "swr (", "swiftshader", "software",
		"basic render", "softgpu", "lavapipe",
	} {
		if strings.Contains(name, s) {
			return true
		}
	}
	return false
}

// resets returns the function that reports resets, under the name that the driver has for it.
func resets() func() uint32 {
	has := map[string]bool{}
	for i := range max(0, integer(gl.NUM_EXTENSIONS)) {
		has[gl.GoStr(gl.GetStringi(gl.EXTENSIONS, uint32(i)))] = true
	}
	switch {
	case has["GL_KHR_robustness"]:
		return gl.GetGraphicsResetStatus
	case has["GL_ARB_robustness"]:
		return gl.GetGraphicsResetStatusARB
	}
	return nil
}

func text(name uint32) string {
	if p := gl.GetString(name); p != nil {
		return gl.GoStr(p)
	}
	return ""
}

func integer(name uint32) (n int64) {
	gl.GetInteger64v(name, &n)
	return n
}

func indexed(name, i uint32) int64 {
	var n int32
	gl.GetIntegeri_v(name, i, &n)
	return int64(uint32(n))
}

var errLost = errors.New("opengl: the device was reset")

// contextLost is CONTEXT_LOST of OpenGL 4.5.
const contextLost = 0x0507

// do calls f on the thread, unless the context is lost.
func (d *driver) do(f func() error) error {
	return d.thread.do(func() error {
		if d.lost {
			return errLost
		}
		return f()
	})
}

// check returns the errors since the last call of check.
func (d *driver) check() (err error) {
	if d.resets != nil && d.resets() != gl.NO_ERROR {
		d.lost = true
	}
	if d.lost {
		err = errLost
	}
	for range 16 { // a lost context may report errors without end
		code := gl.GetError()
		if code == gl.NO_ERROR {
			break
		}
		switch {
		case err != nil:
		case code == gl.OUT_OF_MEMORY:
			err = host.ErrMemory
		case code == contextLost:
			d.lost, err = true, errLost
		default:
			err = fmt.Errorf("opengl: error %#x", code)
		}
	}
	return err
}

// buffer creates a buffer of size bytes.
func (d *driver) buffer(size int, data unsafe.Pointer, usage uint32) (id uint32, err error) {
	gl.GenBuffers(1, &id)
	gl.BindBuffer(gl.COPY_WRITE_BUFFER, id)
	gl.BufferData(gl.COPY_WRITE_BUFFER, size, data, usage)
	if err := d.check(); err != nil {
		gl.DeleteBuffers(1, &id)
		return 0, err
	}
	d.held.Add(1)
	return id, nil
}

// deleteBuffer deletes a buffer and its map.
func (d *driver) deleteBuffer(id *uint32) {
	if *id != 0 {
		gl.DeleteBuffers(1, id)
		d.held.Add(-1)
		*id = 0
	}
}

// kernel returns the program of a kernel. The first call for a name compiles it.
func (d *driver) kernel(name string) (uint32, error) {
	if p := d.kernels[name]; p != 0 {
		return p, nil
	}
	p, err := compile(name, kernels.GLSL(name))
	if err != nil {
		return 0, errors.Join(err, d.check())
	}
	d.kernels[name] = p
	d.held.Add(1)
	return p, nil
}

// compile compiles a kernel to a program.
func compile(name, src string) (uint32, error) {
	shader := gl.CreateShader(gl.COMPUTE_SHADER)
	defer gl.DeleteShader(shader)
	list, free := gl.Strs(src)
	defer free()
	size := int32(len(src))
	gl.ShaderSource(shader, 1, list, &size)
	gl.CompileShader(shader)
	p := gl.CreateProgram()
	gl.AttachShader(p, shader)
	gl.LinkProgram(p)
	var ok int32
	gl.GetProgramiv(p, gl.LINK_STATUS, &ok)
	if ok == 0 {
		var log [2000]byte
		var n int32
		gl.GetShaderInfoLog(shader, int32(len(log)), &n, &log[0])
		if n == 0 {
			gl.GetProgramInfoLog(p, int32(len(log)), &n, &log[0])
		}
		gl.DeleteProgram(p)
		return 0, fmt.Errorf("opengl: %s: %s", name, strings.TrimSpace(string(log[:n])))
	}
	return p, nil
}

func (d *driver) MaxBuffer() uint64 { return d.maxBuffer }

func (d *driver) Held() int { return int(d.held.Load()) }

func (d *driver) Stop() { d.stop() }

// Close ends the thread, which frees everything, and waits for that.
func (d *driver) Close() {
	d.close()
	<-d.done
}

// finally frees all resources. The thread calls it.
func (d *driver) finally() {
	for _, q := range d.queues {
		q.release()
	}
	for name, p := range d.kernels {
		gl.DeleteProgram(p)
		delete(d.kernels, name)
		d.held.Add(-1)
	}
	d.deleteBuffer(&d.shifts)
	d.context.close()
}

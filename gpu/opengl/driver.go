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
	"github.com/gopz/compress/gpu/kernels"
)

const (
	// maxBinding is the most that a buffer has, in bytes, as with WebGPU: enough to keep a GPU busy for milliseconds.
	largestBuffer = 128 << 20

	// What the kernels need, and OpenGL 4.3 promises no more than: bindings of a kernel, workgroup memory in bytes, invocations of a workgroup. Bindings begin at multiples of
	// offsetStep bytes.
	needBindings    = 7
	needShared      = 12 << 10
	needInvocations = 256
	needGroups      = 65535
	offsetStep      = 256
)

// driver is a host.Driver. What is not atomic belongs to its thread.
type driver struct {
	*thread
	context   context
	adapter   gpu.Adapter
	maxBuffer uint64
	resets    func() uint32 // the status of the context; nil if the driver does not tell
	lost      bool          // the context was reset: it tells so once, and is of no use any more
	held      atomic.Int64  // buffers, kernels
	shifts    uint32
	kernels   map[string]uint32
	queues    []*queue
}

// functions of OpenGL are the same for all contexts, and are looked for once.
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
	if err := gl.InitWithProcAddrFunc(function); err != nil {
		return err
	}
	functions.found = true
	return nil
}

// start opens a context, and waits for that as long as patience says.
func start(w way, patience time.Duration) (*driver, error) {
	d := &driver{kernels: map[string]uint32{}}
	var err error
	d.thread, err = newThread(func() error {
		if err := d.context.open(w); err != nil {
			return err
		}
		err := d.begin()
		if err != nil {
			d.finally()
		}
		return err
	}, d.finally, patience)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// begin looks the context over.
func (d *driver) begin() error {
	if err := findFunctions(); err != nil {
		return fmt.Errorf("opengl: %w", err)
	}
	vendor, version := text(gl.VENDOR), text(gl.VERSION)
	d.adapter = gpu.Adapter{Name: text(gl.RENDERER), Kind: gpu.Other, Backend: "opengl", IDs: strings.TrimSpace(vendor + " " + version)}
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
			return fmt.Errorf("opengl: %s has %d %s, not %d", d.adapter.Name, need.has, need.what, need.need)
		}
	}
	if n := integer(gl.SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT); n > offsetStep {
		return fmt.Errorf("opengl: bindings of %s begin at multiples of %d bytes", d.adapter.Name, n)
	}
	d.maxBuffer = uint64(max(0, min(integer(gl.MAX_SHADER_STORAGE_BLOCK_SIZE), largestBuffer))) &^ 255
	if d.context.robust {
		d.resets = resets()
	}
	shifts := host.ShiftBytes()
	var err error
	if d.shifts, err = d.buffer(len(shifts), unsafe.Pointer(&shifts[0]), gl.STATIC_DRAW); err != nil {
		return err
	}
	if isSoftware(d.adapter.Name) {
		d.adapter.Kind = gpu.Software
		return d.check()
	}
	// It may be one all the same, by a name that is not known, or on another machine.
	all, err := d.longLoops()
	if err == nil && !all {
		d.adapter.Kind = gpu.Software
	}
	return err
}

// isSoftware reports whether a name is that of a driver that runs kernels on the CPU, or of one that has such a driver below it.
func isSoftware(name string) bool {
	name = strings.ToLower(name)
	for _, s := range []string{"llvmpipe", "softpipe", "swrast", "swr (", "swiftshader", "software", "basic render", "softgpu", "lavapipe"} {
		if strings.Contains(name, s) {
			return true
		}
	}
	return false
}

// resets is the function that tells of them, under the name that this version has for it.
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

var (
	errLost   = errors.New("opengl: the device was reset")
	errMemory = errors.New("opengl: out of memory")
)

// contextLost is CONTEXT_LOST of OpenGL 4.5.
const contextLost = 0x0507

// do has f called by the thread, unless the context is lost.
func (d *driver) do(f func() error) error {
	return d.thread.do(func() error {
		if d.lost {
			return errLost
		}
		return f()
	})
}

// check returns what has gone wrong since it was called last.
func (d *driver) check() (err error) {
	if d.resets != nil && d.resets() != gl.NO_ERROR {
		d.lost = true
	}
	if d.lost {
		err = errLost
	}
	for range 16 { // a context that is lost may have no end of them
		code := gl.GetError()
		if code == gl.NO_ERROR {
			break
		}
		switch {
		case err != nil:
		case code == gl.OUT_OF_MEMORY:
			err = errMemory
		case code == contextLost:
			d.lost, err = true, errLost
		default:
			err = fmt.Errorf("opengl: error %#x", code)
		}
	}
	return err
}

// buffer makes a buffer of size bytes.
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

// free deletes a buffer, with the map of it if there is one.
func (d *driver) free(id *uint32) {
	if *id != 0 {
		gl.DeleteBuffers(1, id)
		d.held.Add(-1)
		*id = 0
	}
}

// kernel returns a kernel's program, which is compiled the first time.
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

// compile makes a program of a kernel's text.
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
	if gl.GetProgramiv(p, gl.LINK_STATUS, &ok); ok == 0 {
		var log [2000]byte
		var n int32
		if gl.GetShaderInfoLog(shader, int32(len(log)), &n, &log[0]); n == 0 {
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

func (d *driver) Close() { d.end() }

// finally frees everything, on the thread.
func (d *driver) finally() {
	for _, q := range d.queues {
		q.free()
	}
	for name, p := range d.kernels {
		gl.DeleteProgram(p)
		delete(d.kernels, name)
		d.held.Add(-1)
	}
	d.free(&d.shifts)
	d.context.close()
}

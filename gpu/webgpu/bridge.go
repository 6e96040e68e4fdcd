//go:build webgpu && cgo

package webgpu

/*
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// The binding has these functions as well, but:
//   - it leaves fields of an instance's description uninitialised, and the library aborts the
//     program;
//   - its callbacks of MapAsync live in memory that Go's garbage collector may free too early; here
//     the status lives in memory of C;
//   - it does not report that memory ran out; here error scopes do;
//   - each copy allocates several objects, and there is a copy for each lane group.

enum { pz_validation = 0, pz_out_of_memory = 1 }; // WGPUErrorFilter
enum { pz_no_memory = 2 };                        // WGPUErrorType

extern void wgpuBufferMapAsync(void *buffer, uint32_t mode, size_t offset, size_t size,
	void (*callback)(int status, void *data), void *data);
extern void wgpuCommandEncoderCopyBufferToBuffer(void *encoder, void *from, uint64_t at,
	void *to, uint64_t to_at, uint64_t size);
extern void wgpuDevicePushErrorScope(void *device, int filter);
extern void wgpuDevicePopErrorScope(void *device,
	void (*callback)(int type, char const *message, void *data), void *data);

typedef struct { void *next; int type; } pz_chain; // WGPUChainedStruct

typedef struct { // WGPUInstanceExtras
	pz_chain chain;
	uint32_t backends, flags;
	int dx12_compiler, gles3_version;
	char const *dxil, *dxc;
} pz_instance_extras;

typedef struct { pz_chain const *next; } pz_instance_description; // WGPUInstanceDescriptor

extern void *wgpuCreateInstance(pz_instance_description const *);

static void *pz_instance(uint32_t backends) {
	pz_instance_extras extras = { .chain = { .type = 0x00030006 }, .backends = backends };
	pz_instance_description d = { &extras.chain };
	return wgpuCreateInstance(&d);
}

// pz_status is 0 until the answer comes, and then 1 plus WGPUBufferMapAsyncStatus, where 0 is
// success.
typedef struct { int status; } pz_status;

static void pz_mapped(int status, void *data) {
	__atomic_store_n(&((pz_status *)data)->status, status + 1, __ATOMIC_RELEASE);
}

static void pz_map(void *buffer, uint32_t mode, size_t size, pz_status *s) {
	__atomic_store_n(&s->status, 0, __ATOMIC_RELEASE);
	wgpuBufferMapAsync(buffer, mode, 0, size, pz_mapped, s);
}

static int pz_answer(pz_status *s) { return __atomic_load_n(&s->status, __ATOMIC_ACQUIRE); }

typedef struct {
	int kind; // WGPUErrorType, 0 for no error
	char text[476];
} pz_message;

static void pz_failed(int type, char const *message, void *data) {
	if (type != 0) {
		pz_message *m = data;
		m->kind = type;
		strncpy(m->text, message != NULL && *message ? message : "error", sizeof m->text - 1);
	}
}

static void pz_push(void *device) {
	wgpuDevicePushErrorScope(device, pz_out_of_memory);
	wgpuDevicePushErrorScope(device, pz_validation);
}

static void pz_pop(void *device, pz_message *m) {
	wgpuDevicePopErrorScope(device, pz_failed, m);
	wgpuDevicePopErrorScope(device, pz_failed, m);
}
*/
import "C"

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/cogentcore/webgpu/wgpu"

	"github.com/gopz/compress/gpu/internal/host"
)

// These types mirror the binding's, whose C pointers are private. go.mod fixes the version of the
// binding, and TestLayout compares the layouts.
type (
	bindingInstance struct{ ref unsafe.Pointer }
	bindingAdapter  struct{ ref unsafe.Pointer }
	bindingCommands struct{ ref unsafe.Pointer }
	bindingQuerySet struct{ ref unsafe.Pointer }
	bindingQueue    struct{ device, ref unsafe.Pointer }
	bindingDevice   struct{ ref unsafe.Pointer }
	bindingBuffer   struct{ device, ref unsafe.Pointer }
	bindingEncoder  struct{ device, ref unsafe.Pointer }
)

func newInstance(backends wgpu.InstanceBackend) *wgpu.Instance {
	return (*wgpu.Instance)(unsafe.Pointer(&bindingInstance{C.pz_instance(C.uint32_t(backends))}))
}

// status holds the answer to a request to map a buffer, in memory of C.
type status struct {
	c         *C.pz_status
	requested bool // an answer was requested since the status is new
}

func newStatus() status { return status{c: (*C.pz_status)(C.calloc(1, C.sizeof_pz_status))} }

// release frees the memory, unless the answer to a request may still be written to it.
func (s *status) release() {
	if !s.requested || C.pz_answer(s.c) != 0 {
		C.free(unsafe.Pointer(s.c))
	}
	s.c = nil
}

// requestMap requests a map of the first n bytes of a buffer.
func (s *status) requestMap(b *wgpu.Buffer, mode wgpu.MapMode, n uint64) {
	s.requested = true
	C.pz_map((*bindingBuffer)(unsafe.Pointer(b)).ref, C.uint32_t(mode), C.size_t(n), s.c)
}

// recordCopy records a copy of n bytes from one buffer to another.
func recordCopy(enc *wgpu.CommandEncoder, from *wgpu.Buffer, at uint64, to *wgpu.Buffer, toAt, n uint64) {
	C.wgpuCommandEncoderCopyBufferToBuffer(
		(*bindingEncoder)(unsafe.Pointer(enc)).ref,
		(*bindingBuffer)(unsafe.Pointer(from)).ref, C.uint64_t(at),
		(*bindingBuffer)(unsafe.Pointer(to)).ref, C.uint64_t(toAt), C.uint64_t(n))
}

// mapped reports whether the buffer is mapped. The error is that of a map that failed.
func (s *status) mapped() (bool, error) {
	switch C.pz_answer(s.c) {
	case 0:
		return false, nil
	case 1:
		return true, nil
	}
	return false, errors.New("webgpu: mapping a buffer failed")
}

// scoped calls f and returns its error, or any error that the device reports meanwhile. The caller
// holds the lock for functions of the device that can fail.
func (d *driver) scoped(f func() error) error {
	ref := (*bindingDevice)(unsafe.Pointer(d.dev)).ref
	m := (*C.pz_message)(C.calloc(1, C.sizeof_pz_message))
	defer C.free(unsafe.Pointer(m))
	C.pz_push(ref)
	err := f()
	if d.broken.Load() {
		return err
	}
	C.pz_pop(ref, m)
	text := strings.TrimSpace(C.GoString(&m.text[0]))
	if m.kind == C.pz_no_memory {
		err = fmt.Errorf("%w: %s", host.ErrMemory, text)
	} else if err == nil && text != "" {
		err = errors.New(text)
	}
	return errors.Join(d.check(), err)
}

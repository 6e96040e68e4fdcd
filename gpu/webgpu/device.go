//go:build webgpu && cgo

package webgpu

/*
#cgo linux LDFLAGS: -Wl,--wrap=_Unwind_RaiseException
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "guard.h"

// The binding's functions for these lack error handling. A lost device makes the library panic in
// them.

// pz_loss says whether and why a device is lost.
typedef struct {
	int lost; // atomic
	char text[240];
} pz_loss;

// pz_lose is the callback for a lost device, and for errors that no error scope catches. By default
// the library ends the program for such errors.
static void pz_lose(int reason, char const *message, void *data) {
	pz_loss *l = data;
	(void)reason;
	if (!__atomic_load_n(&l->lost, __ATOMIC_ACQUIRE)) {
		strncpy(l->text, message != NULL ? message : "", sizeof l->text - 1);
		__atomic_store_n(&l->lost, 1, __ATOMIC_RELEASE);
	}
}

static int pz_is_lost(pz_loss *l) { return __atomic_load_n(&l->lost, __ATOMIC_ACQUIRE); }

typedef struct { // WGPULimits
	uint32_t first[14]; // to maxUniformBuffersPerShaderStage
	uint64_t uniform_binding, storage_binding;
	uint32_t second[3]; // to maxVertexBuffers
	uint64_t buffer;
	uint32_t third[12];
} pz_limits;

typedef struct { void *next; pz_limits limits; } pz_limits_chain; // WGPURequiredLimits, WGPUSupportedLimits

typedef struct { // WGPUDeviceDescriptor
	void const *next;
	char const *label;
	size_t features;
	int const *feature;
	pz_limits_chain const *limits;
	void const *queue_next;
	char const *queue_label;
	void (*lost)(int reason, char const *message, void *data);
	void *lost_data;
	void const *uncaptured_next;
	void (*uncaptured)(int type, char const *message, void *data);
	void *uncaptured_data;
} pz_device_description;

extern uint32_t wgpuAdapterHasFeature(void *adapter, int feature);
extern uint32_t wgpuAdapterGetLimits(void *adapter, pz_limits_chain *limits);
extern void wgpuAdapterRequestDevice(void *adapter, pz_device_description const *,
	void (*callback)(int status, void *device, char const *message, void *data), void *data);

static void pz_got_device(int status, void *device, char const *message, void *data) {
	(void)message;
	*(void **)data = status == 0 ? device : NULL;
}

enum { pz_timestamps = 3 }; // WGPUFeatureName_TimestampQuery

// pz_device requests a device whose buffers may have up to most bytes, or as many as the adapter
// allows. clock says whether the device has timestamps.
static void *pz_device(void *adapter, uint64_t most, pz_loss *l, int *clock) {
	int const features[1] = { pz_timestamps };
	pz_limits_chain has = { 0 }, need;
	pz_device_description d = { .limits = &need, .lost = pz_lose, .lost_data = l,
		.uncaptured = pz_lose, .uncaptured_data = l };
	void *device = NULL;
	wgpuAdapterGetLimits(adapter, &has);
	memset(&need, 0xFF, sizeof need); // all limits undefined: the default ones
	need.next = NULL;
	need.limits.storage_binding =
		has.limits.storage_binding < most ? has.limits.storage_binding : most;
	need.limits.buffer = has.limits.buffer < most ? has.limits.buffer : most;
	if ((*clock = wgpuAdapterHasFeature(adapter, pz_timestamps) != 0)) {
		d.features = 1;
		d.feature = features;
	}
	wgpuAdapterRequestDevice(adapter, &d, pz_got_device, &device);
	return device;
}

extern uint32_t wgpuDevicePoll(void *device, uint32_t wait, void const *index);
extern void wgpuQueueSubmit(void *queue, size_t n, void *const *commands);
extern void *wgpuBufferGetMappedRange(void *buffer, size_t at, size_t size);

typedef struct { void *on; void *commands; size_t size; void *range; uint32_t done; } pz_call;

static void pz_do_poll(void *data) {
	pz_call *c = data;
	c->done = wgpuDevicePoll(c->on, 0, NULL);
}

static void pz_do_submit(void *data) {
	pz_call *c = data;
	wgpuQueueSubmit(c->on, 1, &c->commands);
}

static void pz_do_range(void *data) {
	pz_call *c = data;
	c->range = wgpuBufferGetMappedRange(c->on, 0, c->size);
}

// pz_poll returns whether all submissions are done, or -1.
static int pz_poll(void *device) {
	pz_call c = { .on = device };
	return pz_guarded(pz_do_poll, &c) ? -1 : c.done != 0;
}

static int pz_submit(void *queue, void *commands) {
	pz_call c = { .on = queue, .commands = commands };
	return pz_guarded(pz_do_submit, &c);
}

// pz_range returns the beginning of a mapped range, or NULL.
static void *pz_range(void *buffer, size_t size) {
	pz_call c = { .on = buffer, .size = size };
	return pz_guarded(pz_do_range, &c) ? NULL : c.range;
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

// errLost is the error of a lost device.
var errLost = errors.New("webgpu: the device is lost")

// loss says whether a device is lost. Its memory is never freed, because the library may call back
// after the device is released.
type loss struct{ c *C.pz_loss }

// err returns nil, or an error that wraps errLost.
func (l loss) err() error {
	if C.pz_is_lost(l.c) == 0 {
		return nil
	}
	if text := strings.TrimSpace(C.GoString(&l.c.text[0])); text != "" {
		return fmt.Errorf("%w: %s", errLost, text)
	}
	return errLost
}

// requestDevice starts a device. clock reports whether it has timestamps.
func requestDevice(a *wgpu.Adapter) (dev *wgpu.Device, l loss, clock bool, err error) {
	l = loss{(*C.pz_loss)(C.calloc(1, C.sizeof_pz_loss))}
	var has C.int
	ref := C.pz_device((*bindingAdapter)(unsafe.Pointer(a)).ref, host.LargestBuffer, l.c, &has)
	if ref == nil {
		return nil, l, false, errors.New("webgpu: the adapter does not start")
	}
	return (*wgpu.Device)(unsafe.Pointer(&bindingDevice{ref})), l, has != 0, nil
}

// panicked marks the device as lost after a panic of the library in a call. Nothing may use it any
// more.
func (d *driver) panicked(call string) error {
	d.broken.Store(true)
	return fmt.Errorf("%w in %s", errLost, call)
}

// releaseObject frees an object, unless the library has panicked.
func (d *driver) releaseObject(object interface{ Release() }) {
	if !d.broken.Load() {
		object.Release()
	}
}

// check returns an error if the device is lost.
func (d *driver) check() error {
	if d.broken.Load() {
		return errLost
	}
	return d.loss.err()
}

// pollDevice makes the device answer requests, and reports whether it has finished all submissions.
// The error says that the device is lost. The caller holds the lock.
func (d *driver) pollDevice() (done bool, err error) {
	if d.broken.Load() {
		return false, errLost
	}
	result := C.pz_poll((*bindingDevice)(unsafe.Pointer(d.dev)).ref)
	if result < 0 {
		return false, d.panicked("poll")
	}
	return result != 0, d.loss.err()
}

// submit hands commands to the device. The caller holds the lock.
func (d *driver) submit(commands *wgpu.CommandBuffer) error {
	q, c := (*bindingQueue)(unsafe.Pointer(d.queue)), (*bindingCommands)(unsafe.Pointer(commands))
	if C.pz_submit(q.ref, c.ref) != 0 {
		return d.panicked("a submission")
	}
	return nil
}

// mappedRange returns the first n bytes of a mapped buffer.
func (d *driver) mappedRange(b *wgpu.Buffer, n uint64) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.check(); err != nil {
		return nil, err
	}
	p := C.pz_range((*bindingBuffer)(unsafe.Pointer(b)).ref, C.size_t(n))
	if p == nil {
		return nil, d.panicked("a map")
	}
	return unsafe.Slice((*byte)(p), n), nil
}

// lose calls the callback for a lost device, as the library does. For tests: wgpuDeviceDestroy does
// nothing in this version.
func (d *driver) lose() { C.pz_lose(1, nil, unsafe.Pointer(d.loss.c)) }

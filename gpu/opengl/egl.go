//go:build opengl && cgo && linux

package opengl

/*
#cgo LDFLAGS: -lEGL
#include <stdlib.h>
#include <EGL/egl.h>
#include <EGL/eglext.h>

enum { pz_surfaceless, pz_device, pz_default };

typedef struct {
	EGLDisplay display;
	EGLContext context;
	EGLint error; // of the call that failed
} pz_context;

static int pz_devices(void) {
	PFNEGLQUERYDEVICESEXTPROC query = (PFNEGLQUERYDEVICESEXTPROC)eglGetProcAddress("eglQueryDevicesEXT");
	EGLint n = 0;
	return query != NULL && query(0, NULL, &n) ? n : 0;
}

static EGLDisplay pz_display(int way, int number) {
	PFNEGLGETPLATFORMDISPLAYEXTPROC get = (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
	PFNEGLQUERYDEVICESEXTPROC query = (PFNEGLQUERYDEVICESEXTPROC)eglGetProcAddress("eglQueryDevicesEXT");
	EGLDisplay display = EGL_NO_DISPLAY;
	EGLDeviceEXT *devices;
	EGLint n = 0;
	if (way == pz_default) {
		return eglGetDisplay(EGL_DEFAULT_DISPLAY);
	}
	if (get == NULL) {
		return EGL_NO_DISPLAY;
	}
	if (way == pz_surfaceless) {
		return get(0x31DD, EGL_DEFAULT_DISPLAY, NULL); // EGL_PLATFORM_SURFACELESS_MESA
	}
	if (query == NULL || (devices = calloc(number + 1, sizeof *devices)) == NULL) {
		return EGL_NO_DISPLAY;
	}
	if (query(number + 1, devices, &n) && number < n) {
		display = get(EGL_PLATFORM_DEVICE_EXT, devices[number], NULL);
	}
	free(devices);
	return display;
}

// pz_open makes a context that is current on this thread, if it can be with bounds checks in kernels and with word of resets. It
// returns 0 if there is none, and what it has otherwise: 1, or 2 with these.
static int pz_open(int way, int number, pz_context *c) {
	static EGLint const plain[] = { EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 3,
		EGL_CONTEXT_OPENGL_PROFILE_MASK, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE };
	static EGLint const robust[] = { EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 3,
		EGL_CONTEXT_OPENGL_PROFILE_MASK, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_CONTEXT_OPENGL_ROBUST_ACCESS, EGL_TRUE,
		EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY, EGL_LOSE_CONTEXT_ON_RESET, EGL_NONE };
	int has = 2;
	c->context = EGL_NO_CONTEXT;
	if ((c->display = pz_display(way, number)) == EGL_NO_DISPLAY) {
		c->error = EGL_BAD_DISPLAY;
		return 0;
	}
	if (!eglInitialize(c->display, NULL, NULL) || !eglBindAPI(EGL_OPENGL_API)) {
		c->error = eglGetError();
		return 0;
	}
	if ((c->context = eglCreateContext(c->display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, robust)) == EGL_NO_CONTEXT) {
		has = 1;
		c->context = eglCreateContext(c->display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, plain);
	}
	if (c->context == EGL_NO_CONTEXT) {
		c->error = eglGetError();
		return 0;
	}
	if (!eglMakeCurrent(c->display, EGL_NO_SURFACE, EGL_NO_SURFACE, c->context)) {
		c->error = eglGetError();
		eglDestroyContext(c->display, c->context);
		return 0;
	}
	return has;
}

// pz_close frees the context. The display stays: whoever uses the same one in this process has the same handle, and would lose it.
static void pz_close(pz_context *c) {
	eglMakeCurrent(c->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
	eglDestroyContext(c->display, c->context);
	eglReleaseThread();
}

static void *pz_function(char const *name) { return (void *)eglGetProcAddress(name); }
*/
import "C"

import (
	"fmt"
	"unsafe"
)

const surfaceless = C.pz_surfaceless

// way is a way to a context without a window.
type way struct {
	kind   C.int
	number int // of the device
}

func (w way) String() string {
	switch w.kind {
	case C.pz_surfaceless:
		return "no surface"
	case C.pz_device:
		return fmt.Sprint("device ", w.number)
	}
	return "default display"
}

// ways are those to try, in that order. The last one asks for a desktop, which may not be there or may be far away: it is for when there is no other.
func ways() (list []way, last way, err error) {
	devices := 0
	t, err := newThread(func() error { devices = int(C.pz_devices()); return nil }, func() {}, startPatience)
	if err != nil {
		return nil, last, err
	}
	t.end()
	list = []way{{surfaceless, 0}}
	for i := range devices {
		list = append(list, way{C.pz_device, i})
	}
	return list, way{C.pz_default, 0}, nil
}

// context is a context of OpenGL, current on the thread that has opened it.
type context struct {
	c C.pz_context
	// robust: kernels do not leave their buffers, and a reset of the device is reported.
	robust bool
}

func (c *context) open(w way) error {
	has := C.pz_open(w.kind, C.int(w.number), &c.c)
	if c.robust = has == 2; has == 0 {
		return fmt.Errorf("opengl: no context of version 4.3: EGL error %#x", int(c.c.error))
	}
	return nil
}

func (c *context) close() { C.pz_close(&c.c) }

// function finds one of OpenGL.
func function(name string) unsafe.Pointer {
	s := C.CString(name)
	defer C.free(unsafe.Pointer(s))
	return C.pz_function(s)
}

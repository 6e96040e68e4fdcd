//go:build opengl && cgo && linux

package opengl

/*
#cgo LDFLAGS: -Wl,--as-needed -ldl
#include <dlfcn.h>
#include <stdlib.h>
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include "load.h"

// EGL's functions, which pz_load finds. go-gl calls none of EGL.
static struct {
	__typeof__(eglGetDisplay) *GetDisplay;
	__typeof__(eglInitialize) *Initialize;
	__typeof__(eglBindAPI) *BindAPI;
	__typeof__(eglGetError) *GetError;
	__typeof__(eglCreateContext) *CreateContext;
	__typeof__(eglMakeCurrent) *MakeCurrent;
	__typeof__(eglDestroyContext) *DestroyContext;
	__typeof__(eglReleaseThread) *ReleaseThread;
} pz_egl;

// pz_load opens libEGL. It returns NULL, or what is missing.
static char const *pz_load(void) {
	static char const *const names[] = { "eglGetDisplay", "eglInitialize", "eglBindAPI", "eglGetError",
		"eglCreateContext", "eglMakeCurrent", "eglDestroyContext", "eglReleaseThread" };
	void **functions = (void **)&pz_egl;
	void *lib = dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL);
	if (lib == NULL || !pz_set_egl(dlsym(lib, "eglGetProcAddress"))) {
		return dlerror();
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if ((functions[i] = dlsym(lib, names[i])) == NULL) {
			return names[i];
		}
	}
	return NULL;
}

enum { pz_surfaceless, pz_device, pz_default };

typedef struct {
	EGLDisplay display;
	EGLContext context;
	EGLint error; // error of the call that failed
} pz_context;

static int pz_devices(void) {
	PFNEGLQUERYDEVICESEXTPROC query =
		(PFNEGLQUERYDEVICESEXTPROC)eglGetProcAddress("eglQueryDevicesEXT");
	EGLint n = 0;
	return query != NULL && query(0, NULL, &n) ? n : 0;
}

static EGLDisplay pz_display(int kind, int number) {
	PFNEGLGETPLATFORMDISPLAYEXTPROC get =
		(PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
	PFNEGLQUERYDEVICESEXTPROC query =
		(PFNEGLQUERYDEVICESEXTPROC)eglGetProcAddress("eglQueryDevicesEXT");
	EGLDisplay display = EGL_NO_DISPLAY;
	EGLDeviceEXT *devices;
	EGLint n = 0;
	if (kind == pz_default) {
		return pz_egl.GetDisplay(EGL_DEFAULT_DISPLAY);
	}
	if (get == NULL) {
		return EGL_NO_DISPLAY;
	}
	if (kind == pz_surfaceless) {
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

// pz_open makes a context current on this thread. It first tries one with bounds checks in kernels
// and reset notification. It returns 2 for such a context, 1 for a plain one and 0 for none.
static int pz_open(int kind, int number, pz_context *c) {
	static EGLint const plain[] = { EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 3,
		EGL_CONTEXT_OPENGL_PROFILE_MASK, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE };
	static EGLint const robust[] = { EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 3,
		EGL_CONTEXT_OPENGL_PROFILE_MASK, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
		EGL_CONTEXT_OPENGL_ROBUST_ACCESS, EGL_TRUE,
		EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY, EGL_LOSE_CONTEXT_ON_RESET, EGL_NONE };
	int has = 2;
	c->context = EGL_NO_CONTEXT;
	if ((c->display = pz_display(kind, number)) == EGL_NO_DISPLAY) {
		c->error = EGL_BAD_DISPLAY;
		return 0;
	}
	if (!pz_egl.Initialize(c->display, NULL, NULL) || !pz_egl.BindAPI(EGL_OPENGL_API)) {
		c->error = pz_egl.GetError();
		return 0;
	}
	c->context = pz_egl.CreateContext(c->display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, robust);
	if (c->context == EGL_NO_CONTEXT) {
		has = 1;
		c->context = pz_egl.CreateContext(c->display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, plain);
	}
	if (c->context == EGL_NO_CONTEXT) {
		c->error = pz_egl.GetError();
		return 0;
	}
	if (!pz_egl.MakeCurrent(c->display, EGL_NO_SURFACE, EGL_NO_SURFACE, c->context)) {
		c->error = pz_egl.GetError();
		pz_egl.DestroyContext(c->display, c->context);
		return 0;
	}
	return has;
}

// pz_close frees the context. It does not terminate the display, because other code in this process
// may have the same handle.
static void pz_close(pz_context *c) {
	pz_egl.MakeCurrent(c->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
	pz_egl.DestroyContext(c->display, c->context);
	pz_egl.ReleaseThread();
}

static void *pz_function(char const *name) { return (void *)eglGetProcAddress(name); }
*/
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/gopz/compress/gpu"
)

// load opens libEGL, once. The program starts without it.
var load = sync.OnceValue(func() error {
	if missing := C.pz_load(); missing != nil {
		return errors.New("opengl: " + C.GoString(missing))
	}
	return nil
})

const surfaceless = C.pz_surfaceless

// display identifies an EGL display to open a context on.
type display struct {
	kind   C.int
	number int // of the device
}

func (disp display) String() string {
	switch disp.kind {
	case C.pz_surfaceless:
		return "no surface"
	case C.pz_device:
		return fmt.Sprint("device ", disp.number)
	}
	return "default display"
}

// displays returns the displays to try, in that order. last is the default display, for when all
// others fail. It needs a desktop, which may be remote.
func displays() (list []display, last display, err error) {
	devices := 0
	t, err := newThread(func() error {
		if err := load(); err != nil {
			return fmt.Errorf("%w; on Linux install libEGL: %w", gpu.ErrNoGPU, err)
		}
		devices = int(C.pz_devices())
		return nil
	}, func() {}, startTimeout)
	if err != nil {
		return nil, last, err
	}
	t.close()
	list = []display{{surfaceless, 0}}
	for i := range devices {
		list = append(list, display{C.pz_device, i})
	}
	return list, display{C.pz_default, 0}, nil
}

// context is an OpenGL context. It is current on the thread that opened it.
type context struct {
	c C.pz_context
	// robust means that the driver bounds accesses of kernels and reports a reset of the device.
	robust bool
}

func (c *context) open(disp display) error {
	has := C.pz_open(disp.kind, C.int(disp.number), &c.c)
	c.robust = has == 2
	if has == 0 {
		return fmt.Errorf("opengl: no context of version 4.3: EGL error %#x", int(c.c.error))
	}
	return nil
}

func (c *context) close() { C.pz_close(&c.c) }

// procAddress returns the address of an OpenGL function.
func procAddress(name string) unsafe.Pointer {
	s := C.CString(name)
	defer C.free(unsafe.Pointer(s))
	return C.pz_function(s)
}

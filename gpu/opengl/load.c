//go:build opengl && cgo && linux

// The binding refers to eglGetProcAddress, or with other build tags to functions of GLX. So it would
// link libEGL or libGL, and no program with this package would start without them. These definitions
// replace them. With --as-needed the linker leaves out a library that defines nothing else in use.

#include "load.h"

#include <stddef.h>

typedef void (*pz_function_ptr)(void);

static pz_function_ptr (*pz_found)(char const *name);

int pz_set_egl(void *function) {
	pz_found = (pz_function_ptr (*)(char const *))function;
	return function != NULL;
}

__attribute__((visibility("hidden"))) pz_function_ptr eglGetProcAddress(char const *name) {
	return pz_found != NULL ? pz_found(name) : NULL;
}

// Without the tag egl the binding refers to this function, in code that nothing calls.
__attribute__((visibility("hidden"))) pz_function_ptr glXGetProcAddress(unsigned char const *name) {
	return eglGetProcAddress((char const *)name);
}

//go:build webgpu && cgo

#include "guard.h"

#include <stddef.h>

// wgpu-native is written in Rust. Where an operation without an error scope fails, as a submission to
// a lost device does, it panics. Rust then calls _Unwind_RaiseException, which finds no handler above
// C, and Rust ends the program. The linker option --wrap replaces that function by
// __wrap__Unwind_RaiseException. Below pz_guarded it unwinds to pz_guarded instead: Rust frees its
// locks on the way. Elsewhere it calls the function itself.

#ifdef __linux__

#include <setjmp.h>
#include <stdint.h>
#include <unwind.h>

typedef struct {
	jmp_buf at;
	uintptr_t frame; // an address in the frame of pz_guarded
} pz_guard;

static __thread pz_guard *pz_current;

extern _Unwind_Reason_Code __real__Unwind_RaiseException(struct _Unwind_Exception *);

// pz_stop ends the unwinding at the frame of pz_guarded. The stack grows down.
static _Unwind_Reason_Code pz_stop(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
	struct _Unwind_Exception *exception, struct _Unwind_Context *context, void *data) {
	pz_guard *g = data;
	(void)version, (void)class, (void)exception;
	if ((actions & _UA_END_OF_STACK) != 0 || _Unwind_GetCFA(context) >= g->frame) {
		longjmp(g->at, 1);
	}
	return _URC_NO_REASON;
}

_Unwind_Reason_Code __wrap__Unwind_RaiseException(struct _Unwind_Exception *exception) {
	pz_guard *g = pz_current;
	if (g == NULL) {
		return __real__Unwind_RaiseException(exception);
	}
	return _Unwind_ForcedUnwind(exception, pz_stop, g);
}

__attribute__((noinline)) int pz_guarded(void (*f)(void *), void *data) {
	pz_guard g, *outer = pz_current;
	volatile int failed = 1;
	g.frame = (uintptr_t)__builtin_frame_address(0);
	if (setjmp(g.at) == 0) {
		pz_current = &g;
		f(data);
		failed = 0;
	}
	pz_current = outer;
	return failed;
}

#else

int pz_guarded(void (*f)(void *), void *data) {
	f(data);
	return 0;
}

#endif

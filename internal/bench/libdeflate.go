//go:build libdeflate && cgo

package main

// #cgo LDFLAGS: -ldeflate
// #include <libdeflate.h>
import "C"

import (
	"fmt"
	"unsafe"
)

var libdeflateRestorers = []restorer{memoryRestorer("libdeflate", libdeflateStream)}

var libdeflateState = C.libdeflate_alloc_decompressor()

func libdeflateStream(dst, src []byte) (n, used int, err error) {
	var in, out C.size_t
	status := C.libdeflate_deflate_decompress_ex(libdeflateState, unsafe.Pointer(unsafe.SliceData(src)),
		C.size_t(len(src)), unsafe.Pointer(unsafe.SliceData(dst)), C.size_t(len(dst)), &in, &out)
	if status != C.LIBDEFLATE_SUCCESS {
		err = fmt.Errorf("libdeflate: status %d", status)
	}
	return int(out), int(in), err
}

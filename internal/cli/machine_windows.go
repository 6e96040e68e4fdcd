package cli

import (
	"math"
	"unsafe"

	"golang.org/x/sys/windows"
)

// memoryStatus is MEMORYSTATUSEX of the Windows API. Sizes are in bytes.
type memoryStatus struct {
	length, load               uint32
	totalPhys, availPhys       uint64
	totalPageFile, availPage   uint64
	totalVirtual, availVirtual uint64
	availExtendedVirtual       uint64
}

var globalMemoryStatus = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

// machineMemory returns the memory in bytes that this process may have at most, or 0 if it is not
// known.
func machineMemory() int64 {
	m := memoryStatus{length: uint32(unsafe.Sizeof(memoryStatus{}))}
	if ok, _, _ := globalMemoryStatus.Call(uintptr(unsafe.Pointer(&m))); ok == 0 {
		return 0
	}
	return int64(min(m.totalPhys, m.totalVirtual, math.MaxInt64)) // a 32-bit process has 2 or 4 GiB
}

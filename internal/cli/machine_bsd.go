//go:build darwin || freebsd

package cli

import (
	"math"
	"runtime"

	"golang.org/x/sys/unix"
)

// machineMemory returns the memory in bytes that this process may have at most, or 0 if it is not
// known.
func machineMemory() int64 {
	name := "hw.physmem"
	if runtime.GOOS == "darwin" {
		name = "hw.memsize"
	}
	limit := int64(math.MaxInt64)
	if n, err := unix.SysctlUint64(name); err == nil {
		limit = rlimitBytes(n)
	}
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &r) == nil {
		limit = min(limit, rlimitBytes(uint64(r.Cur)))
	}
	if limit == math.MaxInt64 {
		return 0
	}
	return limit
}

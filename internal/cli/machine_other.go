//go:build !linux && !darwin && !freebsd && !windows

package cli

// machineMemory returns 0: the memory of these machines is not known.
func machineMemory() int64 { return 0 }

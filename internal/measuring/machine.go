// Package measuring has what all measuring programs of this module need: medians, speeds, and names
// of the machine.
package measuring

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Machine describes this machine in a line.
func Machine() string {
	return fmt.Sprintf("%s, %d CPUs, %s/%s, %s", Processor(), runtime.NumCPU(), runtime.GOOS,
		runtime.GOARCH, runtime.Version())
}

// Processor returns the processor's name if Linux tells it.
func Processor() string {
	if name := CPUInfo("model name"); name != "" {
		return name
	}
	return "unknown processor"
}

// CPUInfo returns the value of a key in the first entry of /proc/cpuinfo, "" if there is none.
func CPUInfo(key string) string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		name, value, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

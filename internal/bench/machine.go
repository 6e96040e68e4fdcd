package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
)

func platform() (goos, goarch string) { return runtime.GOOS, runtime.GOARCH }

// machine describes this machine in a line.
func machine() string {
	return fmt.Sprintf("%s, %d CPUs, %s/%s, %s", processor(), runtime.NumCPU(), runtime.GOOS,
		runtime.GOARCH, runtime.Version())
}

// processor returns the processor's name if Linux tells it.
func processor() string {
	if name := cpuinfo("model name"); name != "" {
		return name
	}
	return "unknown processor"
}

// cpuinfo returns the value of a key in the first entry of /proc/cpuinfo, "" if there is none.
func cpuinfo(key string) string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		name, value, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// load returns the load averages if Linux tells them.
func load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	f := strings.Fields(string(text))
	if len(f) < 3 {
		return "unknown"
	}
	return strings.Join(f[:3], " ")
}

// programVersion returns the first line that the program at path prints for --version.
func programVersion(ctx context.Context, name, path string) string {
	out, err := exec.CommandContext(ctx, path, "--version").CombinedOutput()
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if err != nil || first == "" {
		return name + ": version unknown"
	}
	return name + ": " + strings.Trim(first, "* ")
}

// moduleVersion returns the version of a module that this program is built with.
func moduleVersion(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == path {
				return d.Version
			}
		}
	}
	return "of unknown version"
}

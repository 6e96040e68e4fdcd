// Package kernels holds the compute kernels of GPUs, one per file. The head of each file explains
// what the kernel computes, its buffers, and the shape and limits of its workgroups.
//
// Kernels are written in WGSL. "go generate" translates them to GLSL 4.30 with internal/wgsl, and a
// test compares the files. WGSL cannot include files, so a line "//include NAME" stands for
// the file of that name in parts.
//
// All kernels keep to what every device supports: 32-bit integers, at most 256 invocations and 16
// KiB of memory a workgroup, 7 buffers. No kernel waits for another workgroup of its dispatch.
// Sizes in descriptors from the host bound every index and loop.
package kernels

import (
	"embed"
	"strings"
)

//go:generate go run generate.go

//go:embed *.wgsl *.glsl parts
var files embed.FS

// Source returns the WGSL of a kernel. Its name is that of the file without the extension.
func Source(name string) string {
	var text strings.Builder
	for line := range strings.Lines(read(name + ".wgsl")) {
		if part, ok := strings.CutPrefix(line, include); ok {
			line = read("parts/" + strings.TrimSuffix(part, "\n") + ".wgsl")
		}
		text.WriteString(line)
	}
	return text.String()
}

const include = "//include "

// GLSL returns the GLSL 4.30 of a kernel. Its bindings have the same numbers as in WGSL.
func GLSL(name string) string { return read(name + ".glsl") }

func read(file string) string {
	b, err := files.ReadFile(file)
	if err != nil {
		panic("kernels: no kernel " + file) // names are constants
	}
	return string(b)
}

// Package kernels holds the compute kernels of GPUs, one per file. What each reads and writes stands at its top. They are written in WGSL; the GLSL beside it is generated from that. WGSL has
// no way to share functions between files: a line of a kernel that says "//include NAME" stands for the file of that name in directory parts.
package kernels

import (
	"embed"
	"strings"
)

//go:generate go run generate.go

//go:embed *.wgsl *.glsl parts
var files embed.FS

// Source returns the text of a kernel, in WGSL, by its name, which is that of its file without the extension.
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

// GLSL returns the same kernel in GLSL 4.30. The bindings have the same numbers.
func GLSL(name string) string { return read(name + ".glsl") }

func read(file string) string {
	b, err := files.ReadFile(file)
	if err != nil {
		panic("kernels: no kernel " + file) // names are constants
	}
	return string(b)
}

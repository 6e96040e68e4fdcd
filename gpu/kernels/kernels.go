// Package kernels holds the compute kernels of GPUs, one per file. What each reads and writes stands at its top. They are written in WGSL; the GLSL beside it is generated from that.
package kernels

import "embed"

//go:generate go run generate.go

//go:embed *.wgsl *.glsl
var files embed.FS

// Source returns the text of a kernel, in WGSL, by its name, which is that of its file without the extension.
func Source(name string) string { return read(name + ".wgsl") }

// GLSL returns the same kernel in GLSL 4.30. The bindings have the same numbers.
func GLSL(name string) string { return read(name + ".glsl") }

func read(file string) string {
	b, err := files.ReadFile(file)
	if err != nil {
		panic("kernels: no kernel " + file) // names are constants
	}
	return string(b)
}

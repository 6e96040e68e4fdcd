// Package kernels holds the compute kernels of GPUs, in WGSL, one per file. What each reads and writes stands at its top.
package kernels

import "embed"

//go:embed *.wgsl
var files embed.FS

// Source returns the text of a kernel by its name, which is that of its file without the extension.
func Source(name string) string {
	b, err := files.ReadFile(name + ".wgsl")
	if err != nil {
		panic("kernels: no kernel " + name) // names are constants
	}
	return string(b)
}

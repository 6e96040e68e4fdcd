//go:build ignore

// Command generate translates all kernels of the working directory to GLSL.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gopz/compress/gpu/internal/kernels"
	"github.com/gopz/compress/internal/wgsl"
)

func main() {
	files, err := filepath.Glob("*.wgsl")
	for _, file := range files {
		if err == nil {
			err = translate(file)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func translate(file string) error {
	name := strings.TrimSuffix(file, ".wgsl")
	glsl, err := wgsl.Translate(kernels.Source(name))
	if err != nil {
		return fmt.Errorf("%s with its parts: %w", file, err)
	}
	return os.WriteFile(name+".glsl", []byte(glsl), 0o666)
}

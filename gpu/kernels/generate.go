//go:build ignore

// Command generate writes the GLSL of all kernels beside them.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

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
	src, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	glsl, err := wgsl.Translate(string(src))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(strings.TrimSuffix(file, ".wgsl")+".glsl", []byte(glsl), 0o666)
}

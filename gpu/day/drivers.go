package main

// GPU drivers, if their build tags are set.
import (
	_ "github.com/gopz/compress/gpu/opengl"
	_ "github.com/gopz/compress/gpu/webgpu"
)

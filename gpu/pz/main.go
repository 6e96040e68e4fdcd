// Command pz is cmd/pz with the GPU drivers linked in that its build tags select: webgpu, opengl.
package main

import (
	_ "github.com/gopz/compress/gpu/opengl"
	_ "github.com/gopz/compress/gpu/webgpu"
	"github.com/gopz/compress/internal/cli"
	"github.com/gopz/compress/internal/cli/remote"
)

func main() { cli.Main(remote.Open) }

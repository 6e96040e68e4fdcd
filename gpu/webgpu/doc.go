// Package webgpu is a [gpu.Device] that runs the kernels of package kernels through WebGPU: on Vulkan, Metal or Direct3D 12, whatever the system has.
// It is built in with the tag webgpu, which needs cgo and a C compiler. Without the tag there are the same functions, and they fail with [ErrNotBuilt].
package webgpu

import "errors"

// ErrNotBuilt is the error of a build without the tag.
var ErrNotBuilt = errors.New("this build has no GPU support; build with: CGO_ENABLED=1 go build -tags webgpu ./cmd/pz")

// ErrNoGPU says that the system has no adapter that would do. It may lack a driver: on Linux a Vulkan driver and the loader, libvulkan.so.1.
var ErrNoGPU = errors.New("no GPU found")

// Adapter is what the system calls a GPU, or a program that plays one.
type Adapter struct {
	Name    string
	Kind    Kind
	Backend string // "vulkan", "metal", "d3d12"
	IDs     string // numbers of vendor and device, in hexadecimal; may be empty
}

// Kind is a kind of adapter; the best one first.
type Kind uint8

const (
	Discrete Kind = iota
	Integrated
	Other
	Software // runs kernels on the CPU
)

func (k Kind) String() string {
	return [...]string{"discrete", "integrated", "other", "software"}[k]
}

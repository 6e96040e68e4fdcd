// Package webgpu runs kernels through WebGPU: on Vulkan, Metal or Direct3D 12, whatever the system has.
// It is built in with the tag webgpu, which needs cgo and a C compiler. Without the tag there are the same functions, and they fail with [ErrNotBuilt].
//
// On a machine without a desktop Mesa's layer for choosing a Vulkan device writes to standard error; NODEVICE_SELECT=1 in the environment of the process keeps it
// from that.
package webgpu

import "errors"

// ErrNotBuilt is the error of a build without the tag.
var ErrNotBuilt = errors.New("this build has no GPU support; build with: CGO_ENABLED=1 go build -tags webgpu ./cmd/pz")

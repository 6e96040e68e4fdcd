// Package webgpu runs the GPU kernels through WebGPU: Vulkan, Metal or Direct3D 12. It is a
// building block: a minor release may change it.
//
// It is built with the tag webgpu, which needs cgo and a C compiler. A blank import registers the
// driver "webgpu" with package gpu. Without the tag the package is empty.
package webgpu

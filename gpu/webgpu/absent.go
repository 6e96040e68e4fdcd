//go:build !webgpu || !cgo

package webgpu

import "github.com/gopz/compress/gpu"

// Built reports whether the package is built in.
const Built = false

// List returns the system's adapters, the best one first.
func List() ([]gpu.Adapter, error) { return nil, ErrNotBuilt }

// Open starts the adapter with that number in the list of List. The caller closes the device.
func Open(n int) (gpu.Device, error) { return nil, ErrNotBuilt }

// OpenBest starts the best adapter, unless that is one in software: see [gpu.Best]. The caller closes the device.
func OpenBest() (gpu.Device, error) { return nil, ErrNotBuilt }

// Promise is what a device of this package may be counted on to be, for [gpu.Lazy].
func Promise() gpu.Info { return gpu.Info{} }

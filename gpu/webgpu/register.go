//go:build webgpu && cgo

package webgpu

import (
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/gpu/internal/host"
)

func init() { gpu.Register("webgpu", gpuDriver{}) }

// gpuDriver is the gpu.Driver of this package.
type gpuDriver struct{}

func (gpuDriver) Adapters() ([]gpu.Adapter, error) { return listAdapters() }
func (gpuDriver) Open(n int) (gpu.Device, error)   { return asDevice(open(nth(n), host.Config{})) }
func (gpuDriver) OpenBest() (gpu.Device, error)    { return asDevice(open(gpu.Best, host.Config{})) }
func (gpuDriver) BaseInfo() gpu.Info               { return host.BaseInfo("webgpu") }

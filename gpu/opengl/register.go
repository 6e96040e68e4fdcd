//go:build opengl && cgo && linux

package opengl

import (
	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/gpu/internal/host"
)

func init() { gpu.Register("opengl", gpuDriver{}) }

// gpuDriver is the gpu.Driver of this package.
type gpuDriver struct{}

func (gpuDriver) Adapters() ([]gpu.Adapter, error) { return listAdapters() }
func (gpuDriver) Open(n int) (gpu.Device, error)   { return asDevice(open(n, host.Config{})) }
func (gpuDriver) OpenBest() (gpu.Device, error)    { return openBest() }
func (gpuDriver) BaseInfo() gpu.Info               { return host.BaseInfo("opengl") }

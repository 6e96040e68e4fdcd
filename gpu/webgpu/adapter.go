//go:build webgpu && cgo

package webgpu

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/cogentcore/webgpu/wgpu"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/gpu/internal/host"
)

// backends are those with compute kernels worth having. OpenGL is not asked: it writes to standard error, and what it offers others do better.
func backends() wgpu.InstanceBackend {
	switch runtime.GOOS {
	case "darwin", "ios":
		return wgpu.InstanceBackendMetal
	case "windows":
		return wgpu.InstanceBackendVulkan | wgpu.InstanceBackendDX12
	}
	return wgpu.InstanceBackendVulkan
}

// found is an adapter of an instance.
type found struct {
	gpu.Adapter
	ref *wgpu.Adapter
}

// enumerate lists the adapters of a new instance, the best one first. Nothing of it is released before done is called.
func enumerate() (list []found, done func()) {
	wgpu.SetLogLevel(wgpu.LogLevelOff) // what goes wrong comes back as an error
	inst := newInstance(backends())
	for _, a := range inst.EnumerateAdapters(&wgpu.InstanceEnumerateAdapterOptons{Backends: backends()}) {
		info := a.GetInfo()
		f := found{gpu.Adapter{Name: info.Name, Kind: gpu.Other, Backend: info.BackendType.String()}, a}
		if strings.HasPrefix(info.Name, "0x") {
			// So it is in the binding's version of today: numbers of the vendor and the device, and the name as a description.
			f.Name, f.IDs = info.DriverDescription, info.VendorName+":"+info.Name
		}
		switch info.AdapterType {
		case wgpu.AdapterTypeDiscreteGPU:
			f.Kind = gpu.Discrete
		case wgpu.AdapterTypeIntegratedGPU:
			f.Kind = gpu.Integrated
		case wgpu.AdapterTypeCPU:
			f.Kind = gpu.Software
		}
		list = append(list, f)
	}
	slices.SortStableFunc(list, func(a, b found) int { return int(a.Kind) - int(b.Kind) })
	return list, func() {
		for _, f := range list {
			f.ref.Release()
		}
		inst.Release()
	}
}

// listAdapters returns the system's adapters, the best one first.
func listAdapters() ([]gpu.Adapter, error) {
	list, done := enumerate()
	defer done()
	if len(list) == 0 {
		return nil, errNoGPU
	}
	return adapters(list), nil
}

func adapters(list []found) (all []gpu.Adapter) {
	for _, f := range list {
		all = append(all, f.Adapter)
	}
	return all
}

var errNoGPU = fmt.Errorf("%w; on Linux it takes a Vulkan driver and the loader, libvulkan.so.1", gpu.ErrNoGPU)

// number chooses an adapter of a list.
type number func(list []gpu.Adapter) (int, error)

// nth chooses number n.
func nth(n int) number {
	return func(list []gpu.Adapter) (int, error) {
		if n < 0 || n >= len(list) {
			return 0, fmt.Errorf("there is no GPU number %d, only %d", n, len(list))
		}
		return n, nil
	}
}

func asDevice(d *host.Device, err error) (gpu.Device, error) {
	if err != nil {
		return nil, err
	}
	return d, nil
}

// open fills in what the device is called and of what kind it is.
func open(choose number, c host.Config) (*host.Device, error) {
	d, a, err := openDriver(choose)
	if err != nil {
		return nil, err
	}
	c.Name, c.Kind = a.Name, a.Kind
	dev, err := host.New(d, c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Name, err)
	}
	return dev, nil
}

func openDriver(choose number) (*driver, gpu.Adapter, error) {
	list, done := enumerate()
	defer done()
	if len(list) == 0 {
		return nil, gpu.Adapter{}, errNoGPU
	}
	n, err := choose(adapters(list))
	if err != nil {
		return nil, gpu.Adapter{}, err
	}
	d, err := start(list[n].ref)
	if err != nil {
		return nil, gpu.Adapter{}, fmt.Errorf("%s: %w", list[n].Name, err)
	}
	return d, list[n].Adapter, nil
}

//go:build webgpu && cgo

package webgpu

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/cogentcore/webgpu/wgpu"

	"github.com/gopz/compress/gpu"
	"github.com/gopz/compress/gpu/internal/host"
)

// backends returns the backends to search. OpenGL is not one of them: wgpu's probe for it writes to
// standard error.
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

// enumerate lists the adapters of a new instance, the best one first. done releases them.
func enumerate() (list []found, done func()) {
	wgpu.SetLogLevel(wgpu.LogLevelOff) // errors are returned instead
	inst := newInstance(backends())
	for _, a := range inst.EnumerateAdapters(&wgpu.InstanceEnumerateAdapterOptons{Backends: backends()}) {
		info := a.GetInfo()
		f := found{gpu.Adapter{Name: info.Name, Kind: gpu.Other, Backend: info.BackendType.String()}, a}
		if strings.HasPrefix(info.Name, "0x") {
			// This version of the binding returns the numbers of vendor and device here, and the
			// name as a description.
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
	setMemory(list)
	slices.SortStableFunc(list, func(a, b found) int { return int(a.Kind) - int(b.Kind) })
	return list, func() {
		for _, f := range list {
			f.ref.Release()
		}
		inst.Release()
	}
}

// listAdapters returns the adapters of this machine, the best one first.
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

var errNoGPU = fmt.Errorf("%w; on Linux install a Vulkan driver and its loader, libvulkan.so.1", gpu.ErrNoGPU)

// chooser returns the index of the adapter to open.
type chooser func(list []gpu.Adapter) (int, error)

// nth chooses adapter n.
func nth(n int) chooser {
	return func(list []gpu.Adapter) (int, error) {
		if n < 0 || n >= len(list) {
			return 0, fmt.Errorf("no GPU has the number %d; there are %d, from 0", n, len(list))
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

// open opens the chosen adapter. It sets c.Name, c.Kind and c.Begin.
func open(choose chooser, c host.Config) (*host.Device, error) {
	c.Begin = time.Now()
	d, a, err := openDriver(choose)
	if err != nil {
		return nil, err
	}
	c.Name, c.Kind, c.Memory = a.Name, a.Kind, a.Memory
	dev, err := host.New(d, c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Name, err)
	}
	return dev, nil
}

func openDriver(choose chooser) (*driver, gpu.Adapter, error) {
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

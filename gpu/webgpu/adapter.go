//go:build webgpu && cgo

package webgpu

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/cogentcore/webgpu/wgpu"

	"github.com/gopz/compress/gpu"
)

// Built reports whether the package is built in.
const Built = true

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
	Adapter
	ref *wgpu.Adapter
}

// enumerate lists the adapters of a new instance, the best one first. Nothing of it is released before done is called.
func enumerate() (list []found, done func()) {
	if os.Getenv("XDG_RUNTIME_DIR") == "" && os.Getenv("NODEVICE_SELECT") == "" {
		// On a machine without a desktop Mesa's device-select layer complains on standard error that it finds none.
		os.Setenv("NODEVICE_SELECT", "1")
	}
	wgpu.SetLogLevel(wgpu.LogLevelOff) // what goes wrong comes back as an error
	inst := newInstance(backends())
	for _, a := range inst.EnumerateAdapters(&wgpu.InstanceEnumerateAdapterOptons{Backends: backends()}) {
		info := a.GetInfo()
		f := found{Adapter{Name: info.Name, Kind: Other, Backend: info.BackendType.String()}, a}
		if strings.HasPrefix(info.Name, "0x") {
			// So it is in the binding's version of today: numbers of the vendor and the device, and the name as a description.
			f.Name, f.IDs = info.DriverDescription, info.VendorName+":"+info.Name
		}
		switch info.AdapterType {
		case wgpu.AdapterTypeDiscreteGPU:
			f.Kind = Discrete
		case wgpu.AdapterTypeIntegratedGPU:
			f.Kind = Integrated
		case wgpu.AdapterTypeCPU:
			f.Kind = Software
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

// List returns the system's adapters, the best one first.
func List() ([]Adapter, error) {
	list, done := enumerate()
	defer done()
	if len(list) == 0 {
		return nil, ErrNoGPU
	}
	var all []Adapter
	for _, f := range list {
		all = append(all, f.Adapter)
	}
	return all, nil
}

// Best is the number of the adapter to use: the first one, unless it is of kind Software.
func Best() (int, error) {
	list, err := List()
	if err == nil && list[0].Kind == Software {
		err = fmt.Errorf("%w, but %s, which is none", ErrNoGPU, list[0].Name)
	}
	return 0, err
}

// Plausible reports whether there may be a GPU, without starting anything: on Linux there is a device file for it.
func Plausible() error {
	if runtime.GOOS != "linux" {
		return nil
	}
	for _, pattern := range []string{"/dev/dri/renderD*", "/dev/nvidia[0-9]*", "/dev/dxg"} {
		if list, _ := filepath.Glob(pattern); len(list) > 0 {
			return nil
		}
	}
	return ErrNoGPU
}

// Open starts the adapter with that number in the list of List. The caller closes the device.
func Open(n int) (gpu.Device, error) {
	d, err := open(n)
	if err != nil {
		return nil, err
	}
	return d, nil
}

func open(n int) (*Device, error) {
	list, done := enumerate()
	defer done()
	switch {
	case len(list) == 0:
		return nil, ErrNoGPU
	case n < 0 || n >= len(list):
		return nil, fmt.Errorf("there is no GPU number %d, only %d", n, len(list))
	}
	d, err := start(list[n])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", list[n].Name, err)
	}
	return d, nil
}
